//! The labels and actions of two systems.

use std::collections::BTreeSet;

use super::Action;
use super::gold_tree::{MAX_LABELS, too_many_labels};
use crate::Result;
use crate::symbols::{Label, Symbols};

/// Adds labels to others; returns their numbers among these.
///
/// # Errors
/// [`crate::Error::Unfit`] when there are too many.
pub(super) fn add_labels(labels: &mut Symbols, others: &Symbols) -> Result<Vec<Label>> {
    let numbers: Vec<u32> = others.names().map(|name| labels.intern(name)).collect();
    if labels.len() > MAX_LABELS {
        return Err(too_many_labels());
    }
    Ok(numbers.into_iter().map(|number| Label(number as u16)).collect())
}

/// Adds the labels of a second system to those of the first; returns the codes of the actions of both, in the order of
/// actions. `renumbered` gives an action of the second system the new number of its label.
///
/// # Errors
/// [`crate::Error::Unfit`] when there are too many labels.
pub(super) fn action_codes<A: Action>(
    (labels, others): (&mut Symbols, &Symbols),
    [first, second]: [&[A]; 2],
    renumbered: impl Fn(A, &[Label]) -> A,
) -> Result<Vec<u32>> {
    let numbers = add_labels(labels, others)?;
    let second = second.iter().map(|&action| renumbered(action, &numbers));
    let all: BTreeSet<A> = first.iter().copied().chain(second).collect();
    Ok(all.into_iter().map(Action::code).collect())
}
