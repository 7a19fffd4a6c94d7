//! Which columns vary together.
//!
//! Summing up weights by what stands in a slot, and then by what that consists of, takes about one step for
//! each row and slot, and some for each different thing that stands there. Columns are joined, two at a
//! time, as long as that becomes less for a sample of rows: which of the joins saves most is found by
//! trying all. It is done twice: for few rows, which gives short slots of which little is different, and
//! then for all rows, which joins these to long slots.

use super::design::{mix, values};
use crate::feature::Row;
use crate::feature::indicator::finish;

/// The columns, divided.
#[derive(Debug, Clone, Default)]
pub(super) struct Slots {
    /// The columns of the short slots.
    pub(super) short: Vec<Vec<u32>>,
    /// The short slots of the long ones.
    pub(super) long: Vec<Vec<u32>>,
}

/// The sums of a node are made from this share of all rows, about.
const NODE: f64 = 1.0 / 16.0;

/// Columns or slots that may become a slot.
struct Joined {
    members: Vec<u32>,
    /// A hash of what stands there for each row of the sample.
    hashes: Vec<u32>,
    /// How many different blocks there are, about.
    n_blocks: f64,
    /// How many parts a block has, about.
    n_parts: f64,
}

impl Joined {
    /// The steps for sums over a share of the rows.
    fn cost(&self, share: f64) -> f64 {
        share * self.hashes.len() as f64 + self.n_blocks * self.n_parts
    }
}

/// Counts different hashes by how many bits of a map stay free (linear counting).
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
            let bit = hash.wrapping_mul(0x9e37_79b1) >> self.shift;
            self.bits[bit as usize / 64] |= 1 << (bit % 64);
        }
        let n = 64.0 * self.bits.len() as f64;
        let set: u32 = self.bits.iter().map(|word| word.count_ones()).sum();
        -n * (1.0 - f64::from(set) / n).ln()
    }
}

impl Slots {
    /// Divides the columns by what a sample of rows tells.
    pub(super) fn new(rows: &[Row], is_set: &[bool]) -> Self {
        let mut counter = Counter::new(rows.len());
        let alone = |column| alone(rows, column, is_set[column], &mut counter);
        let columns: Vec<Joined> = (0..is_set.len()).map(alone).collect();
        let short = join_all(columns, NODE, &mut counter);
        let as_parts = |(at, slot): (u32, &Joined)| Joined {
            members: vec![at],
            hashes: slot.hashes.clone(),
            n_blocks: slot.n_blocks,
            n_parts: 1.0,
        };
        let long = join_all((0..).zip(&short).map(as_parts).collect(), 1.0, &mut counter);
        let members = |all: Vec<Joined>| all.into_iter().map(|slot| slot.members).collect();
        Self { short: members(short), long: members(long) }
    }

    /// For each of so many columns its long slot.
    pub(super) fn slot_of(&self, n_columns: usize) -> Vec<u32> {
        let mut slot_of = vec![0; n_columns];
        for (long, members) in (0..).zip(&self.long) {
            for &short in members {
                for &column in &self.short[short as usize] {
                    slot_of[column as usize] = long;
                }
            }
        }
        slot_of
    }
}

/// Joins slots as long as that saves steps in sums over a share of the rows.
fn join_all(mut all: Vec<Joined>, share: f64, counter: &mut Counter) -> Vec<Joined> {
    let mut gains: Vec<Vec<f64>> = Vec::new();
    for a in 0..all.len() {
        gains.push((0..a).map(|b| gain(&all[a], &all[b], share, counter)).collect());
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
            return all;
        }
        // Of a pair the second comes first: removing the first leaves it where it is.
        let other = all.remove(a);
        gains.remove(a);
        for gains in gains.iter_mut().skip(a) {
            gains.remove(a);
        }
        join(&mut all[b], other, counter);
        for at in (0..all.len()).filter(|&at| at != b) {
            gains[at.max(b)][at.min(b)] = gain(&all[at], &all[b], share, counter);
        }
    }
}

/// A column by itself.
fn alone(rows: &[Row], column: usize, is_set: bool, counter: &mut Counter) -> Joined {
    let mut n_tests = 0;
    let mut each = |row: &Row| {
        let row = row.borrow();
        let values = values(&row, column, is_set);
        n_tests += values.len();
        (finish(values.iter().fold(column as u64 + 1, |hash, &value| mix(hash, value))) >> 32)
            as u32
    };
    let hashes: Vec<u32> = rows.iter().map(&mut each).collect();
    let n_blocks = counter.count(hashes.iter().copied());
    // The most frequent value of a nominal column is left out of the blocks.
    let left_out = if is_set { 0 } else { most_frequent(&hashes) };
    let n_parts = (n_tests - left_out) as f64 / rows.len().max(1) as f64;
    Joined { members: vec![column as u32], hashes, n_blocks, n_parts }
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

/// How many steps joining two slots saves.
fn gain(a: &Joined, b: &Joined, share: f64, counter: &mut Counter) -> f64 {
    let n_blocks = counter.count(both(a, b));
    let joined = share * a.hashes.len() as f64 + n_blocks * (a.n_parts + b.n_parts);
    a.cost(share) + b.cost(share) - joined
}

fn join(into: &mut Joined, other: Joined, counter: &mut Counter) {
    into.hashes = both(into, &other).collect();
    into.n_blocks = counter.count(into.hashes.iter().copied());
    into.n_parts += other.n_parts;
    into.members.extend(other.members);
    into.members.sort_unstable();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_vary_together_share_a_slot_and_others_do_not() {
        // Columns 0 and 3 are functions of one number, 1 of another, 2 and 4 of a third, which is different
        // in every row.
        let row = |at: u32| Row {
            values: vec![at % 40, at / 40 % 20, at, at % 40 / 2, at + 5],
            members: vec![],
        };
        let rows: Vec<Row> = (0..8000).map(row).collect();
        let slots = Slots::new(&rows, &[false; 5]);
        assert_eq!(slots.short, [vec![0, 3], vec![1], vec![2, 4]]);
        assert_eq!(slots.long, [vec![0, 1], vec![2]]);
        assert_eq!(slots.slot_of(5), [0, 0, 1, 0, 1]);
    }
}
