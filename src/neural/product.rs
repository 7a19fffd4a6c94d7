//! Products of matrices, one of which is packed.
//!
//! Each number is summed up from the first product to the last, so it does not depend on the other rows, on the threads,
//! or on how many numbers the processor adds at a time.

use bytemuck::Zeroable;

use super::instructions::dispatched;
use super::lanes::{LANES, Lanes};
use crate::parallel;

/// Lanes of a panel.
const GROUPS: usize = 2;
/// Columns of a panel.
const PANEL: usize = GROUPS * LANES;
/// Rows that one thread works on at a time.
const BLOCK: usize = 64;

/// A matrix in panels of 32 columns, each with all rows.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    panels: Vec<[Lanes; GROUPS]>,
    rows: usize,
    columns: usize,
}

impl Packed {
    fn reset(&mut self, rows: usize, columns: usize) {
        (self.rows, self.columns) = (rows, columns);
        self.panels.resize(rows * columns.div_ceil(PANEL), <[Lanes; GROUPS]>::zeroed());
    }

    /// Packs a matrix of so many columns, stored row by row.
    pub fn pack(&mut self, values: &[f32], columns: usize) {
        self.reset(values.len() / columns, columns);
        let panels = self.panels.chunks_exact_mut(self.rows.max(1)).enumerate();
        in_parts(values.len(), panels, |(number, panel)| {
            for (to, row) in panel.iter_mut().zip(values.chunks_exact(columns)) {
                let row = &row[number * PANEL..columns.min((number + 1) * PANEL)];
                bytemuck::cast_slice_mut::<_, f32>(to)[..row.len()].copy_from_slice(row);
            }
        });
    }

    /// Packs the transpose of a matrix of so many columns, stored row by row.
    pub fn pack_transposed(&mut self, values: &[f32], columns: usize) {
        self.reset(columns, values.len() / columns);
        let panels = self.panels.chunks_exact_mut(columns).zip(values.chunks(PANEL * columns));
        in_parts(values.len(), panels, |(panel, rows)| {
            for (column, row) in rows.chunks_exact(columns).enumerate() {
                for (to, &value) in panel.iter_mut().zip(row) {
                    to[column / LANES].0[column % LANES] = value;
                }
            }
        });
    }
}

/// Works on the parts of a matrix of `n` numbers, on several threads if they are many.
fn in_parts<I: Send>(n: usize, parts: impl Iterator<Item = I>, work: impl Fn(I) + Sync) {
    /// Numbers that are copied in less time than threads take to begin.
    const FEW: usize = 1 << 16;
    if n <= FEW { parts.for_each(work) } else { parallel::for_each(parts, work) }
}

/// Writes the transpose of a matrix of so many columns.
pub fn transpose(values: &[f32], columns: usize, out: &mut Vec<f32>) {
    /// Rows that are gone through together.
    const ROWS: usize = 16;
    /// Columns that a thread goes through.
    const COLUMNS: usize = 64;
    let rows = values.len() / columns;
    out.resize(values.len(), 0.0);
    let parts = out.chunks_mut(COLUMNS * rows.max(1)).enumerate();
    in_parts(values.len(), parts, |(part, out)| {
        for (block, values) in values.chunks(ROWS * columns).enumerate() {
            for (column, out) in out.chunks_exact_mut(rows).enumerate() {
                let column = part * COLUMNS + column;
                for (to, row) in out[block * ROWS..].iter_mut().zip(values.chunks_exact(columns)) {
                    *to = row[column];
                }
            }
        }
    });
}

/// Adds `X W` to `Y`, both stored row by row.
pub fn add_product(x: &[f32], weights: &Packed, y: &mut [f32]) {
    let Packed { panels, rows, columns } = weights;
    if x.is_empty() || panels.is_empty() {
        return;
    }
    let blocks = x.chunks(BLOCK * rows).zip(y.chunks_mut(BLOCK * columns));
    if x.len() <= BLOCK * rows {
        return blocks.for_each(|(x, y)| block(x, panels, *rows, y, *columns));
    }
    parallel::for_each(blocks, |(x, y)| block(x, panels, *rows, y, *columns));
}

dispatched! {
    /// Adds the products of some rows.
    block(x: &[f32], panels: &[[Lanes; GROUPS]], depth: usize, y: &mut [f32], width: usize),
    |fused, WIDE| {
        for (number, panel) in panels.chunks_exact(depth).enumerate() {
            let first = number * PANEL;
            let columns = first..width.min(first + PANEL);
            if WIDE {
                let rest = tiles::<8, 2>((x, &mut *y), panel, 0, columns.clone(), width, fused);
                let rest = tiles::<4, 2>(rest, panel, 0, columns.clone(), width, fused);
                let rest = tiles::<2, 2>(rest, panel, 0, columns.clone(), width, fused);
                tiles::<1, 2>(rest, panel, 0, columns, width, fused);
                continue;
            }
            for group in 0..GROUPS {
                let columns = columns.start + group * LANES..columns.end;
                let rest = tiles::<4, 1>((x, &mut *y), panel, group, columns.clone(), width, fused);
                let rest = tiles::<2, 1>(rest, panel, group, columns.clone(), width, fused);
                tiles::<1, 1>(rest, panel, group, columns, width, fused);
            }
        }
    }
}

