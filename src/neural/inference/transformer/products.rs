//! Products of quantized rows with a matrix, and what is done with the sums while they are in the fastest cache.

use std::ops::Range;

use bytemuck::Zeroable;

use super::tiles::Tiles;
use crate::neural::functions::{gelu, gelu_tanh, larger};
use crate::neural::inference::Matrix;
use crate::neural::inference::bytes::{Sums, dispatched};
use crate::neural::inference::lanes::{Panel, Quad, ROWS, Scaling};
use crate::neural::transformer::Activation;

/// The number of quads of inputs whose weights are multiplied with all rows before the next ones: the weights of a panel
/// for so many, 24 KB, stay in the fastest cache.
const CHUNK: usize = 96;

/// What is done with products.
#[derive(Debug, Clone, Copy)]
pub(super) enum Finish {
    Write,
    /// They are added to what is there.
    Add,
    Activate(Activation),
}

dispatched! {
    /// Computes the products of rows with a matrix, for one panel of all rows after the other. `sums` is scratch memory
    /// for each row.
    products(x: &Tiles, matrix: &Matrix, finish: Finish, sums: &mut [Sums], y: &mut [Panel]), |bytes| {
        let places = matrix.places();
        let panels = matrix.weights.chunks_exact(places / 4).zip(&matrix.scaling);
        for ((weights, scaling), y) in panels.zip(y.chunks_exact_mut(sums.len())) {
            for (number, weights) in weights.chunks(CHUNK).enumerate() {
                let among = number * CHUNK..number * CHUNK + weights.len();
                let excess = if number == 0 { scaling.excess } else { Sums::zeroed() };
                for (x, to) in x.tiles().zip(sums.chunks_mut(ROWS)) {
                    let among = among.clone();
                    match to.len() {
                        1 => put(bytes::sums(quads::<1>(x, among), weights, &excess), to, number),
                        2 => put(bytes::sums(quads::<2>(x, among), weights, &excess), to, number),
                        3 => put(bytes::sums(quads::<3>(x, among), weights, &excess), to, number),
                        _ => put(bytes::sums(quads::<ROWS>(x, among), weights, &excess), to, number),
                    }
                }
            }
            let sums = (&*sums, &x.units[..]);
            match finish {
                Finish::Write => write(sums, scaling, y, |_, value| value),
                Finish::Add => write(sums, scaling, y, |before, value| before + value),
                Finish::Activate(activation) => match activation {
                    Activation::Gelu => write(sums, scaling, y, |_, value| gelu(value)),
                    Activation::GeluTanh => write(sums, scaling, y, |_, value| gelu_tanh(value)),
                    Activation::Relu => write(sums, scaling, y, |_, value| larger(value, 0.0)),
                },
            }
        }
    }
}

/// Some quads of `N` rows.
#[inline(always)]
fn quads<const N: usize>(x: &[Quad], among: Range<usize>) -> &[[Quad; N]] {
    &x.as_chunks().0[among]
}

/// Writes the sums of the first chunk of inputs, and adds those of the others.
#[inline(always)]
fn put<const N: usize>(found: [Sums; N], to: &mut [Sums], number: usize) {
    for (to, found) in to.iter_mut().zip(found) {
        if number == 0 {
            *to = found;
            continue;
        }
        for (to, found) in to.iter_mut().zip(found) {
            for (sum, found) in to.0.iter_mut().zip(found.0) {
                *sum += found;
            }
        }
    }
}

/// Writes the results of all rows in a panel.
#[inline(always)]
fn write(
    (sums, units): (&[Sums], &[f32]),
    scaling: &Scaling,
    y: &mut [Panel],
    finish: impl Fn(f32, f32) -> f32,
) {
    for ((sums, &unit), y) in sums.iter().zip(units).zip(y) {
        for group in 0..4 {
            let (sums, y) = (&sums[group].0, &mut y[group].0);
            let (scale, bias) = (&scaling.scale[group].0, &scaling.bias[group].0);
            for lane in 0..sums.len() {
                let value = sums[lane] as f32 * (scale[lane] * unit) + bias[lane];
                y[lane] = finish(y[lane], value);
            }
        }
    }
}
