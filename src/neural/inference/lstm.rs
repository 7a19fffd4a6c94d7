//! Packed LSTMs.

use bytemuck::Zeroable;

use super::lanes::{HIDDEN_SCALE, Panel, ZEROS};
use super::matrix::{Matrix, PaddedLayout, Rows, windows};
use super::{InstructionSet, loops};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::{Lstm, Quantized};

/// The weights of an LSTM; each panel holds the four gates of 16 units.
#[derive(Debug)]
pub struct PackedLstm {
    pub(super) input: Matrix,
    recurrent: Matrix,
}

/// The outputs of an LSTM for a sentence.
#[derive(Debug, Default)]
pub struct Steps {
    /// The contributions of the inputs to the gates, for a window of rows.
    gates: Vec<Panel>,
    memory: Vec<Lanes>,
    /// The outputs before the first step, which are 0.
    start: Vec<[u8; LANES]>,
    /// The outputs of each row, in groups of 16 units.
    pub(super) outputs: Vec<[u8; LANES]>,
}

impl Steps {
    /// The outputs of a row, with the scale [`HIDDEN_SCALE`].
    pub fn outputs(&self, row: usize) -> &[u8] {
        let panels = self.memory.len();
        self.outputs[row * panels..(row + 1) * panels].as_flattened()
    }

    /// Copies the outputs of a row to the inputs `to`, from the place `first` on.
    pub fn copy(&self, row: usize, to: &mut Rows, first: usize) {
        to.set(row, first, self.outputs(row), HIDDEN_SCALE);
    }
}

impl PackedLstm {
    /// Packs the weights; the inputs stand at `inputs`.
    pub fn pack(quantized: &Quantized, lstm: Lstm, inputs: &PaddedLayout) -> Self {
        let units = lstm.recurrent.rows as usize;
        let (gates, own) = (PaddedLayout::gates(units), PaddedLayout::blocks(1, units, LANES));
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
        steps.memory.clear();
        steps.memory.resize(panels, Lanes::zeroed());
        steps.start.clear();
        steps.start.resize(panels, [ZEROS[0]; LANES]);
        steps.outputs.resize(n * panels, [ZEROS[0]; LANES]);
        let Steps { gates, memory, start, outputs } = steps;
        let (mut outputs, mut before) = (outputs.chunks_exact_mut(panels), &start[..]);
        let mut windows = windows(n);
        while let Some(window) = next(&mut windows, backwards) {
            self.input.products(set, x, window.clone(), gates);
            let mut gates = gates.chunks_exact(panels).take(window.len());
            while let Some(gates) = next(&mut gates, backwards) {
                let Some(output) = next(&mut outputs, backwards) else { break };
                self.step(set, gates, before.as_flattened(), memory, output);
                before = output;
            }
        }
    }

    /// Takes one step: from the contributions of the input to the gates and the outputs of the step before to memory,
    /// which is updated, and outputs.
    pub(super) fn step(
        &self,
        set: InstructionSet,
        gates: &[Panel],
        before: &[u8],
        memory: &mut [Lanes],
        outputs: &mut [[u8; LANES]],
    ) {
        let Matrix { weights, scaling } = &self.recurrent;
        loops::step(set, gates, before.as_chunks().0, weights, scaling, memory, outputs);
    }
}

/// The next item from the front, or from the back.
fn next<T>(items: &mut impl DoubleEndedIterator<Item = T>, backwards: bool) -> Option<T> {
    if backwards { items.next_back() } else { items.next() }
}
