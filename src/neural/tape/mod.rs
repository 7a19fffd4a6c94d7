//! The computations of a network for one sentence, recorded for backpropagation.
//!
//! All numbers are in one array, and a [`Var`] is a range of it: a vector, or the rows of a matrix. A part of a
//! variable is a variable too. Gradients are in a second array at the same positions.
//!
//! Gradients of matrices are deferred: in the backward pass a product only records its input and the gradient of
//! its output; at the end, all products with one matrix become one product of two larger matrices.

pub mod lstm;

use super::kernel;
use super::lstm::Lstm;
use super::params::{Gradients, Param, Params};
use crate::sort::stable_sort_by_key;
pub use lstm::Cell;

/// Numbers on the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Var {
    at: u32,
    len: u32,
}

impl Var {
    /// A part of it.
    ///
    /// # Panics
    /// When it does not reach that far.
    #[must_use]
    pub fn part(self, from: usize, len: usize) -> Self {
        assert!(from + len <= self.len as usize, "a part of {} numbers beyond {}", len, self.len);
        Self { at: self.at + from as u32, len: len as u32 }
    }

    /// How many numbers there are.
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    fn range(self) -> std::ops::Range<usize> {
        self.at as usize..self.at as usize + self.len as usize
    }
}

/// A function of single numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Function {
    /// The hyperbolic tangent.
    Tanh,
    /// The number if it is above 0, else 0.
    Relu,
}

/// One step.
#[derive(Debug, Clone, Copy)]
enum Op {
    /// A row of a table or a vector, which begins at `from` among all parameters.
    Lookup {
        from: u32,
        out: Var,
    },
    /// A product with a matrix for each of `n` rows.
    Affine {
        n: u32,
        weights: Param,
        bias: Option<Param>,
        x: Var,
        out: Var,
    },
    /// The sum of the parts from `first` on.
    Sum {
        first: u32,
        n: u32,
        out: Var,
    },
    /// The parts from `first` on, one after the other.
    Join {
        first: u32,
        n: u32,
        out: Var,
    },
    Apply {
        function: Function,
        x: Var,
        out: Var,
    },
    /// Each number times its factor.
    Scale {
        factors: u32,
        x: Var,
        out: Var,
    },
    /// A step of an LSTM ([`lstm`]).
    Step {
        lstm: Lstm,
        x: Var,
        before: Option<Cell>,
        out: Var,
    },
    /// All steps of an LSTM over the rows of x.
    Sequence {
        lstm: Lstm,
        x: Var,
        backwards: bool,
        out: Var,
    },
    /// A loss whose gradient is known already.
    Loss {
        scores: Var,
        gradient: u32,
    },
}

/// The tape; see the module.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    values: Vec<f32>,
    gradients: Vec<f32>,
    ops: Vec<Op>,
    parts: Vec<Var>,
    factors: Vec<f32>,
    products: Vec<(Param, Option<Param>, u32, Var, Var)>,
    inputs: Vec<f32>,
    outputs: Vec<f32>,
}

impl Tape {
    /// Clears the tape.
    pub fn clear(&mut self) {
        self.values.clear();
        self.ops.clear();
        self.parts.clear();
        self.factors.clear();
    }

    /// The numbers of a variable.
    pub fn of(&self, var: Var) -> &[f32] {
        &self.values[var.range()]
    }

    fn new_var(&mut self, len: usize) -> Var {
        let at = self.values.len() as u32;
        self.values.resize(self.values.len() + len, 0.0);
        Var { at, len: len as u32 }
    }

    /// Constant numbers, which have no gradient.
    pub fn constant(&mut self, values: &[f32]) -> Var {
        let out = self.new_var(values.len());
        self.values[out.range()].copy_from_slice(values);
        out
    }

    /// A row of a table, or a vector; the last row for a number beyond it.
    pub fn lookup(&mut self, params: &Params, table: Param, row: u32) -> Var {
        let row = row.min(table.rows.saturating_sub(1));
        let out = self.constant(params.row(table, row));
        self.ops.push(Op::Lookup { from: table.row(row).start as u32, out });
        out
    }

