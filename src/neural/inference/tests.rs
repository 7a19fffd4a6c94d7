use super::lanes::HIDDEN_SCALE;
use super::*;
use crate::neural::params::Builder;
use crate::neural::quantized::LARGEST;
use crate::neural::{Lstm, Param, Params, Quantized, Tape};

fn numbers(n: usize, seed: u32) -> Vec<f32> {
    (0..n as u32).map(|at| ((at * 37 + seed * 101) % 19) as f32 / 7.0 - 1.2).collect()
}

fn matrix(inputs: usize, outputs: usize) -> (Params, Param, Param) {
    let mut builder = Builder::new(Some(3));
    let weights = builder.matrix(inputs, outputs);
    let bias = builder.vector_of(|at| at as f32 / 8.0, outputs);
    (builder.finish().unwrap(), weights, bias)
}

/// The tests below run on each set of the list by itself.
#[test]
fn the_list_has_every_set_of_the_processor_and_the_portable_one() {
    let names: Vec<&str> = InstructionSet::available().map(InstructionSet::name).collect();
    assert_eq!(names.last(), Some(&"portable"));
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        assert_eq!(names.contains(&"avx2"), has!("avx2"));
        assert_eq!(names.contains(&"avx-vnni"), has!("avx2") && has!("avxvnni"));
        assert_eq!(names.contains(&"vnni"), has!("avx2") && has!("avx512bw") && has!("avx512vnni"));
    }
}

/// Rows of so many numbers each.
fn rows(set: InstructionSet, values: &[f32], inputs: usize) -> Rows {
    let mut rows = Rows::default();
    rows.reset(values.len() / inputs, inputs);
    for (row, values) in values.chunks_exact(inputs).enumerate() {
        rows.set_numbers(set, row, values);
    }
    rows
}

/// The products of all rows.
fn products(matrix: &Matrix, set: InstructionSet, rows: &Rows) -> Vec<Panel> {
    let mut out = Vec::new();
    matrix.products(set, rows, 0..rows.number(), &mut out);
    out
}

/// The same numbers with every instruction set, near those of the definition, for any sizes and numbers of rows.
#[test]
fn products_are_those_of_the_definition() {
    for (n, inputs, outputs) in [(1, 5, 3), (2, 40, 70), (7, 33, 64), (4, 164, 200)] {
        let (params, weights, bias) = matrix(inputs, outputs);
        let places = [PaddedLayout::blocks(1, inputs, 4), PaddedLayout::blocks(1, outputs, PANEL)];
        let packed =
            Matrix::pack(&Quantized::new(&params), (weights, Some(bias)), &places[0], &places[1]);
        let values = numbers(n * inputs, 1);
        let mut all = Vec::new();
        for set in InstructionSet::available() {
            all.push(products(&packed, set, &rows(set, &values, inputs)));
        }
        assert!(all.iter().all(|out| *out == all[0]), "{n} × {inputs} × {outputs}");
        for (row, out) in all[0].chunks_exact(packed.panels()).take(n).enumerate() {
            let (out, x) = (bytemuck::cast_slice::<_, f32>(out), &values[row * inputs..]);
            for (column, out) in out.iter().enumerate().take(outputs) {
                let weight = |at: usize| params.of(weights)[at * outputs + column];
                let sum: f32 = (0..inputs).map(|at| x[at] * weight(at)).sum();
                let expected = params.of(bias)[column] + sum;
                assert!((out - expected).abs() < 0.02, "{out} {expected}");
            }
        }
    }
}

/// The largest inputs and weights, of all signs: no sum of two products is cut off.
#[test]
fn extremes_are_exact() {
    let (mut params, weights, bias) = matrix(64, 64);
    for (at, weight) in params.of_mut(weights).iter_mut().enumerate() {
        *weight = if at / 64 % 3 == 0 { -LARGEST } else { LARGEST };
    }
    let places = [PaddedLayout::blocks(1, 64, 4), PaddedLayout::blocks(1, 64, PANEL)];
    let packed =
        Matrix::pack(&Quantized::new(&params), (weights, Some(bias)), &places[0], &places[1]);
    for sign in [-LARGEST, LARGEST] {
        for set in InstructionSet::available() {
            let out = products(&packed, set, &rows(set, &[sign; 64], 64));
            let sum = sign * LARGEST * (42.0 - 22.0);
            let expected: Vec<f32> = params.of(bias).iter().map(|bias| sum + bias).collect();
            assert_eq!(bytemuck::cast_slice::<_, f32>(&out[..1]), expected, "{set:?}");
        }
    }
}

