//! The products of bytes with the 128-bit vectors of WebAssembly, in 16 bits: weights are widened once for all rows.

use std::arch::wasm32 as wasm;

use super::Sums;
use crate::neural::inference::lanes::{ByteLanes, Quad};

/// The number of inputs that are prepared at a time, in quads.
const CHUNK: usize = 64;
/// The vectors of weights of four outputs in a panel.
const VECTORS: usize = 16;

/// The sums of four outputs: of their first and second pairs of inputs, for two outputs in each vector.
type Pairs = [wasm::v128; 2];

#[inline]
pub(in crate::neural::inference) fn sums<const N: usize>(
    x: &[[Quad; N]],
    weights: &[[ByteLanes; 4]],
    _excess: &Sums,
) -> [Sums; N] {
    let mut sums = [[[wasm::i32x4_splat(0); 2]; VECTORS]; N];
    let mut wide = [[[0i16; 4]; N]; CHUNK];
    for (x, weights) in x.chunks(CHUNK).zip(weights.chunks(CHUNK)) {
        let wide = &mut wide[..x.len()];
        let numbers = wide.as_flattened_mut().as_flattened_mut().iter_mut();
        for (wide, x) in numbers.zip(x.as_flattened().as_flattened()) {
            *wide = i16::from((x ^ 0x80) as i8);
        }
        // As many sums as there are registers for.
        match N {
            1 => (0..VECTORS / 4).for_each(|at| add::<N, 4>(wide, weights, 4 * at, &mut sums)),
            2 => (0..VECTORS / 2).for_each(|at| add::<N, 2>(wide, weights, 2 * at, &mut sums)),
            _ => (0..VECTORS).for_each(|at| add::<N, 1>(wide, weights, at, &mut sums)),
        }
    }
    sums.map(|sums| bytemuck::cast(sums.map(joined)))
}

/// Adds the products for so many vectors of outputs from `first` on.
#[inline(always)]
fn add<const N: usize, const AT_ONCE: usize>(
    x: &[[[i16; 4]; N]],
    weights: &[[ByteLanes; 4]],
    first: usize,
    to: &mut [[Pairs; VECTORS]; N],
) {
    let mut sums: [[Pairs; AT_ONCE]; N] =
        std::array::from_fn(|row| std::array::from_fn(|at| to[row][first + at]));
    for (x, weights) in x.iter().zip(weights) {
        let weights: &[wasm::v128; VECTORS] = bytemuck::cast_ref(weights);
        for at in 0..AT_ONCE {
            let weights = weights[first + at];
            let halves =
                [wasm::i16x8_extend_low_i8x16(weights), wasm::i16x8_extend_high_i8x16(weights)];
            for row in 0..N {
                let x = wasm::i64x2_splat(bytemuck::cast(x[row]));
                for half in 0..2 {
                    let sum = &mut sums[row][at][half];
                    *sum = wasm::i32x4_add(*sum, wasm::i32x4_dot_i16x8(halves[half], x));
                }
            }
        }
    }
    for (sums, to) in sums.into_iter().zip(to) {
        to[first..first + AT_ONCE].copy_from_slice(&sums);
    }
}

/// The sums of four outputs.
#[inline(always)]
fn joined([low, high]: Pairs) -> wasm::v128 {
    let first = wasm::i32x4_shuffle::<0, 2, 4, 6>(low, high);
    wasm::i32x4_add(first, wasm::i32x4_shuffle::<1, 3, 5, 7>(low, high))
}
