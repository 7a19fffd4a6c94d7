//! LSTMs: one layer, and several on top of each other.

use super::Pen;
use crate::neural::params::Builder;
use crate::neural::{Cell, Lstm, Var};

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

    /// How many layers there are.
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// One step after the cells of all layers `before`, none at the beginning; those of this step are added to
    /// `cells`. What goes into a layer is left out in part while learning.
    pub fn step(&self, x: Var, before: Option<usize>, cells: &mut Vec<Cell>, pen: &mut Pen<'_>) {
        let mut x = x;
        for (layer, lstm) in self.0.iter().enumerate() {
            let input = pen.drop_out(x);
            let before = before.map(|first| cells[first + layer]);
            let cell = pen.tape.step(pen.params, *lstm, input, before);
            x = cell.output;
            cells.push(cell);
        }
    }
}
