//! Limited-memory BFGS: minimizes a smooth function of very many variables.
//!
//! The direction is computed by the two-loop recursion over the latest steps (Nocedal and Wright 2006,
//! algorithms 7.4 and 7.5), the step length by a line search for the strong Wolfe conditions (algorithms
//! 3.5 and 3.6). Points and gradients are `f64`. The stored steps are `f32`: they only affect the
//! direction, and they take most of the memory, which is `40 + 8 × history` bytes per variable.
//!
//! Sums are computed over chunks of fixed size, whose results are added in order, so they do not depend on
//! the number of threads.

use std::collections::VecDeque;

use crate::parallel;

/// The settings of the minimizer.
#[derive(Debug, Clone, PartialEq)]
pub struct Lbfgs {
    /// The number of latest steps that determine the direction.
    pub history: usize,
    /// Maximum number of iterations.
    pub iterations: u32,
    /// The search ends when the norm of the gradient is at most this fraction of its initial value.
    pub tolerance: f64,
}

/// Why the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The gradient is small enough.
    Converged,
    /// The maximum number of iterations was reached.
    Exhausted,
    /// The caller stopped it.
    Stopped,
    /// No step decreases the value: precision is exhausted, or the function is not smooth.
    Stuck,
}

/// The state after an iteration.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    /// The number of iterations so far.
    pub iteration: u32,
    /// The point.
    pub point: &'a [f64],
    /// The value at the point.
    pub value: f64,
    /// The norm of the gradient, relative to its initial value.
    pub slope: f64,
}

/// The best point found.
#[derive(Debug, Clone)]
pub struct Minimum {
    /// The point.
    pub point: Vec<f64>,
    /// The value at the point.
    pub value: f64,
    /// The number of iterations.
    pub iterations: u32,
    /// Why the search ended.
    pub end: End,
}