/// A row has the same products alone and among others.
#[test]
fn a_row_does_not_depend_on_the_others() {
    let (params, weights, bias) = matrix(20, 70);
    let places = [PaddedLayout::blocks(1, 20, 4), PaddedLayout::blocks(1, 70, PANEL)];
    let packed =
        Matrix::pack(&Quantized::new(&params), (weights, Some(bias)), &places[0], &places[1]);
    let values = numbers(9 * 20, 5);
    for set in InstructionSet::available() {
        let together = rows(set, &values, 20);
        let of_all = products(&packed, set, &together);
        for (row, values) in values.chunks_exact(20).enumerate() {
            let alone = products(&packed, set, &rows(set, values, 20));
            assert_eq!(alone[..2], of_all[2 * row..2 * row + 2]);
        }
        let mut of_some = Vec::new();
        packed.products(set, &together, 4..7, &mut of_some);
        assert_eq!(of_some[..6], of_all[8..14]);
    }
}

/// An LSTM is near the one on the tape, and the same with every instruction set.
#[test]
fn lstms_are_near_those_of_the_tape() {
    for (n, inputs, units) in [(1, 5, 3), (6, 20, 16), (9, 12, 40), (2 * WINDOW + 6, 7, 20)] {
        let mut builder = Builder::new(Some(5));
        let lstm = Lstm {
            input: builder.matrix(inputs, 4 * units),
            bias: builder.vector_of(|at| (at % 3) as f32 / 2.0, 4 * units),
            recurrent: builder.matrix(units, 4 * units),
        };
        let params = builder.finish().unwrap();
        let packed =
            PackedLstm::pack(&Quantized::new(&params), lstm, &PaddedLayout::blocks(1, inputs, 4));
        let values = numbers(n * inputs, 2);
        for backwards in [false, true] {
            let mut tape = Tape::default();
            let x = tape.constant(&values);
            let expected = tape.sequence(&params, lstm, x, backwards);
            let mut all = Vec::new();
            for set in InstructionSet::available() {
                let mut steps = Steps::default();
                packed.run(set, &rows(set, &values, inputs), n, backwards, &mut steps);
                all.push(steps.outputs.as_flattened().to_vec());
            }
            assert!(all.iter().all(|outputs| *outputs == all[0]));
            let expected = tape.of(expected).chunks_exact(units);
            for (outputs, expected) in all[0].chunks_exact(packed.outputs()).zip(expected) {
                for (&output, expected) in outputs.iter().zip(expected) {
                    let output = (f32::from(output) - 128.0) * HIDDEN_SCALE;
                    assert!((output - expected).abs() < 0.02, "{output} {expected}");
                }
                assert!(outputs[units..].iter().all(|&output| output == 128));
            }
        }
    }
}

/// Layers that take one step at a time have the outputs of layers that process all rows.
#[test]
fn steps_are_those_of_whole_sequences() {
    let (n, inputs, units) = (7, 12, 40);
    let mut builder = Builder::new(Some(6));
    let layers = [inputs, units].map(|inputs| Lstm {
        input: builder.matrix(inputs, 4 * units),
        bias: builder.vector_of(|at| (at % 3) as f32 / 2.0, 4 * units),
        recurrent: builder.matrix(units, 4 * units),
    });
    let quantized = Quantized::new(&builder.finish().unwrap());
    let values = numbers(n * inputs, 3);
    for set in InstructionSet::available() {
        let stacked = StackedLstm::pack(&quantized, &layers, &PaddedLayout::blocks(1, inputs, 4));
        let (mut rows, mut steps) = (rows(set, &values, inputs), Steps::default());
        for lstm in stacked.layers() {
            lstm.run(set, &rows, n, false, &mut steps);
            rows.reset(n, lstm.outputs());
            (0..n).for_each(|row| steps.copy(row, &mut rows, 0));
        }
        let (mut state, mut gates, mut input) = (stacked.start(), Vec::new(), Inputs::default());
        for (row, values) in values.chunks_exact(inputs).enumerate() {
            input.set_numbers(set, values, inputs);
            state = stacked.step(set, input.parts(), &state, &mut gates);
            assert_eq!(stacked.outputs(&state), steps.outputs(row), "{set:?} {row}");
        }
    }
}
