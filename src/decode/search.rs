//! The search settings of presets, and the decoder that they choose.

use compact_str::CompactString;
use serde::{Deserialize, Serialize};

use super::beam::{Agenda, Beam};
use super::best_first::{BestFirst, BestFirstScratch, Unfinished};
use super::greedy::{Greedy, GreedyScratch};
use super::{Decoded, Decoder, Illegal, PathScore};
use crate::error::{Error, Result};
use crate::scorer::Scorer;
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// Which decoder searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One path, the best action at every step.
    #[default]
    Greedy,
    /// The best few hypotheses at every step.
    Beam,
    /// The best of all open hypotheses.
    BestFirst,
}

/// What happens when a greedy search has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fallback {
    /// The partial tree stays.
    #[default]
    None,
    /// The sentence is searched again with the beam (Kalt 2004, section 5).
    Beam,
}

/// How a parser searches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Search {
    /// Which decoder searches.
    pub method: Method,
    /// The most hypotheses that a beam keeps at a step; at least 1.
    pub beam: u32,
    /// By how much a hypothesis of a beam may trail the best one, in units of the scores of steps, before it
    /// is dropped; 0 for any. Most steps are clear, and a beam that has few hypotheses there is faster.
    pub threshold: f64,
    /// The most hypotheses that a best-first search looks at; at least 1. Fewer for sentences of many
    /// hundred words.
    pub max_states: u32,
    /// The most open steps that a best-first search keeps; 0 for no limit but that on memory, 1 million.
    pub agenda: u32,
    /// What a best-first search does that has looked at as many hypotheses as it may.
    pub unfinished: Unfinished,
    /// What a greedy search does when the best action is illegal; others take legal actions only.
    pub illegal: Illegal,
    /// What happens when a greedy search has failed.
    pub fallback: Fallback,
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
            method: Method::default(),
            beam: 16,
            threshold: 0.0,
            max_states: 10_000,
            agenda: 0,
            unfinished: Unfinished::default(),
            illegal: Illegal::default(),
            fallback: Fallback::default(),
            path_score: PathScore::default(),
            failure_label: CompactString::default(),
        }
    }
}

impl Search {
    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and its range.
    pub fn check(&self) -> Result<()> {
        if self.beam == 0 {
            return Err(Error::config("search.beam", "must be at least 1"));
        }
        if !(self.threshold.is_finite() && self.threshold >= 0.0) {
            let problem = format!("{} is no threshold: give 0 (keep all) or more", self.threshold);
            return Err(Error::config("search.threshold", problem));
        }
        if self.max_states == 0 {
            return Err(Error::config("search.max_states", "must be at least 1"));
        }
        Ok(())
    }

    /// Whether paths are compared, so that the scores of their steps must add up.
    pub fn compares_paths(&self) -> bool {
        self.method != Method::Greedy || self.fallback != Fallback::None
    }

    fn beam(&self) -> Beam {
        let (width, threshold) = (self.beam as usize, self.threshold);
        Beam { width, threshold, path_score: self.path_score }
    }

    fn greedy(&self) -> Greedy {
        Greedy { illegal: self.illegal, path_score: self.path_score }
    }

    fn best_first(&self) -> BestFirst {
        BestFirst {
            max_states: self.max_states as usize,
            agenda: if self.agenda == 0 { usize::MAX } else { self.agenda as usize },
            unfinished: self.unfinished,
            path_score: self.path_score,
        }
    }
}

/// The memory of one thread.
pub struct SearchScratch<S: TransitionSystem, P: Scorer<S>> {
    greedy: GreedyScratch<S::Action, P::Scratch>,
    beam: Agenda<S, P>,
    best_first: BestFirstScratch<S, P>,
}

impl<S: TransitionSystem, P: Scorer<S>> Default for SearchScratch<S, P> {
    fn default() -> Self {
        Self {
            greedy: GreedyScratch::default(),
            beam: Agenda::default(),
            best_first: BestFirstScratch::default(),
        }
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
    ) -> Decoded<S::State, S::Action> {
        self.decode_nbest(system, scorer, sentence, 1, scratch).swap_remove(0)
    }

    fn decode_nbest(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        n: usize,
        scratch: &mut Self::Scratch,
    ) -> Vec<Decoded<S::State, S::Action>> {
        let SearchScratch { greedy, beam, best_first } = scratch;
        match self.method {
            Method::Greedy => {
                let decoded = self.greedy().decode(system, scorer, sentence, greedy);
                if decoded.complete || self.fallback == Fallback::None {
                    return vec![decoded];
                }
                self.beam().decode_nbest(system, scorer, sentence, n, beam)
            }
            Method::Beam => self.beam().decode_nbest(system, scorer, sentence, n, beam),
            Method::BestFirst => {
                self.best_first().decode_nbest(system, scorer, sentence, n, best_first)
            }
        }
    }

    fn failure_label(&self) -> &str {
        &self.failure_label
    }
}
