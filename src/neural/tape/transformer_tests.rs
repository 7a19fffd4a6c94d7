//! A transformer layer by layer, with its gradients.

use super::tests::check_gradients;
use super::*;
use crate::neural::params::Builder;
use crate::neural::transformer::{LayerNorm, Linear};
use crate::neural::{Gradients, Param, Params};

const WIDTH: usize = 6;

struct Network {
    table: Param,
    norm: LayerNorm,
    input: Linear,
    up: Linear,
    last: Param,
}

fn network() -> (Network, Params) {
    let mut builder = Builder::new(Some(3));
    let scale = builder.vector_of(|at| 1.0 + at as f32 / 8.0, WIDTH);
    let norm = LayerNorm { scale, shift: builder.vector(WIDTH, 0.2), epsilon: 1e-5 };
    let mut linear = |inputs, outputs| Linear {
        weights: builder.matrix(inputs, outputs),
        bias: builder.vector_of(|at| at as f32 / 20.0, outputs),
    };
    let (input, up) = (linear(WIDTH, 3 * WIDTH), linear(WIDTH, 9));
    let last = builder.matrix(9 + WIDTH, 4);
    let table = builder.table(7, WIDTH);
    (Network { table, norm, input, up, last }, builder.finish().unwrap())
}

/// Every kind of step of a transformer, and losses.
fn loss(
    network: &Network,
    activation: Activation,
    params: &Params,
    tape: &mut Tape,
    gradients: Option<&mut Gradients>,
) -> f64 {
    tape.clear();
    let rows = [0, 1, 2, 3, 4, 5, 6].map(|row| tape.lookup(params, network.table, row));
    let x = tape.join(rows);
    let x = tape.layer_norm(params, network.norm, x);
    let all = tape.affine(params, network.input.weights, Some(network.input.bias), x);
    let context = tape.attention(all, 2, 3 * WIDTH, &[0..4, 4..5, 5..7]);
    let x = tape.sum(&[x, context]);
    let up = tape.affine(params, network.up.weights, Some(network.up.bias), x);
    let up = tape.apply(activation, up);
    let means = tape.means(9, up, [0..3, 2..3, 3..7]);
    let first = x.part(0, 3 * WIDTH);
    let both = tape.beside(3, &[means, first]);
    let scores = tape.affine(params, network.last, None, both);
    let loss = [(0, 1), (1, 3), (2, 0)].map(|(row, best)| {
        let choices = [0, 1, 2, 3].map(|at| (at, if at == best { 1.0 } else { 0.0 }));
        tape.cross_entropy(scores.part(4 * row, 4), &choices)
    });
    if let Some(gradients) = gradients {
        tape.begin_backward();
        tape.backward(params, gradients);
    }
    loss.iter().map(|&loss| f64::from(loss)).sum()
}

#[test]
fn gradients_are_those_of_finite_differences() {
    for activation in [Activation::Gelu, Activation::GeluTanh] {
        let (network, params) = network();
        check_gradients(params, |tape, params, gradients| {
            loss(&network, activation, params, tape, gradients)
        });
    }
}

/// Rows attend to those of their window alone.
#[test]
fn windows_do_not_see_each_other() {
    let mut tape = Tape::default();
    let numbers: Vec<f32> = (0..5 * 12).map(|at| ((at * 37) % 19) as f32 / 9.0 - 1.0).collect();
    let both = tape.constant(&numbers);
    let both = tape.attention(both, 2, 12, &[0..2, 2..5]);
    let alone = tape.constant(&numbers[2 * 12..]);
    let alone = tape.attention(alone, 2, 12, std::slice::from_ref(&(0..3)));
    assert_eq!(tape.of(both)[2 * 4..], *tape.of(alone));
    assert!(tape.of(alone).iter().all(|value| value.abs() <= 1.0));
}
