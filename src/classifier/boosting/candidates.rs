//! The examples of each label.

use rustc_hash::FxHashMap;

use super::builder::Builder;
use super::design::Design;
use crate::feature::{Column, RowRef};

/// An example for the classifier of a label.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Example {
    /// The row of the design.
    pub row: u32,
    /// Whether the label is correct.
    pub gold: bool,
    /// Its multiplicity, above 0.
    pub weight: f32,
}

/// Collects candidates one by one.
#[derive(Debug, Clone)]
pub struct Candidates {
    rows: Builder,
    number_of: FxHashMap<Vec<u16>, u32>,
    labelled: Labelled,
    /// The number of entries after equal ones were last merged.
    merged: usize,
}

/// For each distinct row, the labels that it is an example of.
#[derive(Debug, Clone, Default)]
pub struct Labelled {
    /// The distinct sets of candidate labels.
    sets: Vec<Vec<u16>>,
    /// A row, the index of its set of candidate labels, and its multiplicity.
    entries: Vec<(u32, u32, u32)>,
    /// For each label, the rows for which it is correct, with their multiplicities.
    gold: Vec<Vec<(u32, u32)>>,
}

/// Equal entries are merged whenever this many new ones have been added.
const MERGE_EVERY: usize = 1 << 20;

impl Candidates {
    /// An empty collection.
    pub fn new(columns: &[Column], n_labels: usize) -> Self {
        let labelled = Labelled { gold: vec![Vec::new(); n_labels], ..Labelled::default() };
        let rows = Builder::new(columns);
        Self { rows, number_of: FxHashMap::default(), labelled, merged: 0 }
    }

    /// Adds a row with multiplicity `weight`, above 0, as an example of each of `labels`; `gold` are the
    /// correct ones. A label whose candidate has other features, such as another head, is added with a row
    /// of its own.
    pub fn push(&mut self, row: RowRef<'_>, weight: u32, labels: &[u16], gold: &[u16]) {
        let row = self.rows.push(row);
        let Labelled { sets, entries, gold: all_gold } = &mut self.labelled;
        let set = match self.number_of.get(labels) {
            Some(&set) => set,
            None => {
                sets.push(labels.to_vec());
                self.number_of.insert(labels.to_vec(), sets.len() as u32 - 1);
                sets.len() as u32 - 1
            }
        };
        entries.push((row, set, weight));
        for &label in gold {
            all_gold[usize::from(label)].push((row, weight));
        }
        if entries.len() >= 2 * self.merged + MERGE_EVERY {
            self.labelled.merge();
            self.merged = self.labelled.entries.len();
        }
    }

    /// The number of distinct rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len()
    }

    /// The design and the examples. Tests that hold in fewer than `min_count` distinct rows are left out.
    pub fn finish(mut self, min_count: u32) -> (Design, Labelled) {
        self.labelled.merge();
        (self.rows.finish(min_count), self.labelled)
    }
}

impl Labelled {
    fn merge(&mut self) {
        self.entries.sort_unstable();
        self.entries.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            kept.2 += if same { next.2 } else { 0 };
            same
        });
    }

    /// The number of labels.
    pub fn n_labels(&self) -> usize {
        self.gold.len()
    }

    /// The number of rows for which the label is correct, with multiplicity.
    pub fn n_gold(&self, label: usize) -> u64 {
        self.gold[label].iter().map(|&(_, weight)| u64::from(weight)).sum()
    }

    /// The examples of a label, sorted by row: first those where it is correct, then those where it is
    /// wrong.
    pub fn examples(&self, label: usize) -> Vec<Example> {
        let has: Vec<bool> =
            self.sets.iter().map(|set| set.iter().any(|&one| usize::from(one) == label)).collect();
        let n_rows = self.entries.last().map_or(0, |last| last.0 as usize + 1);
        let (mut right, mut wrong) = (vec![0u32; n_rows], vec![0u32; n_rows]);
        for &(row, set, weight) in &self.entries {
            wrong[row as usize] += if has[set as usize] { weight } else { 0 };
        }
        for &(row, weight) in &self.gold[label] {
            right[row as usize] += weight;
            wrong[row as usize] = wrong[row as usize].saturating_sub(weight);
        }
        let side = |weights: Vec<u32>, gold: bool| {
            let all = weights.into_iter().zip(0..).filter(|&(weight, _)| weight > 0);
            all.map(move |(weight, row)| Example { row, gold, weight: weight as f32 })
        };
        side(right, true).chain(side(wrong, false)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::{ColumnKind, Row};

    #[test]
    fn a_row_is_an_example_of_the_labels_it_was_pushed_with() {
        let column = Column { name: String::new(), kind: ColumnKind::Nominal, lexical: false };
        let mut candidates = Candidates::new(&[column], 2);
        let row = |value| Row { values: vec![value], members: vec![] };
        candidates.push(row(1).borrow(), 1, &[0, 1], &[1]);
        candidates.push(row(2).borrow(), 3, &[1], &[]);
        candidates.push(row(1).borrow(), 2, &[0, 1], &[]);
        let (design, labelled) = candidates.finish(1);
        assert_eq!((design.len(), labelled.n_gold(0), labelled.n_gold(1)), (2, 0, 1));
        let example = |row, gold, weight| Example { row, gold, weight };
        assert_eq!(labelled.examples(0), [example(0, false, 3.0)]);
        let all = [example(0, true, 1.0), example(0, false, 2.0), example(1, false, 3.0)];
        assert_eq!(labelled.examples(1), all);
    }
}
