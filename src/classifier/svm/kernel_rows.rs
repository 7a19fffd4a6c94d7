//! The polynomial kernel for sequential minimal optimization: the reference of the tests.
//!
//! Rows have few indicators, so a row of the kernel matrix is computed by counting common indicators in an
//! inverted index. The counts of the most recent rows are cached, up to a limit, and used for all
//! classifiers.

use std::collections::VecDeque;

use super::rows::Rows;
use super::smo::Kernel;
use super::vectors::kernel;

/// The size of the cache of kernel rows, in bytes.
const CACHE_BYTES: usize = 1_000_000;

/// Rows of the kernel matrix, as numbers of common indicators.
pub(super) struct KernelRows<'a> {
    rows: &'a Rows,
    starts: Vec<usize>,
    inverted: Vec<u32>,
    kept: Vec<Option<Box<[u16]>>>,
    /// The cached rows, the oldest first, and their maximum number.
    made: VecDeque<u32>,
    room: usize,
    kernels: Vec<f64>,
}

impl<'a> KernelRows<'a> {
    /// The kernel of the rows, with room for at least two rows in the cache.
    pub(super) fn new(rows: &'a Rows, degree: u32) -> Self {
        let (starts, inverted) = rows.inverted();
        let longest = (0..rows.len()).map(|at| rows.row(at).len()).max().unwrap_or(0) as u32;
        let room = CACHE_BYTES / (2 * rows.len()).max(1);
        Self {
            rows,
            starts,
            inverted,
            kept: vec![None; rows.len()],
            made: VecDeque::new(),
            room: room.max(2),
            kernels: (0..=longest).map(|common| kernel(common, degree)).collect(),
        }
    }

    fn counts(&self, row: usize) -> &[u16] {
        self.kept[row].as_deref().unwrap_or_default()
    }
}

impl Kernel for KernelRows<'_> {
    /// Computes a row unless it is in the cache.
    fn prepare(&mut self, row: usize) {
        if self.kept[row].is_some() {
            return;
        }
        let mut counts = match self.made.len() >= self.room {
            true => self.made.pop_front().and_then(|oldest| self.kept[oldest as usize].take()),
            false => None,
        }
        .unwrap_or_else(|| vec![0; self.rows.len()].into());
        counts.fill(0);
        for &item in self.rows.row(row) {
            let item = item as usize;
            for &other in &self.inverted[self.starts[item]..self.starts[item + 1]] {
                counts[other as usize] += 1;
            }
        }
        self.kept[row] = Some(counts);
        self.made.push_back(row as u32);
    }

    fn value(&self, row: usize, other: usize) -> f64 {
        self.kernels[usize::from(self.counts(row)[other])]
    }

    fn norm(&self, row: usize) -> f64 {
        self.kernels[self.rows.row(row).len()]
    }
}
