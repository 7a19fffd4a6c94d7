use super::*;
use crate::neural::params::Builder;
use crate::neural::{Gradients, Lstm, Param, Params, Tape};

const INPUTS: usize = 3;
const CELLS: usize = 5;

fn network() -> ([Lstm; 2], Param, Params) {
    let mut builder = Builder::new(Some(7));
    let lstms = [(); 2].map(|()| Lstm {
        input: builder.matrix(INPUTS, 4 * CELLS),
        bias: builder.vector(4 * CELLS, 0.1),
        recurrent: builder.matrix(CELLS, 4 * CELLS),
    });
    let last = builder.matrix(2 * CELLS, 4);
    (lstms, last, builder.finish().unwrap())
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

/// The layer, a product with its outputs, and the sum of what comes out, each number with a factor of its own.
fn loss(
    lstms: [Lstm; 2],
    last: Param,
    params: &Params,
    x: &[f32],
    gradients: Option<(&mut Gradients, &mut Vec<f32>)>,
) -> f32 {
    let layout = Layout::new(&[2, 4, 1, 3]);
    let (mut bilstm, mut affine) = (BiLstm::new(lstms), Affine::new(last));
    let (mut read, mut out) = (Vec::new(), Vec::new());
    bilstm.forward(params, &layout, x, &mut read);
    affine.forward(params, &read, &mut out);
    let factors: Vec<f32> = (0..out.len()).map(|at| (at % 5) as f32 - 1.5).collect();
    if let Some((gradients, d_x)) = gradients {
        let mut d_read = Vec::new();
        affine.backward(params, &read, &factors, &mut d_read, gradients);
        bilstm.backward(params, &layout, (x, &d_read), d_x, gradients);
    }
    out.iter().zip(factors).map(|(out, factor)| out * factor).sum()
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let (lstms, last, params) = network();
    let mut x = inputs(10);
    let (mut gradients, mut d_x) = (Gradients::default(), Vec::new());
    gradients.clear(&params);
    loss(lstms, last, &params, &x, Some((&mut gradients, &mut d_x)));
    let step = 5e-3;
    let near = |own: f32, [less, more]: [f32; 2]| {
        let slope = (more - less) / (2.0 * step);
        assert!((slope - own).abs() < 5e-3 + 0.02 * own.abs(), "{own}, measured {slope}");
    };
    let mut most = 0f32;
    for at in 0..params.values().len() {
        let slopes = [-step, step].map(|shift| {
            let mut values = params.values().to_vec();
            values[at] += shift;
            let mut params = params.clone();
            params.set(&values).unwrap();
            loss(lstms, last, &params, &x, None)
        });
        near(gradients.at(at), slopes);
        most = most.max(gradients.at(at).abs());
    }
    assert!(most > 0.1);
    for at in 0..x.len() {
        let slopes = [-step, step].map(|shift| {
            x[at] += shift;
            let loss = loss(lstms, last, &params, &x, None);
            x[at] -= shift;
            loss
        });
        near(d_x[at], slopes);
    }
}

/// Sentences that step together are read as each alone on the tape.
#[test]
fn sentences_are_read_as_on_the_tape() {
    let (lstms, _, params) = network();
    let lengths = [3, 6, 1, 6, 2];
    let layout = Layout::new(&lengths);
    let x = inputs(layout.rows());
    let mut read = Vec::new();
    BiLstm::new(lstms).forward(&params, &layout, &x, &mut read);
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
