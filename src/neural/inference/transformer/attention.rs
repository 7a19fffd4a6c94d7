//! Self-attention.

use bytemuck::Zeroable;

use super::tiles::{Panels, each, reduce};
use crate::neural::functions::{exp, larger};
use crate::neural::inference::InstructionSet;
use crate::neural::inference::bytes::dispatched;
use crate::neural::inference::lanes::{Panel, ROWS};
use crate::neural::lanes::{LANES, Lanes};

/// Scratch memory.
#[derive(Debug, Default)]
pub(super) struct Attention {
    /// The keys of a head, transposed: for each 16 rows their first numbers, then the second ones.
    keys: Vec<Lanes>,
    /// For each of some queries the weights of all rows, then padding.
    weights: Vec<Lanes>,
}

/// The sizes of heads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    pub(super) number: usize,
    /// The numbers of a query.
    pub(super) width: usize,
}

impl Heads {
    /// The lanes of a query, which may end with padding.
    pub(super) fn lanes(self) -> usize {
        self.width.div_ceil(LANES)
    }
}

/// Lanes of all rows.
#[derive(Clone, Copy)]
struct Column<'a> {
    panels: &'a [Panel],
    group: usize,
}

impl<'a> Column<'a> {
    /// The lanes at a place of rows that are stored panel by panel.
    #[inline(always)]
    fn new(x: &'a [Panel], rows: usize, lanes: usize) -> Self {
        Self { panels: &x[lanes / 4 * rows..][..rows], group: lanes % 4 }
    }

    #[inline(always)]
    fn rows(self) -> impl Iterator<Item = &'a Lanes> {
        self.panels.iter().map(move |panel| &panel[self.group])
    }
}

impl Attention {
    /// Computes the sums of values, weighted by the softmax of the products of queries and keys. `x` has the queries of
    /// all heads, then the keys, then the values.
    pub(super) fn run(&mut self, set: InstructionSet, x: &Panels, heads: Heads, y: &mut Panels) {
        let groups = x.rows.div_ceil(LANES);
        self.keys.clear();
        self.keys.resize(heads.width * groups, Lanes::zeroed());
        self.weights.resize(ROWS * groups, Lanes::zeroed());
        y.panels.clear();
        y.reset(x.rows, (heads.number * heads.lanes()).div_ceil(4));
        attend(set, (&x.panels, x.rows), heads, self, &mut y.panels);
    }
}

dispatched! {
    /// `x` has the panels, and the number of rows.
    attend(x: (&[Panel], usize), heads: Heads, scratch: &mut Attention, y: &mut [Panel]), |_bytes| {
        let (_, rows) = x;
        for head in 0..heads.number {
            transpose(x, (heads.number + head) * heads.lanes(), heads.width, &mut scratch.keys);
            for first in (0..rows).step_by(ROWS) {
                match rows - first {
                    1 => queries::<1>(x, first, (heads, head), scratch, y),
                    2 => queries::<2>(x, first, (heads, head), scratch, y),
                    3 => queries::<3>(x, first, (heads, head), scratch, y),
                    _ => queries::<4>(x, first, (heads, head), scratch, y),
                }
            }
        }
    }
}

/// Transposes the keys of a head of so many numbers, whose lanes begin at `lanes`.
#[inline(always)]
fn transpose((x, rows): (&[Panel], usize), lanes: usize, width: usize, keys: &mut [Lanes]) {
    for (group, keys) in keys.chunks_exact_mut(width.max(1)).enumerate() {
        for (number, keys) in keys.chunks_mut(LANES).enumerate() {
            let column = Column::new(x, rows, lanes + number);
            let panels = &column.panels[group * LANES..rows.min((group + 1) * LANES)];
            for (at, keys) in keys.iter_mut().enumerate() {
                for (key, panel) in keys.0.iter_mut().zip(panels) {
                    *key = panel[column.group].0[at];
                }
            }
        }
    }
}

/// The results of `N` rows from `first` on.
#[inline(always)]
fn queries<const N: usize>(
    x: (&[Panel], usize),
    first: usize,
    (heads, head): (Heads, usize),
    scratch: &mut Attention,
    y: &mut [Panel],
) {
    let (panels, rows) = x;
    let (groups, lanes) = (rows.div_ceil(LANES), heads.lanes());
    let weights = &mut scratch.weights[..N * groups];
    for (group, keys) in scratch.keys.chunks_exact(heads.width.max(1)).enumerate() {
        let mut sums = [Lanes::zeroed(); N];
        for (number, keys) in keys.chunks(LANES).enumerate() {
            let queries = Column::new(panels, rows, head * lanes + number);
            let queries: [&Lanes; N] =
                std::array::from_fn(|row| &queries.panels[first + row][queries.group]);
            for (at, keys) in keys.iter().enumerate() {
                for (sums, query) in sums.iter_mut().zip(queries) {
                    add_scaled(sums, query.0[at], keys);
                }
            }
        }
        sums.into_iter().enumerate().for_each(|(row, sums)| weights[row * groups + group] = sums);
    }
    let mut factors = [0.0; N];
    for (weights, factor) in weights.chunks_exact_mut(groups).zip(&mut factors) {
        *factor = 1.0 / exponentials(weights, rows);
    }
    let weights: [&[f32]; N] = std::array::from_fn(|row| {
        &bytemuck::cast_slice(&weights[row * groups..(row + 1) * groups])[..rows]
    });
    for number in 0..lanes {
        let values = Column::new(panels, rows, (2 * heads.number + head) * lanes + number);
        let mut sums = [Lanes::zeroed(); N];
        for (at, values) in values.rows().enumerate() {
            for (sums, weights) in sums.iter_mut().zip(weights) {
                add_scaled(sums, weights[at], values);
            }
        }
        let place = head * lanes + number;
        for (row, (sums, factor)) in sums.iter().zip(factors).enumerate() {
            let to = &mut y[place / 4 * rows + first + row][place % 4];
            *to = Lanes(sums.0.map(|sum| sum * factor));
        }
    }
}

#[inline(always)]
fn add_scaled(sums: &mut Lanes, factor: f32, values: &Lanes) {
    for (sum, value) in sums.0.iter_mut().zip(values.0) {
        *sum += factor * value;
    }
}

/// Replaces the scores of so many rows by numbers in proportion to their softmax; returns the sum of these.
#[inline(always)]
fn exponentials(scores: &mut [Lanes], rows: usize) -> f32 {
    if let Some(last) = scores.last_mut() {
        last.0[(rows - 1) % LANES + 1..].fill(f32::MIN);
    }
    let mut largest = Lanes([f32::MIN; LANES]);
    for scores in &*scores {
        largest = each(scores, &largest, larger);
    }
    let largest = reduce(&largest, larger);
    let mut sums = Lanes::zeroed();
    for scores in scores.iter_mut() {
        let shares = each(scores, &Lanes::zeroed(), |score, _| exp(score - largest));
        sums = each(&sums, &shares, |sum, share| sum + share);
        *scores = shares;
    }
    reduce(&sums, |a, b| a + b)
}
