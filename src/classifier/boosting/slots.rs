//! Which columns vary together.
//!
//! Summing up weights by block and then by test takes about one step for each row and slot, and one for
//! each test of each distinct block. Slots are merged pairwise, greedily, as long as this reduces the cost
//! on a sample of rows.

use super::design::{mix, values};
use crate::feature::Row;
use crate::hash::finish;
use crate::hash::multiply;

/// A partition of the columns.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots(Vec<Vec<u32>>);

/// A set of columns that may become a slot.
struct Joined {
    columns: Vec<u32>,
    /// For each row of the sample, a hash of its values in these columns.
    hashes: Vec<u32>,
    /// The estimated number of distinct blocks.
    n_blocks: f64,
    /// The average number of tests of a row in these columns.
    n_tests: f64,
}

impl Joined {
    /// The number of steps for sums over all rows.
    fn cost(&self) -> f64 {
        self.hashes.len() as f64 + self.n_blocks * self.n_tests
    }
}

/// Estimates the number of distinct hashes (linear counting).
#[derive(Debug)]
struct Counter {
    bits: Vec<u64>,
    shift: u32,
}

impl Counter {
    fn new(n_rows: usize) -> Self {
        let log2 = (4 * n_rows).next_power_of_two().trailing_zeros().clamp(6, 31);
        Self { bits: vec![0; 1 << (log2 - 6)], shift: 32 - log2 }
    }

    fn count(&mut self, hashes: impl Iterator<Item = u32>) -> f64 {
        self.bits.fill(0);
        for hash in hashes {
            let bit = multiply(hash) >> self.shift;
            self.bits[bit as usize / 64] |= 1 << (bit % 64);
        }
        let n = 64.0 * self.bits.len() as f64;
        let set: u32 = self.bits.iter().map(|word| word.count_ones()).sum();
        -n * (1.0 - f64::from(set) / n).ln()
    }
}

impl Slots {
    /// Partitions the columns by the cost on a sample of rows.
    pub(super) fn new(rows: &[&Row], is_set: &[bool]) -> Self {
        let mut counter = Counter::new(rows.len());
        let mut all: Vec<Joined> = (0..is_set.len())
            .map(|column| alone(rows, column, is_set[column], &mut counter))
            .collect();
        let mut gains: Vec<Vec<f64>> = Vec::new();
        for a in 0..all.len() {
            gains.push((0..a).map(|b| gain(&all[a], &all[b], &mut counter)).collect());
        }
        loop {
            let mut best = (0.0, 0, 0);
            for (a, gains) in gains.iter().enumerate() {
                for (b, &gain) in gains.iter().enumerate() {
                    if gain > best.0 {
                        best = (gain, a, b);
                    }
                }
            }
            let (gain_of_join, a, b) = best;
            if gain_of_join <= 0.0 {
                break;
            }
            // The second index is removed first, because removing the first would shift it.
            let other = all.remove(a);
            gains.remove(a);
            for gains in gains.iter_mut().skip(a) {
                gains.remove(a);
            }
            join(&mut all[b], other, &mut counter);
            for at in (0..all.len()).filter(|&at| at != b) {
                gains[at.max(b)][at.min(b)] = gain(&all[at], &all[b], &mut counter);
            }
        }
        Self(all.into_iter().map(|joined| joined.columns).collect())
    }

    /// The number of slots.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The columns of each slot.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.0.iter().map(Vec::as_slice)
    }

    /// The slot of each column.
    pub(super) fn slot_of(&self, n_columns: usize) -> Vec<u32> {
        let mut slot_of = vec![0; n_columns];
        for (slot, columns) in (0..).zip(&self.0) {
            columns.iter().for_each(|&column| slot_of[column as usize] = slot);
        }
        slot_of
    }
}

/// A slot of a single column.
fn alone(rows: &[&Row], column: usize, is_set: bool, counter: &mut Counter) -> Joined {
    let mut n_tests = 0;
    let mut each = |row: &&Row| {
        let row = row.borrow();
        let values = values(&row, column, is_set);
        n_tests += values.len();
        (finish(values.iter().fold(column as u64 + 1, |hash, &value| mix(hash, value))) >> 32)
            as u32
    };
    let hashes: Vec<u32> = rows.iter().map(&mut each).collect();
    let n_blocks = counter.count(hashes.iter().copied());
    // The most frequent value of a nominal column is not stored in the blocks.
    let left_out = if is_set { 0 } else { most_frequent(&hashes) };
    let n_tests = (n_tests - left_out) as f64 / rows.len().max(1) as f64;
    Joined { columns: vec![column as u32], hashes, n_blocks, n_tests }
}

/// How often the most frequent hash occurs.
fn most_frequent(hashes: &[u32]) -> usize {
    let mut sorted = hashes.to_vec();
    sorted.sort_unstable();
    sorted.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(0)
}

fn both(a: &Joined, b: &Joined) -> impl Iterator<Item = u32> {
    a.hashes.iter().zip(&b.hashes).map(|(a, b)| a.wrapping_add(*b))
}

/// The number of steps that merging two slots saves.
fn gain(a: &Joined, b: &Joined, counter: &mut Counter) -> f64 {
    let n_blocks = counter.count(both(a, b));
    let joined = a.hashes.len() as f64 + n_blocks * (a.n_tests + b.n_tests);
    a.cost() + b.cost() - joined
}

fn join(into: &mut Joined, other: Joined, counter: &mut Counter) {
    into.hashes = both(into, &other).collect();
    into.n_blocks = counter.count(into.hashes.iter().copied());
    into.n_tests += other.n_tests;
    into.columns.extend(other.columns);
    into.columns.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_vary_together_share_a_slot_and_others_do_not() {
        // Columns 0 and 2 are functions of one number, 1 and 3 of another; together they are all different.
        let row = |at: u32| Row {
            values: vec![at % 40, at / 40 % 37, at % 40 / 2, at / 40 % 37 + 5],
            members: vec![],
        };
        let rows: Vec<Row> = (0..1480).map(row).collect();
        let rows: Vec<&Row> = rows.iter().collect();
        let slots = Slots::new(&rows, &[false; 4]);
        assert_eq!(slots.0, [vec![0, 2], vec![1, 3]]);
        assert_eq!(slots.slot_of(4), [0, 1, 0, 1]);
    }
}
