//! Packed matrices, and rows of inputs for them.

use std::ops::Range;

use bytemuck::Zeroable;

use super::lanes::{ByteLanes, PANEL, Panel, Quad, ROWS, Scaling, ZEROS};
use super::{InstructionSet, loops};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::{Param, Quantized};

/// The layout of the rows or columns of a packed matrix; some places are padding.
#[derive(Debug, Clone)]
pub struct PaddedLayout(Vec<Option<u32>>);

impl PaddedLayout {
    /// `blocks` blocks of `size` numbers, each padded to a multiple of `multiple`.
    pub fn blocks(blocks: usize, size: usize, multiple: usize) -> Self {
        let padded = size.next_multiple_of(multiple);
        let block = |number: usize| {
            (0..padded).map(move |at| (at < size).then_some((number * size + at) as u32))
        };
        Self((0..blocks).flat_map(block).collect())
    }

    /// The layout of an LSTM: the four gates of each 16 units together.
    pub(super) fn gates(units: usize) -> Self {
        let place = |place: usize| {
            let (gate, unit) = (place % PANEL / LANES, place / PANEL * LANES + place % LANES);
            (unit < units).then_some((gate * units + unit) as u32)
        };
        Self((0..units.div_ceil(LANES) * PANEL).map(place).collect())
    }

    /// The places that are not padding, each with its row or column.
    fn used(&self) -> impl Iterator<Item = (usize, usize)> {
        let used = |(place, from): (usize, &Option<u32>)| Some((place, (*from)? as usize));
        self.0.iter().enumerate().filter_map(used)
    }
}

/// The number of rows whose products are computed at a time where there may be many, a multiple of [`ROWS`]: enough to
/// use the weights often while they are in a fast cache.
pub const WINDOW: usize = 32;

/// The windows of so many rows.
pub fn windows(rows: usize) -> impl DoubleEndedIterator<Item = Range<usize>> {
    (0..rows).step_by(WINDOW).map(move |first| first..rows.min(first + WINDOW))
}

/// A row of quantized inputs.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    quads: Vec<Quad>,
    /// The scale.
    unit: f32,
}

impl Inputs {
    /// Allocates `places` places; inputs beyond the numbers that are set later are 0.
    fn reset(&mut self, places: usize) {
        self.quads.clear();
        self.quads.resize(places.div_ceil(4), ZEROS);
    }

    /// Quantizes numbers as the inputs of `places` places.
    pub fn set_numbers(&mut self, set: InstructionSet, values: &[f32], places: usize) {
        self.reset(places);
        loops::quantize(set, values, self.quads.as_flattened_mut(), &mut self.unit);
    }

    /// Quantizes the sum of rows, 0 where it is negative, as the inputs of as many places as `sum` has, which is scratch
    /// memory.
    pub fn set_rectified(&mut self, set: InstructionSet, rows: &[&[Lanes]], sum: &mut [Lanes]) {
        self.reset(sum.len() * LANES);
        loops::rectify(set, rows, sum, self.quads.as_flattened_mut(), &mut self.unit);
    }

    /// The inputs and their scale.
    pub fn parts(&self) -> (&[u8], f32) {
        (self.quads.as_flattened(), self.unit)
    }
}

/// Rows of quantized inputs, interleaved four at a time.
#[derive(Debug, Default)]
pub struct Rows {
    quads: Vec<[Quad; ROWS]>,
    /// The scale of each row.
    units: Vec<f32>,
    /// The number of quads of a row.
    width: usize,
    row: Inputs,
}

impl Rows {
    /// Allocates `rows` rows of `inputs` places, all 0.
    pub fn reset(&mut self, rows: usize, inputs: usize) {
        self.width = inputs.div_ceil(4);
        self.quads.clear();
        self.quads.resize(rows.div_ceil(ROWS) * self.width, [ZEROS; ROWS]);
        self.units.clear();
        self.units.resize(rows.next_multiple_of(ROWS), 0.0);
    }

    /// The number of rows, rounded up to a multiple of [`ROWS`].
    pub fn number(&self) -> usize {
        self.units.len()
    }

    /// Sets the inputs of a row from the place `first` on, a multiple of 4; `unit` is their scale.
    pub fn set(&mut self, row: usize, first: usize, inputs: &[u8], unit: f32) {
        let quads = &mut self.quads[row / ROWS * self.width..][..self.width];
        let (inputs, _) = inputs.as_chunks();
        for (quads, &inputs) in quads[first / 4..].iter_mut().zip(inputs) {
            quads[row % ROWS] = inputs;
        }
        self.units[row] = unit;
    }

