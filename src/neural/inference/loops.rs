//! The inner loops, compiled once for each instruction set.

use bytemuck::Zeroable;

use super::bytes::{Sums, dispatched};
use super::lanes::{ByteLanes, HIDDEN_SCALE, Panel, Quad, ROWS, Scaling};
use crate::neural::functions::{logistic, tangent};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::quantized::LARGEST;

/// Writes sums as floats, given the scale `unit` of the inputs, and adds `others`.
#[inline(always)]
fn write(sums: &Sums, unit: f32, scale: &Panel, others: &Panel, to: &mut Panel) {
    for group in 0..4 {
        let (sums, scale, others) = (&sums[group], &scale[group], &others[group]);
        let number = |lane| sums.0[lane] as f32 * (scale.0[lane] * unit) + others.0[lane];
        to[group] = Lanes(std::array::from_fn(number));
    }
}

dispatched! {
    /// Writes the products of rows with a matrix into `y`: `x` has the inputs of four rows at a time, `units` the
    /// scale of each row. `y` gets a panel for each of `scaling`, row by row.
    products(x: &[[Quad; ROWS]], units: &[f32], weights: &[[ByteLanes; 4]], scaling: &[Scaling], y: &mut [Panel]),
    |bytes| {
        let (quads, panels) = (weights.len() / scaling.len(), scaling.len());
        let weights = weights.chunks_exact(quads);
        for (panel, (weights, scaling)) in weights.zip(scaling).enumerate() {
            let tiles = x.chunks_exact(quads).zip(units.chunks_exact(ROWS));
            for ((x, units), y) in tiles.zip(y.chunks_exact_mut(ROWS * panels)) {
                let sums = bytes::sums(x, weights, &scaling.excess);
                for (row, (sums, &unit)) in sums.iter().zip(units).enumerate() {
                    write(sums, unit, &scaling.scale, &scaling.bias, &mut y[row * panels + panel]);
                }
            }
        }
    }
}

dispatched! {
    /// Takes one step of an LSTM. `gates` has the contributions of the input to the gates, `before` the outputs
    /// of the previous step, `memory` the cells, which are updated.
    step(gates: &[Panel], before: &[Quad], weights: &[[ByteLanes; 4]], scaling: &[Scaling],
         memory: &mut [Lanes], output: &mut [[u8; LANES]]),
    |bytes| {
        let weights = weights.chunks_exact(before.len());
        let places = memory.iter_mut().zip(output);
        let panels = gates.iter().zip(weights).zip(scaling).zip(places);
        for (((gates, weights), scaling), (memory, output)) in panels {
            let [sums] = bytes::sums(before.as_chunks().0, weights, &scaling.excess);
            let mut all = Panel::zeroed();
            write(&sums, HIDDEN_SCALE, &scaling.scale, gates, &mut all);
            activate(&all, memory, output);
        }
    }
}

/// From the gates (input, forget, output, and the new content of the memory) to memory and output.
#[inline(always)]
fn activate([input, forget, out, fresh]: &Panel, memory: &mut Lanes, output: &mut [u8; LANES]) {
    for lane in 0..LANES {
        let kept = logistic(forget.0[lane]) * memory.0[lane];
        memory.0[lane] = logistic(input.0[lane]) * tangent(fresh.0[lane]) + kept;
    }
    for (lane, output) in output.iter_mut().enumerate() {
        let value = logistic(out.0[lane]) * tangent(memory.0[lane]);
        *output = quantized(value * LARGEST);
    }
}

/// The nearest integer of a number between -127 and 127, plus 128.
#[inline(always)]
pub(super) fn quantized(value: f32) -> u8 {
    // Adding this number leaves the integer in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    (value + ROUND).to_bits() as u8 ^ 0x80
}

/// Quantizes numbers; returns the scale, with which the largest number is 127.
#[inline(always)]
fn round(values: &[f32], x: &mut [u8]) -> f32 {
    let largest = values.iter().fold(0.0, |largest: f32, value| largest.max(value.abs()));
    let factor = if largest > 0.0 { LARGEST / largest } else { 0.0 };
    for (x, &value) in x.iter_mut().zip(values) {
        *x = quantized(value * factor);
    }
    largest / LARGEST
}

dispatched! {
    /// Quantizes a row of numbers and stores its scale.
    quantize(values: &[f32], x: &mut [u8], unit: &mut f32), |_bytes| {
        *unit = round(values, x);
    }
}

dispatched! {
    /// Adds up rows into `sum`, applies a rectifier, quantizes the result, and stores its scale.
    rectify(rows: &[&[Lanes]], sum: &mut [Lanes], x: &mut [u8], unit: &mut f32), |_bytes| {
        let sums: &mut [f32] = bytemuck::cast_slice_mut(sum);
        sums.fill(0.0);
        for row in rows {
            for (sum, value) in sums.iter_mut().zip(bytemuck::cast_slice::<_, f32>(row)) {
                *sum += value;
            }
        }
        for sum in &mut *sums {
            *sum = sum.max(0.0);
        }
        *unit = round(sums, x);
    }
}

dispatched! {
    /// Writes the product of a row with a matrix into `y`; `unit` is the scale of the inputs.
    product(x: &[Quad], unit: f32, weights: &[[ByteLanes; 4]], scaling: &[Scaling], y: &mut [Panel]),
    |bytes| {
        for ((weights, scaling), y) in weights.chunks_exact(x.len()).zip(scaling).zip(y) {
            let [sums] = bytes::sums(x.as_chunks().0, weights, &scaling.excess);
            write(&sums, unit, &scaling.scale, &scaling.bias, y);
        }
    }
}