/// Rows of inputs, and of results.
type Rows<'x, 'y> = (&'x [f32], &'y mut [f32]);

/// Adds the products of as many tiles of `R` rows as there are with `G` groups of lanes of a panel, the first of them
/// for the first of `columns`; returns the other rows.
#[inline(always)]
fn tiles<'x, 'y, const R: usize, const G: usize>(
    (x, y): Rows<'x, 'y>,
    panel: &[[Lanes; GROUPS]],
    group: usize,
    columns: std::ops::Range<usize>,
    width: usize,
    fused: impl Fn(f32, f32, f32) -> f32 + Copy,
) -> Rows<'x, 'y> {
    let depth = panel.len();
    let tiles = x.len() / (R * depth);
    let (x, other_x) = x.split_at(tiles * R * depth);
    let (y, other_y) = y.split_at_mut(tiles * R * width);
    for (x, y) in x.chunks_exact(R * depth).zip(y.chunks_exact_mut(R * width)) {
        let rows = std::array::from_fn(|row| &x[row * depth..(row + 1) * depth]);
        let sums = tile::<R, G>(rows, panel, group, fused);
        for (sums, y) in sums.iter().zip(y.chunks_exact_mut(width)) {
            let sums: &[f32] = bytemuck::cast_slice(sums);
            for (y, sum) in y[columns.start.min(columns.end)..columns.end].iter_mut().zip(sums) {
                *y += sum;
            }
        }
    }
    (other_x, other_y)
}

/// The products of some rows with groups of lanes of a panel.
#[inline(always)]
fn tile<const R: usize, const G: usize>(
    x: [&[f32]; R],
    panel: &[[Lanes; GROUPS]],
    group: usize,
    fused: impl Fn(f32, f32, f32) -> f32,
) -> [[Lanes; G]; R] {
    let mut sums = [[Lanes::zeroed(); G]; R];
    let x = x.map(|row| &row[..panel.len()]);
    for (at, weights) in panel.iter().enumerate() {
        for row in 0..R {
            let x = x[row][at];
            for g in 0..G {
                for lane in 0..LANES {
                    let sum = &mut sums[row][g].0[lane];
                    *sum = fused(x, weights[group + g].0[lane], *sum);
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|at| ((at * 37 + seed * 101) % 19) as f32 / 7.0 - 1.2).collect()
    }

    /// Products by their definition, for odd sizes and any number of rows, packed either way.
    #[test]
    fn products_are_those_of_the_definition() {
        for (n, inputs, outputs) in
            [(1, 5, 3), (2, 40, 70), (7, 33, 64), (15, 20, 31), (150, 6, 40)]
        {
            let (x, w) = (numbers(n * inputs, 1), numbers(inputs * outputs, 2));
            let mut flipped = Vec::new();
            transpose(&w, outputs, &mut flipped);
            let (mut packed, mut again) = (Packed::default(), Packed::default());
            packed.pack(&w, outputs);
            again.pack_transposed(&flipped, inputs);
            let before = numbers(n * outputs, 3);
            let mut results = [before.clone(), before.clone()];
            for (packed, y) in [packed, again].iter().zip(&mut results) {
                add_product(&x, packed, y);
            }
            assert!(results[0] == results[1]);
            for (at, y) in results[0].iter().enumerate() {
                let (row, column) = (at / outputs, at % outputs);
                let product = |k: usize| x[row * inputs + k] * w[k * outputs + column];
                let expected = before[at] + (0..inputs).map(product).sum::<f32>();
                assert!((y - expected).abs() < 1e-3, "{n} × {inputs} × {outputs}: {y} {expected}");
            }
        }
    }

    /// A row has the same product alone and among others.
    #[test]
    fn a_row_does_not_depend_on_the_others() {
        let (x, w) = (numbers(27 * 20, 5), numbers(20 * 50, 6));
        let mut packed = Packed::default();
        packed.pack(&w, 50);
        let mut together = vec![0.5; 27 * 50];
        add_product(&x, &packed, &mut together);
        for (x, expected) in x.chunks_exact(20).zip(together.chunks_exact(50)) {
            let mut alone = vec![0.5; 50];
            add_product(x, &packed, &mut alone);
            assert_eq!(alone, expected);
        }
    }
}
