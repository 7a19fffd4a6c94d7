//! Packed LSTMs on top of each other, one step at a time.

use bytemuck::Zeroable;

use super::lanes::{HIDDEN_SCALE, Panel, ZEROS};
use super::matrix::PaddedLayout;
use super::{InstructionSet, PackedLstm};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::{Lstm, Quantized};

/// LSTMs of the same size: each takes the outputs of the one below as its inputs.
#[derive(Debug)]
pub struct StackedLstm(Vec<PackedLstm>);

/// The memories and outputs of all layers after a step.
#[derive(Debug, Clone)]
pub struct StackedState {
    memory: Box<[Lanes]>,
    outputs: Box<[[u8; LANES]]>,
}

impl StackedLstm {
    /// Packs the weights of layers, the lowest first; the inputs of the lowest stand at `inputs`.
    pub fn pack(quantized: &Quantized, layers: &[Lstm], inputs: &PaddedLayout) -> Self {
        let pack = |(layer, &lstm): (usize, &Lstm)| match layer {
            0 => PackedLstm::pack(quantized, lstm, inputs),
            _ => PackedLstm::pack(quantized, lstm, &PaddedLayout::blocks(1, lstm.inputs(), LANES)),
        };
        Self(layers.iter().enumerate().map(pack).collect())
    }

    /// The layers, the lowest first.
    pub fn layers(&self) -> &[PackedLstm] {
        &self.0
    }

    /// The groups of 16 units of a layer.
    fn groups(&self) -> usize {
        self.0.first().map_or(0, |lstm| lstm.input.panels())
    }

    /// The state before the first step.
    pub fn start(&self) -> StackedState {
        let groups = self.0.len() * self.groups();
        StackedState {
            memory: vec![Lanes::zeroed(); groups].into(),
            outputs: vec![[ZEROS[0]; LANES]; groups].into(),
        }
    }

    /// Computes one step after the state `before`. `x` are inputs with their scale, `gates` is scratch memory.
    pub fn step(
        &self,
        set: InstructionSet,
        x: (&[u8], f32),
        before: &StackedState,
        gates: &mut Vec<Panel>,
    ) -> StackedState {
        let StackedState { mut memory, mut outputs } = before.clone();
        let groups = self.groups();
        for (layer, lstm) in self.0.iter().enumerate() {
            let own = layer * groups..(layer + 1) * groups;
            match layer.checked_sub(1) {
                None => lstm.input.product(set, x, gates),
                Some(below) => {
                    let x = outputs[below * groups..own.start].as_flattened();
                    lstm.input.product(set, (x, HIDDEN_SCALE), gates);
                }
            }
            let before = before.outputs[own.clone()].as_flattened();
            lstm.step(set, gates, before, &mut memory[own.clone()], &mut outputs[own]);
        }
        StackedState { memory, outputs }
    }

    /// The outputs of the highest layer, with the scale [`HIDDEN_SCALE`].
    pub fn outputs<'a>(&self, state: &'a StackedState) -> &'a [u8] {
        state.outputs[state.outputs.len() - self.groups()..].as_flattened()
    }
}
