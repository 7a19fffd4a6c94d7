//! Training rows as lists of the binary tests that hold in them.
//!
//! A test asks whether a nominal column (or a number) has one value, or a set has one member. Tests are
//! numbered by how many rows they hold in, most first, so that sums over tests stay in the cache.
//!
//! - Rows that look the same are kept once.
//! - Columns that vary together are joined in a *slot* (`slots.rs`), and what stands there in a row is a
//!   *block*, kept once: a row is one block for each slot. The children of a candidate look the same in
//!   many states, and so do its neighbours. Sums over many rows are first made by block, then by test.
//! - In every row exactly one test of a nominal column holds. The one that holds most often is left out of
//!   the blocks: a sum over the rows where it holds is what the others leave of the sum over all rows.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::slots::Slots;
use crate::feature::indicator::{MULTIPLIER, finish};
use crate::feature::{Column, ColumnKind, Row, RowRef};

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
    fn key(self) -> u64 {
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
    (hash.rotate_left(23) ^ u64::from(value)).wrapping_mul(MULTIPLIER)
}

/// Lists one after the other.
#[derive(Debug, Clone)]
struct Lists {
    ends: Vec<usize>,
    entries: Vec<u32>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { ends: vec![0], entries: Vec::new() }
    }
}

impl Lists {
    fn len(&self) -> usize {
        self.ends.len() - 1
    }

    #[inline]
    fn list(&self, at: usize) -> &[u32] {
        &self.entries[self.ends[at]..self.ends[at + 1]]
    }

    fn end_list(&mut self) {
        self.ends.push(self.entries.len());
    }

    /// For each number below `n` the lists where it stands.
    fn transposed(&self, n: usize) -> Self {
        let mut ends = vec![0; n + 1];
        for &entry in &self.entries {
            ends[entry as usize + 1] += 1;
        }
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let (mut next, mut entries) = (ends.clone(), vec![0; self.entries.len()]);
        for at in 0..self.len() {
            for &entry in self.list(at) {
                entries[next[entry as usize]] = at as u32;
                next[entry as usize] += 1;
            }
        }
        Self { ends, entries }
    }
}

/// No column that has a test in every row.
const NO_GROUP: u32 = u32::MAX;
/// Stands in no block.
const OMITTED: u32 = u32::MAX;

/// Rows and tests.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// The tests by number. Behind them come, for nominal columns with values too rare to be asked for,
    /// numbers that stand for all of these.
    tests: Vec<Test>,
    /// How many numbers there are.
    n_numbers: usize,
    n_rows: usize,
    n_slots: usize,
    /// The slot of each column.
    slot_of: Vec<u32>,
    /// The blocks of each row, and the same by slot.
    by_row: Vec<u32>,
    by_slot: Vec<u32>,
    /// The numbers that stand in each block, and the blocks where each number stands.
    blocks: Lists,
    blocks_of: Lists,
    /// How many numbers all rows have together.
    n_entries: u64,
    /// For each number the group it belongs to, if it is of a nominal column and not left out.
    group_of: Vec<u32>,
    groups: Vec<Group>,
}

/// A nominal column: the test that is left out of the blocks, and the numbers of the others.
#[derive(Debug, Clone, Default)]
struct Group {
    left_out: u32,
    others: Vec<u32>,
}

/// Scratch memory of [`Design::sum`]: sums by block, all 0 between calls, and by group.
#[derive(Debug, Clone, Default)]
pub(super) struct Sums {
    blocks: Vec<i64>,
    groups: Vec<i64>,
}

/// Adds a weight to some of the sums.
#[inline]
fn add(weight: i64, numbers: &[u32], sums: &mut [i64]) {
    for &number in numbers {
        sums[number as usize] += weight;
    }
}

/// The rows where a test holds: those whose block in a slot is marked, or those where it is not.
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

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.n_rows == 0
    }

    /// The tests that may be asked, by number.
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// How many tests all rows have together, without those left out.
    pub fn n_entries(&self) -> u64 {
        self.n_entries
    }

    /// What was gathered, in words.
    pub fn summary(&self) -> String {
        format!(
            "{} distinct rows, {} tests, {:.1} of them a row in {} slots, {} blocks of {:.1} tests",
            self.n_rows,
            self.tests.len(),
            self.n_entries as f64 / self.n_rows.max(1) as f64,
            self.n_slots,
            self.blocks.len(),
            self.blocks.entries.len() as f64 / self.blocks.len().max(1) as f64,
        )
    }

    #[inline]
    fn blocks_of_row(&self, row: u32) -> &[u32] {
        &self.by_row[row as usize * self.n_slots..][..self.n_slots]
    }

    /// Sums up the weights of `n` rows by test; `total` is the sum of all.
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
        let by_test = n as f64 * (self.n_entries as f64 / self.n_rows.max(1) as f64);
        let by_block =
            n as f64 * self.n_slots as f64 + (self.blocks.entries.len() + self.blocks.len()) as f64;
        if by_test <= by_block {
            for (row, weight) in weighted {
                for &block in self.blocks_of_row(row) {
                    add(weight, self.blocks.list(block as usize), out);
                }
            }
        } else {
            scratch.blocks.resize(self.blocks.len(), 0);
            for (row, weight) in weighted {
                add(weight, self.blocks_of_row(row), &mut scratch.blocks);
            }
            for (at, sum) in scratch.blocks.iter_mut().enumerate() {
                let sum = std::mem::take(sum);
                if sum != 0 {
                    add(sum, self.blocks.list(at), out);
                }
            }
        }
        self.complete(out, total, &mut scratch.groups);
    }

    /// Completes sums by those of the tests that are left out.
    fn complete(&self, sums: &mut [i64], total: i64, groups: &mut Vec<i64>) {
        groups.clear();
        groups.resize(self.groups.len() + 1, 0);
        for (&sum, &group) in sums.iter().zip(&self.group_of) {
            // The last sum, of tests that belong to no group, means nothing.
            let of_group = &mut groups[(group as usize).min(self.groups.len())];
            *of_group = of_group.wrapping_add(sum);
        }
        for (group, &sum) in self.groups.iter().zip(groups.iter()) {
            sums[group.left_out as usize] = total - sum;
        }
    }

    /// Marks the rows where a test holds, and no others.
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

