//! Training rows as lists of the binary tests that hold in them.
//!
//! A test asks whether a nominal column (or a number) has one value, or a set has one member. Rows that look
//! the same are kept once: of the candidates of a sentence most look the same in one state as in the
//! next. Tests are numbered by how many rows they hold in, most first, so that sums over tests stay in
//! the cache.
//!
//! In every row exactly one test of a nominal column holds. The one that holds most often is left out of the
//! rows: a sum over the rows where it holds is what the others leave of the sum over all rows.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::feature::indicator::{MULTIPLIER, finish};
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
    fn key(self) -> u64 {
        u64::from(self.column) << 32 | u64::from(self.value)
    }
}

/// Calls `each` with every test that holds in a row.
pub(super) fn tests_of(row: RowRef<'_>, is_set: &[bool], mut each: impl FnMut(Test)) {
    for ((column, &value), &is_set) in (0..).zip(row.values).zip(is_set) {
        if is_set {
            for &value in row.set(column as usize) {
                each(Test { column, value });
            }
        } else {
            each(Test { column, value });
        }
    }
}

/// Which columns are sets.
pub(super) fn sets(columns: &[Column]) -> Vec<bool> {
    columns.iter().map(|column| column.kind == ColumnKind::Set).collect()
}

/// No column that has a test in every row.
const NO_GROUP: u32 = u32::MAX;

/// Rows and tests, both ways round.
#[derive(Debug, Clone, Default)]
pub struct Design {
    /// The tests by number. Behind them come, for nominal columns with values too rare to be asked for,
    /// numbers that stand for all of these.
    tests: Vec<Test>,
    /// How many numbers there are.
    n_numbers: usize,
    /// Where each row begins in `held`.
    row_starts: Vec<usize>,
    held: Vec<u32>,
    /// Where the rows of each number begin in `rows`.
    test_starts: Vec<usize>,
    rows: Vec<u32>,
    /// For each number the group it belongs to, if it is of a nominal column and not left out of the rows.
    group_of: Vec<u32>,
    /// For each group the test that is left out of the rows, and the numbers of the others.
    groups: Vec<Group>,
}

#[derive(Debug, Clone, Default)]
struct Group {
    left_out: u32,
    others: Vec<u32>,
}

impl Design {
    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.row_starts.len().saturating_sub(1)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The tests that may be asked, by number.
    pub fn tests(&self) -> &[Test] {
        &self.tests
    }

    /// How many entries the rows have in all.
    pub fn n_entries(&self) -> usize {
        self.held.len()
    }

    /// How many sums [`Design::complete`] takes.
    pub(super) fn n_numbers(&self) -> usize {
        self.n_numbers
    }

    /// The numbers of the tests that hold in a row, without those left out.
    #[inline]
    pub(super) fn row(&self, row: u32) -> &[u32] {
        &self.held[self.row_starts[row as usize]..self.row_starts[row as usize + 1]]
    }

    /// Completes sums over rows by test: those of the tests that are left out of the rows. `total` is the
    /// sum over all rows; `groups` is scratch memory.
    pub(super) fn complete(&self, sums: &mut [i64], total: i64, groups: &mut Vec<i64>) {
        groups.clear();
        groups.resize(self.groups.len() + 1, 0);
        for (&sum, &group) in sums.iter().zip(&self.group_of) {
            groups[(group as usize).min(self.groups.len())] += sum;
        }
        for (group, &sum) in self.groups.iter().zip(groups.iter()) {
            sums[group.left_out as usize] = total - sum;
        }
    }

    /// Marks the rows where a test holds.
    pub(super) fn mark(&self, test: u32, marks: &mut Marks) {
        match self.groups.iter().find(|group| group.left_out == test) {
            None => self.rows(test).iter().for_each(|&row| marks.set(row)),
            Some(group) => {
                marks.0.fill(u64::MAX);
                for &other in &group.others {
                    self.rows(other).iter().for_each(|&row| marks.clear(row));
                }
            }
        }
    }

    /// Removes the marks that [`Design::mark`] made.
    pub(super) fn unmark(&self, test: u32, marks: &mut Marks) {
        if self.groups.iter().any(|group| group.left_out == test) {
            marks.0.fill(0);
        } else {
            self.rows(test).iter().for_each(|&row| marks.clear(row));
        }
    }

    fn rows(&self, number: u32) -> &[u32] {
        &self.rows[self.test_starts[number as usize]..self.test_starts[number as usize + 1]]
    }
}

