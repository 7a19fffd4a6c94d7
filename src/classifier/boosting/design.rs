//! Training rows as lists of the binary tests that hold for them.
//!
//! A test asks whether a nominal or numeric column has a given value, or whether a set has a given member.
//! Tests are numbered by decreasing frequency, so that sums over tests stay in the cache.
//!
//! - Equal rows are stored once.
//! - Columns that vary together form a *slot* (`slots.rs`). The values of a slot in a row form a *block*,
//!   and equal blocks are stored once: a row is a list of one block for each slot. Many candidates share
//!   the block of their children or neighbours. Sums over rows are computed by block first, then by test.
//! - In every row exactly one test of a nominal column holds. The most frequent one is not stored in the
//!   blocks: its sum is the total minus the sums of the others.

use serde::{Deserialize, Serialize};

use super::lists::{Lists, add};
use crate::feature::{Column, ColumnKind, RowRef};

/// Whether a column has a value, or a set has a member.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct Test {
    /// The position of the column.
    pub column: u32,
    /// The value, or the member.
    pub value: u32,
}

impl Test {
    pub(super) fn key(self) -> u64 {
        u64::from(self.column) << 32 | u64::from(self.value)
    }
}

/// Which columns are sets.
pub(super) fn sets(columns: &[Column]) -> Vec<bool> {
    columns.iter().map(|column| column.kind == ColumnKind::Set).collect()
}

/// The values of a column: its one value, or the members of the set.
#[inline]
pub(super) fn values<'a>(row: &RowRef<'a>, column: usize, is_set: bool) -> &'a [u32] {
    if is_set { row.set(column) } else { std::slice::from_ref(&row.values[column]) }
}

/// Mixes a value into a hash.
#[inline]
pub(super) fn mix(hash: u64, value: u32) -> u64 {
    crate::hash::mix::<23>(hash, u64::from(value))
}

/// Marks a test that belongs to no group.
pub(super) const NO_GROUP: u32 = u32::MAX;

/// Rows and tests.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// The tests by number. They are followed by one number for each nominal column that has values too
    /// rare for tests; it stands for all of them.
    pub(super) tests: Vec<Test>,
    /// The number of numbers, with those of rare values.
    pub(super) n_numbers: usize,
    pub(super) n_rows: usize,
    pub(super) n_slots: usize,
    /// The slot of each column.
    pub(super) slot_of: Vec<u32>,
    /// The blocks of each row, and the same in order of slots.
    pub(super) by_row: Vec<u32>,
    pub(super) by_slot: Vec<u32>,
    /// The tests of each block, and the blocks of each test.
    pub(super) blocks: Lists,
    pub(super) blocks_of: Lists,
    /// The total number of tests in all rows.
    pub(super) n_entries: u64,
    /// For each number its group, if it belongs to a nominal column and is stored in the blocks.
    pub(super) group_of: Vec<u32>,
    pub(super) groups: Vec<Group>,
}

/// A nominal column: the test that is not stored in the blocks, and the numbers of the others.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) left_out: u32,
    pub(super) others: Vec<u32>,
}

/// Scratch memory of [`Design::sum`]: sums by block, which are 0 between calls, and by group.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    blocks: Vec<i64>,
    groups: Vec<i64>,
}

/// The rows for which a test holds: those whose block in a slot is marked, or those whose block is not.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    bits: Vec<u64>,
    slot: usize,
    inverted: bool,
}

impl Design {
    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.n_rows
    }

    /// The tests that splits may use, by number.
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// A description of the design, for the log.
    pub fn summary(&self) -> String {
        format!(
            "{} distinct rows, {} tests, {:.1} of them per row; {} slots with {} distinct blocks",
            self.n_rows,
            self.tests.len(),
            self.n_entries as f64 / self.n_rows.max(1) as f64,
            self.n_slots,
            self.blocks.len(),
        )
    }

    #[inline]
    fn blocks_of_row(&self, row: u32) -> &[u32] {
        &self.by_row[row as usize * self.n_slots..][..self.n_slots]
    }

    /// Sums up weights of rows by test; `total` is the sum of all weights.
    pub(super) fn sum(
        &self,
        n: usize,
        weighted: impl Iterator<Item = (u32, i64)>,
        total: i64,
        scratch: &mut Sums,
        out: &mut Vec<i64>,
    ) {
        out.clear();
        out.resize(self.n_numbers, 0);
        let by_test = n as f64 * self.n_entries as f64 / self.n_rows.max(1) as f64;
        let by_block = (n * self.n_slots + self.blocks.entries.len() + self.blocks.len()) as f64;
        let Sums { blocks, groups } = scratch;
        if by_test <= by_block {
            for (row, weight) in weighted {
                for &block in self.blocks_of_row(row) {
                    add(weight, self.blocks.list(block as usize), out);
                }
            }
        } else {
            blocks.resize(self.blocks.len(), 0);
            for (row, weight) in weighted {
                add(weight, self.blocks_of_row(row), blocks);
            }
            self.blocks.distribute(blocks, out);
        }
        self.complete(out, total, groups);
    }

    /// Computes the sums of the tests that are not stored in the blocks.
    fn complete(&self, sums: &mut [i64], total: i64, groups: &mut Vec<i64>) {
        groups.clear();
        groups.resize(self.groups.len() + 1, 0);
        for (&sum, &group) in sums.iter().zip(&self.group_of) {
            // The last sum, of tests without a group, is not used.
            let of_group = &mut groups[(group as usize).min(self.groups.len())];
            *of_group = of_group.wrapping_add(sum);
        }
        for (group, &sum) in self.groups.iter().zip(groups.iter()) {
            sums[group.left_out as usize] = total - sum;
        }
    }

    /// Marks the rows for which a test holds, and no others.
    pub(super) fn mark(&self, test: u32, marks: &mut Marks) {
        let left_out = self.groups.iter().find(|group| group.left_out == test);
        marks.bits.clear();
        marks.bits.resize(self.blocks.len().div_ceil(64), 0);
        marks.slot = self.slot_of[self.tests[test as usize].column as usize] as usize;
        marks.inverted = left_out.is_some();
        for number in left_out.map_or(&[test][..], |group| &group.others) {
            for &block in self.blocks_of.list(*number as usize) {
                marks.bits[block as usize / 64] |= 1 << (block % 64);
            }
        }
    }

    /// Whether a row is marked.
    #[inline]
    pub(super) fn is_marked(&self, row: u32, marks: &Marks) -> bool {
        let block = self.by_slot[marks.slot * self.n_rows + row as usize];
        (marks.bits[block as usize / 64] >> (block % 64) & 1 == 1) != marks.inverted
    }
}
