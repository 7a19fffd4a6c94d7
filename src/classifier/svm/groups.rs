//! The explicit map of the polynomial kernel, its features grouped by the rows that have them.
//!
//! For rows of ones and zeros with m ones in common, (1 + m)² = 1 + 3m + 2·m(m − 1)/2: a constant, √3 an
//! indicator and √2 a pair of indicators. All features that the same training rows have get the same dual
//! sum, so they need one weight together, whose share of the kernel is the sum of the squared factors (3
//! an indicator, 2 a pair). What a single row has costs one number a row. Nothing is left out or hashed
//! together: a set of rows is told apart from others by a 64-bit sum of random numbers.

use rustc_hash::FxHashMap;

use super::rows::Rows;

/// The squared factor of the constant, of an indicator and of a pair, by degree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// Of the constant.
    pub constant: f32,
    /// Of an indicator.
    pub single: f32,
    /// Of a pair; 0 if there are none.
    pub pair: f32,
}

impl Factors {
    /// Those of a degree: 1 or 2.
    pub fn of(degree: u32) -> Self {
        if degree == 1 {
            Self { constant: 1.0, single: 1.0, pair: 0.0 }
        } else {
            Self { constant: 1.0, single: 3.0, pair: 2.0 }
        }
    }
}

/// No group: of what only one row has, or fewer rows than the cut-off.
pub const ALONE: u32 = u32::MAX;

/// The groups of a training set's features.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    /// The share of the kernel of each group.
    pub factors: Vec<f32>,
    /// For each row, the share of what no other row has.
    pub own: Vec<f32>,
    /// For each row its kernel with itself.
    pub norms: Vec<f32>,
    starts: Vec<usize>,
    groups: Vec<u32>,
    by_rows: FxHashMap<u64, u32>,
}

