//! The search settings of presets, and the decoder that they choose.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::beam::{Agenda, Beam};
use super::greedy::{Greedy, GreedyScratch};
use super::{Decoded, Decoder, Illegal, PathScore};
use crate::scorer::Scorer;
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// How a parser searches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// The most hypotheses that are kept at a step; 1 is greedy.
    pub beam: u32,
    /// What a greedy search does when the best action is illegal; a beam keeps legal actions only.
    pub illegal: Illegal,
    /// How the score of the parse is made.
    pub path_score: PathScore,
    /// The label of the node that joins the items of a parse that failed, with what was not read: `IP`
    /// in Wang, Sagae and Mitamura 2006, section 2, `fail` in Kalt 2004, section 3.1. Empty to leave
    /// them side by side under `TOP`, as Sagae and Lavie 2005. Any label will do, whether or not
    /// training trees have it. An item that stands alone is not joined to anything.
    pub failure_label: CompactString,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            beam: 1,
            illegal: Illegal::default(),
            path_score: PathScore::default(),
            failure_label: CompactString::default(),
        }
    }
}

/// The memory of one thread.
pub struct SearchScratch<S: TransitionSystem, P: Scorer<S>> {
    greedy: GreedyScratch<S::Action, P::Scratch>,
    beam: Agenda<S, P>,
}

impl<S: TransitionSystem, P: Scorer<S>> Default for SearchScratch<S, P> {
    fn default() -> Self {
        Self { greedy: GreedyScratch::default(), beam: Agenda::default() }
    }
}

impl<S: TransitionSystem, P: Scorer<S>> Decoder<S, P> for Search {
    type Scratch = SearchScratch<S, P>;

    fn decode(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        scratch: &mut Self::Scratch,
    ) -> Decoded<S::State> {
        let &Self { illegal, path_score, .. } = self;
        if self.beam > 1 {
            let beam = Beam { width: self.beam as usize, path_score };
            return beam.decode(system, scorer, sentence, &mut scratch.beam);
        }
        Greedy { illegal, path_score }.decode(system, scorer, sentence, &mut scratch.greedy)
    }

    fn failure_label(&self) -> &str {
        &self.failure_label
    }
}