/// Takes rows one by one.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    is_set: Vec<bool>,
    row_of: FxHashMap<u64, u32>,
    /// The first rows, until it is known from them which columns vary together.
    first: Vec<Row>,
    slots: Slots,
    /// For each slot the blocks by what stands there.
    block_of: Vec<FxHashMap<u64, u32>>,
    /// The tests of each block by order of arrival.
    blocks: Lists,
    tests: Vec<Test>,
    number_of: FxHashMap<u64, u32>,
    by_row: Vec<u32>,
}

/// So many rows tell which columns vary together.
const FIRST_ROWS: usize = 1 << 16;

impl Builder {
    /// No rows of the given columns.
    pub fn new(columns: &[Column]) -> Self {
        Self { is_set: sets(columns), ..Self::default() }
    }

    /// Adds a row, unless it is there; gives its number, from 0. Two different rows are taken for the same
    /// with a chance of 2⁻⁶³ a pair.
    pub fn push(&mut self, row: RowRef<'_>) -> u32 {
        let hash = row.values.iter().chain(row.members).fold(1, |hash, &value| mix(hash, value));
        let next = self.row_of.len() as u32;
        let number = *self.row_of.entry(finish(hash)).or_insert(next);
        if number == next {
            if self.block_of.is_empty() {
                let (values, members) = (row.values.to_vec(), row.members.to_vec());
                self.first.push(Row { values, members });
                if self.first.len() == FIRST_ROWS {
                    self.divide();
                }
            } else {
                self.encode(row);
            }
        }
        number
    }

    /// Divides the columns into slots, and writes the first rows as blocks.
    fn divide(&mut self) {
        let first = std::mem::take(&mut self.first);
        self.slots = Slots::new(&first, &self.is_set);
        self.block_of = vec![FxHashMap::default(); self.slots.len().max(1)];
        first.iter().for_each(|row| self.encode(row.borrow()));
    }

