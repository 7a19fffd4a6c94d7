//! Margin distributions of the candidates of a label (Turian and Melamed 2005, figure 5).
//!
//! The margin of a candidate is its score if it is correct and its negated score if it is not: it is positive if the
//! sign of the score classifies the candidate correctly.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::decode::{Cursor, Problem};
use crate::error::{Error, Result};
use crate::oracle::{OracleKind, oracle};
use crate::parallel;
use crate::scorer::{Scorer, Scratch};
use crate::symbols::Label;
use crate::train::Example;
use crate::transition::TransitionSystem;

/// The width of a bin.
pub const BIN: f32 = 0.5;

/// A histogram of margins. Each count is a pair: correct and wrong candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Margins {
    /// The counts of each bin; the lower edge of bin i is i × [`BIN`].
    pub bins: BTreeMap<i64, [u64; 2]>,
    /// Candidates with infinite margins, which occur if the label is never chosen.
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
}

impl AddAssign for Margins {
    fn add_assign(&mut self, more: Self) {
        let sum = |[right, wrong]: [u64; 2], more: [u64; 2]| [right + more[0], wrong + more[1]];
        self.infinite = sum(self.infinite, more.infinite);
        for (bin, counts) in more.bins {
            let all = self.bins.entry(bin).or_default();
            *all = sum(*all, counts);
        }
    }
}

/// Returns the margins of all candidates of a label along a gold derivation of each tree; trees that the system
/// cannot build are skipped.
///
/// # Errors
/// If the system does not have the label.
pub fn margins(
    system: &dyn TransitionSystem,
    scorer: &dyn Scorer,
    examples: &[Example],
    label: &str,
) -> Result<Margins> {
    let Some(position) = system.labels().position(label) else {
        let known = system.labels().names().collect::<Vec<_>>().join(", ");
        let problem = format!("unknown label `{label}`: the labels of the model are {known}");
        return Err(Error::config("margins", problem));
    };
    let label = Label(position as u16);
    let follow = |scratch: &mut Scratch, Example { sentence, tree }: &Example| {
        let mut margins = Margins::default();
        let Ok(oracle) = oracle(system, tree, OracleKind::DynamicIfAny) else { return margins };
        let problem = Problem { system, sentence, scorer };
        let (mut cursor, mut forest) = Cursor::start(problem, scratch);
        let (mut legal, mut right, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        while !cursor.is_final() {
            oracle.optimal(&cursor.state, &forest, &mut right);
            let Some(&next) = right.first() else { break };
            cursor.legal(problem, &forest, &mut legal);
            legal.retain(|&action| system.label(action) == Some(label));
            let at = cursor.at(problem, &forest);
            scorer.score(at, &cursor.memory, &legal, scratch, &mut scores);
            for (action, score) in legal.iter().zip(&scores) {
                let is_wrong = !right.contains(action);
                margins.add(if is_wrong { -score } else { *score }, is_wrong);
            }
            cursor.take(problem, &mut forest, next, scratch);
        }
        margins
    };
    let mut all = Margins::default();
    parallel::map_init(examples, Scratch::default, follow).into_iter().for_each(|one| all += one);
    Ok(all)
}
