//! The computations of a network for a sentence or a batch of sentences, recorded for backpropagation.
//!
//! All numbers are in one array, and a [`Var`] is a range of it: a vector, or the rows of a matrix. A part of a
//! variable is a variable too. Gradients are in a second array at the same positions.
//!
//! Gradients of matrices are deferred: in the backward pass a product only records its input and the gradient of
//! its output; at the end, all products with one matrix become one product of two larger matrices.
//!
//! - [`lstm`]: a step of an LSTM, and the steps over a sentence; `bilstm`: over the sentences of a batch, whose rows
//!   stand as a [`Layout`] says.
//! - `losses`: cross-entropy.
//! - `attention`; `norm`: layer normalization, activations, and rows.
//! - [`decisions`]: decisions on the sentences of a batch, which threads record by themselves.

mod attention;
mod bilstm;
pub mod decisions;
mod layout;
mod losses;
pub mod lstm;
mod norm;

use super::kernel;
use super::lstm::Lstm;
use super::params::{Gradients, Param, Params};
use super::transformer::{Activation, LayerNorm};
use crate::sort::stable_sort_by_key;
use attention::Windows;
use bilstm::BiLstm;
pub use decisions::{DecisionLayer, Decisions};
pub use layout::Layout;
pub use lstm::Cell;

/// Numbers on the tape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
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

    fn range(self) -> std::ops::Range<usize> {
        self.at as usize..self.at as usize + self.len as usize
    }
}

