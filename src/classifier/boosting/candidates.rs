//! Which rows are examples of which labels.

use super::design::{Builder, Design};
use crate::feature::{Column, RowRef};

/// An example of a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example {
    /// The row of the design.
    pub row: u32,
    /// Whether the label is right.
    pub gold: bool,
    /// How many times it counts, above 0.
    pub weight: f32,
}

/// Takes candidates one by one: each row is one for all labels but a few.
#[derive(Debug, Clone)]
pub struct Candidates {
    rows: Builder,
    labelled: Labelled,
}

/// For every distinct row, of which labels it is an example.
#[derive(Debug, Clone, Default)]
pub struct Labelled {
    /// How many times each row counts.
    weights: Vec<u32>,
    labels: Vec<Exceptions>,
}

/// The rows where a label is right, and those where it is no candidate, with how many times they count.
#[derive(Debug, Clone, Default)]
struct Exceptions {
    gold: Vec<(u32, u32)>,
    barred: Vec<(u32, u32)>,
}

impl Candidates {
    /// No candidates yet.
    pub fn new(columns: &[Column], n_labels: usize) -> Self {
        let labels = vec![Exceptions::default(); n_labels];
        let labelled = Labelled { weights: Vec::new(), labels };
        Self { rows: Builder::new(columns), labelled }
    }

    /// Adds a row that counts `weight` times: an example of every label that is not `barred`, where those of
    /// `gold` are right.
    pub fn push(&mut self, row: RowRef<'_>, weight: u32, gold: &[u16], barred: &[u16]) {
        let Labelled { weights, labels } = &mut self.labelled;
        let row = self.rows.push(row);
        if row as usize == weights.len() {
            weights.push(0);
        }
        weights[row as usize] += weight;
        for &label in gold {
            labels[usize::from(label)].gold.push((row, weight));
        }
        for &label in barred {
            labels[usize::from(label)].barred.push((row, weight));
        }
    }

    /// The number of distinct rows so far.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The design and the examples; tests that hold in fewer than `min_count` distinct rows are left out.
    pub fn finish(self, min_count: u32) -> (Design, Labelled) {
        (self.rows.finish(min_count), self.labelled)
    }
}

impl Labelled {
    /// The number of labels.
    pub fn n_labels(&self) -> usize {
        self.labels.len()
    }

    /// How many times the label is right.
    pub fn n_gold(&self, label: usize) -> u64 {
        self.labels[label].gold.iter().map(|&(_, weight)| u64::from(weight)).sum()
    }

    /// The examples of a label: those where it is right, then those where it is wrong, by row.
    pub fn examples(&self, label: usize) -> Vec<Example> {
        let mut wrong = self.weights.clone();
        let mut right = vec![0; wrong.len()];
        let Exceptions { gold, barred } = &self.labels[label];
        for &(row, weight) in gold {
            right[row as usize] += weight;
        }
        for &(row, weight) in gold.iter().chain(barred) {
            wrong[row as usize] -= weight;
        }
        let side = |weights: Vec<u32>, gold: bool| {
            let all = weights.into_iter().zip(0..);
            all.filter(|&(weight, _)| weight > 0).map(move |(weight, row)| Example {
                row,
                gold,
                weight: weight as f32,
            })
        };
        side(right, true).chain(side(wrong, false)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::{ColumnKind, Row};

    #[test]
    fn a_row_is_an_example_of_every_label_that_is_not_barred() {
        let column = Column { name: String::new(), kind: ColumnKind::Nominal, lexical: false };
        let mut candidates = Candidates::new(&[column], 2);
        let row = |value| Row { values: vec![value], members: vec![] };
        candidates.push(row(1).borrow(), 1, &[1], &[]);
        candidates.push(row(2).borrow(), 3, &[], &[0]);
        candidates.push(row(1).borrow(), 2, &[], &[]);
        let (design, labelled) = candidates.finish(1);
        assert_eq!((design.len(), labelled.n_gold(0), labelled.n_gold(1)), (2, 0, 1));
        let example = |row, gold, weight| Example { row, gold, weight };
        assert_eq!(labelled.examples(0), [example(0, false, 3.0)]);
        let all = [example(0, true, 1.0), example(0, false, 2.0), example(1, false, 3.0)];
        assert_eq!(labelled.examples(1), all);
    }
}
