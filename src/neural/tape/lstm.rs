//! LSTMs (Hochreiter and Schmidhuber 1997, with forget gates) on the tape: one step, or all steps over the rows of
//! a matrix.
//!
//! Of `n` steps with `c` cells the tape holds, one after the other: the outputs (n × c), the memories (n × c), the
//! gates (n × 4c: input, forget, output, and what goes into the memory) and the tangents of the memories (n × c).
//! When nothing is recorded, it holds the outputs, and the memory of a single step.

use super::super::kernel;
use super::super::params::{Param, Params};
use super::{Op, Tape, Var};

/// The weights of an LSTM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lstm {
    /// From the input to the gates.
    pub input: Param,
    /// Added to the gates.
    pub bias: Param,
    /// From the output before to the gates.
    pub recurrent: Param,
}

impl Lstm {
    fn cells(self) -> usize {
        self.recurrent.rows as usize
    }
}

/// The output and the memory of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    /// The output.
    pub output: Var,
    /// The memory (cell state).
    pub memory: Var,
}

/// The parts of the tape's record of n steps.
struct Parts<'a> {
    output: &'a mut [f32],
    memory: &'a mut [f32],
    gates: &'a mut [f32],
    tangent: &'a mut [f32],
}

impl<'a> Parts<'a> {
    fn of(numbers: &'a mut [f32], size: usize) -> Self {
        let (output, rest) = numbers.split_at_mut(size);
        let (memory, rest) = rest.split_at_mut(size);
        let (gates, rest) = rest.split_at_mut(4 * size);
        Self { output, memory, gates, tangent: &mut rest[..size] }
    }
}

/// From the inputs of the gates to the output of a step; `kept` is the previous memory.
fn activate(
    gates: &mut [f32],
    kept: Option<&[f32]>,
    memory: &mut [f32],
    tangent: &mut [f32],
    output: &mut [f32],
) {
    let n = output.len();
    kernel::sigmoid(&mut gates[..3 * n]);
    kernel::tanh(&mut gates[3 * n..]);
    let (input, rest) = gates.split_at(n);
    let (forget, rest) = rest.split_at(n);
    let (say, fresh) = rest.split_at(n);
    for at in 0..n {
        memory[at] = input[at] * fresh[at];
    }
    if let Some(kept) = kept {
        for at in 0..n {
            memory[at] += forget[at] * kept[at];
        }
    }
    tangent.copy_from_slice(memory);
    kernel::tanh(tangent);
    for at in 0..n {
        output[at] = say[at] * tangent[at];
    }
}

/// What a step was, and the gradients of its output and memory.
struct Known<'a> {
    gates: &'a [f32],
    tangent: &'a [f32],
    kept: Option<&'a [f32]>,
    d_output: &'a [f32],
    d_memory: &'a [f32],
}

impl Known<'_> {
    /// The gradient of what went into the gates; that of the memory before is added to `d_kept`.
    fn back(&self, d_gates: &mut [f32], mut d_kept: Option<&mut [f32]>) {
        let n = self.d_output.len();
        let (input, rest) = self.gates.split_at(n);
        let (forget, rest) = rest.split_at(n);
        let (say, fresh) = rest.split_at(n);
        for at in 0..n {
            let (tangent, said) = (self.tangent[at], self.d_output[at]);
            let memory = self.d_memory[at] + said * say[at] * (1.0 - tangent * tangent);
            let kept = self.kept.map_or(0.0, |kept| kept[at]);
            d_gates[at] = memory * fresh[at] * input[at] * (1.0 - input[at]);
            d_gates[n + at] = memory * kept * forget[at] * (1.0 - forget[at]);
            d_gates[2 * n + at] = said * tangent * say[at] * (1.0 - say[at]);
            d_gates[3 * n + at] = memory * input[at] * (1.0 - fresh[at] * fresh[at]);
            if let Some(d_kept) = &mut d_kept {
                d_kept[at] += memory * forget[at];
            }
        }
    }
}

impl Tape {
    /// One step of an LSTM after another, or the first one.
    pub fn step(&mut self, params: &Params, lstm: Lstm, x: Var, before: Option<Cell>) -> Cell {
        let n = lstm.cells();
        let out = self.new_var(7 * n);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let parts = Parts::of(new, n);
        parts.gates.copy_from_slice(params.of(lstm.bias));
        kernel::add_products(1, &old[x.range()], params.of(lstm.input), parts.gates);
        if let Some(before) = before {
            let said = &old[before.output.range()];
            kernel::add_products(1, said, params.of(lstm.recurrent), parts.gates);
        }
        let kept = before.map(|before| &old[before.memory.range()]);
        activate(parts.gates, kept, parts.memory, parts.tangent, parts.output);
        self.record(Op::Step { lstm, x, before, out });
        self.forget_after(out.at as usize + 2 * n);
        Cell { output: out.part(0, n), memory: out.part(n, n) }
    }

