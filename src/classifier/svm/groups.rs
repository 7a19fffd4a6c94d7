//! The explicit feature map of the polynomial kernel, with features grouped by the rows that have them.
//!
//! For binary rows with m features in common, (1 + m)² = 1 + 3m + 2·m(m − 1)/2: a constant, √3 for an
//! indicator, √2 for a pair of indicators. Features that occur in the same training rows have the same sum
//! of dual variables, so they share one weight, and their part of the kernel is the sum of the squared
//! factors (3 for an indicator, 2 for a pair). Features that occur in only one row cost one number per row.
//! The map is exact: no feature is left out or hashed together with another. Sets of rows are identified by
//! 64-bit sums of random numbers; some two of *n* sets collide with probability below n²·2⁻⁶⁵.

use std::cmp::Reverse;

use rustc_hash::FxHashMap;

use super::Fit;
use super::rows::Rows;
use crate::Result;
use crate::hash::split_mix;
use crate::sort::sort_by_key;

/// The squared factors of the parts of the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// An indicator.
    pub single: f32,
    /// A pair of indicators; 0 if there are none.
    pub pair: f32,
}

/// The squared factor of the constant.
const CONSTANT: f32 = 1.0;

impl Factors {
    /// The factors of degree 1 or 2; `None` for other degrees, which have no explicit map here.
    pub fn of(degree: u32) -> Option<Self> {
        match degree {
            1 => Some(Self { single: 1.0, pair: 0.0 }),
            2 => Some(Self { single: 3.0, pair: 2.0 }),
            _ => None,
        }
    }
}

/// A feature of the map other than the constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// An indicator.
    Single(u32),
    /// Two indicators, the more frequent first.
    Pair(u32, u32),
}

/// The groups of a training set's features. *Places* are where weights are stored: first the groups, then
/// the rows, each for the features that occur in no other row.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// The squared factor of each group, summed up over its features.
    pub factors: Vec<f32>,
    /// For each row, the part of its squared norm that it shares with no other row.
    pub own: Vec<f32>,
    /// The squared norm of each row: its kernel with itself.
    pub norms: Vec<f32>,
    /// The group that contains the constant.
    pub constant: u32,
    starts: Vec<usize>,
    groups: Vec<u32>,
    by_rows: FxHashMap<u64, u32>,
    limits: Limits,
}

/// Which pairs are features.
#[derive(Debug, Clone, Copy, Default)]
struct Limits {
    pairs: bool,
    min_count: u32,
}

/// The hash of a set of rows.
fn marks(rows: &[u32]) -> u64 {
    rows.iter().fold(0, |sum, &row| sum.wrapping_add(split_mix(u64::from(row))))
}

/// Accumulators for the pairs of one indicator with more frequent ones.
#[derive(Debug, Default)]
struct Pairs {
    found: Vec<Pair>,
    touched: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Pair {
    /// The number of rows with the pair.
    count: u32,
    /// The last of these rows.
    last: u32,
    /// The sum of their hashes.
    marks: u64,
    /// The next position in a list of rows, plus 1; 0 if the rows are not listed.
    next: usize,
}

impl Pairs {
    /// Finds, for each indicator before `single`, the rows that have both.
    fn find(&mut self, rows: &Rows, with: &[u32], single: u32) {
        self.found.resize(rows.ids.len(), Pair::default());
        for item in self.touched.drain(..) {
            self.found[item as usize] = Pair::default();
        }
        for &row in with {
            let mark = split_mix(u64::from(row));
            for &item in before(rows, row, single) {
                let pair = &mut self.found[item as usize];
                if pair.count == 0 {
                    self.touched.push(item);
                }
                pair.count += 1;
                pair.last = row;
                pair.marks = pair.marks.wrapping_add(mark);
            }
        }
    }
}

/// The indicators of a row that are more frequent than `single`.
fn before(rows: &Rows, row: u32, single: u32) -> &[u32] {
    let row = rows.row(row as usize);
    &row[..row.partition_point(|&item| item < single)]
}

/// Groups under construction, with the rows of each.
#[derive(Debug, Default)]
struct Builder {
    factors: Vec<f32>,
    own: Vec<f32>,
    starts: Vec<usize>,
    members: Vec<u32>,
    by_rows: FxHashMap<u64, u32>,
}

impl Builder {
    /// Adds a feature to the group of its rows; returns true if the group is new, so that its rows must be
    /// listed.
    fn add(&mut self, marks: u64, factor: f32) -> bool {
        let new = self.factors.len() as u32;
        let group = *self.by_rows.entry(marks).or_insert(new);
        if group == new {
            self.factors.push(0.0);
            self.starts.push(self.members.len());
        }
        self.factors[group as usize] += factor;
        group == new
    }

    fn add_listed(&mut self, rows: &[u32], factor: f32) {
        if let &[row] = rows {
            self.own[row as usize] += factor;
        } else if self.add(marks(rows), factor) {
            self.members.extend_from_slice(rows);
        }
    }

