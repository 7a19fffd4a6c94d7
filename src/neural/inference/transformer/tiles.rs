//! Rows of numbers: in panels, and quantized in tiles.

use bytemuck::Zeroable;

use crate::neural::functions::larger;
use crate::neural::inference::InstructionSet;
use crate::neural::inference::bytes::dispatched;
use crate::neural::inference::lanes::{PANEL, Panel, Quad, ROWS, ZEROS};
use crate::neural::inference::loops::quantized;
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::quantized::LARGEST;
use crate::neural::{Quantized, transformer};

/// Rows of numbers, stored panel by panel, each with all rows: products write them in this order.
#[derive(Debug, Default)]
pub(super) struct Panels {
    pub(super) panels: Vec<Panel>,
    /// The number of rows.
    pub(super) rows: usize,
}

impl Panels {
    /// Allocates rows of so many panels; their numbers are any.
    pub(super) fn reset(&mut self, rows: usize, panels: usize) {
        self.rows = rows;
        self.panels.resize(rows * panels, Panel::zeroed());
    }

    /// Copies rows of so many numbers each.
    pub(super) fn load(&mut self, values: &[f32], width: usize) {
        self.panels.clear();
        self.reset(values.len() / width, width.div_ceil(PANEL));
        for (row, values) in values.chunks_exact(width).enumerate() {
            let panels = self.panels[row..].iter_mut().step_by(self.rows);
            for (panel, values) in panels.zip(values.chunks(PANEL)) {
                bytemuck::cast_slice_mut(panel)[..values.len()].copy_from_slice(values);
            }
        }
    }

    /// Appends rows of so many numbers each.
    pub(super) fn store(&self, width: usize, values: &mut Vec<f32>) {
        for row in 0..self.rows {
            let mut rest = width;
            for panel in self.panels[row..].iter().step_by(self.rows) {
                let panel = &bytemuck::cast_slice(panel)[..rest.min(PANEL)];
                values.extend_from_slice(panel);
                rest -= panel.len();
            }
        }
    }
}

/// Rows of quantized numbers, interleaved four at a time; the last tile may have fewer rows.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    quads: Vec<Quad>,
    /// The scale of each row.
    pub(super) units: Vec<f32>,
    /// The number of quads of a row.
    width: usize,
}

impl Tiles {
    /// Allocates rows of so many places.
    fn reset(&mut self, rows: usize, places: usize) {
        self.width = places.div_ceil(4);
        self.quads.resize(rows * self.width, ZEROS);
        self.units.resize(rows, 0.0);
    }

    /// The quads of the rows of each tile.
    #[inline(always)]
    pub(super) fn tiles(&self) -> impl Iterator<Item = &[Quad]> {
        self.quads.chunks((ROWS * self.width).max(1))
    }

    /// Quantizes rows of so many places.
    pub(super) fn quantize(&mut self, set: InstructionSet, x: &Panels, places: usize) {
        self.reset(x.rows, places);
        quantize(set, &x.panels, self);
    }

    /// Normalizes rows, and quantizes the results.
    pub(super) fn normalize(&mut self, set: InstructionSet, x: &mut Panels, norm: &PackedNorm) {
        self.reset(x.rows, norm.width.next_multiple_of(LANES));
        normalize(set, &mut x.panels, norm, self);
    }
}

/// A layer norm.
#[derive(Debug)]
pub(super) struct PackedNorm {
    pub(super) width: usize,
    numbers: Vec<Numbers>,
    epsilon: f32,
}

/// The numbers of a layer norm for some lanes.
#[derive(Debug, Clone, Copy, Zeroable)]
struct Numbers {
    scale: Lanes,
    shift: Lanes,
    /// 1 for numbers that are not padding.
    used: Lanes,
}

impl PackedNorm {
    pub(super) fn pack(quantized: &Quantized, norm: transformer::LayerNorm) -> Self {
        let width = norm.scale.columns as usize;
        let mut numbers = vec![Numbers::zeroed(); width.div_ceil(PANEL) * (PANEL / LANES)];
        let pairs = quantized.scales(norm.scale).iter().zip(quantized.scales(norm.shift));
        for (at, (&scale, &shift)) in pairs.enumerate() {
            let (numbers, lane) = (&mut numbers[at / LANES], at % LANES);
            numbers.scale.0[lane] = scale;
            numbers.shift.0[lane] = shift;
            numbers.used.0[lane] = 1.0;
        }
        Self { width, numbers, epsilon: norm.epsilon }
    }
}

dispatched! {
    quantize(x: &[Panel], tiles: &mut Tiles), |_bytes| {
        for row in 0..tiles.units.len() {
            let mut largest = Lanes::zeroed();
            for lanes in x[row..].iter().step_by(tiles.units.len()).flatten() {
                largest = each(lanes, &largest, |value, largest| larger(value.abs(), largest));
            }
            round(x, row, &largest, tiles);
        }
    }
}

