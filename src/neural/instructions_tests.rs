//! Every instruction set has the results of the others.

use std::cell::Cell;

use super::{InstructionSet, Kind};
use crate::neural::kernel::tests::{Products, numbers};
use crate::neural::kernel::{add_scaled, sum_of_squares, sum_rectified};
use crate::neural::row_functions::gelu_tanhs;
use crate::neural::{Lstm, Params, Tape, params::Builder};

thread_local! {
    /// The set of this thread, if a test has chosen one.
    pub(in crate::neural) static CHOSEN: Cell<Option<Kind>> = const { Cell::new(None) };
}

impl Kind {
    /// Runs work on this thread with this set.
    pub(in crate::neural) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        CHOSEN.set(Some(self));
        let result = work();
        CHOSEN.set(None);
        result
    }
}

/// The results of every function that is compiled for several levels, for one row, few rows and many.
fn results() -> Vec<f32> {
    let mut all = Vec::new();
    for (n, inputs, outputs) in [(1, 5, 3), (1, 40, 70), (2, 33, 64), (7, 20, 100), (33, 65, 129)] {
        let Products { x, y, mut dx, dw, .. } = Products::new(n, inputs, outputs);
        let mut sum = vec![0.0; inputs];
        sum_rectified(&[&x.chunks_exact(inputs).collect::<Vec<_>>()], &mut sum);
        add_scaled(0.3, &x[..inputs], &mut sum);
        gelu_tanhs(&mut dx);
        all.extend([y, dx, dw, sum, vec![sum_of_squares(&x)]].concat());
    }
    all.extend(lstm());
    all
}

/// The outputs of an LSTM over a sequence.
fn lstm() -> Vec<f32> {
    let (inputs, units) = (12, 40);
    let mut builder = Builder::new(Some(5));
    let lstm = Lstm {
        input: builder.matrix(inputs, 4 * units),
        bias: builder.vector_of(|at| (at % 3) as f32 / 2.0, 4 * units),
        recurrent: builder.matrix(units, 4 * units),
    };
    let params: Params = builder.finish().unwrap();
    let mut tape = Tape::default();
    let x = tape.constant(&numbers(9 * inputs, 2));
    let outputs = tape.sequence(&params, lstm, x, false);
    tape.of(outputs).to_vec()
}

/// What is fused has the same bits on every processor: a sum of them.
const FUSED: u32 = 0x4e35_edc6;

#[test]
fn every_set_gives_the_results_of_the_others() {
    let expected = Kind::Portable.run(results);
    for InstructionSet(kind) in InstructionSet::available() {
        let found = kind.run(results);
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() <= 1e-4 * expected.abs().max(1.0),
                "{kind:?}: {found} {expected}"
            );
        }
        if kind != Kind::Portable || cfg!(target_arch = "aarch64") {
            assert_eq!(crc32fast::hash(bytemuck::cast_slice(&found)), FUSED, "{kind:?}");
        }
    }
}
