use std::sync::Arc;

use super::tests::check_gradients;
use super::*;
use crate::neural::params::Builder;
use crate::neural::{Gradients, Lstm, Param, Params, RowTables};

const INPUTS: usize = 3;
const CELLS: usize = 5;

struct Network {
    lstms: [Lstm; 2],
    last: Param,
    bias: Param,
    decision: DecisionLayer<1>,
    table: Param,
}

fn network() -> (Network, Params) {
    let mut builder = Builder::new(Some(7));
    let lstms = [(); 2].map(|()| Lstm::new(INPUTS, CELLS, &mut builder));
    let (last, bias) = (builder.matrix(2 * CELLS, 4), builder.vector(4, 0.2));
    let (out, out_bias) = (builder.matrix(4, 3), builder.vector(3, -0.1));
    let hidden = builder.vector(4, 0.3);
    let tables = [builder.table(3, 4)];
    let decision = DecisionLayer { bias: hidden, tables, out, out_bias };
    let table = builder.table(4, INPUTS);
    (Network { lstms, last, bias, decision, table }, builder.finish().unwrap())
}

fn inputs(n: usize) -> Vec<f32> {
    (0..n * INPUTS).map(|at| ((at * 37) % 19) as f32 / 9.0 - 1.0).collect()
}

#[test]
fn rows_are_those_of_the_words() {
    let layout = Layout::new(&[2, 4, 0, 3]);
    assert_eq!(layout.rows(), 9);
    let mut rows: Vec<usize> = [(0, 2), (1, 4), (3, 3)]
        .iter()
        .flat_map(|&(s, n)| (0..n).map(move |at| (s, at)))
        .map(|(s, at)| layout.row(s, at))
        .collect();
    assert_eq!(rows, [2, 5, 0, 3, 6, 8, 1, 4, 7]);
    rows.sort_unstable();
    assert_eq!(rows, (0..9).collect::<Vec<_>>());
    let forwards: Vec<_> = layout.steps(false).collect();
    assert_eq!(forwards, [(0..3, 0..0), (3..6, 0..3), (6..8, 3..5), (8..9, 6..7)]);
    let backwards: Vec<_> = layout.steps(true).collect();
    assert_eq!(backwards, [(8..9, 0..0), (6..8, 8..9), (3..6, 6..8), (0..3, 3..6)]);
    assert_eq!(Layout::new(&[]).rows(), 0);
}

/// Two layers, a product with their outputs, losses of rows, and the losses of decisions on sums of rows.
fn loss(
    network: &Network,
    params: &Params,
    tape: &mut Tape,
    gradients: Option<&mut Gradients>,
) -> f64 {
    let layout = Arc::new(Layout::new(&[2, 4, 1, 3]));
    tape.clear();
    let x = tape.embed(layout.rows() * INPUTS, |values, lookups| {
        for (row, values) in values.chunks_exact_mut(INPUTS).enumerate() {
            for (table_row, factor) in [(row as u32 % 4, 1.0), (row as u32 / 4, 0.5)] {
                params.add_row(network.table, table_row, factor, values);
                let (at, table) = (row * INPUTS, network.table);
                lookups.push(Lookup { at, table, row: table_row, factor });
            }
        }
    });
    let read = tape.bilstm(params, network.lstms, &layout, x);
    let scores = tape.affine(params, network.last, None, read);
    let rows = [(3, 2), (0, 1), (9, 3), (3, 1)];
    let mut loss = tape.row_losses(params, network.bias, scores, 1, rows);
    let mut decisions = Decisions::<2, 1>::default();
    for (rows, choice) in [([1, 2], 0), ([7, 1], 2)] {
        let dropout = Some(|factors: &mut [f32]| factors.fill(1.5));
        let at = (rows, [choice]);
        decisions.score(params, &network.decision, tape.of(scores), at, dropout);
        let choices = [(choice, 0.75), (1, 0.25)];
        loss += f64::from(decisions.learn(params, &network.decision, &choices, 1.5));
    }
    if let Some(gradients) = gradients {
        tape.begin_backward();
        decisions.backward(&network.decision, tape.gradient_mut(scores), gradients);
        tape.backward(params, gradients);
    }
    loss
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let (network, params) = network();
    check_gradients(params, |tape, params, gradients| loss(&network, params, tape, gradients));
}

/// Sentences that step together are read as each alone on the tape.
#[test]
fn sentences_are_read_as_on_the_tape() {
    let (Network { lstms, .. }, params) = network();
    let lengths = [3, 6, 1, 6, 2];
    let layout = Arc::new(Layout::new(&lengths));
    let x = inputs(layout.rows());
    let mut batch = Tape::default();
    let read = batch.constant(&x);
    let read = batch.bilstm(&params, lstms, &layout, read);
    let read = batch.of(read);
    for (sentence, &n) in lengths.iter().enumerate() {
        let row = |at: usize| layout.row(sentence, at);
        let own: Vec<f32> =
            (0..n).flat_map(|at| x[row(at) * INPUTS..][..INPUTS].to_vec()).collect();
        let mut tape = Tape::default();
        let own = tape.constant(&own);
        for (number, lstm) in lstms.into_iter().enumerate() {
            let expected = tape.sequence(&params, lstm, own, number == 1);
            for (at, expected) in tape.of(expected).chunks_exact(CELLS).enumerate() {
                let read = &read[row(at) * 2 * CELLS + number * CELLS..][..CELLS];
                assert!(read.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5));
            }
        }
    }
}
