//! Training instances: one row of columns for each decision, and the class that was right.

use crate::feature::{Column, ColumnKind, Row, RowRef};

/// Rows with their classes; all rows have the same columns.
#[derive(Debug, Clone, Default)]
pub struct Instances {
    columns: Vec<Column>,
    values: Vec<u32>,
    members: Vec<u32>,
    members_of_row: Vec<u32>,
    classes: Vec<u16>,
    n_classes: usize,
}

impl Instances {
    /// No instances of the given columns and classes.
    pub fn new(columns: Vec<Column>, n_classes: usize) -> Self {
        Self { columns, n_classes, members_of_row: vec![0], ..Self::default() }
    }

    /// Adds an instance.
    pub fn push(&mut self, row: &Row, class: u16) {
        self.values.extend_from_slice(&row.values);
        self.members.extend_from_slice(&row.members);
        self.members_of_row.push(self.members.len() as u32);
        self.classes.push(class);
    }

    /// The number of instances.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The number of classes, seen or not.
    pub fn n_classes(&self) -> usize {
        self.n_classes
    }

    /// What the columns are.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Whether some column is a set.
    pub fn has_sets(&self) -> bool {
        self.columns.iter().any(|column| column.kind == ColumnKind::Set)
    }

    /// One row.
    pub fn row(&self, at: usize) -> RowRef<'_> {
        let width = self.columns.len();
        let (first, last) =
            (self.members_of_row[at] as usize, self.members_of_row[at + 1] as usize);
        RowRef {
            values: &self.values[at * width..(at + 1) * width],
            members: &self.members[first..last],
        }
    }

    /// The class of one row.
    pub fn class(&self, at: usize) -> u16 {
        self.classes[at]
    }
}
