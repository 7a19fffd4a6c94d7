//! Packed layers of simple recurrent units.

use bytemuck::Zeroable;

use super::lanes::Panel;
use super::matrix::{Matrix, Places, Rows, windows};
use super::{InstructionSet, loops};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::{Quantized, Sru};

/// The weights of a layer in one direction; each panel holds the four gates of 16 units.
#[derive(Debug)]
pub struct PackedSru {
    input: Matrix,
    /// Of the memory in the first two gates.
    memory: Vec<[Lanes; 2]>,
}

/// What a layer computes for a sentence.
#[derive(Debug, Default)]
pub struct SruSteps {
    /// The contributions of the inputs to the gates, for a window of rows.
    gates: Vec<Panel>,
    memory: Vec<Lanes>,
    /// The outputs of both directions for each row, in groups of 16 units.
    pub(super) outputs: Vec<Lanes>,
}

impl PackedSru {
    /// Packs the weights; the inputs stand at `inputs`.
    pub fn pack(quantized: &Quantized, sru: Sru, inputs: &Places) -> Self {
        let units = sru.units();
        let input =
            Matrix::pack(quantized, (sru.input, Some(sru.bias)), inputs, &Places::gates(units));
        let mut memory = vec![[Lanes::zeroed(); 2]; units.div_ceil(LANES)];
        for (gate, weights) in quantized.scales(sru.memory).chunks_exact(units).enumerate() {
            for (unit, &weight) in weights.iter().enumerate() {
                memory[unit / LANES][gate].0[unit % LANES] = weight;
            }
        }
        Self { input, memory }
    }

    /// Replaces `n` rows of inputs by the outputs of both directions, the first of which reads forwards.
    pub fn run(
        both: &[Self; 2],
        set: InstructionSet,
        x: &mut Rows,
        n: usize,
        steps: &mut SruSteps,
    ) {
        let panels = both[0].memory.len();
        steps.outputs.resize(n * 2 * panels, Lanes::zeroed());
        for (number, direction) in both.iter().enumerate() {
            direction.read(set, x, n, number, steps);
        }
        x.reset(n, 2 * panels * LANES);
        for (row, outputs) in steps.outputs.chunks_exact(2 * panels).enumerate() {
            x.set_numbers(set, row, bytemuck::cast_slice(outputs));
        }
    }

    /// Reads the rows in one direction: forwards (0) or backwards (1).
    fn read(&self, set: InstructionSet, x: &Rows, n: usize, number: usize, steps: &mut SruSteps) {
        let (panels, is_backwards) = (self.memory.len(), number == 1);
        let SruSteps { gates, memory, outputs } = steps;
        memory.clear();
        memory.resize(panels, Lanes::zeroed());
        let mut windows = windows(n);
        while let Some(window) = next(&mut windows, is_backwards) {
            self.input.products(set, x, window.clone(), gates);
            let mut rows = window.clone();
            while let Some(row) = next(&mut rows, is_backwards) {
                let gates = &gates[(row - window.start) * panels..][..panels];
                let output = &mut outputs[(2 * row + number) * panels..][..panels];
                loops::sru_step(set, gates, &self.memory, memory, output);
            }
        }
    }
}

/// The next item from the front, or from the back.
fn next<T>(items: &mut impl DoubleEndedIterator<Item = T>, backwards: bool) -> Option<T> {
    if backwards { items.next_back() } else { items.next() }
}