    /// `x W + b` for each row of x, which has as many numbers as the matrix has inputs.
    pub fn affine(&mut self, params: &Params, weights: Param, bias: Option<Param>, x: Var) -> Var {
        let n = x.len() / weights.rows as usize;
        let width = weights.columns as usize;
        let out = self.new_var(n * width);
        let (before, after) = self.values.split_at_mut(out.at as usize);
        if let Some(bias) = bias {
            after.chunks_exact_mut(width).for_each(|row| row.copy_from_slice(params.of(bias)));
        }
        kernel::add_products(n, &before[x.range()], params.of(weights), after);
        self.ops.push(Op::Affine { n: n as u32, weights, bias, x, out });
        out
    }

    /// Where the parts of a step are noted, and how many they are.
    fn note_parts(&mut self, parts: impl IntoIterator<Item = Var>) -> (u32, u32) {
        let first = self.parts.len();
        self.parts.extend(parts);
        (first as u32, (self.parts.len() - first) as u32)
    }

    /// The sum of variables of the same length, of which there is one at least.
    pub fn sum(&mut self, parts: &[Var]) -> Var {
        let out = self.new_var(parts.first().map_or(0, |part| part.len()));
        let (before, after) = self.values.split_at_mut(out.at as usize);
        parts.iter().for_each(|part| kernel::add_scaled(1.0, &before[part.range()], after));
        let (first, n) = self.note_parts(parts.iter().copied());
        self.ops.push(Op::Sum { first, n, out });
        out
    }

    /// Variables one after the other.
    pub fn join(&mut self, parts: impl IntoIterator<Item = Var, IntoIter: Clone>) -> Var {
        let parts = parts.into_iter();
        let out = self.new_var(parts.clone().map(Var::len).sum());
        let mut at = out.at as usize;
        for part in parts.clone() {
            self.values.copy_within(part.range(), at);
            at += part.len();
        }
        let (first, n) = self.note_parts(parts);
        self.ops.push(Op::Join { first, n, out });
        out
    }

    /// A function of each number.
    pub fn apply(&mut self, function: Function, x: Var) -> Var {
        let out = self.new_var(x.len());
        self.values.copy_within(x.range(), out.at as usize);
        let values = &mut self.values[out.range()];
        match function {
            Function::Tanh => kernel::tanh(values),
            Function::Relu => values.iter_mut().for_each(|value| *value = value.max(0.0)),
        }
        self.ops.push(Op::Apply { function, x, out });
        out
    }

    /// Each number times its factor.
    pub fn scale(&mut self, x: Var, factors: impl IntoIterator<Item = f32>) -> Var {
        let out = self.new_var(x.len());
        let first = self.factors.len();
        self.factors.extend(factors.into_iter().take(x.len()));
        self.factors.resize(first + x.len(), 1.0);
        for (at, factor) in self.factors[first..].iter().enumerate() {
            self.values[out.at as usize + at] = self.values[x.at as usize + at] * factor;
        }
        self.ops.push(Op::Scale { factors: first as u32, x, out });
        out
    }

    /// Adds the cross-entropy loss of choosing among some of the scores: of each choice its place and its
    /// probability, which add up to 1. Returns the loss.
    ///
    /// # Panics
    /// When a place is beyond the scores.
    pub fn cross_entropy(&mut self, scores: Var, choices: &[(u32, f32)]) -> f32 {
        let gradient = self.factors.len();
        self.factors.resize(gradient + scores.len(), 0.0);
        let values = &self.values[scores.range()];
        let loss = kernel::cross_entropy(values, choices, &mut self.factors[gradient..]);
        self.ops.push(Op::Loss { scores, gradient: gradient as u32 });
        loss
    }

