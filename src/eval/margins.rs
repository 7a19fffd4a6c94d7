//! Margins: how sure a scorer is of right and of wrong candidates of a label (Turian and Melamed 2005, figure
//! 5).
//!
//! The margin of a candidate is its score if it is right, less than nothing of it if it is wrong: positive
//! where a classifier that asks for the sign of the score decides well.

use std::collections::BTreeMap;

use crate::oracle::Oracle;
use crate::parallel;
use crate::scorer::{Configuration, Scorer};
use crate::symbols::Label;
use crate::train::Example;
use crate::transition::{Action, TransitionSystem};

/// How wide a bin of margins is.
pub const BIN: f32 = 0.5;

/// How many candidates have which margin: right ones and wrong ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Margins {
    /// By the lower edge of each bin, in bins from 0.
    pub bins: BTreeMap<i64, [u64; 2]>,
    /// Those of infinite margins, which are in no bin: of a label that is never chosen.
    pub infinite: [u64; 2],
}

impl Margins {
    fn add(&mut self, margin: f32, is_wrong: bool) {
        let counts = if margin.is_finite() {
            self.bins.entry((margin / BIN).floor() as i64).or_default()
        } else {
            &mut self.infinite
        };
        counts[usize::from(is_wrong)] += 1;
    }

    fn plus(mut self, more: Self) -> Self {
        let sum = |[right, wrong]: [u64; 2], more: [u64; 2]| [right + more[0], wrong + more[1]];
        self.infinite = sum(self.infinite, more.infinite);
        for (bin, counts) in more.bins {
            let all = self.bins.entry(bin).or_default();
            *all = sum(*all, counts);
        }
        self
    }
}

/// The margins of all candidates of a label along a path to each tree; trees that do not fit are passed over.
pub fn margins<S, P, O>(
    system: &S,
    scorer: &P,
    oracle: &O,
    examples: &[Example],
    label: Label,
) -> Margins
where
    S: TransitionSystem,
    P: Scorer<S>,
    O: Oracle<S>,
{
    let follow = |scratch: &mut P::Scratch, example: &Example| {
        let mut margins = Margins::default();
        let Ok(gold) = oracle.prepare(system, &example.tree) else { return margins };
        let sentence = &example.sentence;
        let mut state = system.start(sentence);
        let mut memory = scorer.begin(Configuration { system, sentence, state: &state }, scratch);
        let (mut legal, mut right, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        while !system.is_final(&state) {
            oracle.optimal(system, &gold, &state, &mut right);
            let Some(&next) = right.first() else { break };
            system.legal(&state, &mut legal);
            legal.retain(|action| action.label() == Some(label));
            let at = Configuration { system, sentence, state: &state };
            scorer.score(at, &memory, &legal, scratch, &mut scores);
            for (action, score) in legal.iter().zip(&scores) {
                let is_wrong = !right.contains(action);
                margins.add(if is_wrong { -score } else { *score }, is_wrong);
            }
            system.apply(&mut state, next);
            let after = Configuration { system, sentence, state: &state };
            scorer.advance(after, next, &mut memory, scratch);
        }
        margins
    };
    let margins = parallel::map_init(examples, P::Scratch::default, follow);
    margins.into_iter().fold(Margins::default(), Margins::plus)
}
