//! Matrix and vector products.
//!
//! Matrices with more than a few rows are multiplied by a library. Products of a vector and a matrix, in which a
//! recurrent network spends its time, are computed here: the library would first copy the matrix into another
//! layout, which costs as much as the product. AVX2 and FMA are used if the processor has them, so results are
//! identical on one machine and nearly identical on another.

use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};

/// Products with at most this many rows are computed row by row.
const FEW_ROWS: usize = 3;
/// Number of outputs that are summed up at a time.
const BLOCK: usize = 32;
/// Number of lanes of a dot product.
const LANES: usize = 32;

/// Compiles one body for processors with AVX2 and FMA, and for all others. `$fused` is a multiply-add.
macro_rules! dispatched {
    ($(#[$doc:meta])* $name:ident, $fast:ident, $slow:ident, ($($arg:ident: $type:ty),*) $(-> $out:ty)?,
     |$fused:ident| $body:block) => {
        $(#[$doc])*
        pub fn $name($($arg: $type),*) $(-> $out)? {
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
                // The processor has been found to have the required features.
                #[allow(unsafe_code)]
                return unsafe { $fast($($arg),*) };
            }
            $slow($($arg),*)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma")]
        fn $fast($($arg: $type),*) $(-> $out)? {
            let $fused = |a: f32, b: f32, sum: f32| a.mul_add(b, sum);
            $body
        }

        fn $slow($($arg: $type),*) $(-> $out)? {
            let $fused = |a: f32, b: f32, sum: f32| a * b + sum;
            $body
        }
    };
}

dispatched! {
    /// Adds `x W` to `y`; `weights` has a row of `y.len()` numbers for each of `x`.
    add_product, add_product_fast, add_product_slow, (x: &[f32], weights: &[f32], y: &mut [f32]), |fused| {
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
    add_back_product, add_back_product_fast, add_back_product_slow,
    (dy: &[f32], weights: &[f32], dx: &mut [f32]), |fused| {
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
    sum_of_squares, sum_of_squares_fast, sum_of_squares_slow, (x: &[f32]) -> f32, |fused| {
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
    add_scaled, add_scaled_fast, add_scaled_slow, (factor: f32, x: &[f32], y: &mut [f32]), |fused| {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = fused(factor, x, *y);
        }
    }
}

/// e to the power of x, to seven digits and without a branch: 2 to the power of the nearest integer, set by its
/// bits, times the series of the remainder.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.clamp(-87.0, 87.0) * std::f32::consts::LOG2_E;
    // Adding and subtracting this number rounds; in between, the integer is in the lowest bits.
    const ROUND: f32 = 12_582_912.0;
    let rounded = x + ROUND;
    let whole = rounded - ROUND;
    let y = (x - whole) * std::f32::consts::LN_2;
    let series = 1.0 / 720.0;
    let series = series * y + 1.0 / 120.0;
    let series = series * y + 1.0 / 24.0;
    let series = series * y + 1.0 / 6.0;
    let series = series * y + 0.5;
    let series = (series * y + 1.0) * y + 1.0;
    series * f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23))
}

/// The logistic function, 1 / (1 + e⁻ˣ).
#[inline(always)]
pub(super) fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// The hyperbolic tangent.
#[inline(always)]
pub(super) fn tangent(x: f32) -> f32 {
    1.0 - 2.0 / (1.0 + exp(2.0 * x))
}

dispatched! {
    /// Replaces every number by its logistic function.
    sigmoid, sigmoid_fast, sigmoid_slow, (values: &mut [f32]), |_fused| {
        for value in values.iter_mut() {
            *value = logistic(*value);
        }
    }
}

dispatched! {
    /// Replaces every number by its hyperbolic tangent.
    tanh, tanh_fast, tanh_slow, (values: &mut [f32]), |_fused| {
        for value in values.iter_mut() {
            *value = tangent(*value);
        }
    }
}

fn view(rows: usize, columns: usize, values: &[f32]) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape((rows, columns), values).expect("a matrix has rows × columns numbers")
}

fn view_mut(rows: usize, columns: usize, values: &mut [f32]) -> ArrayViewMut2<'_, f32> {
    ArrayViewMut2::from_shape((rows, columns), values).expect("a matrix has rows × columns numbers")
}

/// Adds `X W` to `Y`, for `n` rows.
pub fn add_products(n: usize, x: &[f32], weights: &[f32], y: &mut [f32]) {
    let (inputs, outputs) = (x.len() / n.max(1), y.len() / n.max(1));
    if n <= FEW_ROWS || outputs < BLOCK {
        for (x, y) in x.chunks_exact(inputs.max(1)).zip(y.chunks_exact_mut(outputs.max(1))) {
            add_product(x, weights, y);
        }
        return;
    }
    let (x, weights) = (view(n, inputs, x), view(inputs, outputs, weights));
    general_mat_mul(1.0, &x, &weights, 1.0, &mut view_mut(n, outputs, y));
}

/// Adds `dY Wᵀ` to `dX`, for `n` rows.
pub fn add_back_products(n: usize, dy: &[f32], weights: &[f32], dx: &mut [f32]) {
    let (inputs, outputs) = (dx.len() / n.max(1), dy.len() / n.max(1));
    if n <= FEW_ROWS {
        for (dy, dx) in dy.chunks_exact(outputs.max(1)).zip(dx.chunks_exact_mut(inputs.max(1))) {
            add_back_product(dy, weights, dx);
        }
        return;
    }
    let (dy, weights) = (view(n, outputs, dy), view(inputs, outputs, weights));
    general_mat_mul(1.0, &dy, &weights.t(), 1.0, &mut view_mut(n, inputs, dx));
}

/// Adds `Xᵀ dY` to the gradient of the weights, for `n` rows.
pub fn add_weight_gradient(n: usize, x: &[f32], dy: &[f32], gradient: &mut [f32]) {
    let (inputs, outputs) = (x.len() / n.max(1), dy.len() / n.max(1));
    if n == 1 {
        for (&x, row) in x.iter().zip(gradient.chunks_exact_mut(outputs)) {
            add_scaled(x, dy, row);
        }
        return;
    }
    let (x, dy) = (view(n, inputs, x), view(n, outputs, dy));
    general_mat_mul(1.0, &x.t(), &dy, 1.0, &mut view_mut(inputs, outputs, gradient));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|at| ((at * 37 + seed * 101) % 19) as f32 / 7.0 - 1.2).collect()
    }

    #[test]
    fn functions_are_near_those_of_the_library() {
        for at in -1_000..1_000 {
            let x = at as f32 / 25.0;
            let (mut s, mut t) = ([x], [x]);
            sigmoid(&mut s);
            tanh(&mut t);
            assert!((s[0] - 1.0 / (1.0 + (-x).exp())).abs() < 1e-6, "{x}: {}", s[0]);
            assert!((t[0] - x.tanh()).abs() < 1e-6, "{x}: {}", t[0]);
        }
        let mut far = [f32::MAX, f32::MIN];
        tanh(&mut far);
        assert_eq!(far, [1.0, -1.0]);
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
            let (x, w, dy) =
                (numbers(n * inputs, 1), numbers(inputs * outputs, 2), numbers(n * outputs, 3));
            let (mut y, mut dx, mut dw) =
                (dy.clone(), vec![0.5; n * inputs], vec![0.25; inputs * outputs]);
            add_products(n, &x, &w, &mut y);
            add_back_products(n, &dy, &w, &mut dx);
            add_weight_gradient(n, &x, &dy, &mut dw);
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
