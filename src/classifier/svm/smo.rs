//! Sequential minimal optimisation on the kernel, with LIBSVM's working sets (Fan, Chen and Lin 2005,
//! "working set selection using second order information") and without its shrinking.
//!
//! Rows have few indicators, so the rows of the kernel matrix are made by counting in an inverted index
//! what each training row has in common with one; the counts of the rows used last are kept, up to a
//! limit, and serve all classifiers.

use std::collections::VecDeque;

use super::rows::{Rows, Targets};
use super::vectors::{Dual, kernel};

/// Below this the curvature of a pair of variables counts as this.
const MIN_CURVATURE: f64 = 1e-12;
/// How many steps are taken between questions whether to stop.
const STEPS_A_QUESTION: u64 = 1_000;

/// The memory of cached kernel rows.
const CACHE_BYTES: usize = 1_000_000;

/// Rows of the kernel matrix, as numbers of common indicators.
pub(super) struct KernelRows<'a> {
    rows: &'a Rows,
    starts: Vec<usize>,
    inverted: Vec<u32>,
    kept: Vec<Option<Box<[u16]>>>,
    /// The kept rows, those made first in front, and how many there may be.
    made: VecDeque<u32>,
    room: usize,
    kernels: Vec<f64>,
}

impl<'a> KernelRows<'a> {
    /// The kernel of the rows; at least two rows are cached.
    pub(super) fn new(rows: &'a Rows, degree: u32) -> Self {
        let (starts, inverted) = rows.inverted();
        let longest = (0..rows.len()).map(|at| rows.row(at).len()).max().unwrap_or(0) as u32;
        let room = CACHE_BYTES / (2 * rows.len()).max(1);
        Self {
            rows,
            starts,
            inverted,
            kept: vec![None; rows.len()],
            made: VecDeque::new(),
            room: room.max(2),
            kernels: (0..=longest).map(|common| kernel(common, degree)).collect(),
        }
    }

    /// Sees to it that a row is there.
    fn make(&mut self, row: usize) {
        if self.kept[row].is_some() {
            return;
        }
        let mut counts = match self.made.len() >= self.room {
            true => self.made.pop_front().and_then(|oldest| self.kept[oldest as usize].take()),
            false => None,
        }
        .unwrap_or_else(|| vec![0; self.rows.len()].into());
        counts.fill(0);
        for &item in self.rows.row(row) {
            let item = item as usize;
            for &other in &self.inverted[self.starts[item]..self.starts[item + 1]] {
                counts[other as usize] += 1;
            }
        }
        self.kept[row] = Some(counts);
        self.made.push_back(row as u32);
    }

    fn counts(&self, row: usize) -> &[u16] {
        self.kept[row].as_deref().unwrap_or_default()
    }

    fn of(&self, common: u16) -> f64 {
        self.kernels[usize::from(common)]
    }

    fn norm(&self, row: usize) -> f64 {
        self.kernels[self.rows.row(row).len()]
    }
}

/// The dual variables of a classifier: for each row one for the instances that are its own, one for others.
struct State {
    /// Margins without the bias.
    margins: Vec<f64>,
    weights: [Vec<f64>; 2],
    limits: [Vec<f64>; 2],
}

/// The signs of the two variables of a row.
const SIGNS: [f64; 2] = [1.0, -1.0];

/// A variable: its row, and whether it is of instances that are not the classifier's.
type Variable = (usize, usize);

impl State {
    fn new(targets: &Targets, classifier: usize, c: f64) -> Self {
        let n = targets.len();
        let mine = |row: usize| {
            let mine =
                targets.mine(row).iter().find(|(other, _)| usize::from(*other) == classifier);
            mine.map_or(0.0, |&(_, count)| count)
        };
        let limits = [
            (0..n).map(|row| c * f64::from(mine(row))).collect(),
            (0..n).map(|row| c * f64::from(targets.total(row) - mine(row))).collect(),
        ];
        Self { margins: vec![0.0; n], weights: [vec![0.0; n], vec![0.0; n]], limits }
    }

    fn may_rise(&self, (row, side): Variable) -> bool {
        self.weights[side][row] < self.limits[side][row]
    }

    fn may_fall(&self, (row, side): Variable) -> bool {
        self.weights[side][row] > 0.0
    }

    /// Whether a variable times its sign may rise.
    fn up(&self, variable: Variable) -> bool {
        if variable.1 == 0 { self.may_rise(variable) } else { self.may_fall(variable) }
    }

    /// Whether a variable times its sign may fall.
    fn down(&self, variable: Variable) -> bool {
        if variable.1 == 0 { self.may_fall(variable) } else { self.may_rise(variable) }
    }

    /// How much the dual objective gains where a variable times its sign rises.
    fn gain(&self, (row, side): Variable) -> f64 {
        SIGNS[side] - self.margins[row]
    }

    /// The variable that gains most by rising.
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

    /// The variable whose fall, together with the first one's rise, lowers the objective most; and by how
    /// much the two violate optimality at most.
    fn second(
        &self,
        kernel: &KernelRows<'_>,
        (first, most): (Variable, f64),
    ) -> (Option<Variable>, f64) {
        let (counts, norm) = (kernel.counts(first.0), kernel.norm(first.0));
        let (mut best, mut lowest, mut violation) = (None, 0.0, 0f64);
        for variable in self.variables().filter(|&variable| self.down(variable)) {
            let gap = most - self.gain(variable);
            violation = violation.max(gap);
            if gap > 0.0 {
                let row = variable.0;
                let curvature = norm + kernel.norm(row) - 2.0 * kernel.of(counts[row]);
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

    /// Raises one variable times its sign and lowers another by as much.
    fn step(&mut self, kernel: &KernelRows<'_>, up: Variable, down: Variable) {
        let common = kernel.counts(up.0)[down.0];
        let curvature = kernel.norm(up.0) + kernel.norm(down.0) - 2.0 * kernel.of(common);
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
        let (raised, lowered) = (kernel.counts(up.0), kernel.counts(down.0));
        for ((margin, &a), &b) in self.margins.iter_mut().zip(raised).zip(lowered) {
            *margin += by * (kernel.of(a) - kernel.of(b));
        }
    }

    /// The bias: the mean of what free variables want, else the middle of what bounds allow.
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

/// Solves a classifier until no pair of variables violates optimality by more than `tolerance`, or
/// `go_on`, told the largest violation, returns false.
pub(super) fn solve(
    kernel: &mut KernelRows<'_>,
    targets: &Targets,
    classifier: usize,
    c: f64,
    tolerance: f64,
    mut go_on: impl FnMut(f64) -> bool,
) -> Dual {
    let mut state = State::new(targets, classifier, c);
    let mut steps = 0u64;
    while let Some((first, most)) = state.first() {
        kernel.make(first.0);
        let (second, violation) = state.second(kernel, (first, most));
        let Some(second) = second.filter(|_| violation > tolerance) else { break };
        kernel.make(second.0);
        kernel.make(first.0);
        state.step(kernel, first, second);
        steps += 1;
        if steps.is_multiple_of(STEPS_A_QUESTION) && !go_on(violation) {
            break;
        }
    }
    let bias = state.bias();
    let [mine, others] = state.weights;
    Dual { weights: mine.iter().zip(&others).map(|(mine, others)| mine - others).collect(), bias }
}
