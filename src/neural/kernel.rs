//! Products of matrices and vectors, sums of vectors, and losses.
//!
//! A matrix with more than a few rows is multiplied with a packed one ([`product`]). For a vector packing would cost as
//! much as the product. Where the processor has FMA it is used, so that results are the same on one machine, and nearly
//! the same on another.

use super::instructions::dispatched;
use super::product::{self, Packed};

/// Products with at most this many rows are computed row by row.
const FEW_ROWS: usize = 3;
/// Number of outputs that are summed up at a time.
const BLOCK: usize = 32;
/// Number of lanes of a dot product.
const LANES: usize = 32;

dispatched! {
    /// Adds `x W` to `y`; `weights` has a row of `y.len()` numbers for each of `x`.
    pub add_product(x: &[f32], weights: &[f32], y: &mut [f32]),
    |fused, _WIDE| {
        let n = y.len();
        let (blocks, rest) = y.as_chunks_mut::<BLOCK>();
        for (at, block) in blocks.iter_mut().enumerate() {
            let mut sums = *block;
            for (&x, row) in x.iter().zip(weights.chunks_exact(n)) {
                let Some(row) = row[at * BLOCK..].first_chunk::<BLOCK>() else { continue };
                for (sum, &weight) in sums.iter_mut().zip(row) {
                    *sum = fused(x, weight, *sum);
                }
            }
            *block = sums;
        }
        let done = n - rest.len();
        for (&x, row) in x.iter().zip(weights.chunks_exact(n)) {
            for (sum, &weight) in rest.iter_mut().zip(&row[done..]) {
                *sum = fused(x, weight, *sum);
            }
        }
    }
}

dispatched! {
    /// Adds `W dy` to `dx`: for each row of the weights its dot product with `dy`.
    pub add_back_product(dy: &[f32], weights: &[f32], dx: &mut [f32]),
    |fused, _WIDE| {
        for (dx, row) in dx.iter_mut().zip(weights.chunks_exact(dy.len())) {
            let ((a, rest_a), (b, rest_b)) = (row.as_chunks::<LANES>(), dy.as_chunks::<LANES>());
            let mut sums = [0.0; LANES];
            for (a, b) in a.iter().zip(b) {
                for lane in 0..LANES {
                    sums[lane] = fused(a[lane], b[lane], sums[lane]);
                }
            }
            let rest: f32 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
            *dx += sums.iter().sum::<f32>() + rest;
        }
    }
}

dispatched! {
    /// The sum of the squares of numbers.
    pub sum_of_squares(x: &[f32]) -> f32,
    |fused, _WIDE| {
        let (blocks, rest) = x.as_chunks::<LANES>();
        let mut sums = [0.0; LANES];
        for block in blocks {
            for lane in 0..LANES {
                sums[lane] = fused(block[lane], block[lane], sums[lane]);
            }
        }
        sums.iter().sum::<f32>() + rest.iter().map(|x| x * x).sum::<f32>()
    }
}

dispatched! {
    /// Adds `factor x` to `y`.
    pub add_scaled(factor: f32, x: &[f32], y: &mut [f32]),
    |fused, _WIDE| {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = fused(factor, x, *y);
        }
    }
}

dispatched! {
    /// Writes the sum of lists of rows, 0 where it is negative.
    pub sum_rectified(lists: &[&[&[f32]]], sum: &mut [f32]),
    |_fused, _WIDE| {
        sum.fill(0.0);
        for row in lists.iter().copied().flatten() {
            for (sum, x) in sum.iter_mut().zip(*row) {
                *sum += x;
            }
        }
        for sum in sum.iter_mut() {
            *sum = sum.max(0.0);
        }
    }
}

/// The cross-entropy of choosing among some of the scores: of each choice its place and its probability, which add up
/// to 1. Writes the gradient of the scores.
///
/// # Panics
/// When a place is beyond the scores.
pub fn cross_entropy(scores: &[f32], choices: &[(u32, f32)], gradient: &mut [f32]) -> f32 {
    let most =
        choices.iter().fold(f32::NEG_INFINITY, |most, &(at, _)| most.max(scores[at as usize]));
    gradient.fill(0.0);
    let mut sum = 0.0;
    for &(at, _) in choices {
        let share = (scores[at as usize] - most).exp();
        gradient[at as usize] = share;
        sum += share;
    }
    gradient.iter_mut().for_each(|share| *share /= sum);
    let mut loss = most + sum.ln();
    for &(at, probability) in choices.iter().filter(|(_, probability)| *probability > 0.0) {
        gradient[at as usize] -= probability;
        loss -= probability * scores[at as usize];
    }
    loss
}

