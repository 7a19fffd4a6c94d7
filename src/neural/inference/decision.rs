//! The hidden layer and the scores of a decision.

use bytemuck::Zeroable;

use super::lanes::Panel;
use super::{Inputs, InstructionSet, Matrix};
use crate::neural::lanes::{LANES, Lanes};

/// Scratch memory of a decision.
#[derive(Debug, Default)]
pub struct Decision {
    hidden: Vec<Lanes>,
    inputs: Inputs,
    scores: Vec<Panel>,
}

impl Decision {
    /// The scores: the product of the rectified sum of rows with a matrix.
    pub fn scores(&mut self, set: InstructionSet, rows: &[&[Lanes]], matrix: &Matrix) -> &[f32] {
        self.hidden.resize(matrix.places() / LANES, Lanes::zeroed());
        self.inputs.set_rectified(set, rows, &mut self.hidden);
        matrix.product(set, self.inputs.parts(), &mut self.scores);
        bytemuck::cast_slice(&self.scores)
    }
}
