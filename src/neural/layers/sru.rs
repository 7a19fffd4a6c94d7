//! Simple recurrent units in the steps of a batch.

use super::bidirectional::{Bidirectional, Recurrence, Steps, Trace, disjoint};
use crate::neural::product::Packed;
use crate::neural::sru::{self, Sru};
use crate::neural::{Param, Params};

/// Two layers of simple recurrent units, one of which reads backwards.
pub type BiSru = Bidirectional<SruRecurrence>;

/// A layer of simple recurrent units.
#[derive(Debug)]
pub struct SruRecurrence(Sru);

impl From<Sru> for SruRecurrence {
    fn from(sru: Sru) -> Self {
        Self(sru)
    }
}

impl Recurrence for SruRecurrence {
    fn weights(&self) -> [Param; 3] {
        [self.0.input, self.0.bias, self.0.memory]
    }

    fn forward(&mut self, params: &Params, steps: Steps<'_>, trace: &mut Trace) {
        let (units, weights) = (self.0.units(), params.of(self.0.memory));
        let Trace { gates, memory, outputs, .. } = trace;
        for (rows, before) in steps.in_order() {
            let own = rows.start * units..rows.end * units;
            let (memory, kept) =
                disjoint(memory, own.clone(), before.start * units..before.end * units);
            let kept = kept.chunks_exact(units).chain(std::iter::repeat(&[][..]));
            let values = memory.chunks_exact_mut(units).zip(outputs[own].chunks_exact_mut(units));
            let gates = gates[4 * rows.start * units..].chunks_exact_mut(4 * units);
            for ((gates, kept), (memory, output)) in gates.zip(kept).zip(values) {
                memory[..kept.len()].copy_from_slice(kept);
                memory[kept.len()..].fill(0.0);
                sru::forward(gates, weights, memory, output);
            }
        }
    }

    fn backward(&mut self, params: &Params, steps: Steps<'_>, trace: &mut Trace) {
        let (units, weights) = (self.0.units(), params.of(self.0.memory));
        let Trace { gates, memory, d_gates, d_memory, d_outputs, .. } = trace;
        let mut nowhere = vec![0.0; units];
        let start = vec![0.0; units];
        for (rows, before) in steps.in_order().rev() {
            let last = before.start * units..before.end * units;
            let (d_memory, d_kept) = disjoint(d_memory, rows.start * units..rows.end * units, last);
            let mut d_kept = d_kept.chunks_exact_mut(units);
            for (at, row) in rows.enumerate() {
                let of = |row: usize| row * units..(row + 1) * units;
                let kept = if at < before.len() { &memory[of(before.start + at)] } else { &start };
                let step = sru::Step {
                    gates: &gates[4 * row * units..4 * (row + 1) * units],
                    weights,
                    memory: &memory[of(row)],
                    kept,
                    d_output: &d_outputs[of(row)],
                    d_memory: &d_memory[of(at)],
                };
                let d_gates = &mut d_gates[4 * row * units..4 * (row + 1) * units];
                sru::backward(&step, d_gates, d_kept.next().unwrap_or(&mut nowhere));
            }
        }
    }

    fn add_gradient(
        &mut self,
        steps: Steps<'_>,
        trace: &Trace,
        _d_gates: &Packed,
        gradient: &mut [f32],
    ) {
        let units = self.0.units();
        for (rows, before) in steps.in_order() {
            let kept = trace.memory[before.start * units..before.end * units].chunks_exact(units);
            let d_gates = trace.d_gates[4 * rows.start * units..].chunks_exact(4 * units);
            for (kept, d_gates) in kept.zip(d_gates) {
                for (gradient, d_gates) in
                    gradient.chunks_exact_mut(units).zip(d_gates.chunks_exact(units))
                {
                    let both = kept.iter().zip(d_gates);
                    gradient.iter_mut().zip(both).for_each(|(sum, (kept, d))| *sum += kept * d);
                }
            }
        }
    }
}
