//! Bidirectional LSTMs on the tape: the sentences of a batch step together.

use std::ops::Range;
use std::sync::Arc;

use super::{Layout, Op, Tape, Var};
use crate::neural::kernel::add_scaled;
use crate::neural::lstm::{self, Lstm};
use crate::neural::product::{Packed, add_product, transpose};
use crate::neural::{Gradients, Params};
use crate::parallel;

impl Tape {
    /// The outputs of two LSTMs beside each other, one of which reads backwards, over rows of x that stand as `layout`
    /// says.
    pub fn bilstm(
        &mut self,
        params: &Params,
        lstms: [Lstm; 2],
        layout: &Arc<Layout>,
        x: Var,
    ) -> Var {
        let out = self.new_var(layout.rows() * 2 * lstms[0].cells());
        if self.bilstms.len() == self.n_bilstms {
            self.bilstms.push(BiLstm::default());
        }
        let record = &mut self.bilstms[self.n_bilstms];
        record.reset(lstms, layout);
        let (old, new) = self.values.split_at_mut(out.at as usize);
        record.forward(params, &old[x.range()], new);
        self.ops.push(Op::BiLstm { record: self.n_bilstms as u32, x, out });
        self.n_bilstms += 1;
        out
    }

    pub(super) fn back_bilstm(
        &mut self,
        record: u32,
        x: Var,
        out: Var,
        params: &Params,
        gradients: &mut Gradients,
    ) {
        let Self { values, gradients: own, bilstms, .. } = self;
        let (old, new) = own.split_at_mut(out.at as usize);
        let record = &mut bilstms[record as usize];
        record.backward(
            params,
            &values[x.range()],
            &new[..out.len()],
            &mut old[x.range()],
            gradients,
        );
    }
}

/// What two LSTMs compute, one of which reads backwards.
#[derive(Debug, Clone, Default)]
pub(super) struct BiLstm {
    layout: Arc<Layout>,
    directions: [Direction; 2],
    /// The inputs, transposed.
    flipped: Vec<f32>,
}

impl BiLstm {
    /// Begins anew with these weights: of the LSTM that reads forwards, then of the other one.
    fn reset(&mut self, lstms: [Lstm; 2], layout: &Arc<Layout>) {
        self.layout = Arc::clone(layout);
        for (number, (direction, lstm)) in self.directions.iter_mut().zip(lstms).enumerate() {
            (direction.lstm, direction.reads_backwards) = (lstm, number == 1);
        }
    }

    fn forward(&mut self, params: &Params, x: &[f32], out: &mut [f32]) {
        let layout = &*self.layout;
        parallel::for_each(&mut self.directions, |direction| direction.forward(params, layout, x));
        let cells = self.directions[0].lstm.cells();
        let [forwards, backwards] =
            self.directions.each_ref().map(|own| own.outputs.chunks_exact(cells));
        for (out, (forwards, backwards)) in
            out.chunks_exact_mut(2 * cells).zip(forwards.zip(backwards))
        {
            out[..cells].copy_from_slice(forwards);
            out[cells..].copy_from_slice(backwards);
        }
    }

    /// Adds the gradients of the weights and of the inputs.
    fn backward(
        &mut self,
        params: &Params,
        x: &[f32],
        d_out: &[f32],
        d_x: &mut [f32],
        gradients: &mut Gradients,
    ) {
        let Self { layout, directions, flipped } = self;
        let cells = directions[0].lstm.cells();
        for (number, direction) in directions.iter_mut().enumerate() {
            direction.d_outputs.clear();
            let rows = d_out.chunks_exact(2 * cells);
            direction.d_outputs.extend(rows.flat_map(|row| &row[number * cells..][..cells]));
        }
        transpose(x, directions[0].lstm.inputs(), flipped);
        let [a, b] = directions.each_ref().map(|direction| direction.lstm);
        let all = [a.input, a.bias, a.recurrent, b.input, b.bias, b.recurrent];
        let [input, bias, recurrent, others @ ..] = gradients.several_mut(all);
        let work = directions.iter_mut().zip([[input, bias, recurrent], others]);
        parallel::for_each(work, |(direction, gradients)| {
            direction.backward(params, layout, flipped, gradients);
        });
        for direction in directions {
            add_scaled(1.0, &direction.d_inputs, d_x);
        }
    }
}

/// An LSTM, and what it computes.
#[derive(Debug, Clone, Default)]
struct Direction {
    lstm: Lstm,
    reads_backwards: bool,
    packed: Packed,
    recurrent: Packed,
    gates: Vec<f32>,
    memory: Vec<f32>,
    /// Of the memory.
    tangents: Vec<f32>,
    outputs: Vec<f32>,
    /// The outputs before each row, transposed.
    before: Vec<f32>,
    d_gates: Vec<f32>,
    d_memory: Vec<f32>,
    d_outputs: Vec<f32>,
    d_inputs: Vec<f32>,
}

