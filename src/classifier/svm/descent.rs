//! Dual coordinate descent on the grouped feature map (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008),
//! for a block of one-vs-rest classifiers at once.
//!
//! Each classifier minimizes ½‖w‖² + C Σ max(0, 1 − y·w·φ(x)). Its bias is the weight of the map's constant, and
//! is regularized with the other weights. The classifiers of a block share the traversal of a row's groups, which
//! takes most of the time. They share nothing else, so the assignment to blocks affects the results only through
//! the order of the steps.
//!
//! Equal rows have one net weight β (their dual variables times +1 or −1, summed up). With p positive and n
//! negative instances, the dual objective in β is a parabola with a kink at (p − n)·C, on the interval from
//! −n·C to p·C; the step to its minimum is exact. A row that hardly changed is skipped for a while, longer
//! each time (shrinking); convergence is only declared after a pass over all rows.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;

use super::groups::Groups;
use super::rows::Targets;

/// Number of rows that stay together in the random order of a pass, because they share features.
const CHUNK: usize = 16;
/// A row whose margin changed by less than this fraction of the tolerance may be skipped.
const REST: f32 = 0.1;
/// A row is skipped for at most 2 to the power of this many passes.
const LONGEST_REST: u8 = 4;

/// The optimization problem of a block.
#[derive(Debug, Clone, Copy)]
pub struct BinaryProblem<'a> {
    /// The features.
    pub groups: &'a Groups,
    /// The instances of each row that are positive for each classifier.
    pub targets: &'a Targets,
    /// The first classifier of the block.
    pub first: usize,
    /// The number of classifiers.
    pub classifiers: usize,
    /// The upper bound of the dual variable of an instance.
    pub c: f32,
    /// A block has converged when no step of a pass over all rows changes its row's margin by more than
    /// this.
    pub tolerance: f32,
    /// Maximum number of passes.
    pub max_epochs: u32,
    /// The seed of the order of rows.
    pub seed: u64,
}

/// The result of a pass.
#[derive(Debug, Clone, Copy)]
pub struct Epoch {
    /// The number of passes so far.
    pub epoch: u32,
    /// The number of rows that were not skipped.
    pub active: usize,
    /// The largest change of a margin.
    pub change: f32,
}

/// The weights of a block.
#[derive(Debug, Clone, Default)]
pub struct Solution {
    /// The end of each place's entries; places are those of [`Groups`].
    pub ends: Vec<u32>,
    /// Classifiers, in ascending order at each place, with the weights of their features before scaling by
    /// the factors.
    pub entries: Vec<(u16, f32)>,
    /// Whether the block converged.
    pub solved: bool,
}

/// Weights and dual variables during optimization.
struct State<const L: usize> {
    weights: Vec<[f32; L]>,
    duals: Vec<[f32; L]>,
}

impl<const L: usize> State<L> {
    fn margins(&self, task: &BinaryProblem<'_>, row: usize) -> [f32; L] {
        let mut sums = [0.0; L];
        for &group in task.groups.row(row) {
            let factor = task.groups.factors[group as usize];
            for (sum, weight) in sums.iter_mut().zip(&self.weights[group as usize]) {
                *sum += factor * weight;
            }
        }
        for (sum, dual) in sums.iter_mut().zip(&self.duals[row]) {
            *sum += task.groups.own[row] * dual;
        }
        sums
    }

    /// Takes one step for every classifier; returns the largest change of a margin.
    fn step(&mut self, task: &BinaryProblem<'_>, row: usize) -> f32 {
        let margins = self.margins(task, row);
        let (norm, total) = (task.groups.norms[row], task.targets.total(row));
        let mut positive = [0.0; L];
        for &(classifier, count) in task.targets.positive(row) {
            if let Some(positive) = usize::from(classifier)
                .checked_sub(task.first)
                .and_then(|lane| positive.get_mut(lane))
            {
                *positive = count;
            }
        }
        let (mut deltas, mut largest) = ([0.0; L], 0f32);
        for lane in 0..task.classifiers {
            let (dual, margin) = (self.duals[row][lane], margins[lane]);
            let (high, low) = (positive[lane] * task.c, (positive[lane] - total) * task.c);
            let up = dual + (1.0 - margin) / norm;
            let down = dual - (1.0 + margin) / norm;
            let new = down.max(up.min(high + low)).clamp(low, high);
            deltas[lane] = new - dual;
            self.duals[row][lane] = new;
            largest = largest.max(deltas[lane].abs());
        }
        if largest > 0.0 {
            for &group in task.groups.row(row) {
                for (weight, delta) in self.weights[group as usize].iter_mut().zip(&deltas) {
                    *weight += delta;
                }
            }
        }
        largest * norm
    }

