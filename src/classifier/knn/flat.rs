//! Exact search over contiguous rows, for one-hot features.
//!
//! The distance between two rows is the weight of all their one-hot features minus twice the weight of the
//! shared ones. Most rows share some of the heavy features and few share many, so a tree search would visit
//! almost all nodes. It is faster to subtract the weights of shared features from all rows of a block at
//! once, column by column. A block is abandoned as soon as the remaining columns cannot bring any of its
//! rows near enough. The result does not depend on the order of the blocks.
//!
//! Rows are sorted as in the tree, so the rows of a block are similar, and many of its columns do not
//! contain the query's value: a mask of 64 bits for each column of a block detects most of them.

use super::search::{Memory, Neighbors};
use super::tree::Sorted;
use super::values::{Shared, Values};
use crate::memory::{Array, Sections};
use crate::sort::sort_by_key;
use crate::{Error, Result};

/// Number of rows in a block.
const BLOCK: usize = 256;
/// Whether to abandon a block is checked after this many columns.
const STEP: usize = 6;

/// The rows.
#[derive(Debug, Clone)]
pub(super) struct Flat {
    /// The ids: block by block, in a block level by level, in a level row by row.
    ids: Array<u16>,
    width: usize,
    /// The weight of the features of each row.
    weights: Vec<u32>,
    /// The least of these weights in each block.
    lightest: Vec<u32>,
    /// For each level of each block, which ids occur, modulo 64.
    masks: Vec<u64>,
}

/// The rows of a block: its first row and its number of rows.
fn rows_of(block: usize, n_rows: usize) -> (usize, usize) {
    let first = block * BLOCK;
    (first, BLOCK.min(n_rows - first))
}

fn bit(id: u16) -> u64 {
    1 << (id % 64)
}

impl Flat {
    /// Builds the index of sorted rows.
    pub(super) fn new(sorted: &Sorted, values: &Values) -> Self {
        let (width, n_rows) = (values.n_levels(), sorted.n_rows());
        let mut ids = Vec::with_capacity(width * n_rows);
        for block in 0..n_rows.div_ceil(BLOCK) {
            let (first, n) = rows_of(block, n_rows);
            for level in 0..width {
                ids.extend((first..first + n).map(|at| sorted.row(at)[level]));
            }
        }
        Self::derive(ids.into(), values, n_rows)
    }

    /// Computes what is not stored.
    fn derive(ids: Array<u16>, values: &Values, n_rows: usize) -> Self {
        let width = values.n_levels();
        let n_blocks = n_rows.div_ceil(BLOCK);
        let mut weights = vec![0; n_rows];
        let mut masks = Vec::with_capacity(n_blocks * width);
        let mut lightest = Vec::with_capacity(n_blocks);
        for block in 0..n_blocks {
            let (first, n) = rows_of(block, n_rows);
            let weights = &mut weights[first..first + n];
            for level in 0..width {
                let ids = &ids[first * width + level * n..][..n];
                masks.push(ids.iter().fold(0, |mask, &id| mask | bit(id)));
                for (weight, &id) in weights.iter_mut().zip(ids) {
                    *weight += values.id_weight(level, id);
                }
            }
            lightest.push(weights.iter().copied().min().unwrap_or_default());
        }
        Self { ids, width, weights, lightest, masks }
    }

    /// The number of stored numbers.
    pub(super) fn n_numbers(&self) -> usize {
        self.ids.len()
    }

    /// Finds the rows at the `k` smallest distances from the query in `memory`.
    pub(super) fn search(&self, values: &Values, k: usize, memory: &mut Memory) {
        let Memory { tables, shared, here, sums, nearest, found, .. } = memory;
        let own = tables.shared(values, shared);
        sort_by_key(shared, |one| (std::cmp::Reverse(one.weight), one.level));
        let mut found = Neighbors::new(k, nearest, found);
        let asked = |level: usize| tables.id(values, level);
        let begin = self.block_of(&asked);
        let others = (0..self.lightest.len()).filter(|&block| block != begin);
        for block in std::iter::once(begin).chain(others).take(self.lightest.len()) {
            self.scan(block, own, shared, here, sums, &mut found);
        }
        found.drop_far();
    }

    /// The block that would contain a row with these ids, where its neighbours are likely to be.
    fn block_of(&self, asked: &dyn Fn(usize) -> Option<u16>) -> usize {
        let ids_of_first = |block: usize| {
            let (first, n) = rows_of(block, self.weights.len());
            (0..self.width).map(move |level| Some(self.ids[first * self.width + level * n]))
        };
        // An unseen value has no id; it sorts before all others.
        let (mut low, mut high) = (0, self.lightest.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if ids_of_first(middle).le((0..self.width).map(asked)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.saturating_sub(1)
    }

    /// Adds the rows of a block that are near enough. `own` is the weight of the query's one-hot features.
    fn scan(
        &self,
        block: usize,
        own: u32,
        shared: &[Shared],
        here: &mut Vec<Shared>,
        sums: &mut Vec<u32>,
        found: &mut Neighbors<'_>,
    ) {
        let masks = &self.masks[block * self.width..][..self.width];
        here.clear();
        here.extend(shared.iter().filter(|one| masks[one.level] & bit(one.id) != 0));
        let mut left: u32 = here.iter().map(|one| one.weight).sum();
        if (self.lightest[block] + own).saturating_sub(left) > found.limit() {
            return;
        }
        let (first, n) = rows_of(block, self.weights.len());
        sums.clear();
        sums.extend(self.weights[first..first + n].iter().map(|weight| weight + own));
        for step in here.chunks(STEP) {
            for &Shared { level, id, weight } in step {
                let ids = &self.ids[first * self.width + level * n..][..n];
                subtract(sums, ids, id, weight);
                left -= weight;
            }
            let least = sums.iter().copied().fold(u32::MAX, u32::min);
            if least.saturating_sub(left) > found.limit() {
                return;
            }
        }
        for (&distance, row) in sums.iter().zip(first as u32..) {
            if distance <= found.limit() {
                found.add(distance, row);
            }
        }
    }

    /// Adds the rows to the sections of a model.
    pub(super) fn put(&self, sections: &mut Sections) {
        sections.put("knn.columns", self.ids.clone());
    }

    /// Reads what [`Flat::put`] wrote.
    pub(super) fn load(values: &Values, n_rows: usize, sections: &Sections) -> Result<Self> {
        let ids: Array<u16> = sections.get("knn.columns")?;
        let width = values.n_levels();
        let known = |block: usize| {
            let (first, n) = rows_of(block, n_rows);
            (0..width).all(|level| {
                let ids = &ids[first * width + level * n..][..n];
                ids.iter().all(|&id| usize::from(id) < values.n_ids(level))
            })
        };
        let fits = n_rows.checked_mul(width) == Some(ids.len());
        if !fits || !(0..n_rows.div_ceil(BLOCK)).all(known) {
            return Err(Error::Corrupt("the rows are not those of a memory-based model".into()));
        }
        Ok(Self::derive(ids, values, n_rows))
    }
}

/// Subtracts the weight from the sums of the rows with this id.
#[inline]
fn subtract(sums: &mut [u32], ids: &[u16], wanted: u16, weight: u32) {
    for (sum, &id) in sums.iter_mut().zip(ids) {
        *sum -= if id == wanted { weight } else { 0 };
    }
}
