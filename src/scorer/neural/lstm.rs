//! LSTM layers.

use std::sync::Arc;

use super::ForwardPass;
use crate::neural::params::Builder;
use crate::neural::tape::Cell;
use crate::neural::{Lstm, Var};

/// Allocates one layer of `dim` hidden units.
pub fn layer(inputs: usize, dim: usize, builder: &mut Builder) -> Lstm {
    // Forget gates start with bias 1 (Jozefowicz, Zaremba and Sutskever 2015).
    let open = |at: usize| if at / dim == 1 { 1.0 } else { 0.0 };
    Lstm {
        input: builder.matrix(inputs, 4 * dim),
        bias: builder.vector_of(open, 4 * dim),
        recurrent: builder.matrix(dim, 4 * dim),
    }
}

/// Stacked layers: each takes the outputs of the one below as its input.
#[derive(Debug, Clone)]
pub struct LstmLayers(Vec<Lstm>);

/// The cells of all layers at a step.
#[derive(Debug, Clone)]
pub enum Step {
    /// Those that the tape keeps from a number on, the lowest layer first.
    OnTape(u32),
    /// The output and the memory of each layer. Where nothing is recorded, they are not on the tape, so that they go with
    /// the last hypothesis that needs them.
    Apart(Arc<[f32]>),
}

impl Step {
    fn cell(&self, layer: usize, cells: usize, pass: &mut ForwardPass<'_>) -> Cell {
        match self {
            Self::OnTape(first) => pass.tape.kept(first + layer as u32),
            Self::Apart(numbers) => {
                let own = pass.tape.constant(&numbers[2 * layer * cells..2 * (layer + 1) * cells]);
                Cell { output: own.part(0, cells), memory: own.part(cells, cells) }
            }
        }
    }
}

impl LstmLayers {
    /// Allocates layers of `dim` hidden units each.
    pub fn new(inputs: usize, dim: usize, layers: usize, builder: &mut Builder) -> Self {
        let inputs = |layer| if layer == 0 { inputs } else { dim };
        Self((0..layers).map(|layer| self::layer(inputs(layer), dim, builder)).collect())
    }

    /// Computes one step after the step `before`, or the first one. Dropout applies to the input of each layer.
    pub fn step(&self, x: Var, before: Option<&Step>, pass: &mut ForwardPass<'_>) -> Step {
        let (mut x, first) = (x, pass.tape.next_kept());
        for (layer, &lstm) in self.0.iter().enumerate() {
            let input = pass.dropout(x);
            let before = before.map(|before| before.cell(layer, lstm.cells(), pass));
            let cell = pass.tape.step(pass.params, lstm, input, before);
            x = cell.output;
            pass.tape.keep(cell);
        }
        if pass.tape.records() {
            return Step::OnTape(first);
        }
        Step::Apart(pass.tape.take_kept(first).into())
    }

    /// The output of the highest layer at a step.
    pub fn output(&self, step: &Step, pass: &mut ForwardPass<'_>) -> Var {
        let cells = self.0.last().map_or(0, |lstm| lstm.cells());
        step.cell(self.0.len() - 1, cells, pass).output
    }

    /// Runs the layers over the rows of `x` from last to first; returns the outputs of the highest layer, one
    /// row for each row of `x`.
    pub fn run_backwards(&self, x: Var, pass: &mut ForwardPass<'_>) -> Var {
        self.0.iter().fold(x, |x, &lstm| {
            let input = pass.dropout(x);
            pass.tape.sequence(pass.params, lstm, input, true)
        })
    }
}
