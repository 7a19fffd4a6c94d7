//! Functions of single numbers, without a branch, so that loops over them use vector instructions.

/// e to the power of x, to seven digits, without a branch: 2 to the power of the nearest whole number by its bits,
/// times the series of what is left.
#[inline(always)]
pub(super) fn exp(x: f32) -> f32 {
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

/// The Gaussian error linear unit (Hendrycks and Gimpel 2016), x Φ(x), to 1.5e-6. Φ is the cumulative normal distribution:
/// Φ(x) - ½ is odd, and up to [`NORMAL_END`] nearly the quotient of two polynomials.
#[inline(always)]
pub(super) fn gelu(x: f32) -> f32 {
    let above = larger(x, -NORMAL_END);
    above * (0.5 + normal_part(smaller(above, NORMAL_END)))
}

/// The slope of [`gelu`].
#[inline(always)]
pub(super) fn gelu_slope(x: f32) -> f32 {
    /// The density of the normal distribution at 0.
    const DENSITY: f32 = 0.398_942_3;
    let near = smaller(larger(x, -NORMAL_END), NORMAL_END);
    0.5 + normal_part(near) + near * (DENSITY * exp(-0.5 * near * near))
}

/// From here on the cumulative normal distribution is 1 to 1e-7.
const NORMAL_END: f32 = 5.3;

/// Φ(x) - ½ between -[`NORMAL_END`] and [`NORMAL_END`]; the coefficients minimize the largest error of x Φ(x).
#[inline(always)]
fn normal_part(x: f32) -> f32 {
    let square = x * x;
    let above = 8.225_537e-6;
    let above = above * square + 4.497_921e-4;
    let above = above * square + 6.354_326_4e-3;
    let above = above * square + 6.140_254_7e-2;
    let above = above * square + 0.398_939_4;
    let below = 6.771_411_6e-7;
    let below = below * square + 1.639_094e-4;
    let below = below * square + 3.460_189e-3;
    let below = below * square + 4.439_466_3e-2;
    let below = below * square + 0.320_550_13;
    let below = below * square + 1.0;
    x * above / below
}

/// The Gaussian error linear unit with a hyperbolic tangent in place of the error function.
#[inline(always)]
pub(super) fn gelu_tanh(x: f32) -> f32 {
    // ½ (1 + tanh u) is the logistic function of 2 u.
    let above = larger(x, -TANH_END);
    above * logistic(tanh_argument(above))
}

/// The slope of [`gelu_tanh`].
#[inline(always)]
pub(super) fn gelu_tanh_slope(x: f32) -> f32 {
    let x = smaller(larger(x, -TANH_END), TANH_END);
    let share = logistic(tanh_argument(x));
    let inner = TWICE_ROOT * (1.0 + 3.0 * CUBE * x * x);
    share + x * share * (1.0 - share) * inner
}

/// From here on the hyperbolic tangent in [`gelu_tanh`] is 1.
const TANH_END: f32 = 20.0;
/// 2 √(2/π).
const TWICE_ROOT: f32 = 1.595_769;
/// The weight of the cube in the argument of the hyperbolic tangent.
const CUBE: f32 = 0.044_715;

/// Twice the argument of the hyperbolic tangent in [`gelu_tanh`].
#[inline(always)]
fn tanh_argument(x: f32) -> f32 {
    TWICE_ROOT * x * (1.0 + CUBE * x * x)
}

/// The larger of two numbers in one instruction, the second one if the first is not a number.
#[inline(always)]
pub(super) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, the second one if the first is not a number.
#[inline(always)]
pub(super) fn smaller(a: f32, b: f32) -> f32 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_near_those_of_the_library() {
        for at in -1_000..1_000 {
            let x = at as f32 / 25.0;
            let (s, t) = (logistic(x), tangent(x));
            assert!((s - 1.0 / (1.0 + (-x).exp())).abs() < 1e-6, "{x}: {s}");
            assert!((t - x.tanh()).abs() < 1e-6, "{x}: {t}");
        }
        assert_eq!([f32::MAX, f32::MIN].map(tangent), [1.0, -1.0]);
    }

    /// x Φ(x), by a series without cancellation.
    fn gelu_reference(x: f64) -> f64 {
        let (mut term, mut sum) = (x, 0.0);
        for odd in (3..400).step_by(2) {
            sum += term;
            term *= x * x / f64::from(odd);
        }
        x * (0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt())
    }

    fn gelu_tanh_reference(x: f64) -> f64 {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x * x * x);
        0.5 * x * (1.0 + inner.tanh())
    }

    #[test]
    fn gelus_are_near_their_definitions_and_slopes_near_finite_differences() {
        type Pair = (fn(f32) -> f32, fn(f64) -> f64);
        let functions: [Pair; 2] = [(gelu, gelu_reference), (gelu_tanh, gelu_tanh_reference)];
        let slopes = [gelu_slope, gelu_tanh_slope];
        for ((function, reference), slope) in functions.into_iter().zip(slopes) {
            for at in -20_000..20_000 {
                let x = at as f32 / 2_500.0;
                let (found, expected) = (function(x), reference(f64::from(x)));
                assert!((f64::from(found) - expected).abs() < 1.5e-6, "{x}: {found} {expected}");
                let step = 1e-4;
                let [below, above] = [-step, step].map(|step| reference(f64::from(x) + step));
                let (found, expected) = (slope(x), (above - below) / (2.0 * step));
                assert!((f64::from(found) - expected).abs() < 2e-6, "{x}: {found} {expected}");
            }
            for far in [100.0, 1e6, f32::MAX] {
                assert!((function(far) / far - 1.0).abs() < 4e-7 && function(-far).abs() < 1e-6);
                assert!((slope(far) - 1.0).abs() < 2e-6 && slope(-far).abs() < 2e-6);
            }
        }
    }
}
