//! The hidden layer and the scores of a decision.

use bytemuck::Zeroable;

use super::lanes::{PANEL, Panel, Quad, ZEROS};
use super::{InstructionSet, Matrix, loops};

/// Scratch memory of a decision.
#[derive(Debug, Default)]
pub struct Decision {
    hidden: Vec<Panel>,
    inputs: Vec<Quad>,
    scores: Vec<Panel>,
}

impl Decision {
    /// The scores: the product of the rectified sum of rows with a matrix.
    pub fn scores(&mut self, set: InstructionSet, rows: &[&[Panel]], matrix: &Matrix) -> &[f32] {
        let width = matrix.weights.len() / matrix.panels();
        self.inputs.resize(width, ZEROS);
        self.hidden.resize(4 * width / PANEL, Panel::zeroed());
        self.scores.resize(matrix.panels(), Panel::zeroed());
        let Self { hidden, inputs, scores } = self;
        loops::decide(set, rows, hidden, inputs, &matrix.weights, &matrix.scaling, scores);
        bytemuck::cast_slice(scores)
    }
}
