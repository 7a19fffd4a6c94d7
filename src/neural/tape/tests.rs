use super::*;
use crate::neural::params::Builder;

/// What a test network is made of.
struct Network {
    table: Param,
    lstms: [Lstm; 3],
    shift: Param,
    last: Param,
}

const WIDTH: usize = 5;

/// A small network with every kind of step, its loss on the tape.
fn run(tape: &mut Tape, params: &Params, network: &Network) -> f32 {
    tape.clear();
    let rows = [2, 0, 2, 1].map(|row| tape.lookup(params, network.table, row));
    let rows = tape.join(rows);
    let masked = tape.scale(rows, |factors| {
        let factor = |at| if at % 3 == 0 { 0.0 } else { 1.5 };
        factors.iter_mut().enumerate().for_each(|(at, to)| *to = factor(at));
    });
    let [forwards, backwards, steps] = network.lstms;
    let forwards = tape.sequence(params, forwards, masked, false);
    let backwards = tape.sequence(params, backwards, masked, true);
    let mut cell: Option<Cell> = None;
    let mut outputs = Vec::new();
    for step in 0..4 {
        let own = [forwards, backwards].map(|rows| rows.part(step * WIDTH, WIDTH));
        let shift = tape.lookup(params, network.shift, 0);
        let sum = tape.sum(&[own[0], own[1], shift]);
        let next = tape.step(params, steps, sum, cell);
        outputs.push(next.output);
        cell = Some(next);
    }
    let sum = tape.sum(&outputs);
    let gelu = tape.apply(Activation::Gelu, sum);
    let last = tape.apply(Activation::Relu, outputs[3]);
    let both = tape.join([gelu, last]);
    let scores = tape.affine(params, network.last, None, both);
    tape.cross_entropy(scores, &[(0, 0.0), (2, 1.0), (3, 0.0)])
        + tape.cross_entropy(scores, &[(1, 0.7), (2, 0.3)])
}

fn network() -> (Network, Params) {
    let mut builder = Builder::new(Some(7));
    let lstms = [3, 3, WIDTH].map(|inputs| Lstm {
        input: builder.matrix(inputs, 4 * WIDTH),
        bias: builder.vector(4 * WIDTH, 0.1),
        recurrent: builder.matrix(WIDTH, 4 * WIDTH),
    });
    let shift = builder.vector(WIDTH, 0.2);
    let last = builder.matrix(2 * WIDTH, 4);
    let table = builder.table(3, 3);
    (Network { table, lstms, shift, last }, builder.finish().unwrap())
}

/// Compares the gradients that a loss adds with finite differences.
pub(super) fn check_gradients(
    mut params: Params,
    mut loss: impl FnMut(&mut Tape, &Params, Option<&mut Gradients>) -> f64,
) {
    let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
    gradients.clear(&params);
    loss(&mut tape, &params, Some(&mut gradients));
    let mut most = 0f64;
    for at in 0..params.values().len() {
        let mut loss_at = |shift: f32| {
            let before = params.values()[at];
            params.values_mut()[at] += shift;
            let loss = loss(&mut tape, &params, None);
            params.values_mut()[at] = before;
            loss
        };
        let step = 1e-2;
        let slope = (loss_at(step) - loss_at(-step)) / (2.0 * f64::from(step));
        let own = f64::from(gradients.at(at));
        assert!((slope - own).abs() < 2e-3 + 0.02 * own.abs(), "{at}: {own}, measured {slope}");
        most = most.max(own.abs());
    }
    assert!(most > 0.1);
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let (network, params) = network();
    check_gradients(params, |tape, params, gradients| {
        let loss = run(tape, params, &network);
        if let Some(gradients) = gradients {
            tape.begin_backward();
            tape.backward(params, gradients);
        }
        f64::from(loss)
    });
}

#[test]
fn gradients_of_several_sentences_add_up() {
    let mut builder = Builder::new(Some(1));
    let weights = builder.matrix(3, 2);
    let table = builder.table(4, 3);
    let params = builder.finish().unwrap();
    let (mut tape, mut both) = (Tape::default(), Gradients::default());
    both.clear(&params);
    let mut sum = both.clone();
    for row in [1, 3, 1] {
        let mut own = Gradients::default();
        own.clear(&params);
        for gradients in [&mut own, &mut both] {
            tape.clear();
            let x = tape.lookup(&params, table, row);
            let scores = tape.affine(&params, weights, None, x);
            tape.cross_entropy(scores, &[(row % 2, 1.0), (1 - row % 2, 0.0)]);
            tape.begin_backward();
            tape.backward(&params, gradients);
        }
        sum.add(&[&own]);
    }
    let all = 0..params.values().len();
    assert!(all.clone().all(|at| (sum.at(at) - both.at(at)).abs() < 1e-6));
    assert!(all.clone().any(|at| both.at(at) != 0.0));
    assert_eq!(both.used.len(), 2);
}