/// One step.
#[derive(Debug, Clone, Copy)]
enum Op {
    /// A row of a table or a vector, which begins at `from` among all parameters.
    Lookup {
        from: u32,
        out: Var,
    },
    /// Sums of rows of tables, listed from `first` on.
    Embed {
        first: u32,
        n: u32,
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
    /// The rows of the parts from `first` on, beside each other.
    Beside {
        first: u32,
        n: u32,
        rows: u32,
        out: Var,
    },
    Apply {
        activation: Activation,
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
    LstmStep {
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
    /// All steps of two LSTMs over the sentences of a batch ([`bilstm`]).
    BiLstm {
        record: u32,
        x: Var,
        out: Var,
    },
    LayerNorm {
        norm: LayerNorm,
        x: Var,
        out: Var,
    },
    Attention(attention::Record),
    /// The means of rows of x, listed from `first` on.
    Means {
        first: u32,
        width: u32,
        x: Var,
        out: Var,
    },
    /// The losses of some rows of x, listed from `first` on, whose gradients are known already.
    RowLosses {
        first: u32,
        n: u32,
        bias: Param,
        x: Var,
        gradient: u32,
    },
    /// A loss whose gradient is known already.
    Loss {
        scores: Var,
        gradient: u32,
    },
}

/// The row of a table that is added to some of the numbers of a variable, times a factor.
#[derive(Debug, Clone, Copy)]
pub struct Lookup {
    /// Where the numbers begin.
    pub at: usize,
    /// The table.
    pub table: Param,
    /// Its row.
    pub row: u32,
    /// The factor.
    pub factor: f32,
}

/// The tape; see the module.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    values: Vec<f32>,
    gradients: Vec<f32>,
    ops: Vec<Op>,
    parts: Vec<Var>,
    factors: Vec<f32>,
    lookups: Vec<Lookup>,
    rows: Vec<u32>,
    bilstms: Vec<BiLstm>,
    /// How many of them are in use.
    n_bilstms: usize,
    windows: Windows,
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
        self.lookups.clear();
        self.rows.clear();
        self.n_bilstms = 0;
        self.windows.clear();
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

    /// Sums of rows of tables: `write` writes `len` numbers, and lists the rows that they are sums of.
    pub fn embed(&mut self, len: usize, write: impl FnOnce(&mut [f32], &mut Vec<Lookup>)) -> Var {
        let out = self.new_var(len);
        let first = self.lookups.len();
        write(&mut self.values[out.range()], &mut self.lookups);
        let n = (self.lookups.len() - first) as u32;
        self.ops.push(Op::Embed { first: first as u32, n, out });
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

    /// Each number times its factor; `write` writes the factors, which are 1 at first.
    pub fn scale(&mut self, x: Var, write: impl FnOnce(&mut [f32])) -> Var {
        let out = self.new_var(x.len());
        let first = self.factors.len();
        self.factors.resize(first + x.len(), 1.0);
        write(&mut self.factors[first..]);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        for ((out, x), factor) in new.iter_mut().zip(&old[x.range()]).zip(&self.factors[first..]) {
            *out = x * factor;
        }
        self.ops.push(Op::Scale { factors: first as u32, x, out });
        out
    }

    /// Begins a backward pass: no number has a gradient yet.
    pub fn begin_backward(&mut self) {
        self.gradients.clear();
        self.gradients.resize(self.values.len(), 0.0);
    }

    /// The gradient of a variable, to which that of losses which are not on the tape can be added.
    pub fn gradient_mut(&mut self, var: Var) -> &mut [f32] {
        &mut self.gradients[var.range()]
    }

    /// Backpropagates all losses on the tape, and those whose gradients were added since
    /// [`begin_backward`](Self::begin_backward); adds the gradients of the parameters.
    pub fn backward(&mut self, params: &Params, gradients: &mut Gradients) {
        self.products.clear();
        for at in (0..self.ops.len()).rev() {
            match self.ops[at] {
                Op::Lookup { from, out } => self.back_lookup(from, out, params, gradients),
                Op::Embed { first, n, out } => {
                    let own = &self.gradients[out.range()];
                    for lookup in &self.lookups[first as usize..(first + n) as usize] {
                        let Lookup { at, table, row, factor } = *lookup;
                        let own = &own[at..at + table.columns as usize];
                        gradients.add_to_row(table, row, factor, own);
                    }
                }
                Op::Affine { n, weights, bias, x, out } => {
                    self.products.push((weights, bias, n, x, out));
                    let (old, new) = self.gradients.split_at_mut(out.at as usize);
                    let (dy, dx) = (&new[..out.len()], &mut old[x.range()]);
                    kernel::add_back_products(n as usize, dy, params.of(weights), dx);
                }
                Op::Sum { first, n, out } => self.back_sum((first, n), out),
                Op::Join { first, n, out } => self.back_join((first, n), out),
                Op::Beside { first, n, rows, out } => self.back_beside((first, n), rows, out),
                Op::Apply { activation, x, out } => self.back_apply(activation, x, out),
                Op::Scale { factors, x, out } => {
                    let (old, new) = self.gradients.split_at_mut(out.at as usize);
                    let pairs = new.iter().zip(&self.factors[factors as usize..]);
                    for (dx, (dy, factor)) in old[x.range()].iter_mut().zip(pairs) {
                        *dx += dy * factor;
                    }
                }
                Op::LstmStep { lstm, x, before, out } => {
                    self.back_step(lstm, x, before, out, params);
                }
                Op::Sequence { lstm, x, backwards, out } => {
                    self.back_sequence(lstm, x, backwards, out, params);
                }
                Op::BiLstm { record, x, out } => {
                    self.back_bilstm(record, x, out, params, gradients);
                }
                Op::LayerNorm { norm, x, out } => {
                    self.back_layer_norm(norm, x, out, params, gradients);
                }
                Op::Attention(record) => self.back_attention(record),
                Op::Means { first, width, x, out } => self.back_means(first, width, x, out),
                Op::RowLosses { first, n, bias, x, gradient } => {
                    self.back_row_losses((first, n), bias, x, gradient, gradients);
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

    fn back_sum(&mut self, (first, n): (u32, u32), out: Var) {
        let (old, new) = self.gradients.split_at_mut(out.at as usize);
        for part in &self.parts[first as usize..(first + n) as usize] {
            kernel::add_scaled(1.0, &new[..out.len()], &mut old[part.range()]);
        }
    }

    fn back_join(&mut self, (first, n): (u32, u32), out: Var) {
        let (old, mut new) = self.gradients.split_at_mut(out.at as usize);
        for part in &self.parts[first as usize..(first + n) as usize] {
            let (gradient, rest) = new.split_at_mut(part.len());
            kernel::add_scaled(1.0, gradient, &mut old[part.range()]);
            new = rest;
        }
    }

    /// The gradients of matrices and biases.
    fn back_weights(&mut self, gradients: &mut Gradients) {
        let Self { values, gradients: own, products, inputs, outputs, .. } = self;
        stable_sort_by_key(products, |&(weights, ..)| weights.range().start);
        for group in products.chunk_by(|a, b| a.0 == b.0) {
            let (weights, bias, ..) = group[0];
            let rows: u32 = group.iter().map(|&(_, _, n, ..)| n).sum();
            let (inputs, outputs) = match *group {
                [(_, _, _, x, out)] => (&values[x.range()], &own[out.range()]),
                _ => {
                    inputs.clear();
                    outputs.clear();
                    for &(.., x, out) in group {
                        inputs.extend_from_slice(&values[x.range()]);
                        outputs.extend_from_slice(&own[out.range()]);
                    }
                    (&**inputs, &**outputs)
                }
            };
            kernel::add_weight_gradient(rows as usize, inputs, outputs, gradients.of_mut(weights));
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
mod batch_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod transformer_tests;