    fn encode(&mut self, row: RowRef<'_>) {
        let Self { is_set, slots, block_of, blocks, tests, number_of, by_row, .. } = self;
        for (columns, block_of) in slots.iter().zip(block_of) {
            let mut hash = 1;
            for &column in columns {
                let (column, is_set) = (column as usize, is_set[column as usize]);
                let values = values(&row, column, is_set);
                let seed = if is_set { mix(hash, values.len() as u32) } else { hash };
                hash = values.iter().fold(seed, |hash, &value| mix(hash, value));
            }
            let next = blocks.len() as u32;
            let block = *block_of.entry(finish(hash)).or_insert(next);
            by_row.push(block);
            if block < next {
                continue;
            }
            for &column in columns {
                for &value in values(&row, column as usize, is_set[column as usize]) {
                    let test = Test { column, value };
                    let number = *number_of.entry(test.key()).or_insert(tests.len() as u32);
                    if number as usize == tests.len() {
                        tests.push(test);
                    }
                    blocks.entries.push(number);
                }
            }
            blocks.end_list();
        }
    }

    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.row_of.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.row_of.is_empty()
    }

    /// The rows. Tests that hold in fewer than `min_count` distinct rows are left out.
    pub fn finish(mut self, min_count: u32) -> Design {
        if self.block_of.is_empty() {
            self.divide();
        }
        let n_rows = self.len();
        let n_slots = self.slots.len();
        self.number_of = FxHashMap::default();
        self.row_of = FxHashMap::default();
        self.block_of = Vec::new();
        let mut rows_of_block = vec![0u32; self.blocks.len()];
        for &block in &self.by_row {
            rows_of_block[block as usize] += 1;
        }
        let mut counts = vec![0u32; self.tests.len()];
        for (block, &n) in rows_of_block.iter().enumerate() {
            self.blocks.list(block).iter().for_each(|&test| counts[test as usize] += n);
        }
        let mut design = Design { n_rows, n_slots, ..Design::default() };
        design.slot_of = self.slots.slot_of(self.is_set.len());
        let renumbered = self.number(&counts, min_count, &mut design);
        for (block, &n) in rows_of_block.iter().enumerate() {
            for &test in self.blocks.list(block) {
                let number = renumbered[test as usize];
                if number != OMITTED {
                    design.blocks.entries.push(number);
                    design.n_entries += u64::from(n);
                }
            }
            design.blocks.end_list();
        }
        design.blocks_of = design.blocks.transposed(design.n_numbers);
        design.by_slot.reserve_exact(self.by_row.len());
        for slot in 0..n_slots {
            design.by_slot.extend(self.by_row.iter().skip(slot).step_by(n_slots));
        }
        self.by_row.shrink_to_fit();
        design.by_row = self.by_row;
        design
    }

    /// Numbers the tests of a design and groups them; gives for each test of the builder what stands in the
    /// blocks for it.
    fn number(&self, counts: &[u32], min_count: u32, design: &mut Design) -> Vec<u32> {
        let is_nominal = |test: &Test| !self.is_set[test.column as usize];
        let mut order: Vec<usize> = (0..self.tests.len()).collect();
        order.sort_unstable_by_key(|&at| (std::cmp::Reverse(counts[at]), self.tests[at]));
        let mut renumbered = vec![OMITTED; self.tests.len()];
        let mut groups: FxHashMap<u32, usize> = FxHashMap::default();
        let mut rare = Vec::new();
        for at in order {
            let test = self.tests[at];
            let number = design.tests.len() as u32;
            let first = is_nominal(&test) && !groups.contains_key(&test.column);
            if first {
                groups.insert(test.column, design.groups.len());
                design.groups.push(Group { left_out: number, others: Vec::new() });
            } else if counts[at] < min_count {
                if is_nominal(&test) {
                    rare.push(at);
                }
                continue;
            } else {
                renumbered[at] = number;
                if is_nominal(&test) {
                    design.groups[groups[&test.column]].others.push(number);
                }
            }
            design.tests.push(test);
        }
        // All rare values of a column share a number behind those of the tests.
        let mut shared: FxHashMap<u32, u32> = FxHashMap::default();
        for at in rare {
            let column = self.tests[at].column;
            let next = (design.tests.len() + shared.len()) as u32;
            let number = *shared.entry(column).or_insert(next);
            if number == next {
                design.groups[groups[&column]].others.push(number);
            }
            renumbered[at] = number;
        }
        design.n_numbers = design.tests.len() + shared.len();
        design.group_of = vec![NO_GROUP; design.n_numbers];
        for (at, group) in (0..).zip(&design.groups) {
            group.others.iter().for_each(|&number| design.group_of[number as usize] = at);
        }
        renumbered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::Row;

    fn columns() -> Vec<Column> {
        let column = |kind| Column { name: String::new(), kind, lexical: false };
        vec![column(ColumnKind::Nominal), column(ColumnKind::Set)]
    }

    fn row(value: u32, members: &[u32]) -> Row {
        let members = [&[members.len() as u32], members].concat();
        Row { values: vec![value, 0], members }
    }

    fn design(min_count: u32) -> Design {
        let mut builder = Builder::new(&columns());
        let rows = [row(7, &[1, 2]), row(7, &[2]), row(8, &[]), row(9, &[2]), row(7, &[1, 2])];
        let numbers: Vec<u32> = rows.iter().map(|row| builder.push(row.borrow())).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 0]);
        builder.finish(min_count)
    }

    /// The rows where a test holds, by its marks.
    fn marked(design: &Design, test: u32) -> Vec<u32> {
        let mut marks = Marks::default();
        design.mark(test, &mut marks);
        (0..design.len() as u32).filter(|&row| design.is_marked(row, &marks)).collect()
    }

    #[test]
    fn tests_are_numbered_by_frequency_and_hold_where_the_rows_say() {
        let design = design(1);
        let test = |column, value| Test { column, value };
        assert_eq!(design.tests(), [test(1, 2), test(0, 7), test(0, 8), test(0, 9), test(1, 1)]);
        let held: Vec<Vec<u32>> = (0..5).map(|test| marked(&design, test)).collect();
        assert_eq!(held, [vec![0, 1, 3], vec![0, 1], vec![2], vec![3], vec![0]]);
    }

    #[test]
    fn sums_of_tests_that_are_left_out_are_what_the_others_leave() {
        for (min_count, expected) in [(1, [1011, 11, 100, 1000, 1]), (2, [1011, 11, 1100, 0, 0])] {
            let design = design(min_count);
            let (mut sums, mut scratch) = (Vec::new(), Sums::default());
            // Few rows are summed up by test, many by block.
            for times in [1, 1000] {
                let rows = || (0..4).zip([1, 10, 100, 1000]).cycle().take(4 * times);
                design.sum(4 * times, rows(), 1111 * times as i64, &mut scratch, &mut sums);
                let expected: Vec<i64> = expected.iter().map(|sum| sum * times as i64).collect();
                assert_eq!(sums, expected[..design.n_numbers]);
            }
            assert_eq!(marked(&design, 1), [0, 1]);
        }
    }
}