dispatched! {
    normalize(x: &mut [Panel], norm: &PackedNorm, tiles: &mut Tiles), |_bytes| {
        for row in 0..tiles.units.len() {
            let largest = normalize_row(&mut x[row..], tiles.units.len(), norm);
            round(x, row, &largest, tiles);
        }
    }
}

/// Normalizes a row; returns the largest sizes of its numbers.
#[inline(always)]
fn normalize_row(x: &mut [Panel], rows: usize, norm: &PackedNorm) -> Lanes {
    let mut sums = Lanes::zeroed();
    for lanes in x.iter().step_by(rows).flatten() {
        sums = each(&sums, lanes, |sum, value| sum + value);
    }
    let mean = total(&sums) / norm.width as f32;
    let mut squares = Lanes::zeroed();
    for (lanes, Numbers { used, .. }) in x.iter_mut().step_by(rows).flatten().zip(&norm.numbers) {
        let shifted = each(lanes, used, |value, used| (value - mean) * used);
        squares = each(&squares, &shifted, |sum, value| sum + value * value);
        *lanes = shifted;
    }
    let factor = 1.0 / (total(&squares) / norm.width as f32 + norm.epsilon).sqrt();
    let mut largest = Lanes::zeroed();
    for (lanes, numbers) in x.iter_mut().step_by(rows).flatten().zip(&norm.numbers) {
        let scaled = each(lanes, &numbers.scale, |value, scale| value * factor * scale);
        let result = each(&scaled, &numbers.shift, |value, shift| value + shift);
        largest = each(&result, &largest, |value, largest| larger(value.abs(), largest));
        *lanes = result;
    }
    largest
}

/// Quantizes a row of which the largest sizes of numbers are known; the largest number becomes 127.
#[inline(always)]
fn round(x: &[Panel], row: usize, largest: &Lanes, tiles: &mut Tiles) {
    let largest = reduce(largest, larger);
    let factor = if largest > 0.0 { LARGEST / largest } else { 0.0 };
    let rows = tiles.units.len();
    tiles.units[row] = largest / LARGEST;
    let (tile, at) = (row / ROWS, row % ROWS);
    let (x, to) = (&x[row..], &mut tiles.quads[tile * ROWS * tiles.width..]);
    match rows - tile * ROWS {
        1 => interleave::<1>(x, rows, factor, &mut to[..tiles.width], at),
        2 => interleave::<2>(x, rows, factor, &mut to[..2 * tiles.width], at),
        3 => interleave::<3>(x, rows, factor, &mut to[..3 * tiles.width], at),
        _ => interleave::<ROWS>(x, rows, factor, &mut to[..ROWS * tiles.width], at),
    }
}

/// Writes the integers of a row as the one at `at` of `N` interleaved rows.
#[inline(always)]
fn interleave<const N: usize>(x: &[Panel], rows: usize, factor: f32, to: &mut [Quad], at: usize) {
    let to = to.as_chunks_mut::<N>().0;
    for (panel, to) in x.iter().step_by(rows).zip(to.chunks_mut(PANEL / 4)) {
        let values: &[f32; PANEL] = bytemuck::cast_ref(panel);
        let mut quads = [ZEROS; PANEL / 4];
        for (byte, &value) in quads.as_flattened_mut().iter_mut().zip(values) {
            *byte = quantized(value * factor);
        }
        // Two loops, each of a known length: the first one is vectorized.
        match <&mut [[Quad; N]; PANEL / 4]>::try_from(&mut *to) {
            Ok(to) => to.iter_mut().zip(quads).for_each(|(to, quad)| to[at] = quad),
            Err(_) => to.iter_mut().zip(quads).for_each(|(to, quad)| to[at] = quad),
        }
    }
}

/// Combines each number with another one.
#[inline(always)]
pub(super) fn each(a: &Lanes, b: &Lanes, combine: impl Fn(f32, f32) -> f32) -> Lanes {
    let mut result = Lanes::zeroed();
    for lane in 0..LANES {
        result.0[lane] = combine(a.0[lane], b.0[lane]);
    }
    result
}

#[inline(always)]
fn total(sums: &Lanes) -> f32 {
    reduce(sums, |a, b| a + b)
}

/// Combines all numbers: halves, then halves of them.
#[inline(always)]
pub(super) fn reduce(lanes: &Lanes, combine: impl Fn(f32, f32) -> f32) -> f32 {
    let (mut eight, mut four) = ([0.0; LANES / 2], [0.0; LANES / 4]);
    for (lane, number) in eight.iter_mut().enumerate() {
        *number = combine(lanes.0[lane], lanes.0[lane + LANES / 2]);
    }
    for (lane, number) in four.iter_mut().enumerate() {
        *number = combine(eight[lane], eight[lane + LANES / 4]);
    }
    combine(combine(four[0], four[2]), combine(four[1], four[3]))
}
