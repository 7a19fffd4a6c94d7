//! Exact search: branch and bound, nearest child first.
//!
//! The distance of the levels above a block is a lower bound for all its rows. A block is skipped if this
//! bound exceeds the k-th smallest distance found so far. The nearest child is entered first, so that the
//! limit decreases early. The result does not depend on the order.

use super::tree::{Block, Rest, Tree, join};
use super::values::{QueryDistances, Shared, Values};

/// Rows that were found are filtered once there are this many.
const FILTER_AT: usize = 1 << 12;

/// Scratch memory of one thread.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// The model that the tables belong to.
    pub(super) model: u64,
    pub(super) tables: QueryDistances,
    steps: Vec<QueuedBlock>,
    /// The features of the query that rows may share: all of them, and those that occur in a block.
    pub(super) shared: Vec<Shared>,
    pub(super) here: Vec<Shared>,
    /// The distances of the rows of a block.
    pub(super) sums: Vec<u32>,
    /// The k smallest distinct distances, in ascending order.
    pub(super) nearest: Vec<u32>,
    /// The rows at those distances, with their distances.
    pub(super) found: Vec<(u32, u32)>,
    /// The votes of each class: those that count, and those before the last tie was extended.
    pub(super) votes: Vec<f64>,
    pub(super) first_votes: Vec<f64>,
    /// The classes, in order.
    pub(super) order: Vec<u16>,
}

/// A block to enter.
#[derive(Debug, Clone, Copy)]
struct QueuedBlock {
    distance: u32,
    at: u32,
    depth: u32,
}

/// The distances and rows found so far.
pub(super) struct Neighbors<'a> {
    k: usize,
    /// The distance beyond which rows are not needed.
    limit: u32,
    nearest: &'a mut Vec<u32>,
    rows: &'a mut Vec<(u32, u32)>,
    sift_at: usize,
}

impl<'a> Neighbors<'a> {
    /// An empty result, for the `k` smallest distances.
    pub(super) fn new(k: usize, nearest: &'a mut Vec<u32>, rows: &'a mut Vec<(u32, u32)>) -> Self {
        nearest.clear();
        rows.clear();
        Self { k, limit: u32::MAX, nearest, rows, sift_at: FILTER_AT }
    }

    /// The distance beyond which rows are not needed.
    pub(super) fn limit(&self) -> u32 {
        self.limit
    }

    /// Adds a row within the limit.
    pub(super) fn add(&mut self, distance: u32, row: u32) {
        self.rows.push((distance, row));
        if let Err(place) = self.nearest.binary_search(&distance) {
            self.nearest.insert(place, distance);
            self.nearest.truncate(self.k);
            if self.nearest.len() == self.k {
                self.limit = self.nearest[self.k - 1];
            }
        }
        if self.rows.len() >= self.sift_at {
            self.drop_far();
            self.sift_at = FILTER_AT.max(2 * self.rows.len());
        }
    }

    /// Drops the rows that are now beyond the limit.
    pub(super) fn drop_far(&mut self) {
        let limit = self.limit;
        self.rows.retain(|&(distance, _)| distance <= limit);
    }
}

impl Tree {
    /// Finds the rows at the `k` smallest distances from the query in `memory`, whose distance to any row
    /// is at least `least`.
    pub(super) fn search(&self, values: &Values, k: usize, least: u32, memory: &mut Memory) {
        let Memory { tables, steps, nearest, found, .. } = memory;
        let width = values.n_levels();
        let mut found = Neighbors::new(k, nearest, found);
        steps.clear();
        steps.push(QueuedBlock { distance: least, at: 0, depth: 0 });
        'next: while let Some(QueuedBlock { mut distance, at, depth }) = steps.pop() {
            if distance > found.limit {
                continue;
            }
            let mut depth = depth as usize;
            let Block { shared, rest } = self.block(at, depth, width);
            for &id in shared {
                distance += tables.distance(values, depth, id);
                depth += 1;
                if distance > found.limit {
                    continue 'next;
                }
            }
            match rest {
                Rest::Children(ids, places) => {
                    let first = steps.len();
                    for (&id, &place) in ids.iter().zip(places) {
                        let distance = distance + tables.distance(values, depth, id);
                        if distance <= found.limit {
                            let (at, depth) = (join(place), depth as u32 + 1);
                            steps.push(QueuedBlock { distance, at, depth });
                        }
                    }
                    if steps.len() > first + 1 {
                        let key = |step: &QueuedBlock| std::cmp::Reverse((step.distance, step.at));
                        steps[first..].sort_unstable_by_key(key);
                    }
                }
                Rest::Rows(row, n_rows, ids) => {
                    let left = width - depth;
                    for (at, row) in (0..n_rows).zip(row..) {
                        let ids = &ids[at * left..][..left];
                        if let Some(distance) =
                            sum_within(tables, values, depth, ids, distance, found.limit)
                        {
                            found.add(distance, row);
                        }
                    }
                }
            }
        }
        found.drop_far();
    }
}

/// The distance of a row; `None` if it is beyond the limit.
#[inline]
fn sum_within(
    tables: &mut QueryDistances,
    values: &Values,
    depth: usize,
    ids: &[u16],
    mut distance: u32,
    limit: u32,
) -> Option<u32> {
    for (level, &id) in (depth..).zip(ids) {
        distance += tables.distance(values, level, id);
        if distance > limit {
            return None;
        }
    }
    Some(distance)
}
