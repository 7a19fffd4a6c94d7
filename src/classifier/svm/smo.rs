//! Sequential minimal optimization on the kernel, with LIBSVM's working set selection (Fan, Chen and Lin
//! 2005) and without its shrinking.

use super::rows::Targets;
use super::vectors::Dual;

/// The minimum curvature of a pair of variables.
const MIN_CURVATURE: f64 = 1e-12;
/// The number of steps between calls of the progress function.
const STEPS_PER_REPORT: u64 = 1_000;

/// A kernel matrix: symmetric and positive semidefinite, with one row for each training row.
pub trait Kernel {
    /// Prepares a row; at least the two rows prepared last can be read.
    fn prepare(&mut self, _row: usize) {}
    /// The value at a place of a prepared row.
    fn value(&self, row: usize, other: usize) -> f64;
    /// The value on the diagonal; the row need not be prepared.
    fn norm(&self, row: usize) -> f64;
}

/// The dual variables of a classifier: for each row one for its positive and one for its negative
/// instances.
struct State {
    /// The margins without the bias.
    margins: Vec<f64>,
    weights: [Vec<f64>; 2],
    limits: [Vec<f64>; 2],
}

/// The signs of the two variables of a row.
const SIGNS: [f64; 2] = [1.0, -1.0];

/// A variable: its row, and 0 for positive or 1 for negative instances.
type Variable = (usize, usize);

impl State {
    fn new(targets: &Targets, classifier: usize, c: f64) -> Self {
        let n = targets.len();
        let positive = |row: usize| {
            let positive =
                targets.positive(row).iter().find(|(other, _)| usize::from(*other) == classifier);
            positive.map_or(0.0, |&(_, count)| count)
        };
        let limits = [
            (0..n).map(|row| c * f64::from(positive(row))).collect(),
            (0..n).map(|row| c * f64::from(targets.total(row) - positive(row))).collect(),
        ];
        Self { margins: vec![0.0; n], weights: [vec![0.0; n], vec![0.0; n]], limits }
    }

    fn may_rise(&self, (row, side): Variable) -> bool {
        self.weights[side][row] < self.limits[side][row]
    }

    fn may_fall(&self, (row, side): Variable) -> bool {
        self.weights[side][row] > 0.0
    }

    /// Whether the signed variable may increase.
    fn up(&self, variable: Variable) -> bool {
        if variable.1 == 0 { self.may_rise(variable) } else { self.may_fall(variable) }
    }

    /// Whether the signed variable may decrease.
    fn down(&self, variable: Variable) -> bool {
        if variable.1 == 0 { self.may_fall(variable) } else { self.may_rise(variable) }
    }

    /// The increase of the dual objective per increase of the signed variable.
    fn gain(&self, (row, side): Variable) -> f64 {
        SIGNS[side] - self.margins[row]
    }

    /// The variable with the largest such increase.
    fn first(&self) -> Option<(Variable, f64)> {
        let mut best: Option<(Variable, f64)> = None;
        for variable in self.variables().filter(|&variable| self.up(variable)) {
            let gain = self.gain(variable);
            if best.is_none_or(|(_, most)| gain > most) {
                best = Some((variable, gain));
            }
        }
        best
    }

    /// The second variable of the working set, with the largest estimated improvement of the objective; and
    /// the largest violation of optimality.
    fn second(
        &self,
        kernel: &impl Kernel,
        (first, most): (Variable, f64),
    ) -> (Option<Variable>, f64) {
        let norm = kernel.norm(first.0);
        let (mut best, mut lowest, mut violation) = (None, 0.0, 0f64);
        for variable in self.variables().filter(|&variable| self.down(variable)) {
            let gap = most - self.gain(variable);
            violation = violation.max(gap);
            if gap > 0.0 {
                let row = variable.0;
                let curvature = norm + kernel.norm(row) - 2.0 * kernel.value(first.0, row);
                let lowers = -(gap * gap) / curvature.max(MIN_CURVATURE);
                if lowers < lowest {
                    (best, lowest) = (Some(variable), lowers);
                }
            }
        }
        (best, violation)
    }

    fn variables(&self) -> impl Iterator<Item = Variable> {
        (0..self.margins.len()).flat_map(|row| [(row, 0), (row, 1)])
    }

    /// Increases one signed variable and decreases another by the same amount.
    fn step(&mut self, kernel: &impl Kernel, up: Variable, down: Variable) {
        let common = kernel.value(up.0, down.0);
        let curvature = kernel.norm(up.0) + kernel.norm(down.0) - 2.0 * common;
        let wanted = (self.gain(up) - self.gain(down)) / curvature.max(MIN_CURVATURE);
        let room = |(row, side): Variable, rises: bool| {
            if rises {
                self.limits[side][row] - self.weights[side][row]
            } else {
                self.weights[side][row]
            }
        };
        let (room_up, room_down) = (room(up, up.1 == 0), room(down, down.1 == 1));
        let by = wanted.min(room_up).min(room_down);
        let mut set = |(row, side): Variable, rises: bool, room: f64| {
            let (weight, limit) = (&mut self.weights[side][row], self.limits[side][row]);
            *weight = match (rises, by >= room) {
                (true, true) => limit,
                (true, false) => *weight + by,
                (false, true) => 0.0,
                (false, false) => *weight - by,
            };
        };
        set(up, up.1 == 0, room_up);
        set(down, down.1 == 1, room_down);
        for (row, margin) in self.margins.iter_mut().enumerate() {
            *margin += by * (kernel.value(up.0, row) - kernel.value(down.0, row));
        }
    }

    /// The bias: the mean over the free variables, or the midpoint of the bounds if there are none.
    fn bias(&self) -> f64 {
        let (mut sum, mut n) = (0.0, 0u32);
        let (mut least, mut most) = (f64::NEG_INFINITY, f64::INFINITY);
        for variable in self.variables() {
            let (up, down, gain) = (self.up(variable), self.down(variable), self.gain(variable));
            if up && down {
                sum += gain;
                n += 1;
            } else if up {
                least = least.max(gain);
            } else if down {
                most = most.min(gain);
            }
        }
        match n {
            0 if least.is_finite() && most.is_finite() => (least + most) / 2.0,
            0 => [least, most].into_iter().find(|bias| bias.is_finite()).unwrap_or(0.0),
            _ => sum / f64::from(n),
        }
    }
}

/// Solves a classifier until no pair of variables violates optimality by more than `tolerance`, or until
/// `go_on`, called with the largest violation, returns false.
pub fn solve(
    kernel: &mut impl Kernel,
    targets: &Targets,
    classifier: usize,
    c: f64,
    tolerance: f64,
    mut go_on: impl FnMut(f64) -> bool,
) -> Dual {
    let mut state = State::new(targets, classifier, c);
    let mut steps = 0u64;
    while let Some((first, most)) = state.first() {
        kernel.prepare(first.0);
        let (second, violation) = state.second(kernel, (first, most));
        let Some(second) = second.filter(|_| violation > tolerance) else { break };
        kernel.prepare(second.0);
        kernel.prepare(first.0);
        state.step(kernel, first, second);
        steps += 1;
        if steps.is_multiple_of(STEPS_PER_REPORT) && !go_on(violation) {
            break;
        }
    }
    let bias = state.bias();
    let [positive, others] = state.weights;
    Dual {
        weights: positive.iter().zip(&others).map(|(positive, others)| positive - others).collect(),
        bias,
    }
}
