//! Features: from a configuration to a row of columns, and from columns to indicator features.
//!
//! 1. A template file ([`template`]) lists *addresses* ("the tag of the head of the second stack item")
//!    and conjunctions of them.
//! 2. [`extract`] writes the value at every distinct address into one [`Row`] of columns, the input of all
//!    learners. A column is nominal, a number, a set of nominal values, or a tree.
//! 3. [`indicator`] is the only place where columns become indicator (one-hot) features of a linear model: one
//!    64-bit id for each template.

pub mod extract;
pub mod indicator;
pub mod template;

pub use extract::Extractor;
pub use indicator::Indicators;
pub use template::Templates;

use serde::{Deserialize, Serialize};

/// The type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnKind {
    /// A nominal value; 0 means that there is none.
    Nominal,
    /// A count or distance.
    Number,
    /// A set of nominal values, tested for membership.
    Set,
    /// An ordered labelled tree ([`extract::tree`]).
    Tree,
}

/// A column of every row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The address as written in the template file.
    pub name: String,
    /// The type of its values.
    pub kind: ColumnKind,
    /// Whether its values are words, most of which are rare.
    pub lexical: bool,
}

/// The columns of one configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row {
    /// A value for each column; for a set or a tree, the index of its size in `members`.
    pub values: Vec<u32>,
    /// For each set, its size and then its members in ascending order. For each tree, twice the number of its nodes
    /// and then the nodes in preorder, each with its label and its depth.
    pub members: Vec<u32>,
}

impl Row {
    /// Borrows the row.
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
    /// Returns the members of a set column, in ascending order.
    pub fn set(&self, column: usize) -> &'a [u32] {
        let size_at = self.values[column] as usize;
        let size = self.members[size_at] as usize;
        &self.members[size_at + 1..size_at + 1 + size]
    }

    /// Returns the nodes of a tree column in preorder, each with its label and its depth; the root has depth 0.
    pub fn tree(&self, column: usize) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        self.set(column).chunks_exact(2).map(|node| (node[0], node[1]))
    }
}