    /// The weights, recomputed from the dual variables, which accumulates fewer rounding errors than the
    /// steps.
    fn finish(self, task: &BinaryProblem<'_>, solved: bool) -> Solution {
        let Self { mut weights, duals } = self;
        weights.fill([0.0; L]);
        let mut rest = vec![[0.0f32; L]; weights.len()];
        for (row, duals) in duals.iter().enumerate() {
            if duals.iter().all(|&dual| dual == 0.0) {
                continue;
            }
            for &group in task.groups.row(row) {
                let (sums, lost) = (&mut weights[group as usize], &mut rest[group as usize]);
                for lane in 0..L {
                    // Kahan summation.
                    let add = duals[lane] - lost[lane];
                    let sum = sums[lane] + add;
                    lost[lane] = (sum - sums[lane]) - add;
                    sums[lane] = sum;
                }
            }
        }
        let mut solution = Solution { solved, ..Solution::default() };
        for weights in weights.iter().chain(&duals) {
            for (lane, &weight) in weights.iter().enumerate() {
                if weight != 0.0 {
                    solution.entries.push(((task.first + lane) as u16, weight));
                }
            }
            solution.ends.push(solution.entries.len() as u32);
        }
        solution
    }
}

/// Maximum number of classifiers in a block.
pub const MAX_BLOCK: usize = 16;

/// Solves a block of at most [`MAX_BLOCK`] classifiers; `each_epoch` stops it by returning false.
pub fn solve(task: &BinaryProblem<'_>, each_epoch: impl FnMut(Epoch) -> bool) -> Solution {
    match task.classifiers {
        0..=1 => solve_lanes::<1>(task, each_epoch),
        2..=4 => solve_lanes::<4>(task, each_epoch),
        5..=8 => solve_lanes::<8>(task, each_epoch),
        _ => solve_lanes::<MAX_BLOCK>(task, each_epoch),
    }
}

fn solve_lanes<const L: usize>(
    task: &BinaryProblem<'_>,
    mut each_epoch: impl FnMut(Epoch) -> bool,
) -> Solution {
    let n_rows = task.targets.len();
    let mut state =
        State { weights: vec![[0.0; L]; task.groups.len()], duals: vec![[0.0; L]; n_rows] };
    let mut rng = ChaCha8Rng::seed_from_u64(task.seed);
    // For each row the next pass that does not skip it, and in how many consecutive passes it hardly
    // changed.
    let mut wakes = vec![(1u32, 0u8); n_rows];
    let mut solved = false;
    for epoch in 1..=task.max_epochs {
        let active: Vec<u32> =
            (0..n_rows as u32).filter(|&row| wakes[row as usize].0 <= epoch).collect();
        let mut chunks: Vec<&[u32]> = active.chunks(CHUNK).collect();
        chunks.shuffle(&mut rng);
        let mut change = 0f32;
        for &row in chunks.into_iter().flatten() {
            let moved = state.step(task, row as usize);
            change = change.max(moved);
            let (wake, quiet) = &mut wakes[row as usize];
            *quiet =
                if moved <= REST * task.tolerance { (*quiet + 1).min(LONGEST_REST) } else { 0 };
            *wake = epoch + (1 << *quiet);
        }
        let go_on = each_epoch(Epoch { epoch, active: active.len(), change });
        if change <= task.tolerance {
            if active.len() == n_rows {
                solved = true;
                break;
            }
            wakes.iter_mut().for_each(|(wake, _)| *wake = epoch + 1);
        }
        if !go_on {
            break;
        }
    }
    state.finish(task, solved)
}
