//! The hidden layer and the scores of a decision.

use bytemuck::Zeroable;

use super::lanes::{Panel, Quad, ZEROS};
use super::{InstructionSet, Matrix, loops};
use crate::neural::lanes::{LANES, Lanes};

/// Scratch memory of a decision.
#[derive(Debug, Default)]
pub struct Decision {
    hidden: Vec<Lanes>,
    inputs: Vec<Quad>,
    scores: Vec<Panel>,
}

impl Decision {
    /// The scores: the product of the rectified sum of rows with a matrix.
    pub fn scores(&mut self, set: InstructionSet, rows: &[&[Lanes]], matrix: &Matrix) -> &[f32] {
        let width = matrix.weights.len() / matrix.panels();
        self.inputs.resize(width, ZEROS);
        self.hidden.resize(4 * width / LANES, Lanes::zeroed());
        self.scores.resize(matrix.panels(), Panel::zeroed());
        let Self { hidden, inputs, scores } = self;
        loops::decide(set, rows, hidden, inputs, &matrix.weights, &matrix.scaling, scores);
        bytemuck::cast_slice(scores)
    }
}