/// Adds `X W` to `Y`, for `n` rows.
pub fn add_products(n: usize, x: &[f32], weights: &[f32], y: &mut [f32]) {
    let (inputs, outputs) = (x.len() / n.max(1), y.len() / n.max(1));
    if n > FEW_ROWS {
        let mut packed = Packed::default();
        packed.pack(weights, outputs);
        return product::add_product(x, &packed, y);
    }
    for (x, y) in x.chunks_exact(inputs.max(1)).zip(y.chunks_exact_mut(outputs.max(1))) {
        add_product(x, weights, y);
    }
}

/// Adds `dY Wᵀ` to `dX`, for `n` rows.
pub fn add_back_products(n: usize, dy: &[f32], weights: &[f32], dx: &mut [f32]) {
    let (inputs, outputs) = (dx.len() / n.max(1), dy.len() / n.max(1));
    if n > FEW_ROWS {
        let mut packed = Packed::default();
        packed.pack_transposed(weights, outputs);
        return product::add_product(dy, &packed, dx);
    }
    for (dy, dx) in dy.chunks_exact(outputs.max(1)).zip(dx.chunks_exact_mut(inputs.max(1))) {
        add_back_product(dy, weights, dx);
    }
}

/// Adds `Xᵀ dY` to the gradient of the weights, for `n` rows.
pub fn add_weight_gradient(n: usize, x: &[f32], dy: &[f32], gradient: &mut [f32]) {
    let (inputs, outputs) = (x.len() / n.max(1), dy.len() / n.max(1));
    if n > 1 {
        let (mut packed, mut flipped) = (Packed::default(), Vec::new());
        packed.pack(dy, outputs);
        product::transpose(x, inputs, &mut flipped);
        return product::add_product(&flipped, &packed, gradient);
    }
    for (&x, row) in x.iter().zip(gradient.chunks_exact_mut(outputs)) {
        add_scaled(x, dy, row);
    }
}

#[cfg(test)]
pub(in crate::neural) mod tests {
    use super::*;

    pub(in crate::neural) fn numbers(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|at| ((at * 37 + seed * 101) % 19) as f32 / 7.0 - 1.2).collect()
    }

    /// Operands and results of the three products: `n` rows of `inputs` values, weights of inputs × outputs.
    pub(in crate::neural) struct Products {
        pub x: Vec<f32>,
        pub w: Vec<f32>,
        pub dy: Vec<f32>,
        pub y: Vec<f32>,
        pub dx: Vec<f32>,
        pub dw: Vec<f32>,
    }

    impl Products {
        /// Added to `dy`, to 0.5 and to 0.25.
        pub(in crate::neural) fn new(n: usize, inputs: usize, outputs: usize) -> Self {
            let (x, w, dy) =
                (numbers(n * inputs, 1), numbers(inputs * outputs, 2), numbers(n * outputs, 3));
            let (mut y, mut dx, mut dw) =
                (dy.clone(), vec![0.5; n * inputs], vec![0.25; inputs * outputs]);
            add_products(n, &x, &w, &mut y);
            add_back_products(n, &dy, &w, &mut dx);
            add_weight_gradient(n, &x, &dy, &mut dw);
            Self { x, w, dy, y, dx, dw }
        }
    }

    #[test]
    fn squares_add_up() {
        for n in [0, 1, 31, 32, 33, 1000] {
            let x = numbers(n, 4);
            let sum: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
            assert!((f64::from(sum_of_squares(&x)) - sum).abs() <= 1e-5 * sum, "{n}");
        }
    }

    /// The three products by their definition, for every number of rows and odd sizes.
    #[test]
    fn products_are_those_of_the_definition() {
        for (n, inputs, outputs) in [(1, 5, 3), (1, 40, 70), (2, 33, 64), (7, 20, 100), (9, 6, 5)] {
            let Products { x, w, dy, y, dx, dw } = Products::new(n, inputs, outputs);
            let near = |a: f32, b: f32| (a - b).abs() < 1e-3;
            for r in 0..n {
                for o in 0..outputs {
                    let sum: f32 =
                        (0..inputs).map(|i| x[r * inputs + i] * w[i * outputs + o]).sum();
                    assert!(near(y[r * outputs + o], dy[r * outputs + o] + sum));
                }
                for i in 0..inputs {
                    let sum: f32 =
                        (0..outputs).map(|o| dy[r * outputs + o] * w[i * outputs + o]).sum();
                    assert!(near(dx[r * inputs + i], 0.5 + sum));
                }
            }
            for i in 0..inputs {
                for o in 0..outputs {
                    let sum: f32 = (0..n).map(|r| x[r * inputs + i] * dy[r * outputs + o]).sum();
                    assert!(near(dw[i * outputs + o], 0.25 + sum));
                }
            }
        }
    }
}
