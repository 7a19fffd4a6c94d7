//! Features: from a state to one row of columns, and from columns to indicators.
//!
//! 1. A template file ([`template`]) lists *addresses* ("the tag of the head of the second stack item")
//!    and conjunctions of them.
//! 2. [`extract`] writes a state's value at every distinct address into one [`Row`] of columns: what
//!    every learner works from. A column is nominal, a number, or a set of nominals.
//! 3. [`indicator`] is the only place where columns become one-hot ids: one 64-bit id for each template
//!    of a linear model.

pub mod extract;
pub mod indicator;
pub mod template;

pub use extract::Extractor;
pub use indicator::Indicators;
pub use template::Templates;

use serde::{Deserialize, Serialize};

/// What the values of a column mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// A name; 0 is "nothing there".
    Nominal,
    /// A count or distance.
    Number,
    /// A set of names, asked for membership.
    Set,
}

/// A column of every row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The address as written in the template file.
    pub name: String,
    /// What its values mean.
    pub kind: ColumnKind,
    /// Whether its values are words, of which most are rare.
    pub lexical: bool,
}

/// One state in columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// A value for each column; for a set, where its size stands in `members`.
    pub values: Vec<u32>,
    /// For each set its size, then its members in rising order.
    pub members: Vec<u32>,
}

impl Row {
    /// The row, borrowed.
    pub fn borrow(&self) -> RowRef<'_> {
        RowRef { values: &self.values, members: &self.members }
    }
}

/// A borrowed row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowRef<'a> {
    /// As in [`Row`].
    pub values: &'a [u32],
    /// As in [`Row`].
    pub members: &'a [u32],
}

impl<'a> RowRef<'a> {
    /// The members of a set column, in rising order.
    pub fn set(&self, column: usize) -> &'a [u32] {
        let size_at = self.values[column] as usize;
        let size = self.members[size_at] as usize;
        &self.members[size_at + 1..size_at + 1 + size]
    }
}
