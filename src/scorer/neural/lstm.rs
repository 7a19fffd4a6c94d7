//! LSTMs: one layer, and several on top of each other.

use super::Pen;
use crate::neural::params::Builder;
use crate::neural::tape::Cell;
use crate::neural::{Param, Var};

/// One layer of cells.
#[derive(Debug, Clone, Copy)]
pub struct Lstm {
    input: Param,
    bias: Param,
    recurrent: Param,
    cells: usize,
}

impl Lstm {
    /// Lays out a layer.
    pub fn new(inputs: usize, cells: usize, builder: &mut Builder) -> Self {
        // Gates that forget begin open (Jozefowicz, Zaremba and Sutskever 2015).
        let open = |at: usize| if at / cells == 1 { 1.0 } else { 0.0 };
        Self {
            input: builder.matrix(inputs, 4 * cells),
            bias: builder.vector_of(open, 4 * cells),
            recurrent: builder.matrix(cells, 4 * cells),
            cells,
        }
    }

    fn next(&self, mut gates: Var, before: Option<Cell>, pen: &mut Pen<'_>) -> Cell {
        if let Some(before) = before {
            let recurrent = pen.tape.affine(pen.params, self.recurrent, None, before.output);
            gates = pen.tape.sum(&[gates, recurrent]);
        }
        pen.tape.cell(gates, before)
    }

    /// One step.
    pub fn step(&self, x: Var, before: Option<Cell>, pen: &mut Pen<'_>) -> Cell {
        let gates = pen.tape.affine(pen.params, self.input, Some(self.bias), x);
        self.next(gates, before, pen)
    }

    /// The cells at each row of x, read from the first to the last or backwards.
    pub fn read(&self, x: Var, backwards: bool, pen: &mut Pen<'_>) -> Vec<Cell> {
        let width = 4 * self.cells;
        let gates = pen.tape.affine(pen.params, self.input, Some(self.bias), x);
        let n = gates.len() / width;
        let mut cells = Vec::with_capacity(n);
        for step in 0..n {
            let at = if backwards { n - 1 - step } else { step };
            let before = cells.last().copied();
            cells.push(self.next(gates.part(at * width, width), before, pen));
        }
        if backwards {
            cells.reverse();
        }
        cells
    }
}

/// Layers, each reading what the one below says.
#[derive(Debug, Clone)]
pub struct Layers(Vec<Lstm>);

impl Layers {
    /// Lays out layers of the same number of cells.
    pub fn new(inputs: usize, cells: usize, layers: usize, builder: &mut Builder) -> Self {
        let inputs = |layer| if layer == 0 { inputs } else { cells };
        Self((0..layers).map(|layer| Lstm::new(inputs(layer), cells, builder)).collect())
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
            let cell = lstm.step(input, before.map(|first| cells[first + layer]), pen);
            x = cell.output;
            cells.push(cell);
        }
    }
}
