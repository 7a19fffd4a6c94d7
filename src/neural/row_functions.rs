//! Functions of rows, forwards and backwards: activations, layer normalization, softmax.

use super::functions::{exp, gelu, gelu_slope, gelu_tanh, gelu_tanh_slope};
use super::instructions::dispatched;

/// Numbers that are summed up at a time.
const LANES: usize = 32;

dispatched! {
    /// Replaces every number by its Gaussian error linear unit.
    pub(super) gelus(values: &mut [f32]),
    |_fused, _WIDE| {
        values.iter_mut().for_each(|value| *value = gelu(*value));
    }
}

dispatched! {
    /// The same with the approximation by a hyperbolic tangent.
    pub(super) gelu_tanhs(values: &mut [f32]),
    |_fused, _WIDE| {
        values.iter_mut().for_each(|value| *value = gelu_tanh(*value));
    }
}

dispatched! {
    /// Adds to the gradient of x that of its Gaussian error linear unit, times the slope.
    pub(super) gelus_back(x: &[f32], dy: &[f32], dx: &mut [f32]),
    |_fused, _WIDE| {
        for ((dx, dy), x) in dx.iter_mut().zip(dy).zip(x) {
            *dx += dy * gelu_slope(*x);
        }
    }
}

dispatched! {
    /// The same with the approximation by a hyperbolic tangent.
    pub(super) gelu_tanhs_back(x: &[f32], dy: &[f32], dx: &mut [f32]),
    |_fused, _WIDE| {
        for ((dx, dy), x) in dx.iter_mut().zip(dy).zip(x) {
            *dx += dy * gelu_tanh_slope(*x);
        }
    }
}

/// The sum of a value of each number, in lanes.
#[inline(always)]
fn lane_sum(x: &[f32], value: impl Fn(usize, f32) -> f32) -> f32 {
    let (blocks, rest) = x.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (block, x) in blocks.iter().enumerate() {
        for lane in 0..LANES {
            sums[lane] += value(block * LANES + lane, x[lane]);
        }
    }
    let first = x.len() - rest.len();
    let rest: f32 = rest.iter().enumerate().map(|(at, &x)| value(first + at, x)).sum();
    sums.iter().sum::<f32>() + rest
}

/// Rows that one thread normalizes at a time.
pub(super) const NORM_CHUNK: usize = 32;

dispatched! {
    /// Writes a row with mean 0 and variance 1, scaled and shifted; and the mean and the inverse deviation.
    pub(super) normalize(x: &[f32], learned: (&[f32], &[f32]), epsilon: f32, out: &mut [f32], moments: &mut [f32; 2]),
    |_fused, _WIDE| {
        let n = x.len() as f32;
        let mean = lane_sum(x, |_, x| x) / n;
        let variance = lane_sum(x, |_, x| (x - mean) * (x - mean)) / n;
        let inverse = 1.0 / (variance + epsilon).sqrt();
        *moments = [mean, inverse];
        for ((out, x), (scale, shift)) in out.iter_mut().zip(x).zip(learned.0.iter().zip(learned.1)) {
            *out = (x - mean) * inverse * scale + shift;
        }
    }
}

dispatched! {
    /// Adds the gradients of the scale and the shift of a normalized row.
    pub(super) normalize_back_params(dy: &[f32], x: &[f32], moments: &[f32; 2], d_scale: &mut [f32], d_shift: &mut [f32]),
    |_fused, _WIDE| {
        let [mean, inverse] = *moments;
        let learned = d_scale.iter_mut().zip(d_shift);
        for ((dy, x), (d_scale, d_shift)) in dy.iter().zip(x).zip(learned) {
            *d_scale += dy * ((x - mean) * inverse);
            *d_shift += dy;
        }
    }
}

dispatched! {
    /// Adds the gradient of a row before it was normalized.
    pub(super) normalize_back(dy: &[f32], x: &[f32], moments: &[f32; 2], scale: &[f32], dx: &mut [f32]),
    |_fused, _WIDE| {
        let ([mean, inverse], n) = (*moments, x.len() as f32);
        let (dy, scale) = (&dy[..x.len()], &scale[..x.len()]);
        let all = lane_sum(x, |at, _| dy[at] * scale[at]) / n;
        let along = lane_sum(x, |at, x| dy[at] * scale[at] * ((x - mean) * inverse)) / n;
        for ((dx, x), (dy, scale)) in dx.iter_mut().zip(x).zip(dy.iter().zip(scale)) {
            *dx += inverse * (dy * scale - all - (x - mean) * inverse * along);
        }
    }
}

dispatched! {
    /// Replaces scores by the softmax of their products with a factor.
    pub(super) soften(factor: f32, scores: &mut [f32]),
    |_fused, _WIDE| {
        let most = scores.iter().fold(f32::NEG_INFINITY, |most, &score| if score > most { score } else { most });
        for score in scores.iter_mut() {
            *score = exp((*score - most) * factor);
        }
        let share = 1.0 / lane_sum(scores, |_, score| score);
        scores.iter_mut().for_each(|score| *score *= share);
    }
}

dispatched! {
    /// Replaces the gradient of softmax weights by that of the scores before [`soften`].
    pub(super) soften_back(factor: f32, weights: &[f32], gradient: &mut [f32]),
    |_fused, _WIDE| {
        let gradients = &gradient[..weights.len()];
        let mean = lane_sum(weights, |at, weight| weight * gradients[at]);
        for (gradient, weight) in gradient.iter_mut().zip(weights) {
            *gradient = weight * (*gradient - mean) * factor;
        }
    }
}