    /// Adds the pairs of an indicator with more frequent ones.
    fn add_pairs(
        &mut self,
        rows: &Rows,
        with: &[u32],
        single: u32,
        pairs: &mut Pairs,
        how: (f32, u32),
    ) {
        let (factor, min_count) = how;
        if let &[row] = with {
            if min_count <= 1 {
                self.own[row as usize] += factor * before(rows, row, single).len() as f32;
            }
            return;
        }
        pairs.find(rows, with, single);
        let mut any = false;
        for &item in &pairs.touched {
            let pair = &mut pairs.found[item as usize];
            if pair.count < min_count {
                continue;
            }
            if pair.count == 1 {
                self.own[pair.last as usize] += factor;
            } else if self.add(pair.marks, factor) {
                pair.next = self.members.len() + 1;
                self.members.resize(self.members.len() + pair.count as usize, 0);
                any = true;
            }
        }
        if !any {
            return;
        }
        for &row in with {
            for &item in before(rows, row, single) {
                let pair = &mut pairs.found[item as usize];
                if pair.next > 0 {
                    self.members[pair.next - 1] = row;
                    pair.next += 1;
                }
            }
        }
    }

    /// Inverts the lists of rows to lists of groups. Large groups get small numbers, so that the most
    /// frequently used weights are close together.
    fn finish(mut self, limits: Limits, all: u64) -> Groups {
        self.starts.push(self.members.len());
        let size = |group: u32| self.starts[group as usize + 1] - self.starts[group as usize];
        let mut order: Vec<u32> = (0..self.factors.len() as u32).collect();
        sort_by_key(&mut order, |&group| (Reverse(size(group)), group));
        let mut starts = vec![0usize; self.own.len() + 1];
        for &row in &self.members {
            starts[row as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let (mut groups, mut next) = (vec![0u32; self.members.len()], starts.clone());
        let mut new = vec![0u32; order.len()];
        for (&old, number) in order.iter().zip(0..) {
            new[old as usize] = number;
            for &row in &self.members[self.starts[old as usize]..self.starts[old as usize + 1]] {
                groups[next[row as usize]] = number;
                next[row as usize] += 1;
            }
        }
        for group in self.by_rows.values_mut() {
            *group = new[*group as usize];
        }
        let factors: Vec<f32> = order.iter().map(|&old| self.factors[old as usize]).collect();
        let norm = |row: usize| -> f32 {
            groups[starts[row]..starts[row + 1]].iter().map(|&group| factors[group as usize]).sum()
        };
        let norms = self.own.iter().enumerate().map(|(row, own)| own + norm(row)).collect();
        let constant = self.by_rows.get(&all).copied().unwrap_or_default();
        Groups {
            factors,
            own: self.own,
            norms,
            constant,
            starts,
            groups,
            by_rows: self.by_rows,
            limits,
        }
    }
}

impl Groups {
    /// Groups the features of the rows. Pairs that occur in fewer than `min_pair_count` rows are left out.
    ///
    /// # Errors
    /// [`crate::Error::Stopped`].
    pub fn new(rows: &Rows, factors: Factors, min_pair_count: u32, fit: &Fit<'_>) -> Result<Self> {
        let limits = Limits { pairs: factors.pair > 0.0, min_count: min_pair_count };
        let mut builder = Builder { own: vec![0.0; rows.len()], ..Builder::default() };
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        // The constant is a group even if there is only one row.
        if builder.add(marks(&all), CONSTANT) {
            builder.members.extend_from_slice(&all);
        }
        let (starts, inverted) = rows.inverted();
        let mut pairs = Pairs::default();
        for single in 0..rows.ids.len() {
            fit.unless_stopped()?;
            let with = &inverted[starts[single]..starts[single + 1]];
            builder.add_listed(with, factors.single);
            if limits.pairs {
                builder.add_pairs(
                    rows,
                    with,
                    single as u32,
                    &mut pairs,
                    (factors.pair, limits.min_count),
                );
            }
        }
        Ok(builder.finish(limits, marks(&all)))
    }

    /// Calls `f` with every feature and its place, in a fixed order.
    pub fn visit(&self, rows: &Rows, mut f: impl FnMut(Feature, usize)) {
        let (starts, inverted) = rows.inverted();
        let mut pairs = Pairs::default();
        let alone = |row: u32| self.len() + row as usize;
        let place = |count: u32, last: u32, marks: u64| match count {
            1 => Some(alone(last)),
            _ => self.by_rows.get(&marks).map(|&group| group as usize),
        };
        for single in 0..rows.ids.len() {
            let with = &inverted[starts[single]..starts[single + 1]];
            let number = single as u32;
            let &[.., last] = with else { continue };
            if let Some(place) = place(with.len() as u32, last, marks(with)) {
                f(Feature::Single(number), place);
            }
            if !self.limits.pairs {
                continue;
            }
            if with.len() == 1 {
                if self.limits.min_count <= 1 {
                    for &item in before(rows, last, number) {
                        f(Feature::Pair(item, number), alone(last));
                    }
                }
                continue;
            }
            pairs.find(rows, with, number);
            for &item in &pairs.touched {
                let Pair { count, last, marks, .. } = pairs.found[item as usize];
                if count >= self.limits.min_count
                    && let Some(place) = place(count, last, marks)
                {
                    f(Feature::Pair(item, number), place);
                }
            }
        }
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// The groups of a row, in ascending order.
    pub fn row(&self, at: usize) -> &[u32] {
        &self.groups[self.starts[at]..self.starts[at + 1]]
    }
}