/// A number for each row; sums of them stand for sets of rows.
fn mark(row: u32) -> u64 {
    let mut x = (u64::from(row) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What [`Pairs::of`] found about the pairs of one indicator with more frequent ones.
#[derive(Debug, Default)]
struct Pairs {
    counts: Vec<u32>,
    marks: Vec<u64>,
    touched: Vec<u32>,
}

impl Pairs {
    /// Counts in how many of the rows each indicator before `single` is, and which.
    fn of(&mut self, rows: &Rows, with: &[u32], single: u32) {
        self.counts.resize(rows.ids.len(), 0);
        self.marks.resize(rows.ids.len(), 0);
        for item in self.touched.drain(..) {
            self.counts[item as usize] = 0;
            self.marks[item as usize] = 0;
        }
        for &row in with {
            let mark = mark(row);
            for &item in rows.row(row as usize).iter().take_while(|&&item| item < single) {
                let count = &mut self.counts[item as usize];
                if *count == 0 {
                    self.touched.push(item);
                }
                *count += 1;
                let sum = &mut self.marks[item as usize];
                *sum = sum.wrapping_add(mark);
            }
        }
    }
}

/// Groups under construction: for each the rows that have it.
#[derive(Debug, Default)]
struct Builder {
    factors: Vec<f32>,
    starts: Vec<usize>,
    members: Vec<u32>,
    by_rows: FxHashMap<u64, u32>,
}

impl Builder {
    /// Adds a feature to the group of its rows; true if the group is new and its rows are to be listed.
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
}

impl Groups {
    /// Groups the features of the rows. Pairs that fewer than `min_pair_count` rows have are left out.
    pub fn new(rows: &Rows, factors: Factors, min_pair_count: u32) -> Self {
        let mut own = vec![0.0; rows.len()];
        let mut builder = Builder::default();
        let all = (0..rows.len() as u32).fold(0u64, |sum, row| sum.wrapping_add(mark(row)));
        if builder.add(all, factors.constant) {
            builder.members.extend(0..rows.len() as u32);
        }
        let (starts, inverted) = rows.inverted();
        let mut pairs = Pairs::default();
        let mut next: Vec<usize> = vec![usize::MAX; rows.ids.len()];
        for single in 0..rows.ids.len() {
            let with = &inverted[starts[single]..starts[single + 1]];
            if let &[row] = with {
                own[row as usize] += factors.single;
                if factors.pair > 0.0 && min_pair_count <= 1 {
                    let before = rows.row(row as usize).partition_point(|&item| (item as usize) < single);
                    own[row as usize] += factors.pair * before as f32;
                }
                continue;
            }
            let marks = with.iter().fold(0u64, |sum, &row| sum.wrapping_add(mark(row)));
            if builder.add(marks, factors.single) {
                builder.members.extend_from_slice(with);
            }
            if factors.pair == 0.0 {
                continue;
            }
            pairs.of(rows, with, single as u32);
            for &item in &pairs.touched {
                let at = item as usize;
                let count = pairs.counts[at];
                if count > 1 && count >= min_pair_count && builder.add(pairs.marks[at], factors.pair) {
                    next[at] = builder.members.len();
                    let end = builder.members.len() + count as usize;
                    builder.members.resize(end, 0);
                }
            }
            for &row in with {
                for &item in rows.row(row as usize).iter().take_while(|&&item| (item as usize) < single) {
                    let at = item as usize;
                    if pairs.counts[at] == 1 {
                        if min_pair_count <= 1 {
                            own[row as usize] += factors.pair;
                        }
                    } else if next[at] != usize::MAX {
                        builder.members[next[at]] = row;
                        next[at] += 1;
                    }
                }
            }
            for &item in &pairs.touched {
                next[item as usize] = usize::MAX;
            }
        }
        builder.finish(own)
    }

    /// The number of groups.
    pub fn len(&self) -> usize {
        self.factors.len()
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// The groups of a row, in rising order.
    pub fn row(&self, at: usize) -> &[u32] {
        &self.groups[self.starts[at]..self.starts[at + 1]]
    }

    /// All entries of all rows.
    pub fn n_entries(&self) -> usize {
        self.groups.len()
    }
}

impl Groups {
    /// TEMPORARY
    pub fn score<const L: usize>(&self, rows: &Rows, numbers: &FxHashMap<u64, u32>, dev: &crate::classifier::Instances, ind: &crate::feature::Indicators, s: &super::descent::Solution<L>, mut f: impl FnMut(usize, [f32; L])) {
        // exact by brute force through support vectors: sum of dual (1+m)^2
        let (starts, inverted) = rows.inverted();
        let mut counts = vec![0u16; rows.len()];
        let sv: Vec<u32> = (0..rows.len() as u32).filter(|&r| s.duals[r as usize].iter().any(|&d| d != 0.0)).collect();
        let mut ids = Vec::new();
        for at in 0..dev.len() {
            ind.ids(dev.row(at), &mut ids);
            counts.fill(0);
            for id in &ids {
                if let Some(&n) = numbers.get(id) {
                    for &r in &inverted[starts[n as usize]..starts[n as usize + 1]] { counts[r as usize] += 1; }
                }
            }
            let mut m = [0f32; L];
            for &r in &sv {
                let k = f32::from(1 + counts[r as usize]);
                for (m, &d) in m.iter_mut().zip(&s.duals[r as usize]) { *m += k * k * d; }
            }
            f(at, m);
        }
    }
}

impl Builder {
    /// Turns lists of rows into lists of groups; large groups get small numbers, so that what is used
    /// most lies together.
    fn finish(mut self, own: Vec<f32>) -> Groups {
        self.starts.push(self.members.len());
        let size = |group: u32| self.starts[group as usize + 1] - self.starts[group as usize];
        let mut order: Vec<u32> = (0..self.factors.len() as u32).collect();
        order.sort_by_key(|&group| std::cmp::Reverse(size(group)));
        let mut starts = vec![0usize; own.len() + 1];
        for &row in &self.members {
            starts[row as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut groups = vec![0u32; self.members.len()];
        let mut next = starts.clone();
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
        let factors = order.iter().map(|&old| self.factors[old as usize]).collect();
        let mut groups = Groups { factors, own, norms: Vec::new(), starts, groups, by_rows: self.by_rows };
        let norm = |row: usize| groups.row(row).iter().map(|&group| groups.factors[group as usize]).sum::<f32>();
        groups.norms = (0..groups.own.len()).map(|row| groups.own[row] + norm(row)).collect();
        groups
    }
}
