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

/// The codes of the actions of two systems, in the order of actions. `renumbered` gives an action of the second system
/// the number that its label has in the first one.
pub(super) fn action_codes<A: Action>(
    [first, second]: [&[A]; 2],
    renumbered: impl Fn(A) -> A,
) -> Vec<u32> {
    let second = second.iter().map(|&action| renumbered(action));
    let all: BTreeSet<A> = first.iter().copied().chain(second).collect();
    all.into_iter().map(Action::code).collect()
}
