//! LSTM layers.

use std::sync::Arc;

use crate::neural::params::Builder;
use crate::neural::tape::Cell;
use crate::neural::{ForwardPass, Lstm, Var};

/// Stacked layers: each takes the outputs of the one below as its input.
#[derive(Debug, Clone)]
pub struct LstmLayers(Vec<Lstm>);

/// The cells of all layers at a step, the lowest layer first.
#[derive(Debug, Clone)]
pub struct LstmState(Arc<[Cell]>);

impl LstmState {
    /// The output of the highest layer.
    pub fn output(&self) -> Var {
        self.0[self.0.len() - 1].output
    }
}

impl LstmLayers {
    /// Allocates layers of `dim` hidden units each, at least one.
    pub fn new(inputs: usize, dim: usize, layers: usize, builder: &mut Builder) -> Self {
        let inputs = |layer| if layer == 0 { inputs } else { dim };
        Self((0..layers).map(|layer| Lstm::new(inputs(layer), dim, builder)).collect())
    }

    /// The layers, the lowest first.
    pub fn layers(&self) -> &[Lstm] {
        &self.0
    }

    /// Computes one step after the step `before`, or the first one. Dropout applies to the input of each layer.
    pub fn step(
        &self,
        mut x: Var,
        before: Option<&LstmState>,
        pass: &mut ForwardPass<'_>,
    ) -> LstmState {
        let step = |(layer, &lstm): (usize, &Lstm)| {
            let input = pass.dropout(x);
            let before = before.map(|before| before.0[layer]);
            let cell = pass.tape.step(pass.params, lstm, input, before);
            x = cell.output;
            cell
        };
        LstmState(self.0.iter().enumerate().map(step).collect())
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
