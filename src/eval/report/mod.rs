//! Reports: for people ([`text`]), for programs that read EVALB ([`evalb`]), and JSON ([`json`]); of two
//! systems ([`compare`]).

pub mod compare;
pub mod evalb;
pub mod json;
pub mod text;

use crate::eval::{Counts, Evaluation};

/// Labels with their counts, the most frequent in gold first.
fn by_frequency(evaluation: &Evaluation) -> Vec<(&str, &Counts)> {
    let mut labels: Vec<(&str, &Counts)> =
        evaluation.labels.iter().map(|(label, counts)| (label.as_str(), counts)).collect();
    // The map is in alphabetical order, which a stable sort keeps among equals.
    labels.sort_by_key(|(_, counts)| std::cmp::Reverse((counts.gold, counts.test)));
    labels
}

/// The rows of a table: names beside values.
fn rows<N, V>(names: impl IntoIterator<Item = N>, values: &[V]) -> impl Iterator<Item = (N, &V)> {
    names.into_iter().zip(values)
}

#[cfg(test)]
mod tests;
