//! What is known of each action of a system, by its code.

use super::{Action, ActionKind};
use crate::symbols::Label;

/// An action as all systems describe it.
#[derive(Debug, Clone, Copy)]
pub struct ActionRow {
    /// The number that features have for it; in systems with candidates, features do not see it.
    pub number: u32,
    /// Its kind.
    pub kind: ActionKind,
    /// The label of the constituent that it builds or opens, if any.
    pub label: Option<Label>,
}

/// The actions of a system, by code.
#[derive(Debug, Clone)]
pub struct ActionTable {
    rows: Vec<ActionRow>,
    numbers: Vec<u32>,
}

impl ActionTable {
    /// The table of the given actions, in the order of their codes.
    pub fn new(rows: impl IntoIterator<Item = ActionRow>) -> Self {
        let rows: Vec<ActionRow> = rows.into_iter().collect();
        Self { numbers: rows.iter().map(|row| row.number).collect(), rows }
    }

    /// The description of an action.
    pub fn row(&self, action: Action) -> ActionRow {
        self.rows[action.code as usize]
    }

    /// The number that features have for each action, by code.
    pub fn numbers(&self) -> &[u32] {
        &self.numbers
    }
}