impl Direction {
    fn forward(&mut self, params: &Params, layout: &Layout, x: &[f32]) {
        let Self { lstm, packed, recurrent, gates, memory, tangents, outputs, .. } = self;
        let (n, cells) = (layout.rows(), lstm.cells());
        gates.clear();
        (0..n).for_each(|_| gates.extend_from_slice(params.of(lstm.bias)));
        packed.pack(params.of(lstm.input), 4 * cells);
        add_product(x, packed, gates);
        recurrent.pack(params.of(lstm.recurrent), 4 * cells);
        for numbers in [&mut *memory, tangents, outputs] {
            numbers.resize(n * cells, 0.0);
        }
        for (rows, before) in layout.steps(self.reads_backwards) {
            let gates = &mut gates[4 * rows.start * cells..4 * rows.end * cells];
            let said = &outputs[before.start * cells..before.end * cells];
            add_product(said, recurrent, &mut gates[..4 * said.len()]);
            let own = rows.start * cells..rows.end * cells;
            let (memory, memory_before) =
                disjoint(memory, own.clone(), before.start * cells..before.end * cells);
            let memory_before = memory_before.chunks_exact(cells).chain(std::iter::repeat(&[][..]));
            let values =
                memory.chunks_exact_mut(cells).zip(tangents[own.clone()].chunks_exact_mut(cells));
            let values = values.zip(outputs[own].chunks_exact_mut(cells));
            let steps = gates.chunks_exact_mut(4 * cells).zip(memory_before).zip(values);
            for ((gates, memory_before), ((memory, tangents), output)) in steps {
                lstm::forward(gates, memory_before, memory, tangents, output);
            }
        }
    }

    /// Goes back; `flipped` are the inputs, transposed.
    fn backward(
        &mut self,
        params: &Params,
        layout: &Layout,
        flipped: &[f32],
        gradients: [&mut [f32]; 3],
    ) {
        let (inputs, cells) = (self.lstm.inputs(), self.lstm.cells());
        self.steps_back(params, layout);
        let Self { lstm, packed, d_gates, d_inputs, .. } = self;
        packed.pack_transposed(params.of(lstm.input), 4 * cells);
        d_inputs.clear();
        d_inputs.resize(layout.rows() * inputs, 0.0);
        add_product(d_gates, packed, d_inputs);
        packed.pack(d_gates, 4 * cells);
        let [input, bias, recurrent] = gradients;
        add_product(flipped, packed, input);
        d_gates.chunks_exact(4 * cells).for_each(|row| add_scaled(1.0, row, bias));
        self.gather_before(layout);
        add_product(&self.before, &self.packed, recurrent);
    }

    /// The gradients of the gates.
    fn steps_back(&mut self, params: &Params, layout: &Layout) {
        let Self { lstm, recurrent, gates, memory, tangents, d_gates, d_memory, d_outputs, .. } =
            self;
        let cells = lstm.cells();
        recurrent.pack_transposed(params.of(lstm.recurrent), 4 * cells);
        d_gates.resize(gates.len(), 0.0);
        d_memory.clear();
        d_memory.resize(memory.len(), 0.0);
        for (rows, before) in layout.steps(self.reads_backwards).rev() {
            let own = rows.start * cells..rows.end * cells;
            let last = before.start * cells..before.end * cells;
            let (d_memory, d_kept) = disjoint(d_memory, own, last.clone());
            let mut d_kept = d_kept.chunks_exact_mut(cells);
            for (at, row) in rows.clone().enumerate() {
                let of = |row: usize| row * cells..(row + 1) * cells;
                let memory_before =
                    if at < before.len() { &memory[of(before.start + at)] } else { &[][..] };
                let step = lstm::LstmStep {
                    gates: &gates[4 * row * cells..4 * (row + 1) * cells],
                    tangents: &tangents[of(row)],
                    memory_before,
                    d_output: &d_outputs[of(row)],
                    d_memory: &d_memory[of(at)],
                };
                let d_gates = &mut d_gates[4 * row * cells..4 * (row + 1) * cells];
                lstm::backward(&step, d_gates, d_kept.next().unwrap_or_default());
            }
            let d_gates = &d_gates[4 * rows.start * cells..][..4 * before.len() * cells];
            add_product(d_gates, recurrent, &mut d_outputs[last]);
        }
    }

    /// Sets the outputs before each row: 0 for rows that are read first.
    fn gather_before(&mut self, layout: &Layout) {
        let Self { lstm, outputs, before: flipped, .. } = self;
        let (n, cells) = (layout.rows(), lstm.cells());
        flipped.clear();
        flipped.resize(n * cells, 0.0);
        for (rows, before) in layout.steps(self.reads_backwards) {
            let said = &outputs[before.start * cells..before.end * cells];
            for (cell, flipped) in flipped.chunks_exact_mut(n).enumerate() {
                let said = said[cell.min(said.len())..].iter().step_by(cells);
                flipped[rows.clone()].iter_mut().zip(said).for_each(|(to, &value)| *to = value);
            }
        }
    }
}

/// Two ranges that do not overlap.
fn disjoint(
    numbers: &mut [f32],
    first: Range<usize>,
    second: Range<usize>,
) -> (&mut [f32], &mut [f32]) {
    if first.start < second.start {
        let (low, high) = numbers.split_at_mut(second.start);
        (&mut low[first], &mut high[..second.len()])
    } else {
        let (low, high) = numbers.split_at_mut(first.start);
        (&mut high[..first.len()], &mut low[second])
    }
}
