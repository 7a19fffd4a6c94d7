//! Evaluation: labelled brackets as EVALB counts them, dependencies, and tables of where the errors are.
//!
//! What this layer promises:
//!
//! 1. Every number that EVALB (the PARSEVAL scorer of Sekine and Collins, 1997) prints, it prints the
//!    same, to the last digit: [`report::evalb`]. The differences are that no sentence is too long,
//!    that 0.00 stands where EVALB has not-a-number, and that a byte EVALB would complain of for ever
//!    makes an error sentence.
//! 2. EVALB leaves out of every total the sentences that it cannot compare, so a parser gains by
//!    failing. Beside its F1 there is always [`Totals::f1_failures_empty`], which counts such
//!    sentences as parses without brackets.
//! 3. Scoring changes no tree, and panics on none.
//!
//! [`Evaluation`] scores pairs of trees one by one, [`evaluate`] a list. What counts is decided by
//! [`Params`] alone. [`significance`] tells whether one system is better than another,
//! [`decisions`] how often a classifier is right, [`mod@margins`] how sure it is.

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