    /// The outputs of an LSTM that reads the rows of x from the first to the last, or backwards: a row for each.
    pub fn sequence(&mut self, params: &Params, lstm: Lstm, x: Var, backwards: bool) -> Var {
        let cells = lstm.cells();
        let n = x.len() / lstm.input.rows as usize;
        let out = self.new_var(7 * n * cells);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        let Parts { output, memory, gates, tangent } = Parts::of(new, n * cells);
        let bias = params.of(lstm.bias);
        gates.chunks_exact_mut(bias.len()).for_each(|row| row.copy_from_slice(bias));
        kernel::add_products(n, &old[x.range()], params.of(lstm.input), gates);
        for step in 0..n {
            let (row, last) = rows(n, step, backwards);
            let of = |row: usize| row * cells..(row + 1) * cells;
            let gates = &mut gates[4 * row * cells..4 * (row + 1) * cells];
            if let Some(last) = last {
                kernel::add_products(1, &output[of(last)], params.of(lstm.recurrent), gates);
            }
            let (memory, kept) = two_rows(memory, row, last, cells);
            activate(gates, kept.as_deref(), memory, &mut tangent[of(row)], &mut output[of(row)]);
        }
        self.record(Op::Sequence { lstm, x, backwards, out });
        self.forget_after(out.at as usize + n * cells);
        out.part(0, n * cells)
    }

    pub(super) fn back_step(
        &mut self,
        lstm: Lstm,
        x: Var,
        before: Option<Cell>,
        out: Var,
        params: &Params,
    ) {
        let n = lstm.cells();
        let Self { values, gradients, products, .. } = self;
        let (old, new) = gradients.split_at_mut(out.at as usize);
        let d = Parts::of(new, n);
        let values = &*values;
        let own = &values[out.range()];
        let known = Known {
            gates: &own[2 * n..6 * n],
            tangent: &own[6 * n..],
            kept: before.map(|before| &values[before.memory.range()]),
            d_output: d.output,
            d_memory: d.memory,
        };
        known.back(d.gates, before.map(|before| &mut old[before.memory.range()]));
        let gates = out.part(2 * n, 4 * n);
        kernel::add_back_products(1, d.gates, params.of(lstm.input), &mut old[x.range()]);
        products.push((lstm.input, Some(lstm.bias), 1, x, gates));
        if let Some(Cell { output, .. }) = before {
            let d_before = &mut old[output.range()];
            kernel::add_back_products(1, d.gates, params.of(lstm.recurrent), d_before);
            products.push((lstm.recurrent, None, 1, output, gates));
        }
    }

    pub(super) fn back_sequence(
        &mut self,
        lstm: Lstm,
        x: Var,
        backwards: bool,
        out: Var,
        params: &Params,
    ) {
        let cells = lstm.cells();
        let size = out.len() / 7;
        let n = size / cells;
        let Self { values, gradients, products, .. } = self;
        let (old, new) = gradients.split_at_mut(out.at as usize);
        let d = Parts::of(new, size);
        let own = &values[out.range()];
        let (memory, gates, tangent) =
            (&own[size..2 * size], &own[2 * size..6 * size], &own[6 * size..]);
        let of = |row: usize| row * cells..(row + 1) * cells;
        for step in (0..n).rev() {
            let (row, last) = rows(n, step, backwards);
            let four = 4 * row * cells..4 * (row + 1) * cells;
            let (d_memory, d_kept) = two_rows(d.memory, row, last, cells);
            let known = Known {
                gates: &gates[four.clone()],
                tangent: &tangent[of(row)],
                kept: last.map(|last| &memory[of(last)]),
                d_output: &d.output[of(row)],
                d_memory,
            };
            known.back(&mut d.gates[four.clone()], d_kept);
            if let Some(last) = last {
                let d_last = &mut d.output[of(last)];
                kernel::add_back_products(1, &d.gates[four], params.of(lstm.recurrent), d_last);
            }
        }
        kernel::add_back_products(n, d.gates, params.of(lstm.input), &mut old[x.range()]);
        products.push((lstm.input, Some(lstm.bias), n as u32, x, out.part(2 * size, 4 * size)));
        if n > 1 {
            // The gates of each row but the first that was read, with the output before.
            let (said, read) = if backwards { (1, 0) } else { (0, 1) };
            let outputs = out.part(said * cells, size - cells);
            let gates = out.part(2 * size + 4 * read * cells, 4 * (size - cells));
            products.push((lstm.recurrent, None, n as u32 - 1, outputs, gates));
        }
    }
}

/// The row that a step reads, and the one that was read before.
fn rows(n: usize, step: usize, backwards: bool) -> (usize, Option<usize>) {
    let row = |step: usize| if backwards { n - 1 - step } else { step };
    (row(step), step.checked_sub(1).map(row))
}

/// A row, and another one beside it.
fn two_rows(
    numbers: &mut [f32],
    row: usize,
    other: Option<usize>,
    width: usize,
) -> (&mut [f32], Option<&mut [f32]>) {
    let Some(other) = other else {
        return (&mut numbers[row * width..(row + 1) * width], None);
    };
    let (first, second) = numbers.split_at_mut(row.max(other) * width);
    let first = &mut first[row.min(other) * width..][..width];
    let second = &mut second[..width];
    if row < other { (first, Some(second)) } else { (second, Some(first)) }
}
