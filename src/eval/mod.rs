//! Evaluation: PARSEVAL as computed by EVALB, dependency accuracy, and significance tests.
//!
//! Promises:
//!
//! 1. All numbers of EVALB (Sekine and Collins 1997) are reproduced to the last digit: [`report::evalb`]. The
//!    only differences: there is no limit on sentence length, 0.00 replaces not-a-number, and a byte on which
//!    EVALB would loop forever makes the sentence an error.
//! 2. EVALB excludes sentences that it cannot compare from all totals, so a parser gains by failing. Beside its
//!    F1 there is always [`Totals::f1_failures_empty`], which counts such sentences as parses without brackets.
//! 3. Scoring changes no tree and never panics.
//!
//! [`Evaluation`] scores pairs of trees. [`Params`] alone decides what counts.
//! [`significance`] tests whether one parser is better than another, [`agreement`] counts which are right together.

#[doc(hidden)]
pub mod agreement;
#[doc(hidden)]
pub mod align;
mod bracket_filter;
mod brackets;
mod confusion;
mod counts;
#[doc(hidden)]
pub mod dependency;
mod difference;
mod error_counts;
mod evaluation;
mod functions;
mod gold_tags;
mod params;
pub(crate) mod percent;
#[doc(hidden)]
pub mod report;
mod sentence_score;
#[doc(hidden)]
pub mod significance;
mod totals;

#[doc(hidden)]
pub use bracket_filter::BracketFilter;
#[doc(hidden)]
pub use confusion::{Confusion, LabelConfusion};
pub use counts::Counts;
#[doc(hidden)]
pub use difference::{Difference, ErrorClass, Mark, ParseError};
#[doc(hidden)]
pub use error_counts::{ClassCounts, ErrorCounts, Relabelled};
pub use evaluation::Evaluation;
#[doc(hidden)]
pub use evaluation::{CHILDREN, LENGTHS, ScoredPair};
#[doc(hidden)]
pub use functions::FunctionScores;
pub use params::Params;
pub use sentence_score::{SentenceScore, Status};
pub use totals::Totals;

use crate::tree::Tree;
use crate::{Error, Result};

/// Compares two parsers, A and B, on the same gold trees: is one better by more than chance?
///
/// Sentences without a parse, or with other words than gold, count as parses without brackets.
///
/// # Errors
/// When there are not as many trees of A and B as gold trees, or `filter` contains no bracket.
#[doc(hidden)]
pub fn compare(
    gold: &[Tree],
    a: &[Tree],
    b: &[Tree],
    params: &Params,
    filter: &BracketFilter,
    settings: &significance::Settings,
) -> Result<significance::Comparison> {
    for (name, trees) in [("A", a), ("B", b)] {
        if trees.len() != gold.len() {
            let problem = format!("{} trees of {name}, {} gold trees", trees.len(), gold.len());
            return Err(Error::config("trees", problem));
        }
    }
    let mut systems = [(); 2].map(|()| Evaluation::new(params.clone(), None));
    let sentences: Vec<[Counts; 2]> = gold
        .iter()
        .zip(a.iter().zip(b))
        .map(|(gold, (a, b))| {
            let [system_a, system_b] = &mut systems;
            [(system_a, a), (system_b, b)]
                .map(|(system, tree)| system.add_with(gold, tree, |scored| scored.count(filter)))
        })
        .collect();
    filter.check(&sentences)?;
    Ok(significance::compare(&sentences, settings))
}
