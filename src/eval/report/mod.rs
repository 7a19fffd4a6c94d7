//! Reports of an evaluation as text ([`text`]), in EVALB's format ([`evalb`]) and as JSON ([`json`]), of a comparison of
//! two parsers ([`compare`]), and of the agreement of several ([`agreement`]).

pub mod agreement;
pub mod compare;
pub mod evalb;
pub mod json;
pub mod text;

use crate::eval::{Counts, Evaluation};
use crate::sort::stable_sort_by_key;

/// Returns the labels with their counts, the most frequent in gold first.
fn by_frequency(evaluation: &Evaluation) -> Vec<(&str, &Counts)> {
    let mut labels: Vec<(&str, &Counts)> =
        evaluation.labels.iter().map(|(label, counts)| (label.as_str(), counts)).collect();
    // The map is in alphabetical order, and a stable sort preserves it among equals.
    stable_sort_by_key(&mut labels, |(_, counts)| std::cmp::Reverse((counts.gold, counts.test)));
    labels
}

/// Pairs the names of the rows of a table with their values.
fn rows<N, V>(names: impl IntoIterator<Item = N>, values: &[V]) -> impl Iterator<Item = (N, &V)> {
    names.into_iter().zip(values)
}

#[cfg(test)]
mod tests;
