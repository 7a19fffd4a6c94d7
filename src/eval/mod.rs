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
//! [`Evaluation`] scores pairs of trees one by one, [`evaluate`] a list. [`Params`] alone decides what counts.
//! [`significance`] tests whether one parser is better than another.

mod brackets;
pub mod decisions;
pub mod dependency;
mod evaluation;
mod gold_tags;
pub mod margins;
mod params;
mod percent;
pub mod report;
mod sentence_score;
pub mod significance;
mod totals;

pub use brackets::OTHER_ROOTS;
pub use evaluation::{CHILDREN, Counts, Evaluation, LENGTHS, evaluate};
pub use params::Params;
pub use sentence_score::{SentenceScore, Status};
pub use totals::Totals;
