//! Packed matrices.

use bytemuck::Zeroable;

use super::lanes::{self, InstructionSet, LANES, PANEL, Panel, ROWS, Tile};
use crate::neural::{Param, Params};

/// Rows of inputs, four of them side by side.
#[derive(Debug, Default)]
pub struct Tiles {
    tiles: Vec<Tile>,
    inputs: usize,
}

impl Tiles {
    /// Makes room for `rows` rows of `inputs` numbers, all 0.
    pub fn reset(&mut self, rows: usize, inputs: usize) {
        self.tiles.clear();
        self.tiles.resize(rows.div_ceil(ROWS) * inputs, [0.0; ROWS]);
        self.inputs = inputs;
    }

    /// Sets numbers of a row from the input `first` on.
    pub fn set(&mut self, row: usize, first: usize, values: &[f32]) {
        let tiles = &mut self.tiles[row / ROWS * self.inputs + first..][..values.len()];
        for (tile, &value) in tiles.iter_mut().zip(values) {
            tile[row % ROWS] = value;
        }
    }

    /// The number of rows, rounded up to whole tiles.
    fn rows(&self) -> usize {
        ROWS * self.tiles.len() / self.inputs.max(1)
    }
}

/// A matrix whose outputs stand in panels, with what is added to a product.
#[derive(Debug)]
pub struct Matrix {
    /// For each panel, one of weights for each input.
    weights: Vec<Panel>,
    bias: Vec<Panel>,
}

impl Matrix {
    /// Packs a matrix of `params` with the columns that `column` gives for the places of `panels` panels; places
    /// without one get 0.
    pub fn pack(
        params: &Params,
        (weights, bias): (Param, Option<Param>),
        panels: usize,
        column: impl Fn(usize) -> Option<usize>,
    ) -> Self {
        let columns = weights.columns as usize;
        let (from, inputs) = (params.of(weights), weights.rows as usize);
        let mut packed = vec![Panel::zeroed(); panels * inputs];
        let mut packed_bias = vec![Panel::zeroed(); panels];
        for place in 0..panels * PANEL {
            let Some(column) = column(place) else { continue };
            let (panel, group, lane) = (place / PANEL, place % PANEL / LANES, place % LANES);
            for input in 0..inputs {
                packed[panel * inputs + input][group].0[lane] = from[input * columns + column];
            }
            if let Some(bias) = bias {
                packed_bias[panel][group].0[lane] = params.of(bias)[column];
            }
        }
        Self { weights: packed, bias: packed_bias }
    }

    /// Packs the columns of a matrix in their order, in blocks of `block` columns that each begin a panel.
    pub fn pack_blocks(params: &Params, of: (Param, Option<Param>), block: usize) -> Self {
        let panels = block.div_ceil(PANEL);
        let blocks = of.0.columns as usize / block;
        let column = |place| {
            let (number, at) = (place / (panels * PANEL), place % (panels * PANEL));
            (at < block).then_some(number * block + at)
        };
        Self::pack(params, of, blocks * panels, column)
    }

    /// The number of panels of a row of results.
    pub fn panels(&self) -> usize {
        self.bias.len()
    }

    /// Writes `x W + b` of each row into `out`, row by row.
    pub fn products(&self, set: InstructionSet, x: &Tiles, out: &mut Vec<Panel>) {
        out.resize(x.rows() * self.panels(), Panel::zeroed());
        lanes::products(set, &x.tiles, &self.weights, &self.bias, out);
    }

    /// Writes `x W + b` of one row into `out`.
    pub fn product(&self, set: InstructionSet, x: &[f32], out: &mut Vec<Panel>) {
        out.resize(self.panels(), Panel::zeroed());
        lanes::product(set, x, &self.weights, &self.bias, out);
    }

    pub(super) fn weights(&self) -> &[Panel] {
        &self.weights
    }
}