    /// Backpropagates all losses on the tape, and adds the gradients of the parameters.
    pub fn backward(&mut self, params: &Params, gradients: &mut Gradients) {
        self.gradients.clear();
        self.gradients.resize(self.values.len(), 0.0);
        self.products.clear();
        for at in (0..self.ops.len()).rev() {
            match self.ops[at] {
                Op::Lookup { from, out } => self.back_lookup(from, out, params, gradients),
                Op::Affine { n, weights, bias, x, out } => {
                    self.products.push((weights, bias, n, x, out));
                    let (old, new) = self.gradients.split_at_mut(out.at as usize);
                    let (dy, dx) = (&new[..out.len()], &mut old[x.range()]);
                    kernel::add_back_products(n as usize, dy, params.of(weights), dx);
                }
                Op::Sum { first, n, out } => {
                    let (old, new) = self.gradients.split_at_mut(out.at as usize);
                    for part in &self.parts[first as usize..(first + n) as usize] {
                        kernel::add_scaled(1.0, &new[..out.len()], &mut old[part.range()]);
                    }
                }
                Op::Join { first, n, out } => {
                    let (old, mut new) = self.gradients.split_at_mut(out.at as usize);
                    for part in &self.parts[first as usize..(first + n) as usize] {
                        let (gradient, rest) = new.split_at_mut(part.len());
                        kernel::add_scaled(1.0, gradient, &mut old[part.range()]);
                        new = rest;
                    }
                }
                Op::Apply { function, x, out } => self.back_apply(function, x, out),
                Op::Scale { factors, x, out } => {
                    for at in 0..x.len() {
                        self.gradients[x.at as usize + at] += self.gradients[out.at as usize + at]
                            * self.factors[factors as usize + at];
                    }
                }
                Op::Step { lstm, x, before, out } => self.back_step(lstm, x, before, out, params),
                Op::Sequence { lstm, x, backwards, out } => {
                    self.back_sequence(lstm, x, backwards, out, params);
                }
                Op::Loss { scores, gradient } => {
                    let gradient =
                        &self.factors[gradient as usize..gradient as usize + scores.len()];
                    kernel::add_scaled(1.0, gradient, &mut self.gradients[scores.range()]);
                }
            }
        }
        self.back_weights(gradients);
    }

    fn back_lookup(&self, from: u32, out: Var, params: &Params, gradients: &mut Gradients) {
        let gradient = &self.gradients[out.range()];
        let first = from as usize;
        if first < params.dense() {
            kernel::add_scaled(1.0, gradient, &mut gradients.dense[first..first + gradient.len()]);
        } else {
            gradients.add_at(from, 1.0, gradient);
        }
    }

    fn back_apply(&mut self, function: Function, x: Var, out: Var) {
        for at in 0..x.len() {
            let (y, dy) = (self.values[out.at as usize + at], self.gradients[out.at as usize + at]);
            self.gradients[x.at as usize + at] += match function {
                Function::Tanh => dy * (1.0 - y * y),
                Function::Relu => {
                    if y > 0.0 {
                        dy
                    } else {
                        0.0
                    }
                }
            };
        }
    }

    /// The gradients of matrices and biases.
    fn back_weights(&mut self, gradients: &mut Gradients) {
        let Self { values, gradients: own, products, inputs, outputs, .. } = self;
        stable_sort_by_key(products, |&(weights, ..)| weights.range().start);
        for group in products.chunk_by(|a, b| a.0 == b.0) {
            let (weights, bias, ..) = group[0];
            inputs.clear();
            outputs.clear();
            let mut rows = 0;
            for &(_, _, n, x, out) in group {
                rows += n as usize;
                inputs.extend_from_slice(&values[x.range()]);
                outputs.extend_from_slice(&own[out.range()]);
            }
            kernel::add_weight_gradient(rows, inputs, outputs, gradients.of_mut(weights));
            if let Some(bias) = bias {
                let bias = gradients.of_mut(bias);
                for row in outputs.chunks_exact(bias.len()) {
                    kernel::add_scaled(1.0, row, bias);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
