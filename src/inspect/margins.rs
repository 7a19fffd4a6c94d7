//! Margin distributions of the candidates of a label (Turian and Melamed 2005, figure 5).
//!
//! The margin of a candidate is its score if it is correct and its negated score if it is not: it is positive if the
//! sign of the score classifies the candidate correctly.

use std::collections::BTreeMap;
use std::ops::AddAssign;

use crate::decode::{Problem, follow_gold};
use crate::error::{Error, Result};
use crate::oracle::{Example, OracleKind, oracle};
use crate::parallel;
use crate::scorer::{Reading, Scorer};
use crate::symbols::Label;
use crate::transition::{Action, TransitionSystem};

/// The width of a bin.
pub const BIN: f32 = 0.5;

/// A histogram of margins. Each count is a pair: correct and wrong candidates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Margins {
    /// The counts of each bin; the lower edge of bin i is i × [`BIN`].
    pub bins: BTreeMap<i64, [u64; 2]>,
    /// Candidates with infinite margins, which occur if the label is never chosen.
    pub infinite: [u64; 2],
    /// Trees that the system cannot build.
    pub unfit: u64,
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
        self.unfit += more.unfit;
        for (bin, counts) in more.bins {
            let all = self.bins.entry(bin).or_default();
            *all = sum(*all, counts);
        }
    }
}

/// Returns the margins of all candidates of a label along a gold derivation of each tree; trees that the system
/// cannot build are only counted.
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
    let follow = |reading: &mut Box<dyn Reading + '_>, Example { sentence, tree }: &Example| {
        let mut margins = Margins::default();
        let Ok(oracle) = oracle(system, tree, OracleKind::DynamicIfAny) else {
            margins.unfit = 1;
            return margins;
        };
        let problem = Problem { system, sentence };
        let (mut of_label, mut scores) = (Vec::new(), Vec::new());
        follow_gold(problem, &*oracle, &mut **reading, &mut |step, reading| {
            let next = *step.optimal.first()?;
            let is_of_label = |action: &&Action| system.label(**action) == Some(label);
            of_label.clear();
            of_label.extend(step.legal.iter().filter(is_of_label).copied());
            reading.score(step.at, step.memory, &of_label, &mut scores);
            for (action, score) in of_label.iter().zip(&scores) {
                let is_wrong = !step.optimal.contains(action);
                margins.add(if is_wrong { -score } else { *score }, is_wrong);
            }
            Some(next)
        });
        margins
    };
    let mut all = Margins::default();
    parallel::map_init(examples, || scorer.reading(), follow)
        .into_iter()
        .for_each(|one| all += one);
    Ok(all)
}
