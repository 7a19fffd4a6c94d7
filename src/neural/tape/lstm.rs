//! LSTMs on the tape: one step, or all steps over the rows of a matrix.
//!
//! Of `n` steps with `c` cells the tape holds, one after the other: the outputs (n × c), the memories (n × c), the
//! gates (n × 4c: input, forget, output, and what goes into the memory) and the tangents of the memories (n × c).

use super::super::kernel;
use super::super::lstm::{self, Lstm};
use super::super::params::Params;
use super::{Op, Tape, Var};

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
        let memory_before = before.map_or(&[][..], |before| &old[before.memory.range()]);
        lstm::forward(parts.gates, memory_before, parts.memory, parts.tangent, parts.output);
        self.ops.push(Op::LstmStep { lstm, x, before, out });
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
            let (memory, memory_before) = two_rows(memory, row, last, cells);
            let memory_before = memory_before.as_deref().unwrap_or_default();
            lstm::forward(
                gates,
                memory_before,
                memory,
                &mut tangent[of(row)],
                &mut output[of(row)],
            );
        }
        self.ops.push(Op::Sequence { lstm, x, backwards, out });
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
        let step = lstm::LstmStep {
            gates: &own[2 * n..6 * n],
            tangents: &own[6 * n..],
            memory_before: before.map_or(&[], |before| &values[before.memory.range()]),
            d_output: d.output,
            d_memory: d.memory,
        };
        let d_kept = before.map_or(&mut [][..], |before| &mut old[before.memory.range()]);
        lstm::backward(&step, d.gates, d_kept);
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
            let step = lstm::LstmStep {
                gates: &gates[four.clone()],
                tangents: &tangent[of(row)],
                memory_before: last.map_or(&[], |last| &memory[of(last)]),
                d_output: &d.output[of(row)],
                d_memory,
            };
            let d_kept = d_kept.unwrap_or_default();
            lstm::backward(&step, &mut d.gates[four.clone()], d_kept);
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