    /// Quantizes numbers as the inputs of a row.
    pub fn set_numbers(&mut self, set: InstructionSet, row: usize, values: &[f32]) {
        let mut inputs = std::mem::take(&mut self.row);
        inputs.set_numbers(set, values, 4 * self.width);
        let (bytes, unit) = inputs.parts();
        self.set(row, 0, bytes, unit);
        self.row = inputs;
    }
}

/// A packed matrix with a bias.
#[derive(Debug)]
pub struct Matrix {
    /// For each panel, the weights of each group of four inputs.
    pub(super) weights: Vec<[ByteLanes; 4]>,
    pub(super) scaling: Vec<Scaling>,
}

impl Matrix {
    /// Packs a matrix; `inputs` is the layout of its rows, `outputs` of its columns.
    pub fn pack(
        quantized: &Quantized,
        (weights, bias): (Param, Option<Param>),
        inputs: &PaddedLayout,
        outputs: &PaddedLayout,
    ) -> Self {
        /// The bytes of the weights of four inputs in a panel.
        const QUAD: usize = 4 * PANEL;
        let (from, columns) = (quantized.bytes(weights), weights.columns as usize);
        let quads = inputs.0.len().div_ceil(4);
        let panels = outputs.0.len().div_ceil(PANEL);
        let mut packed = vec![<[ByteLanes; 4]>::zeroed(); panels * quads];
        let bytes: &mut [i8] = bytemuck::cast_slice_mut(&mut packed);
        let start = |place| place / PANEL * quads * QUAD + place % PANEL * 4;
        let to: Vec<_> = outputs.used().map(|(place, column)| (start(place), column)).collect();
        let (mut sums, padding) = (vec![0; to.len()], vec![0; columns]);
        for (quad, rows) in inputs.0.chunks(4).enumerate() {
            let mut four = [&padding[..]; 4];
            for (to, row) in four.iter_mut().zip(rows) {
                *to = row.map_or(&padding[..], |row| &from[row as usize * columns..][..columns]);
            }
            for (&(start, column), sum) in to.iter().zip(&mut sums) {
                let weights = four.map(|row| row[column]);
                bytes[quad * QUAD + start..][..4].copy_from_slice(&weights);
                *sum += weights.into_iter().map(i32::from).sum::<i32>();
            }
        }
        let mut scaling = vec![Scaling::zeroed(); panels];
        for ((place, column), sum) in outputs.used().zip(sums) {
            let (scaling, group, lane) =
                (&mut scaling[place / PANEL], place % PANEL / LANES, place % LANES);
            scaling.excess[group].0[lane] = 128 * sum;
            scaling.scale[group].0[lane] = quantized.scales(weights)[column];
            scaling.bias[group].0[lane] = bias.map_or(0.0, |bias| quantized.scales(bias)[column]);
        }
        Self { weights: packed, scaling }
    }

    /// The number of places of a row of inputs.
    pub fn places(&self) -> usize {
        self.weights.len() / self.panels() * 4
    }

    /// The number of panels of a row of results.
    pub fn panels(&self) -> usize {
        self.scaling.len()
    }

    /// Writes the product of each of the rows `among` into `out`, row by row. They begin at a multiple of [`ROWS`]; the
    /// results of a few more rows may follow.
    pub fn products(
        &self,
        set: InstructionSet,
        x: &Rows,
        among: Range<usize>,
        out: &mut Vec<Panel>,
    ) {
        debug_assert_eq!(4 * x.width, self.places());
        let (first, end) = (among.start / ROWS, among.end.div_ceil(ROWS));
        let (quads, units) =
            (&x.quads[first * x.width..end * x.width], &x.units[first * ROWS..end * ROWS]);
        out.resize(units.len() * self.panels(), Panel::zeroed());
        loops::products(set, quads, units, &self.weights, &self.scaling, out);
    }

    /// Writes the product of one row into `out`.
    pub fn product(&self, set: InstructionSet, (inputs, unit): (&[u8], f32), out: &mut Vec<Panel>) {
        debug_assert_eq!(inputs.len(), self.places());
        out.resize(self.panels(), Panel::zeroed());
        loops::product(set, inputs.as_chunks().0, unit, &self.weights, &self.scaling, out);
    }
}