impl Lbfgs {
    /// Minimizes `function`, which writes its gradient into its second argument and returns its value.
    ///
    /// `each` is called after every iteration and stops the search by returning false. The value never
    /// increases from one iteration to the next. A value that is infinite or not a number counts as too
    /// large, except at the start, which is then returned as [`End::Stuck`].
    pub fn minimize(
        &self,
        start: Vec<f64>,
        mut function: impl FnMut(&[f64], &mut [f64]) -> f64,
        mut each: impl FnMut(Arrival<'_>) -> bool,
    ) -> Minimum {
        let mut search = LineSearch::new(start, &mut function);
        let mut history = History::new(self.history);
        let first_norm = dot(&search.gradient, &search.gradient).sqrt();
        let mut iteration = 0;
        let end = loop {
            let norm = dot(&search.gradient, &search.gradient).sqrt();
            if iteration > 0 {
                let slope = norm / first_norm;
                let arrival =
                    Arrival { iteration, point: &search.point, value: search.value, slope };
                if !each(arrival) {
                    break End::Stopped;
                }
            }
            if search.value.is_finite() && norm <= self.tolerance * first_norm {
                break End::Converged;
            }
            if iteration == self.iterations {
                break End::Exhausted;
            }
            let mut found = search.follow(&history, norm, &mut function);
            if !found && !history.pairs.is_empty() {
                // Rounding may have spoilt the stored steps: try steepest descent once.
                history.pairs.clear();
                found = search.follow(&history, norm, &mut function);
            }
            if !found {
                break End::Stuck;
            }
            history.remember(&search);
            search.move_on();
            iteration += 1;
        };
        Minimum { point: search.point, value: search.value, iterations: iteration, end }
    }
}

/// Constants of the sufficient decrease and curvature conditions, as usual for quasi-Newton directions.
const DECREASE: f64 = 1e-4;
const CURVATURE: f64 = 0.9;
/// Maximum number of evaluations in a line search.
const MAX_TRIALS: u32 = 30;

/// The point, the search direction, and the trial point.
struct LineSearch {
    point: Vec<f64>,
    gradient: Vec<f64>,
    value: f64,
    direction: Vec<f64>,
    trial_point: Vec<f64>,
    trial_gradient: Vec<f64>,
    trial_value: f64,
}

/// A step length with the value and its derivative there.
#[derive(Debug, Clone, Copy)]
struct Trial {
    step: f64,
    value: f64,
    slope: f64,
}

impl LineSearch {
    fn new(start: Vec<f64>, function: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> Self {
        let mut gradient = vec![0.0; start.len()];
        let value = function(&start, &mut gradient);
        Self {
            direction: vec![0.0; start.len()],
            trial_point: vec![0.0; start.len()],
            trial_gradient: vec![0.0; start.len()],
            trial_value: value,
            point: start,
            gradient,
            value,
        }
    }

    /// Searches along the direction that the history suggests; `norm` is that of the gradient.
    fn follow(
        &mut self,
        history: &History,
        norm: f64,
        function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> bool {
        history.direction(&self.gradient, &mut self.direction);
        // Without a history the scale is unknown: the first step has length 1.
        let first_try = if history.pairs.is_empty() { norm.recip() } else { 1.0 };
        self.line(first_try, function)
    }

    /// Searches along the direction for a step that satisfies the strong Wolfe conditions, and leaves the
    /// trial point there. Returns false if no step decreases the value.
    ///
    /// Both phases of the search are one loop: `low` is the best step so far; at `high`, if known, the
    /// function is too large or increases. The steps grow while `high` is unknown.
    fn line(
        &mut self,
        first_try: f64,
        function: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> bool {
        let start =
            Trial { step: 0.0, value: self.value, slope: dot(&self.gradient, &self.direction) };
        if !(start.value.is_finite() && start.slope < 0.0 && start.slope.is_finite()) {
            return false;
        }
        let (mut low, mut high, mut step) = (start, None::<Trial>, first_try);
        for _ in 0..MAX_TRIALS {
            let trial = self.trial(step, function);
            let decreases = trial.value <= start.value + DECREASE * step * start.slope;
            if !decreases || trial.value >= low.value {
                high = Some(trial);
            } else if trial.slope.abs() <= -CURVATURE * start.slope {
                return true;
            } else {
                let onward = high.map_or(1.0, |high| high.step - low.step);
                if trial.slope * onward >= 0.0 {
                    high = Some(low);
                }
                low = trial;
            }
            step = match high {
                None => 2.0 * low.step,
                Some(high) => interpolate(low, high),
            };
            if step == low.step || !step.is_finite() {
                break;
            }
        }
        // The trials are used up: any step that decreases the value will do.
        low.step > 0.0 && self.trial(low.step, function).value < start.value
    }

    fn trial(&mut self, step: f64, function: &mut impl FnMut(&[f64], &mut [f64]) -> f64) -> Trial {
        let (point, direction) = (&self.point, &self.direction);
        parallel::for_each(self.trial_point.chunks_mut(CHUNK).enumerate(), |(chunk, out)| {
            let from = chunk * CHUNK;
            for ((out, at), along) in out.iter_mut().zip(&point[from..]).zip(&direction[from..]) {
                *out = at + step * along;
            }
        });
        self.trial_value = function(&self.trial_point, &mut self.trial_gradient);
        let slope = dot(&self.trial_gradient, &self.direction);
        let value = if slope.is_finite() && self.trial_value.is_finite() {
            self.trial_value
        } else {
            f64::INFINITY
        };
        Trial { step, value, slope }
    }

    /// Moves to the trial point.
    fn move_on(&mut self) {
        std::mem::swap(&mut self.point, &mut self.trial_point);
        std::mem::swap(&mut self.gradient, &mut self.trial_gradient);
        self.value = self.trial_value;
    }
}

/// The minimum of the cubic through two trials (Nocedal and Wright 2006, equation 3.59), at least a tenth
/// of the interval away from its ends; the midpoint if there is no such minimum.
fn interpolate(low: Trial, high: Trial) -> f64 {
    let width = high.step - low.step;
    let d1 = low.slope + high.slope - 3.0 * (high.value - low.value) / width;
    let d2 = width.signum() * (d1 * d1 - low.slope * high.slope).sqrt();
    let share = 1.0 - (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2);
    let share = if share.is_finite() { share.clamp(0.1, 0.9) } else { 0.5 };
    low.step + share * width
}

/// A step, and the change of the gradient that it caused.
struct Pair {
    step: Vec<f32>,
    change: Vec<f32>,
    /// 1 ÷ (step · change).
    weight: f64,
}

/// The latest steps, oldest first.
struct History {
    pairs: VecDeque<Pair>,
    /// The scale of the inverse Hessian along the latest step.
    scale: f64,
    most: usize,
}

impl History {
    fn new(most: usize) -> Self {
        Self { pairs: VecDeque::new(), scale: 1.0, most }
    }

    /// Writes minus the product of the approximate inverse Hessian and the gradient: the two-loop
    /// recursion.
    fn direction(&self, gradient: &[f64], direction: &mut [f64]) {
        direction.copy_from_slice(gradient);
        let mut shares = Vec::with_capacity(self.pairs.len());
        for pair in self.pairs.iter().rev() {
            let share = pair.weight * dot(&pair.step, direction);
            add(direction, -share, &pair.change);
            shares.push(share);
        }
        let scale = if self.pairs.is_empty() { 1.0 } else { self.scale };
        parallel::for_each(direction.chunks_mut(CHUNK), |chunk| {
            chunk.iter_mut().for_each(|x| *x *= -scale);
        });
        for (pair, share) in self.pairs.iter().zip(shares.iter().rev()) {
            // The direction already has the opposite sign, so the two terms of the recursion are added.
            let correction = pair.weight * dot(&pair.change, direction);
            add(direction, -(share + correction), &pair.step);
        }
    }

    /// Stores the step from the point to the trial point, in place of the oldest one if the history is
    /// full.
    fn remember(&mut self, search: &LineSearch) {
        if self.most == 0 {
            return;
        }
        let n = search.point.len();
        let oldest = if self.pairs.len() == self.most { self.pairs.pop_front() } else { None };
        let mut pair = oldest.unwrap_or_else(|| Pair {
            step: vec![0.0; n],
            change: vec![0.0; n],
            weight: 0.0,
        });
        difference(&search.trial_point, &search.point, &mut pair.step);
        difference(&search.trial_gradient, &search.gradient, &mut pair.change);
        let product = dot(&pair.step, &pair.change);
        let (step, change) = (dot(&pair.step, &pair.step), dot(&pair.change, &pair.change));
        // A pair without clearly positive curvature would make the matrix indefinite: it is dropped.
        if product > 1e-10 * (step * change).sqrt()
            && product.recip().is_finite()
            && change.is_finite()
        {
            pair.weight = product.recip();
            self.scale = product / change;
            self.pairs.push_back(pair);
        }
    }
}

/// Number of terms that are summed before partial sums are added.
const CHUNK: usize = 1 << 14;

fn dot<A, B>(a: &[A], b: &[B]) -> f64
where
    A: Copy + Into<f64> + Sync,
    B: Copy + Into<f64> + Sync,
{
    let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK));
    let parts = parallel::map_owned(chunks, |(a, b)| {
        a.iter().zip(b).map(|(&a, &b)| a.into() * b.into()).sum::<f64>()
    });
    parts.iter().sum()
}

/// Adds `times × vector` to `sum`.
fn add(sum: &mut [f64], times: f64, vector: &[f32]) {
    parallel::for_each(sum.chunks_mut(CHUNK).zip(vector.chunks(CHUNK)), |(sum, vector)| {
        for (sum, &x) in sum.iter_mut().zip(vector) {
            *sum += times * f64::from(x);
        }
    });
}

fn difference(a: &[f64], b: &[f64], out: &mut [f32]) {
    parallel::for_each(out.chunks_mut(CHUNK).enumerate(), |(chunk, out)| {
        let from = chunk * CHUNK;
        for ((out, a), b) in out.iter_mut().zip(&a[from..]).zip(&b[from..]) {
            *out = (a - b) as f32;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STRICT: Lbfgs = Lbfgs { history: 6, iterations: 20_000, tolerance: 1e-10 };

    /// Rosenbrock's valley, chained over any number of variables; its minimum is at all ones.
    fn rosenbrock(x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let mut value = 0.0;
        for at in 0..x.len() - 1 {
            let (miss, rest) = (x[at + 1] - x[at] * x[at], 1.0 - x[at]);
            value += 100.0 * miss * miss + rest * rest;
            gradient[at] += -400.0 * x[at] * miss - 2.0 * rest;
            gradient[at + 1] += 200.0 * miss;
        }
        value
    }

    /// Σ kᵢ (xᵢ − i)² / 2 with curvatures from 1 to 10⁶.
    fn quadratic(x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for at in 0..x.len() {
            let curvature = 1e6f64.powf(at as f64 / (x.len() - 1) as f64);
            let miss = x[at] - at as f64;
            gradient[at] = curvature * miss;
            value += curvature * miss * miss / 2.0;
        }
        value
    }

    #[test]
    fn finds_the_end_of_rosenbrocks_valley() {
        let minimum = STRICT.minimize(vec![-1.2, 1.0], rosenbrock, |_| true);
        assert_eq!(minimum.end, End::Converged);
        assert!(minimum.iterations < 60, "{}", minimum.iterations);
        let minimum = STRICT.minimize(vec![-1.0; 100], rosenbrock, |_| true);
        assert!(
            minimum.point.iter().all(|x| (x - 1.0).abs() < 1e-6) || minimum.value > 3.9,
            "{minimum:?}"
        );
    }

    #[test]
    fn minimizes_an_ill_conditioned_quadratic_without_ever_rising() {
        let mut last = f64::INFINITY;
        let minimum = STRICT.minimize(vec![0.0; 40], quadratic, |arrival| {
            assert!(arrival.value < last);
            last = arrival.value;
            true
        });
        assert_eq!(minimum.end, End::Converged);
        for (at, x) in minimum.point.iter().enumerate() {
            assert!((x - at as f64).abs() < 1e-2, "{at}: {x}");
        }
    }

    #[test]
    fn ends_where_it_is_told_to() {
        let stopped = STRICT.minimize(vec![-1.2, 1.0], rosenbrock, |arrival| arrival.iteration < 3);
        assert_eq!((stopped.end, stopped.iterations), (End::Stopped, 3));
        let lbfgs = Lbfgs { iterations: 5, ..STRICT };
        let exhausted = lbfgs.minimize(vec![-1.2, 1.0], rosenbrock, |_| true);
        assert_eq!((exhausted.end, exhausted.iterations), (End::Exhausted, 5));
        assert!(exhausted.value < stopped.value);
    }

    #[test]
    fn survives_functions_that_break_its_promises() {
        let nowhere = STRICT.minimize(vec![1.0], |_, _| f64::NAN, |_| true);
        assert_eq!((nowhere.end, nowhere.point), (End::Stuck, vec![1.0]));
        let uphill = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = -1.0; // a lie: the value rises that way
            x[0]
        };
        assert_eq!(STRICT.minimize(vec![0.0], uphill, |_| true).end, End::Stuck);
        let endless = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = -1.0;
            -x[0]
        };
        assert_eq!(
            Lbfgs { iterations: 9, ..STRICT }.minimize(vec![0.0], endless, |_| true).end,
            End::Exhausted
        );
        assert_eq!(STRICT.minimize(vec![], |_, _| 0.0, |_| true).end, End::Converged);
    }

    #[test]
    fn a_function_may_be_infinite_in_places() {
        // −ln x + x has its minimum at 1, and no value left of 0, where the first steps land.
        let barrier = |x: &[f64], gradient: &mut [f64]| {
            gradient[0] = 1.0 - x[0].recip();
            x[0] - x[0].ln()
        };
        let minimum = STRICT.minimize(vec![0.9], barrier, |_| true);
        assert!((minimum.point[0] - 1.0).abs() < 1e-6, "{minimum:?}");
        assert!((STRICT.minimize(vec![30.0], barrier, |_| true).point[0] - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn solves_any_small_convex_quadratic(
            rows in prop::collection::vec(prop::collection::vec(-1.0f64..1.0, 4), 4),
            target in prop::collection::vec(-5.0f64..5.0, 4),
        ) {
            // |A (x − t)|² / 2 + |x − t|² / 2
            let function = |x: &[f64], gradient: &mut [f64]| {
                let off: Vec<f64> = x.iter().zip(&target).map(|(x, t)| x - t).collect();
                let mut value = dot(&off, &off) / 2.0;
                gradient.copy_from_slice(&off);
                for row in &rows {
                    let product = dot(row, &off);
                    value += product * product / 2.0;
                    gradient.iter_mut().zip(row).for_each(|(g, a)| *g += product * a);
                }
                value
            };
            let minimum = STRICT.minimize(vec![0.0; 4], function, |_| true);
            for (x, t) in minimum.point.iter().zip(&target) {
                prop_assert!((x - t).abs() < 1e-6, "{:?} {:?}", minimum, target);
            }
        }
    }
}
