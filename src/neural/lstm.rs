//! LSTMs (Hochreiter and Schmidhuber 1997, with forget gates): their weights, and a step forwards and backwards.
//!
//! The gates of `c` cells are `4c` numbers: input, forget, output, and what goes into the memory.

use super::functions::{logistic, tangent};
use super::instructions::dispatched;
use super::params::{Builder, Param};

/// The weights of an LSTM.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lstm {
    /// From the input to the gates.
    pub input: Param,
    /// Added to the gates.
    pub bias: Param,
    /// From the output before to the gates.
    pub recurrent: Param,
}

impl Lstm {
    /// Allocates the weights of `cells` cells.
    pub fn new(inputs: usize, cells: usize, builder: &mut Builder) -> Self {
        // Forget gates start with bias 1 (Jozefowicz, Zaremba and Sutskever 2015).
        let open = |at: usize| if at / cells == 1 { 1.0 } else { 0.0 };
        Self {
            input: builder.matrix(inputs, 4 * cells),
            bias: builder.vector_of(open, 4 * cells),
            recurrent: builder.matrix(cells, 4 * cells),
        }
    }

    pub(super) fn inputs(self) -> usize {
        self.input.rows as usize
    }

    /// The number of cells.
    pub fn cells(self) -> usize {
        self.recurrent.rows as usize
    }
}

dispatched! {
    /// From what goes into the gates to the output of a step. `memory_before` is the memory before, empty for the first step;
    /// `tangents` are those of the memory.
    pub(super) forward(gates: &mut [f32], memory_before: &[f32], memory: &mut [f32], tangents: &mut [f32], output: &mut [f32]),
    |_fused, _WIDE| {
        let n = output.len();
        let (sigmoids, fresh) = gates.split_at_mut(3 * n);
        sigmoids.iter_mut().for_each(|gate| *gate = logistic(*gate));
        fresh.iter_mut().for_each(|fresh| *fresh = tangent(*fresh));
        let (input, rest) = sigmoids.split_at(n);
        let (forget, say) = rest.split_at(n);
        for ((memory, input), fresh) in memory.iter_mut().zip(input).zip(&*fresh) {
            *memory = input * fresh;
        }
        for ((memory, forget), memory_before) in memory.iter_mut().zip(forget).zip(memory_before) {
            *memory += forget * memory_before;
        }
        for ((output, tangents), (memory, say)) in output.iter_mut().zip(tangents).zip(memory.iter().zip(say)) {
            *tangents = tangent(*memory);
            *output = say * *tangents;
        }
    }
}

/// What a step was, and the gradients of its output and memory.
pub(super) struct LstmStep<'a> {
    pub(super) gates: &'a [f32],
    pub(super) tangents: &'a [f32],
    /// The memory before; empty for the first step.
    pub(super) memory_before: &'a [f32],
    pub(super) d_output: &'a [f32],
    pub(super) d_memory: &'a [f32],
}

dispatched! {
    /// The gradient of what went into the gates; that of the memory before is added to `d_kept`, if there was one.
    pub(super) backward(step: &LstmStep<'_>, d_gates: &mut [f32], d_kept: &mut [f32]),
    |_fused, _WIDE| {
        let n = step.d_output.len();
        let of = |gate: usize| &step.gates[gate * n..][..n];
        let (input, forget, say, fresh) = (of(0), of(1), of(2), of(3));
        let (tangents, d_output, d_memory) = (&step.tangents[..n], step.d_output, &step.d_memory[..n]);
        let (d_input, rest) = d_gates.split_at_mut(n);
        let (d_forget, rest) = rest.split_at_mut(n);
        let (d_say, d_fresh) = rest.split_at_mut(n);
        let d_fresh = &mut d_fresh[..n];
        for at in 0..n {
            let (tangent, said) = (tangents[at], d_output[at]);
            let memory = d_memory[at] + said * say[at] * (1.0 - tangent * tangent);
            d_input[at] = memory * fresh[at] * input[at] * (1.0 - input[at]);
            d_say[at] = said * tangent * say[at] * (1.0 - say[at]);
            d_fresh[at] = memory * input[at] * (1.0 - fresh[at] * fresh[at]);
            // Of the memory, for now.
            d_forget[at] = memory;
        }
        if step.memory_before.is_empty() {
            return d_forget.fill(0.0);
        }
        let (memory_before, d_kept) = (&step.memory_before[..n], &mut d_kept[..n]);
        for at in 0..n {
            d_kept[at] += d_forget[at] * forget[at];
            d_forget[at] *= memory_before[at] * forget[at] * (1.0 - forget[at]);
        }
    }
}
