//! What is known of each action of a system, by its code.

use super::{Action, ActionKind};
use crate::symbols::Label;

/// An action as all systems describe it.
#[derive(Debug, Clone, Copy)]
pub struct ActionRow {
    /// The number that features have for it.
    pub number: u32,
    /// Its kind.
    pub kind: ActionKind,
    /// The label of the constituent that it builds or opens, if any.
    pub label: Option<Label>,
}

/// The actions of a system, by code.
#[derive(Debug, Clone)]
pub struct ActionTable(Vec<ActionRow>);

impl ActionTable {
    /// The table of the given actions, in the order of their codes.
    pub fn new(rows: impl IntoIterator<Item = ActionRow>) -> Self {
        Self(rows.into_iter().collect())
    }

    /// The description of an action.
    pub fn row(&self, action: Action) -> ActionRow {
        self.0[action.code as usize]
    }

    /// The descriptions of all actions, by code.
    pub fn rows(&self) -> &[ActionRow] {
        &self.0
    }
}
