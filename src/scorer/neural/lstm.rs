//! LSTM layers.

use super::ForwardPass;
use crate::neural::params::Builder;
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

impl LstmLayers {
    /// Allocates layers of `dim` hidden units each.
    pub fn new(inputs: usize, dim: usize, layers: usize, builder: &mut Builder) -> Self {
        let inputs = |layer| if layer == 0 { inputs } else { dim };
        Self((0..layers).map(|layer| self::layer(inputs(layer), dim, builder)).collect())
    }

    /// Computes one step after the step `before`, or the first one. Dropout applies to the input of each layer.
    /// Returns the index at which the tape stores the cell of the lowest layer; those of the others follow.
    pub fn step(&self, x: Var, before: Option<u32>, pass: &mut ForwardPass<'_>) -> u32 {
        let (mut x, first) = (x, pass.tape.next_kept());
        for (layer, &lstm) in self.0.iter().enumerate() {
            let input = pass.dropout(x);
            let before = before.map(|before| pass.tape.kept(before + layer as u32));
            let cell = pass.tape.step(pass.params, lstm, input, before);
            x = cell.output;
            pass.tape.keep(cell);
        }
        first
    }

    /// The output of the highest layer at a step.
    pub fn output(&self, step: u32, pass: &ForwardPass<'_>) -> Var {
        pass.tape.kept(step + self.0.len() as u32 - 1).output
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
