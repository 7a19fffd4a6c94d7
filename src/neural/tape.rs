//! What a network computes for one sentence, written down step by step, so that it can be gone through backwards.
//!
//! All numbers stand in one array, and a [`Var`] is a range of it: a vector, or the rows of a matrix. A part of a
//! variable is a variable too. Gradients stand in a second array at the same places.
//!
//! Gradients of matrices are put off: going back, a product only notes its input and the gradient of its output,
//! and in the end all products with one matrix become one product of two larger matrices.

use super::kernel;
use super::params::{Gradients, Param, Params};

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
    /// A cell of an LSTM; behind its output stand its memory, its gates and the tangent of its memory.
    Cell {
        gates: Var,
        before: Option<Var>,
        out: Var,
    },
    /// A loss whose gradient is known already.
    Loss {
        scores: Var,
        gradient: u32,
    },
}

/// The output and the memory of a cell of an LSTM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// What it says.
    pub output: Var,
    /// What it remembers.
    pub memory: Var,
}

/// The tape; see the module.
#[derive(Debug, Clone, Default)]
pub struct Tape {
    values: Vec<f32>,
    gradients: Vec<f32>,
    ops: Vec<Op>,
    parts: Vec<Var>,
    factors: Vec<f32>,
    /// Whether steps are written down.
    records: bool,
    products: Vec<(Param, Option<Param>, u32, Var, Var)>,
    inputs: Vec<f32>,
    outputs: Vec<f32>,
}

impl Tape {
    /// Begins anew; what is computed will be gone through backwards.
    pub fn clear(&mut self) {
        self.values.clear();
        self.ops.clear();
        self.parts.clear();
        self.factors.clear();
        self.records = true;
    }

