//! The actions of a system without candidates: what each of them does, by its code.

use std::collections::BTreeSet;

use serde::Serialize;

use super::action_table::{ActionRow, ActionTable};
use super::gold_tree::{MAX_LABELS, too_many_labels};
use super::{Action, ActionKind};
use crate::error::{Error, Result};
use crate::symbols::{Label, Symbols};

/// The effect of an action, as its system writes it; in the order that breaks ties between scores.
pub(super) trait SystemAction: Copy + Ord {
    /// The number that model files and features have for it.
    fn number(self) -> u32;
    /// The step of a number.
    fn of_number(number: u32) -> Self;
    /// The kind of the action.
    fn kind(self) -> ActionKind;
    /// The label of the constituent that it builds or opens, if any.
    fn label(self) -> Option<Label>;
    /// The same step with another label, if it has one.
    fn with_label(self, label: Label) -> Self;
    /// Its name, with the name of its label.
    fn name(self, label: &str) -> String;
}

/// All steps of a system, in order: the code of an action is the position of its step.
#[derive(Debug, Clone)]
pub(super) struct Inventory<A> {
    steps: Vec<A>,
    table: ActionTable,
}

impl<A: SystemAction> Inventory<A> {
    /// The steps of stored numbers, after checks; `kind` is the kind of the system, and `ends` every such system has.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the numbers are not those of such a system.
    pub(super) fn new(numbers: &[u32], labels: &Symbols, ends: &[A], kind: &str) -> Result<Self> {
        let steps: Vec<A> = numbers.iter().map(|&number| A::of_number(number)).collect();
        let known = |step: &A| step.label().is_none_or(|label| usize::from(label.0) < labels.len());
        let same = numbers.iter().zip(&steps).all(|(&number, step)| step.number() == number);
        let sorted = steps.windows(2).all(|pair| pair[0] < pair[1]);
        let total = ends.iter().all(|step| steps.contains(step));
        // `TOP` may be one more.
        let few = labels.len() <= MAX_LABELS + 1;
        if !(same && sorted && total && few && steps.iter().all(known)) {
            return Err(Error::corrupt(format!("the action table is not that of a {kind} system")));
        }
        let row =
            |&step: &A| ActionRow { number: step.number(), kind: step.kind(), label: step.label() };
        Ok(Self { table: ActionTable::new(steps.iter().map(row)), steps })
    }

    /// The effect of an action.
    pub(super) fn step(&self, action: Action) -> A {
        self.steps[action.code as usize]
    }

    /// The action that does something, if the system has it.
    pub(super) fn find(&self, step: A) -> Option<Action> {
        self.steps.binary_search(&step).ok().map(|at| Action::new(at as u32))
    }

    /// SHIFT, which is the first action of every system.
    pub(super) fn shift(&self) -> Action {
        Action::new(0)
    }

    /// FINISH, which is the last action of every system.
    pub(super) fn finish(&self) -> Action {
        Action::new(self.steps.len() as u32 - 1)
    }

    /// All steps, in order.
    pub(super) fn steps(&self) -> &[A] {
        &self.steps
    }

    /// The actions as all systems describe them.
    pub(super) fn table(&self) -> &ActionTable {
        &self.table
    }

    /// The actions whose steps are wanted, in order.
    pub(super) fn select(&self, wanted: impl Fn(A) -> bool) -> Vec<Action> {
        let numbered = self.steps.iter().zip(0..).filter(|(step, _)| wanted(**step));
        numbered.map(|(_, code)| Action::new(code)).collect()
    }

    /// The name of an action.
    pub(super) fn name(&self, action: Action, labels: &Symbols) -> String {
        name(self.step(action), labels)
    }

    /// The actions of a derivation.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the system lacks one.
    pub(super) fn derivation(&self, steps: Vec<A>, labels: &Symbols) -> Result<Vec<Action>> {
        let lacks = |step| Error::Unfit(format!("the system has no action {}", name(step, labels)));
        steps.into_iter().map(|step| self.find(step).ok_or_else(|| lacks(step))).collect()
    }

    /// Adds the labels of a second system to those of this one; returns the numbers of the steps of both, in order.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are too many labels.
    pub(super) fn union(
        &self,
        labels: &mut Symbols,
        other: &Self,
        others: &Symbols,
    ) -> Result<Vec<u32>> {
        let places = add_labels(labels, others)?;
        let renumbered = |&step: &A| match step.label() {
            Some(label) => step.with_label(places[usize::from(label.0)]),
            None => step,
        };
        let all: BTreeSet<A> =
            self.steps.iter().copied().chain(other.steps.iter().map(renumbered)).collect();
        Ok(all.into_iter().map(SystemAction::number).collect())
    }
}

fn name<A: SystemAction>(step: A, labels: &Symbols) -> String {
    let label = step.label().and_then(|label| labels.name(label.0.into()));
    step.name(label.unwrap_or_default())
}

/// Adds labels to others; returns their numbers among these.
///
/// # Errors
/// [`Error::Unfit`] when there are too many.
pub(super) fn add_labels(labels: &mut Symbols, others: &Symbols) -> Result<Vec<Label>> {
    let numbers: Vec<u32> = others.names().map(|name| labels.intern(name)).collect();
    if labels.len() > MAX_LABELS {
        return Err(too_many_labels());
    }
    Ok(numbers.into_iter().map(|number| Label(number as u16)).collect())
}

/// The tables of a system as a model file has them.
pub(super) fn stored(tables: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(tables).unwrap_or_default()
}
