//! Simple recurrent units (Lei, Zhang, Wang, Dai and Artzi 2018, section 3): their weights, and a step forwards and
//! backwards. The memory before a step enters the gates unit by unit, so all products with matrices are with inputs.
//!
//! What goes into `u` units are `4u` numbers: the forget gate, the gate between memory and input, what goes into the
//! memory, and what the input contributes to the output.

use super::dispatch::dispatched;
use super::kernel::logistic;
use super::params::{Builder, Param};

/// The weights of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sru {
    /// From the input to the gates.
    pub input: Param,
    /// Added to the gates.
    pub bias: Param,
    /// Of the memory before in the forget gates, then in the other gates: a vector.
    pub memory: Param,
}

impl Sru {
    /// Allocates a layer.
    pub fn new(inputs: usize, units: usize, builder: &mut Builder) -> Self {
        // Forget gates start with bias 1, as those of LSTMs.
        let open = |at: usize| if at / units == 0 { 1.0 } else { 0.0 };
        Self {
            input: builder.matrix(inputs, 4 * units),
            bias: builder.vector_of(open, 4 * units),
            memory: builder.vector(2 * units, 0.0),
        }
    }

    /// The number of units.
    pub fn units(self) -> usize {
        self.memory.columns as usize / 2
    }
}

dispatched! {
    /// From what goes into the gates, and the memory before the step, to memory and output. `weights` are those of the
    /// memory.
    pub(super) forward(gates: &mut [f32], weights: &[f32], memory: &mut [f32], output: &mut [f32]),
    |_fused, _WIDE| {
        let n = output.len();
        let (memory, weights) = (&mut memory[..n], &weights[..2 * n]);
        let (forget, rest) = gates.split_at_mut(n);
        let (say, rest) = rest.split_at_mut(n);
        let (fresh, input) = rest.split_at(n);
        let (fresh, input) = (&fresh[..n], &input[..n]);
        for at in 0..n {
            let kept = memory[at];
            forget[at] = logistic(forget[at] + weights[at] * kept);
            say[at] = logistic(say[at] + weights[n + at] * kept);
            memory[at] = fresh[at] + forget[at] * (kept - fresh[at]);
            output[at] = input[at] + say[at] * (memory[at] - input[at]);
        }
    }
}

/// What a step was, and the gradients of its output and memory.
pub(super) struct Step<'a> {
    pub(super) gates: &'a [f32],
    /// Of the memory.
    pub(super) weights: &'a [f32],
    pub(super) memory: &'a [f32],
    /// The memory before.
    pub(super) kept: &'a [f32],
    pub(super) d_output: &'a [f32],
    pub(super) d_memory: &'a [f32],
}

dispatched! {
    /// The gradient of what went into the gates; that of the memory before is added to `d_kept`.
    pub(super) backward(step: &Step<'_>, d_gates: &mut [f32], d_kept: &mut [f32]),
    |_fused, _WIDE| {
        let n = step.d_output.len();
        let of = |gate: usize| &step.gates[gate * n..][..n];
        let (forget, say, fresh, input) = (of(0), of(1), of(2), of(3));
        let (memory, kept, weights) = (&step.memory[..n], &step.kept[..n], &step.weights[..2 * n]);
        let (d_output, d_memory, d_kept) = (step.d_output, &step.d_memory[..n], &mut d_kept[..n]);
        let (d_forget, rest) = d_gates.split_at_mut(n);
        let (d_say, rest) = rest.split_at_mut(n);
        let (d_fresh, d_input) = rest.split_at_mut(n);
        let d_input = &mut d_input[..n];
        for at in 0..n {
            let said = d_output[at];
            let d_memory = d_memory[at] + said * say[at];
            d_input[at] = said * (1.0 - say[at]);
            d_say[at] = said * (memory[at] - input[at]) * say[at] * (1.0 - say[at]);
            d_fresh[at] = d_memory * (1.0 - forget[at]);
            d_forget[at] = d_memory * (kept[at] - fresh[at]) * forget[at] * (1.0 - forget[at]);
            d_kept[at] += d_memory * forget[at] + d_forget[at] * weights[at] + d_say[at] * weights[n + at];
        }
    }
}