/// One bit for each row.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    pub(super) fn new(n_rows: usize) -> Self {
        Self(vec![0; n_rows.div_ceil(64)])
    }

    #[inline]
    pub(super) fn has(&self, row: u32) -> bool {
        self.0[row as usize / 64] >> (row % 64) & 1 == 1
    }

    fn set(&mut self, row: u32) {
        self.0[row as usize / 64] |= 1 << (row % 64);
    }

    fn clear(&mut self, row: u32) {
        self.0[row as usize / 64] &= !(1 << (row % 64));
    }
}

/// Takes rows one by one.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    is_set: Vec<bool>,
    /// The tests in order of arrival, and how many rows they hold in.
    tests: Vec<Test>,
    counts: Vec<u32>,
    number_of: FxHashMap<u64, u32>,
    row_of: FxHashMap<u64, u32>,
    row_starts: Vec<usize>,
    held: Vec<u32>,
}

impl Builder {
    /// No rows of the given columns.
    pub fn new(columns: &[Column]) -> Self {
        Self { is_set: sets(columns), row_starts: vec![0], ..Self::default() }
    }

    /// Adds a row, unless it is there; gives its number, from 0. Two different rows are taken for the same
    /// with a chance of 2⁻⁶³ a pair.
    pub fn push(&mut self, row: RowRef<'_>) -> u32 {
        let mix = |hash: u64, &value: &u32| {
            (hash.rotate_left(23) ^ u64::from(value)).wrapping_mul(MULTIPLIER)
        };
        let hash = row.members.iter().fold(row.values.iter().fold(1, mix), mix);
        let next = self.row_starts.len() as u32 - 1;
        let number = *self.row_of.entry(finish(hash)).or_insert(next);
        if number == next {
            let Self { is_set, tests, counts, number_of, held, .. } = self;
            tests_of(row, is_set, |test| {
                let number = *number_of.entry(test.key()).or_insert(tests.len() as u32);
                if number as usize == tests.len() {
                    tests.push(test);
                    counts.push(0);
                }
                counts[number as usize] += 1;
                held.push(number);
            });
            self.row_starts.push(self.held.len());
        }
        number
    }

    /// The number of distinct rows.
    pub fn len(&self) -> usize {
        self.row_starts.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows. Tests that hold in fewer than `min_count` distinct rows are left out.
    pub fn finish(mut self, min_count: u32) -> Design {
        self.number_of = FxHashMap::default();
        self.row_of = FxHashMap::default();
        let mut design = Design::default();
        let renumbered = self.number(min_count, &mut design);
        let (mut from, mut to) = (0, 0);
        for row in 0..self.row_starts.len() - 1 {
            let end = self.row_starts[row + 1];
            for at in from..end {
                let number = renumbered[self.held[at] as usize];
                if number != OMITTED {
                    self.held[to] = number;
                    to += 1;
                }
            }
            self.row_starts[row + 1] = to;
            from = end;
        }
        self.held.truncate(to);
        self.held.shrink_to_fit();
        design.held = self.held;
        design.row_starts = self.row_starts;
        design.transpose();
        design
    }

    /// Numbers the tests of a design and groups them; gives for each test of the builder what stands in the
    /// rows for it.
    fn number(&self, min_count: u32, design: &mut Design) -> Vec<u32> {
        let is_nominal = |test: &Test| !self.is_set[test.column as usize];
        let mut order: Vec<usize> = (0..self.tests.len()).collect();
        order.sort_unstable_by_key(|&at| (std::cmp::Reverse(self.counts[at]), self.tests[at]));
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
            } else if self.counts[at] < min_count {
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

/// Stands in no row.
const OMITTED: u32 = u32::MAX;

impl Design {
    fn transpose(&mut self) {
        let mut starts = vec![0; self.n_numbers + 1];
        for &number in &self.held {
            starts[number as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        self.test_starts.clone_from(&starts);
        self.rows = vec![0; self.held.len()];
        for row in 0..self.len() {
            for &number in &self.held[self.row_starts[row]..self.row_starts[row + 1]] {
                let next = &mut starts[number as usize];
                self.rows[*next] = row as u32;
                *next += 1;
            }
        }
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
        let mut marks = Marks::new(design.len());
        design.mark(test, &mut marks);
        let rows = (0..design.len() as u32).filter(|&row| marks.has(row)).collect();
        design.unmark(test, &mut marks);
        assert!((0..design.len() as u32).all(|row| !marks.has(row)));
        rows
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
            let mut sums = vec![0; design.n_numbers()];
            for (row, weight) in (0..).zip([1, 10, 100, 1000]) {
                design.row(row).iter().for_each(|&test| sums[test as usize] += weight);
            }
            design.complete(&mut sums, 1111, &mut Vec::new());
            assert_eq!(sums, expected[..design.n_numbers()]);
            assert_eq!(marked(&design, 1), [0, 1]);
        }
    }
}
