//! Training instances: one row of columns for each decision, and the correct class.

use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHasher;

use crate::feature::{Column, ColumnKind, Row, RowRef};
use crate::{Error, Result};

/// Rows with their classes; all rows have the same columns. Views of some of the rows, or with other
/// classes, share the rows.
#[derive(Debug, Clone, Default)]
pub struct Instances {
    rows: Arc<Rows>,
    /// The rows of a view; all rows if `None`.
    picked: Option<Arc<[u32]>>,
    classes: Vec<u16>,
    n_classes: usize,
}

#[derive(Debug, Clone, Default)]
struct Rows {
    columns: Vec<Column>,
    values: Vec<u32>,
    members: Vec<u32>,
    members_of_row: Vec<u32>,
    /// The first row of every sentence.
    sentences: Vec<u32>,
}

impl Instances {
    /// An empty set of instances with the given columns and classes.
    pub fn new(columns: Vec<Column>, n_classes: usize) -> Self {
        let rows = Rows { columns, members_of_row: vec![0], ..Rows::default() };
        Self { rows: Arc::new(rows), picked: None, classes: Vec::new(), n_classes }
    }

    /// Adds an instance. Views cannot be extended.
    pub fn push(&mut self, row: &Row, class: u16) {
        debug_assert!(self.picked.is_none(), "nothing can be added to a view");
        let rows = Arc::make_mut(&mut self.rows);
        rows.values.extend_from_slice(&row.values);
        rows.members.extend_from_slice(&row.members);
        rows.members_of_row.push(rows.members.len() as u32);
        self.classes.push(class);
    }

    /// Begins a sentence: the instances pushed until the next call belong to it.
    pub fn begin_sentence(&mut self) {
        let next = self.classes.len() as u32;
        Arc::make_mut(&mut self.rows).sentences.push(next);
    }

    /// A view of the instances for which `class` returns a class below `n_classes`.
    #[must_use]
    pub fn select(&self, class: impl Fn(usize) -> Option<u16>, n_classes: usize) -> Self {
        let mut picked = Vec::new();
        let mut classes = Vec::new();
        for at in 0..self.len() {
            if let Some(class) = class(at) {
                picked.push(self.row_number(at) as u32);
                classes.push(class);
            }
        }
        Self { rows: Arc::clone(&self.rows), picked: Some(picked.into()), classes, n_classes }
    }

    /// The instances with more columns; `extra` writes their values for each instance.
    #[must_use]
    pub fn extended(&self, columns: &[Column], extra: impl Fn(usize, &mut Vec<u32>)) -> Self {
        let all = self.columns().iter().chain(columns).cloned().collect();
        let mut extended = Self::new(all, self.n_classes);
        let mut row = Row::default();
        for sentence in self.sentences() {
            extended.begin_sentence();
            for at in sentence {
                let RowRef { values, members } = self.row(at);
                row.values.clear();
                row.values.extend_from_slice(values);
                extra(at, &mut row.values);
                row.members.clear();
                row.members.extend_from_slice(members);
                extended.push(&row, self.class(at));
            }
        }
        extended
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

    /// The columns.
    pub fn columns(&self) -> &[Column] {
        &self.rows.columns
    }

    /// Checks that every column has a single value.
    ///
    /// # Errors
    /// When some column is a set or a tree; the message names the learner.
    pub fn check_single_values(&self, learner: &str) -> Result<()> {
        let has_many = |column: &Column| matches!(column.kind, ColumnKind::Set | ColumnKind::Tree);
        if self.columns().iter().any(has_many) {
            let problem = format!("{learner} cannot take set columns: drop `.kids`");
            return Err(Error::config("features", problem));
        }
        Ok(())
    }

    fn row_number(&self, at: usize) -> usize {
        self.picked.as_ref().map_or(at, |picked| picked[at] as usize)
    }

    /// The row of an instance.
    pub fn row(&self, at: usize) -> RowRef<'_> {
        let (at, width) = (self.row_number(at), self.columns().len());
        let rows = &*self.rows;
        let (first, last) =
            (rows.members_of_row[at] as usize, rows.members_of_row[at + 1] as usize);
        RowRef {
            values: &rows.values[at * width..(at + 1) * width],
            members: &rows.members[first..last],
        }
    }

    /// The class of an instance.
    pub fn class(&self, at: usize) -> u16 {
        self.classes[at]
    }

    /// A fingerprint of the rows and classes.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.n_classes.hash(&mut hasher);
        for at in 0..self.len() {
            let RowRef { values, members } = self.row(at);
            (values, members, self.class(at)).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The number of instances of each class.
    pub fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.n_classes];
        for &class in &self.classes {
            counts[usize::from(class)] += 1;
        }
        counts
    }

    /// The instances of each sentence that has any, in order. Instances added before the first sentence
    /// began count as one sentence.
    pub fn sentences(&self) -> Vec<Range<usize>> {
        let sentence = |at: usize| {
            let row = self.row_number(at) as u32;
            self.rows.sentences.partition_point(|&first| first <= row)
        };
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut last = None;
        for at in 0..self.len() {
            let this = Some(sentence(at));
            match ranges.last_mut() {
                Some(range) if this == last => range.end = at + 1,
                _ => ranges.push(at..at + 1),
            }
            last = this;
        }
        ranges
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str) -> Column {
        Column { name: name.to_owned(), kind: ColumnKind::Nominal, lexical: false }
    }

    fn four() -> Instances {
        let mut instances = Instances::new(vec![column("a")], 2);
        for (value, class) in [(2, 0), (3, 1), (4, 0), (5, 1)] {
            if value % 2 == 0 {
                instances.begin_sentence();
            }
            instances.push(&Row { values: vec![value], members: vec![] }, class);
        }
        instances
    }

    #[test]
    fn a_view_of_a_view_has_the_right_rows_and_sentences() {
        let all = four();
        assert_eq!(all.sentences(), [0..2, 2..4]);
        let later = all.select(|at| (at > 0).then_some(2), 3);
        let last = later.select(|at| (at > 0).then(|| later.class(at)), 3);
        assert_eq!(later.sentences(), [0..1, 1..3]);
        assert_eq!((last.len(), last.row(0).values, last.class(0)), (2, &[4][..], 2));
        assert_eq!(last.sentences(), vec![0..2]);
    }

    #[test]
    fn extended_rows_keep_their_sentences_and_classes() {
        let extended = four().extended(&[column("b")], |at, values| values.push(at as u32));
        assert_eq!(extended.row(3).values, [5, 3]);
        assert_eq!(extended.sentences(), [0..2, 2..4]);
        assert_eq!(extended.counts(), [2, 2]);
    }
}
