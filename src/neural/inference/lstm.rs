//! Packed LSTMs.

use bytemuck::Zeroable;

use super::lanes::{self, InstructionSet, LANES, Lanes, PANEL, Panel};
use super::matrix::{Matrix, Tiles};
use crate::neural::{Lstm, Params};

/// The weights of an LSTM; each panel holds the four gates of 16 units.
#[derive(Debug)]
pub struct PackedLstm {
    input: Matrix,
    recurrent: Matrix,
    dim: usize,
}

/// What an LSTM computes for a sentence.
#[derive(Debug, Default)]
pub struct Steps {
    gates: Vec<Panel>,
    memory: Vec<Lanes>,
    outputs: Vec<Lanes>,
    dim: usize,
}

impl Steps {
    /// The output for a row.
    pub fn output(&self, row: usize) -> &[f32] {
        let width = self.memory.len();
        &bytemuck::cast_slice(&self.outputs[row * width..(row + 1) * width])[..self.dim]
    }
}

impl PackedLstm {
    /// Packs the weights.
    pub fn pack(params: &Params, lstm: Lstm) -> Self {
        let dim = lstm.recurrent.rows as usize;
        let panels = dim.div_ceil(LANES);
        let column = |place: usize| {
            let (gate, unit) = (place % PANEL / LANES, place / PANEL * LANES + place % LANES);
            (unit < dim).then_some(gate * dim + unit)
        };
        let input = Matrix::pack(params, (lstm.input, Some(lstm.bias)), panels, column);
        Self { input, recurrent: Matrix::pack(params, (lstm.recurrent, None), panels, column), dim }
    }

    /// The number of units.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Reads `rows` rows from the first to the last, or backwards.
    pub fn run(
        &self,
        set: InstructionSet,
        (x, rows): (&Tiles, usize),
        backwards: bool,
        steps: &mut Steps,
    ) {
        let panels = self.input.panels();
        self.input.products(set, x, &mut steps.gates);
        steps.dim = self.dim;
        steps.memory.clear();
        steps.memory.resize(panels, Lanes::zeroed());
        steps.outputs.resize(rows * panels, Lanes::zeroed());
        let mut gates = steps.gates.chunks_exact(panels).take(rows);
        let mut outputs = steps.outputs.chunks_exact_mut(panels);
        let mut next = || match backwards {
            false => (gates.next(), outputs.next()),
            true => (gates.next_back(), outputs.next_back()),
        };
        let mut before: &[f32] = &[];
        while let (Some(gates), Some(output)) = next() {
            lanes::step(set, gates, before, self.recurrent.weights(), &mut steps.memory, output);
            before = &bytemuck::cast_slice(output)[..self.dim];
        }
    }
}
