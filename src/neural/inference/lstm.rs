//! Packed LSTMs.

use bytemuck::Zeroable;

use super::lanes::{HIDDEN_SCALE, Panel, ZEROS};
use super::matrix::{Matrix, Places, Rows};
use super::{InstructionSet, loops};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::{Lstm, Quantized};

/// The weights of an LSTM; each panel holds the four gates of 16 units.
#[derive(Debug)]
pub struct PackedLstm {
    input: Matrix,
    recurrent: Matrix,
}

/// The outputs of an LSTM for a sentence.
#[derive(Debug, Default)]
pub struct Steps {
    gates: Vec<Panel>,
    memory: Vec<Lanes>,
    /// The outputs before the first step, which are 0.
    start: Vec<[u8; LANES]>,
    /// The outputs of each row, in groups of 16 units.
    pub(super) outputs: Vec<[u8; LANES]>,
}

impl Steps {
    /// Copies the outputs of a row to the inputs `to`, from the place `first` on.
    pub fn copy(&self, row: usize, to: &mut Rows, first: usize) {
        let panels = self.memory.len();
        let outputs = self.outputs[row * panels..(row + 1) * panels].as_flattened();
        to.set(row, first, outputs, HIDDEN_SCALE);
    }
}

impl PackedLstm {
    /// Packs the weights; the inputs stand at `inputs`.
    pub fn pack(quantized: &Quantized, lstm: Lstm, inputs: &Places) -> Self {
        let units = lstm.recurrent.rows as usize;
        let (gates, own) = (Places::gates(units), Places::blocks(1, units, LANES));
        Self {
            input: Matrix::pack(quantized, (lstm.input, Some(lstm.bias)), inputs, &gates),
            recurrent: Matrix::pack(quantized, (lstm.recurrent, None), &own, &gates),
        }
    }

    /// The number of places of a row of outputs.
    pub fn outputs(&self) -> usize {
        self.input.panels() * LANES
    }

    /// Processes `n` rows from the first to the last, or backwards.
    pub fn run(&self, set: InstructionSet, x: &Rows, n: usize, backwards: bool, steps: &mut Steps) {
        let panels = self.input.panels();
        self.input.products(set, x, &mut steps.gates);
        steps.memory.clear();
        steps.memory.resize(panels, Lanes::zeroed());
        steps.start.clear();
        steps.start.resize(panels, [ZEROS[0]; LANES]);
        steps.outputs.resize(n * panels, [ZEROS[0]; LANES]);
        let mut gates = steps.gates.chunks_exact(panels).take(n);
        let mut outputs = steps.outputs.chunks_exact_mut(panels);
        let mut next = || match backwards {
            false => (gates.next(), outputs.next()),
            true => (gates.next_back(), outputs.next_back()),
        };
        let Matrix { weights, scaling } = &self.recurrent;
        let mut before = &*steps.start;
        while let (Some(gates), Some(output)) = next() {
            let inputs = before.as_flattened().as_chunks().0;
            loops::step(set, gates, inputs, weights, scaling, &mut steps.memory, output);
            before = output;
        }
    }
}
