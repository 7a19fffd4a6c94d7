//! Building a design: rows are added one by one and stored as blocks of tests.

use rustc_hash::FxHashMap;

use super::design::{Design, Group, NO_GROUP, Test, mix, sets, values};
use super::lists::{Lists, OMITTED};
use super::slots::Slots;
use crate::feature::{Column, Row, RowRef};
use crate::hash::finish;

/// Builds a [`Design`] row by row.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    is_set: Vec<bool>,
    row_of: FxHashMap<u64, u32>,
    /// The first rows, which determine which columns vary together.
    first: Vec<Row>,
    slots: Slots,
    /// For each slot, the block with a given hash.
    block_of: Vec<FxHashMap<u64, u32>>,
    blocks: Blocks,
    by_row: Vec<u32>,
}

/// A hash of the values in some columns.
fn hash_of(row: &RowRef<'_>, columns: &[u32], is_set: &[bool]) -> u64 {
    let mut hash = 1;
    for &column in columns {
        let is_set = is_set[column as usize];
        let values = values(row, column as usize, is_set);
        let seed = if is_set { mix(hash, values.len() as u32) } else { hash };
        hash = values.iter().fold(seed, |hash, &value| mix(hash, value));
    }
    finish(hash)
}

/// The tests of each block, numbered by first appearance.
#[derive(Debug, Clone, Default)]
struct Blocks {
    lists: Lists,
    tests: Vec<Test>,
    number_of: FxHashMap<u64, u32>,
}

impl Blocks {
    /// Adds the values in some columns.
    fn push(&mut self, row: &RowRef<'_>, columns: &[u32], is_set: &[bool]) {
        for &column in columns {
            for &value in values(row, column as usize, is_set[column as usize]) {
                let test = Test { column, value };
                let next = self.tests.len() as u32;
                let number = *self.number_of.entry(test.key()).or_insert(next);
                if number == next {
                    self.tests.push(test);
                }
                self.lists.entries.push(number);
            }
        }
        self.lists.end_list();
    }
}

/// The number of rows from which columns that vary together are determined.
const FIRST_ROWS: usize = 1 << 16;
/// One of so many of them is looked at: with all of them, training is no faster, and this takes longer.
const EVERY: usize = 8;

impl Builder {
    /// A builder without rows, for the given columns.
    pub fn new(columns: &[Column]) -> Self {
        Self { is_set: sets(columns), ..Self::default() }
    }

    /// Adds a row unless an equal one was added before; returns its index. Two different rows are treated
    /// as equal with probability 2⁻⁶³.
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

    /// Divides the columns into slots and encodes the first rows.
    fn divide(&mut self) {
        let first = std::mem::take(&mut self.first);
        let some: Vec<&Row> = first.iter().step_by(EVERY).collect();
        self.slots = Slots::new(&some, &self.is_set);
        self.block_of = vec![FxHashMap::default(); self.slots.len().max(1)];
        first.iter().for_each(|row| self.encode(row.borrow()));
    }

    fn encode(&mut self, row: RowRef<'_>) {
        let Self { is_set, slots, block_of, blocks, by_row, .. } = self;
        for (columns, block_of) in slots.iter().zip(block_of) {
            let next = blocks.lists.len() as u32;
            let block = *block_of.entry(hash_of(&row, columns, is_set)).or_insert(next);
            by_row.push(block);
            if block == next {
                blocks.push(&row, columns, is_set);
            }
        }
    }

    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.row_of.len()
    }

    /// The design. Tests that hold in fewer than `min_count` distinct rows are left out.
    pub fn finish(mut self, min_count: u32) -> Design {
        if self.block_of.is_empty() {
            self.divide();
        }
        let n_rows = self.len();
        let n_slots = self.slots.len();
        self.row_of = FxHashMap::default();
        self.block_of = Vec::new();
        self.blocks.number_of = FxHashMap::default();
        let mut rows_of_block = vec![0u64; self.blocks.lists.len()];
        for &block in &self.by_row {
            rows_of_block[block as usize] += 1;
        }
        let counts = self.blocks.lists.counts(&rows_of_block, self.blocks.tests.len());
        let mut design = Design { n_rows, n_slots, ..Design::default() };
        design.slot_of = self.slots.slot_of(self.is_set.len());
        let renumbered = self.number(&counts, min_count, &mut design);
        design.blocks = self.blocks.lists.renumbered(&renumbered);
        self.blocks = Blocks::default();
        design.n_entries = design.blocks.total(&rows_of_block);
        design.blocks_of = design.blocks.transposed(design.n_numbers);
        design.by_slot.reserve_exact(self.by_row.len());
        for slot in 0..n_slots {
            design.by_slot.extend(self.by_row.iter().skip(slot).step_by(n_slots));
        }
        self.by_row.shrink_to_fit();
        design.by_row = self.by_row;
        design
    }

    /// Numbers the tests of a design and groups them; returns, for each test of the builder, its number in
    /// the blocks.
    fn number(&self, counts: &[u64], min_count: u32, design: &mut Design) -> Vec<u32> {
        let is_nominal = |test: &Test| !self.is_set[test.column as usize];
        let mut order: Vec<usize> = (0..self.blocks.tests.len()).collect();
        order.sort_unstable_by_key(|&at| (std::cmp::Reverse(counts[at]), self.blocks.tests[at]));
        let mut renumbered = vec![OMITTED; self.blocks.tests.len()];
        let mut groups: FxHashMap<u32, usize> = FxHashMap::default();
        let mut rare = Vec::new();
        for at in order {
            let test = self.blocks.tests[at];
            let number = design.tests.len() as u32;
            let first = is_nominal(&test) && !groups.contains_key(&test.column);
            if first {
                groups.insert(test.column, design.groups.len());
                design.groups.push(Group { left_out: number, others: Vec::new() });
            } else if counts[at] < u64::from(min_count) {
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
        // All rare values of a column share a number after those of the tests.
        let mut shared: FxHashMap<u32, u32> = FxHashMap::default();
        for at in rare {
            let column = self.blocks.tests[at].column;
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
    use super::super::design::{Marks, Sums};
    use super::*;
    use crate::feature::ColumnKind;

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
