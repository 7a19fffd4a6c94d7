//! Instances as sorted lists of dense one-hot numbers: what every solver works from.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use crate::classifier::Instances;
use crate::feature::Indicators;

/// The one-hot rows of a training set. Indicators are numbered from 0, the most frequent first.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    starts: Vec<usize>,
    items: Vec<u32>,
    /// The 64-bit id of each indicator.
    pub ids: Vec<u64>,
    /// How many rows have each indicator.
    pub counts: Vec<u32>,
}

impl Rows {
    /// Numbers the indicators of the instances.
    pub fn new(instances: &Instances, indicators: &Indicators) -> Self {
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut rows = Self { starts: vec![0], ..Self::default() };
        let mut ids = Vec::new();
        for at in 0..instances.len() {
            indicators.ids(instances.row(at), &mut ids);
            ids.sort_unstable();
            ids.dedup();
            for &id in &ids {
                let number = *numbers.entry(id).or_insert_with(|| {
                    rows.ids.push(id);
                    rows.counts.push(0);
                    rows.ids.len() as u32 - 1
                });
                rows.counts[number as usize] += 1;
                rows.items.push(number);
            }
            rows.starts.push(rows.items.len());
        }
        rows.renumber();
        rows
    }

    /// The most frequent indicators first, ties by id; rows in rising order.
    fn renumber(&mut self) {
        let mut order: Vec<u32> = (0..self.ids.len() as u32).collect();
        order.sort_unstable_by_key(|&old| {
            (Reverse(self.counts[old as usize]), self.ids[old as usize])
        });
        let mut new = vec![0u32; order.len()];
        for (&old, number) in order.iter().zip(0..) {
            new[old as usize] = number;
        }
        self.ids = order.iter().map(|&old| self.ids[old as usize]).collect();
        self.counts = order.iter().map(|&old| self.counts[old as usize]).collect();
        for item in &mut self.items {
            *item = new[*item as usize];
        }
        for ends in self.starts.windows(2) {
            self.items[ends[0]..ends[1]].sort_unstable();
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The indicators of a row, in rising order.
    pub fn row(&self, at: usize) -> &[u32] {
        &self.items[self.starts[at]..self.starts[at + 1]]
    }

    /// For each indicator the rows that have it, in rising order: where they begin, and the rows.
    pub fn inverted(&self) -> (Vec<usize>, Vec<u32>) {
        let mut starts = vec![0; self.ids.len() + 1];
        for (at, &count) in self.counts.iter().enumerate() {
            starts[at + 1] = starts[at] + count as usize;
        }
        let (mut next, mut rows) = (starts.clone(), vec![0; self.items.len()]);
        for row in 0..self.len() {
            for &item in self.row(row) {
                rows[next[item as usize]] = row as u32;
                next[item as usize] += 1;
            }
        }
        (starts, rows)
    }
}
