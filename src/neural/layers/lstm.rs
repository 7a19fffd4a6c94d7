//! LSTMs in the steps of a batch.

use super::bidirectional::{Bidirectional, Recurrence, Steps, Trace, disjoint};
use crate::neural::lstm::{self, Lstm};
use crate::neural::product::{Packed, add_product};
use crate::neural::{Param, Params};

/// Two LSTMs, one of which reads backwards.
pub type BiLstm = Bidirectional<LstmRecurrence>;

/// An LSTM.
#[derive(Debug)]
pub struct LstmRecurrence {
    lstm: Lstm,
    recurrent: Packed,
    /// Of the memory.
    tangents: Vec<f32>,
    /// The outputs before each row, transposed.
    before: Vec<f32>,
}

impl From<Lstm> for LstmRecurrence {
    fn from(lstm: Lstm) -> Self {
        Self { lstm, recurrent: Packed::default(), tangents: Vec::new(), before: Vec::new() }
    }
}

impl Recurrence for LstmRecurrence {
    fn weights(&self) -> [Param; 3] {
        [self.lstm.input, self.lstm.bias, self.lstm.recurrent]
    }

    fn forward(&mut self, params: &Params, steps: Steps<'_>, trace: &mut Trace) {
        let Self { lstm, recurrent, tangents, .. } = self;
        let Trace { gates, memory, outputs, .. } = trace;
        let cells = lstm.cells();
        recurrent.pack(params.of(lstm.recurrent), 4 * cells);
        tangents.resize(memory.len(), 0.0);
        for (rows, before) in steps.in_order() {
            let gates = &mut gates[4 * rows.start * cells..4 * rows.end * cells];
            let said = &outputs[before.start * cells..before.end * cells];
            add_product(said, recurrent, &mut gates[..4 * said.len()]);
            let own = rows.start * cells..rows.end * cells;
            let (memory, kept) =
                disjoint(memory, own.clone(), before.start * cells..before.end * cells);
            let kept = kept.chunks_exact(cells).chain(std::iter::repeat(&[][..]));
            let values =
                memory.chunks_exact_mut(cells).zip(tangents[own.clone()].chunks_exact_mut(cells));
            let values = values.zip(outputs[own].chunks_exact_mut(cells));
            let steps = gates.chunks_exact_mut(4 * cells).zip(kept).zip(values);
            for ((gates, kept), ((memory, tangents), output)) in steps {
                lstm::forward(gates, kept, memory, tangents, output);
            }
        }
    }

    fn backward(&mut self, params: &Params, steps: Steps<'_>, trace: &mut Trace) {
        let Self { lstm, recurrent, tangents, .. } = self;
        let Trace { gates, memory, d_gates, d_memory, d_outputs, .. } = trace;
        let cells = lstm.cells();
        recurrent.pack_transposed(params.of(lstm.recurrent), 4 * cells);
        for (rows, before) in steps.in_order().rev() {
            let own = rows.start * cells..rows.end * cells;
            let last = before.start * cells..before.end * cells;
            let (d_memory, d_kept) = disjoint(d_memory, own, last.clone());
            let mut d_kept = d_kept.chunks_exact_mut(cells);
            for (at, row) in rows.clone().enumerate() {
                let of = |row: usize| row * cells..(row + 1) * cells;
                let kept = if at < before.len() { &memory[of(before.start + at)] } else { &[][..] };
                let step = lstm::Step {
                    gates: &gates[4 * row * cells..4 * (row + 1) * cells],
                    tangents: &tangents[of(row)],
                    kept,
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

    fn add_gradient(
        &mut self,
        steps: Steps<'_>,
        trace: &Trace,
        d_gates: &Packed,
        gradient: &mut [f32],
    ) {
        self.gather_before(steps, &trace.outputs);
        add_product(&self.before, d_gates, gradient);
    }
}

impl LstmRecurrence {
    /// Sets the outputs before each row: 0 for rows that are read first.
    fn gather_before(&mut self, steps: Steps<'_>, outputs: &[f32]) {
        let Self { lstm, before: flipped, .. } = self;
        let (n, cells) = (steps.rows(), lstm.cells());
        flipped.clear();
        flipped.resize(n * cells, 0.0);
        for (rows, before) in steps.in_order() {
            let said = &outputs[before.start * cells..before.end * cells];
            for (cell, flipped) in flipped.chunks_exact_mut(n).enumerate() {
                let said = said[cell.min(said.len())..].iter().step_by(cells);
                flipped[rows.clone()].iter_mut().zip(said).for_each(|(to, &value)| *to = value);
            }
        }
    }
}