    /// Begins anew, for results only.
    pub fn clear_for_results(&mut self) {
        self.clear();
        self.records = false;
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

    fn record(&mut self, op: Op) {
        if self.records {
            self.ops.push(op);
        }
    }

    /// Numbers from outside, which have no gradient.
    pub fn constant(&mut self, values: &[f32]) -> Var {
        let out = self.new_var(values.len());
        self.values[out.range()].copy_from_slice(values);
        out
    }

    /// A row of a table, or a vector; the last row for a number beyond it.
    pub fn lookup(&mut self, params: &Params, table: Param, row: u32) -> Var {
        let row = row.min(table.rows.saturating_sub(1));
        let out = self.constant(params.row(table, row));
        self.record(Op::Lookup { from: table.row(row).start as u32, out });
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
        self.record(Op::Affine { n: n as u32, weights, bias, x, out });
        out
    }

    fn note_parts(&mut self, parts: &[Var]) -> (u32, u32) {
        let first = self.parts.len() as u32;
        self.parts.extend_from_slice(parts);
        (first, parts.len() as u32)
    }

    /// The sum of variables of the same length, of which there is one at least.
    pub fn sum(&mut self, parts: &[Var]) -> Var {
        let out = self.new_var(parts.first().map_or(0, |part| part.len()));
        let (before, after) = self.values.split_at_mut(out.at as usize);
        parts.iter().for_each(|part| kernel::add_scaled(1.0, &before[part.range()], after));
        let (first, n) = self.note_parts(parts);
        self.record(Op::Sum { first, n, out });
        out
    }

    /// Variables one after the other.
    pub fn join(&mut self, parts: &[Var]) -> Var {
        let out = self.new_var(parts.iter().map(|part| part.len()).sum());
        let mut at = out.at as usize;
        for part in parts {
            self.values.copy_within(part.range(), at);
            at += part.len();
        }
        let (first, n) = self.note_parts(parts);
        self.record(Op::Join { first, n, out });
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
        self.record(Op::Apply { function, x, out });
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
        self.record(Op::Scale { factors: first as u32, x, out });
        out
    }

    /// A cell of an LSTM (Hochreiter and Schmidhuber 1997, with forget gates): `gates` has what goes into the
    /// input, forget and output gates and into the memory, one after the other; `before` is the cell before, if
    /// there is one.
    pub fn cell(&mut self, gates: Var, before: Option<Cell>) -> Cell {
        let n = gates.len() / 4;
        let out = self.new_var(7 * n);
        let before = before.map(|cell| cell.memory);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let (output, rest) = new.split_at_mut(n);
        let (memory, rest) = rest.split_at_mut(n);
        let (open, tangent) = rest.split_at_mut(4 * n);
        open.copy_from_slice(&old[gates.range()]);
        kernel::sigmoid(&mut open[..3 * n]);
        kernel::tanh(&mut open[3 * n..]);
        for at in 0..n {
            let kept = before.map_or(0.0, |before| open[n + at] * old[before.at as usize + at]);
            memory[at] = kept + open[at] * open[3 * n + at];
        }
        tangent.copy_from_slice(memory);
        kernel::tanh(tangent);
        for at in 0..n {
            output[at] = open[2 * n + at] * tangent[at];
        }
        self.record(Op::Cell { gates, before, out });
        Cell { output: out.part(0, n), memory: out.part(n, n) }
    }

    /// Adds the loss of choosing among some of the scores: minus the logarithm of the probability of the one at
    /// `right` among those `among`, times a weight. Gives the loss.
    pub fn cross_entropy(&mut self, scores: Var, among: &[u32], right: u32, weight: f32) -> f32 {
        let values = self.of(scores);
        let most = among.iter().fold(f32::NEG_INFINITY, |most, &at| most.max(values[at as usize]));
        let sum: f32 = among.iter().map(|&at| (values[at as usize] - most).exp()).sum();
        let loss = most + sum.ln() - values[right as usize];
        let gradient = self.factors.len();
        self.factors.resize(gradient + scores.len(), 0.0);
        for &at in among {
            let share = (self.values[scores.at as usize + at as usize] - most).exp() / sum;
            self.factors[gradient + at as usize] = weight * share;
        }
        self.factors[gradient + right as usize] -= weight;
        self.record(Op::Loss { scores, gradient: gradient as u32 });
        weight * loss
    }

    /// Adds the gradients of all losses on the tape.
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
                Op::Cell { gates, before, out } => self.back_cell(gates, before, out),
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
            gradients.add_to_row(from, gradient);
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

    fn back_cell(&mut self, gates: Var, before: Option<Var>, out: Var) {
        let n = gates.len() / 4;
        let (old, new) = self.gradients.split_at_mut(out.at as usize);
        let values = &self.values[out.range()];
        let (open, tangent) = (&values[2 * n..6 * n], &values[6 * n..]);
        for at in 0..n {
            let (input, forget, output, fresh) =
                (open[at], open[n + at], open[2 * n + at], open[3 * n + at]);
            let (tangent, said) = (tangent[at], new[at]);
            let memory = new[n + at] + said * output * (1.0 - tangent * tangent);
            let kept = before.map_or(0.0, |before| self.values[before.at as usize + at]);
            let gate = gates.at as usize + at;
            old[gate] += memory * fresh * input * (1.0 - input);
            old[gate + n] += memory * kept * forget * (1.0 - forget);
            old[gate + 2 * n] += said * tangent * output * (1.0 - output);
            old[gate + 3 * n] += memory * input * (1.0 - fresh * fresh);
            if let Some(before) = before {
                old[before.at as usize + at] += memory * forget;
            }
        }
    }

    /// The gradients of matrices and of what is added to their products.
    fn back_weights(&mut self, gradients: &mut Gradients) {
        let Self { values, gradients: own, products, inputs, outputs, .. } = self;
        products.sort_by_key(|&(weights, ..)| weights.range().start);
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
mod tests {
    use super::*;
    use crate::neural::params::Builder;

    /// What a test network is made of.
    struct Network {
        table: Param,
        input: Param,
        bias: Param,
        recurrent: Param,
        start: Param,
        last: Param,
    }

    const WIDTH: usize = 5;

    /// A small network with every kind of step, its loss on the tape.
    fn run(tape: &mut Tape, params: &Params, network: &Network) -> f32 {
        tape.clear();
        let rows = [2, 0, 2, 1].map(|row| tape.lookup(params, network.table, row));
        let rows = tape.join(&rows);
        let masked =
            tape.scale(rows, (0..rows.len()).map(|at| if at % 3 == 0 { 0.0 } else { 1.5 }));
        let all = tape.affine(params, network.input, Some(network.bias), masked);
        let mut cell: Option<Cell> = None;
        let mut outputs = Vec::new();
        for step in 0..4 {
            let own = all.part(step * 4 * WIDTH, 4 * WIDTH);
            let before = match cell {
                Some(cell) => cell.output,
                None => tape.lookup(params, network.start, 0),
            };
            let from_before = tape.affine(params, network.recurrent, None, before);
            let gates = tape.sum(&[own, from_before]);
            let next = tape.cell(gates, cell);
            outputs.push(next.output);
            cell = Some(next);
        }
        let sum = tape.sum(&outputs);
        let tanh = tape.apply(Function::Tanh, sum);
        let last = tape.apply(Function::Relu, outputs[3]);
        let both = tape.join(&[tanh, last]);
        let scores = tape.affine(params, network.last, None, both);
        tape.cross_entropy(scores, &[0, 2, 3], 2, 1.0) + tape.cross_entropy(scores, &[1, 2], 1, 0.5)
    }

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let mut builder = Builder::new(7);
        let input = builder.matrix(3, 4 * WIDTH);
        let bias = builder.vector(4 * WIDTH, 0.1);
        let recurrent = builder.matrix(WIDTH, 4 * WIDTH);
        let start = builder.vector(WIDTH, 0.2);
        let last = builder.matrix(2 * WIDTH, 4);
        let table = builder.table(3, 3);
        let network = Network { table, input, bias, recurrent, start, last };
        let mut params = builder.finish();
        let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
        gradients.clear(&params);
        run(&mut tape, &params, &network);
        tape.backward(&params, &mut gradients);
        let mut most = 0f32;
        for at in 0..params.values().len() {
            let mut loss_at = |shift: f32| {
                let (dense, tables) = params.split_mut();
                let n_dense = dense.len();
                let value = if at < n_dense { &mut dense[at] } else { &mut tables[at - n_dense] };
                let before = *value;
                *value += shift;
                let loss = run(&mut tape, &params, &network);
                let (dense, tables) = params.split_mut();
                let value = if at < n_dense { &mut dense[at] } else { &mut tables[at - n_dense] };
                *value = before;
                f64::from(loss)
            };
            let step = 1e-2;
            let slope = (loss_at(step) - loss_at(-step)) / (2.0 * f64::from(step));
            let own = f64::from(gradients.at(at));
            assert!((slope - own).abs() < 2e-3 + 0.02 * own.abs(), "{at}: {own}, measured {slope}");
            most = most.max(own.abs() as f32);
        }
        assert!(most > 0.1);
    }

    #[test]
    fn gradients_of_several_sentences_add_up() {
        let mut builder = Builder::new(1);
        let weights = builder.matrix(3, 2);
        let table = builder.table(4, 3);
        let params = builder.finish();
        let (mut tape, mut both) = (Tape::default(), Gradients::default());
        both.clear(&params);
        let mut sum = both.clone();
        for row in [1, 3, 1] {
            let mut own = Gradients::default();
            own.clear(&params);
            for gradients in [&mut own, &mut both] {
                tape.clear();
                let x = tape.lookup(&params, table, row);
                let scores = tape.affine(&params, weights, None, x);
                tape.cross_entropy(scores, &[0, 1], row % 2, 1.0);
                tape.backward(&params, gradients);
            }
            sum.add(&[&own]);
        }
        let all = 0..params.values().len();
        assert!(all.clone().all(|at| (sum.at(at) - both.at(at)).abs() < 1e-6));
        assert!(all.clone().any(|at| both.at(at) != 0.0));
        assert_eq!(both.used.len(), 2);
    }
}
