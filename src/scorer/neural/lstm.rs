//! LSTMs: one layer, and several on top of each other.

use super::Pen;
use crate::neural::params::Builder;
use crate::neural::{Lstm, Var};

/// Lays out one layer of cells.
pub fn layer(inputs: usize, cells: usize, builder: &mut Builder) -> Lstm {
    // Gates that forget begin open (Jozefowicz, Zaremba and Sutskever 2015).
    let open = |at: usize| if at / cells == 1 { 1.0 } else { 0.0 };
    Lstm {
        input: builder.matrix(inputs, 4 * cells),
        bias: builder.vector_of(open, 4 * cells),
        recurrent: builder.matrix(cells, 4 * cells),
    }
}

/// Layers, each reading what the one below says.
#[derive(Debug, Clone)]
pub struct Layers(Vec<Lstm>);

impl Layers {
    /// Lays out layers of the same number of cells.
    pub fn new(inputs: usize, cells: usize, layers: usize, builder: &mut Builder) -> Self {
        let inputs = |layer| if layer == 0 { inputs } else { cells };
        Self((0..layers).map(|layer| self::layer(inputs(layer), cells, builder)).collect())
    }

    /// One step after another, or the first; what goes into a layer is left out in part while learning. Gives the
    /// number under which the tape keeps the lowest cell; the others follow.
    pub fn step(&self, x: Var, before: Option<u32>, pen: &mut Pen<'_>) -> u32 {
        let (mut x, first) = (x, pen.tape.next_kept());
        for (layer, &lstm) in self.0.iter().enumerate() {
            let input = pen.drop_out(x);
            let before = before.map(|before| pen.tape.kept(before + layer as u32));
            let cell = pen.tape.step(pen.params, lstm, input, before);
            x = cell.output;
            pen.tape.keep(cell);
        }
        first
    }

    /// What the highest layer says after a step.
    pub fn output(&self, step: u32, pen: &Pen<'_>) -> Var {
        pen.tape.kept(step + self.0.len() as u32 - 1).output
    }

    /// What the highest layer says at each row of x, read backwards.
    pub fn read_backwards(&self, x: Var, pen: &mut Pen<'_>) -> Var {
        self.0.iter().fold(x, |x, &lstm| {
            let input = pen.drop_out(x);
            pen.tape.sequence(pen.params, lstm, input, true)
        })
    }
}
