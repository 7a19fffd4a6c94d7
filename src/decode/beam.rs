//! Beam search: the best k hypotheses at every step.
//!
//! All hypotheses of the beam have taken the same number of steps. A finished hypothesis stays in the beam and
//! takes idle steps until all are finished (Zhu et al. 2013, section 3.2), which makes derivations of different
//! lengths comparable. Ties go to the successor of the higher-ranked hypothesis, then to the first action. Of
//! hypotheses with the same state ([`TransitionSystem::identity`]) only the best stays.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::path::compare_steps;
use super::{Cursor, Decoded, PathScore, Problem, heap};
use crate::scorer::Reading;
use crate::transition::{Action, Forest, TransitionSystem};

/// The beam decoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beam {
    /// The beam size: the maximum number of hypotheses; at least 1.
    pub width: usize,
    /// A hypothesis is dropped if its score, as a sum over all its steps, trails the best one by more than this;
    /// 0 for no threshold.
    pub threshold: f64,
    /// The path score.
    pub path_score: PathScore,
}

/// One step of a hypothesis.
#[derive(Debug, Clone, Copy)]
pub struct BeamStep {
    /// The index of the step before.
    previous: u32,
    /// The action taken; `None` for an idle step.
    pub action: Option<Action>,
}

/// The index before the first step.
const START: u32 = u32::MAX;

/// A hypothesis of the beam.
#[derive(Debug, Clone, Copy)]
pub struct Hypothesis {
    slot: u32,
    step: u32,
    /// The accumulated score ([`PathScore::extend`]).
    path: f64,
    /// The score of the path.
    pub score: f64,
    /// Whether the derivation has ended.
    pub is_final: bool,
    /// Whether the path is the followed one ([`Agenda::advance`]).
    pub followed: bool,
}

/// The sorted step scores of each hypothesis of the beam, which break ties; empty if the path score does not use
/// them.
type StepScores = [Vec<f32>];

/// The next step of the followed path, which is the gold derivation in training.
#[derive(Debug, Clone, Copy)]
pub struct Follow {
    /// The action; `None` for an idle step.
    pub action: Option<Action>,
    /// The addition to the scores of all other actions.
    pub margin: f32,
}

/// A possible successor of a hypothesis.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    score: f64,
    path: f64,
    /// The score of the last step.
    last: f32,
    parent: u32,
    action: Option<Action>,
}

/// The state of a search: the beam and the steps that led to it.
#[derive(Default)]
pub struct Agenda {
    /// The constituents built by all hypotheses.
    forest: Forest,
    slots: Vec<Cursor>,
    free: Vec<u32>,
    beam: Vec<Hypothesis>,
    previous_beam: Vec<Hypothesis>,
    uses: Vec<u32>,
    steps: Vec<BeamStep>,
    /// The number of steps taken, idle ones included.
    n_steps: usize,
    candidates: Vec<Candidate>,
    /// The step scores of each hypothesis in ascending order, if they break ties.
    step_scores: Vec<Vec<f32>>,
    previous_step_scores: Vec<Vec<f32>>,
    /// For each state, by identity, the best candidate that leads to it.
    best: FxHashMap<u64, Candidate>,
    actions: Vec<Action>,
    scores: Vec<f32>,
}

/// Orders candidates, best first.
fn rank(steps: &StepScores, a: &Candidate, b: &Candidate) -> Ordering {
    let scored = |one: &Candidate| (&steps[one.parent as usize][..], one.last);
    let by_steps =
        || if steps.is_empty() { Ordering::Equal } else { compare_steps(scored(b), scored(a)) };
    let by_score = b.score.total_cmp(&a.score).then_with(by_steps);
    by_score.then_with(|| (a.parent, a.action).cmp(&(b.parent, b.action)))
}

impl Agenda {
    /// Begins a search with the empty derivation.
    pub fn start(
        &mut self,
        problem: Problem<'_>,
        path_score: PathScore,
        reading: &mut dyn Reading,
    ) {
        self.steps.clear();
        self.n_steps = 0;
        self.free.clear();
        self.free.extend((1..self.slots.len() as u32).rev());
        let (slot, forest) = Cursor::start(problem, reading);
        reading.cache_scores();
        let is_final = slot.is_final();
        self.forest = forest;
        match self.slots.first_mut() {
            Some(first) => *first = slot,
            None => self.slots.push(slot),
        }
        let path = path_score.empty();
        let score = path_score.score(path, 0);
        self.step_scores.clear();
        if path_score.breaks_ties() {
            self.step_scores.push(Vec::new());
        }
        self.beam.clear();
        self.beam.push(Hypothesis { slot: 0, step: START, path, score, is_final, followed: true });
    }

    /// The hypotheses, best first.
    pub fn beam(&self) -> &[Hypothesis] {
        &self.beam
    }

    /// The last step of a hypothesis of the beam: the position of its parent in the beam before, and the action, `None`
    /// for an idle step. There is no last step before the first.
    pub fn last_step(&self, hypothesis: &Hypothesis) -> Option<(usize, Option<Action>)> {
        let BeamStep { previous, action } = *self.steps.get(hypothesis.step as usize)?;
        let first = self.previous_beam.first().map_or(0, |best| best.step);
        Some((previous.saturating_sub(first) as usize, action))
    }

    /// Writes the actions of a hypothesis into `out` (emptied first), first to last; `None` for an idle
    /// step.
    pub fn history(&self, hypothesis: &Hypothesis, out: &mut Vec<Option<Action>>) {
        out.clear();
        let mut at = hypothesis.step;
        while let Some(step) = self.steps.get(at as usize) {
            out.push(step.action);
            at = step.previous;
        }
        out.reverse();
    }

    /// Expands all hypotheses by one step and keeps the best `beam.width`. The followed path is the one that takes
    /// the actions of `follow`; at each of its steps, the margin of `follow` is added to the scores of all other
    /// actions.
    pub fn advance(
        &mut self,
        beam: &Beam,
        problem: Problem<'_>,
        follow: Option<Follow>,
        reading: &mut dyn Reading,
    ) {
        self.expand(beam, problem, follow, reading);
        self.candidates.sort_unstable_by(|a, b| rank(&self.step_scores, a, b));
        self.n_steps += 1;
        self.drop_beyond_threshold(beam);
        std::mem::swap(&mut self.beam, &mut self.previous_beam);
        std::mem::swap(&mut self.step_scores, &mut self.previous_step_scores);
        self.step_scores
            .resize_with(self.previous_step_scores.len().min(1) * self.candidates.len(), Vec::new);
        self.uses.clear();
        self.uses.resize(self.previous_beam.len(), 0);
        for candidate in &self.candidates {
            self.uses[candidate.parent as usize] += 1;
        }
        for (parent, &uses) in self.previous_beam.iter().zip(&self.uses) {
            if uses == 0 {
                self.free.push(parent.slot);
            }
        }
        self.beam.clear();
        for at in 0..self.candidates.len() {
            let Candidate { score, path, last, parent, action, .. } = self.candidates[at];
            let parent_at = parent as usize;
            if let Some(steps) = self.step_scores.get_mut(at) {
                beam.path_score.extend_steps(&self.previous_step_scores[parent_at], last, steps);
            }
            let parent = self.previous_beam[parent_at];
            self.uses[parent_at] -= 1;
            let slot = if self.uses[parent_at] == 0 { parent.slot } else { self.copy(parent.slot) };
            let mut is_final = parent.is_final;
            if let Some(action) = action {
                let cursor = &mut self.slots[slot as usize];
                cursor.take(problem, &mut self.forest, action, reading);
                is_final = cursor.is_final();
            }
            self.beam.push(Hypothesis {
                slot,
                step: self.steps.len() as u32,
                path,
                score,
                is_final,
                followed: parent.followed && follow.is_none_or(|follow| action == follow.action),
            });
            self.steps.push(BeamStep { previous: parent.step, action });
        }
    }

    /// Drops the candidates that are too far behind the best one.
    fn drop_beyond_threshold(&mut self, beam: &Beam) {
        if beam.threshold > 0.0 {
            let best = self.candidates.first().map_or(0.0, |best| best.score);
            // The difference of two infinite scores is NaN, which is not beyond the threshold.
            self.candidates.retain(|other| {
                let lead = beam.lead(best, other.score, self.n_steps);
                lead.partial_cmp(&beam.threshold) != Some(Ordering::Greater)
            });
        }
    }

    /// Collects the best successors of all hypotheses in `candidates`.
    fn expand(
        &mut self,
        beam: &Beam,
        problem: Problem<'_>,
        follow: Option<Follow>,
        reading: &mut dyn Reading,
    ) {
        let system = problem.system;
        let &Beam { width, path_score, .. } = beam;
        self.candidates.clear();
        self.best.clear();
        let (forest, step_scores) = (&self.forest, &self.step_scores);
        for (hypothesis, parent) in self.beam.iter().zip(0..) {
            let cursor = &self.slots[hypothesis.slot as usize];
            let steps = cursor.state.steps as usize;
            let follow = follow.filter(|_| hypothesis.followed);
            let margin = |action| match follow {
                Some(follow) if action != follow.action => follow.margin,
                _ => 0.0,
            };
            if hypothesis.is_final {
                let (mut path, last) = (hypothesis.path, f32::INFINITY);
                if path_score.counts_idle() {
                    let step = reading.idle(cursor.at(problem, forest), &cursor.memory);
                    path = path_score.extend(path, step + margin(None));
                }
                let score = path_score.score(path, steps);
                let idle = Candidate { score, path, last, parent, action: None };
                push_bounded(&mut self.candidates, step_scores, width, idle);
                continue;
            }
            cursor.legal(problem, forest, &mut self.actions);
            cursor.scores(problem, forest, &self.actions, reading, &mut self.scores);
            for (&action, &step) in self.actions.iter().zip(&self.scores) {
                let identity = system.identity(&cursor.state, forest, Some(action));
                let action = Some(action);
                let last = step + margin(action);
                let path = path_score.extend(hypothesis.path, last);
                let score = path_score.score(path, steps + 1);
                let candidate = Candidate { score, path, last, parent, action };
                let Some(identity) = identity else {
                    push_bounded(&mut self.candidates, step_scores, width, candidate);
                    continue;
                };
                let known = self.best.entry(identity).or_insert(candidate);
                if rank(step_scores, &candidate, known).is_lt() {
                    *known = candidate;
                }
            }
        }
        // No two candidates rank the same, so the result does not depend on the order of the map.
        for &candidate in self.best.values() {
            push_bounded(&mut self.candidates, step_scores, width, candidate);
        }
    }

    /// Copies a cursor; returns the slot of the copy.
    fn copy(&mut self, from: u32) -> u32 {
        let from = from as usize;
        if let Some(to) = self.free.pop() {
            let slots = self.slots.get_disjoint_mut([from, to as usize]);
            let [source, target] = slots.expect("a free slot is not in use");
            target.copy_from(source);
            return to;
        }
        let copy = self.slots[from].clone();
        self.slots.push(copy);
        self.slots.len() as u32 - 1
    }
}

/// Adds a candidate if it is among the best `width`; it replaces the worst one of a full list. The list is
/// unordered until it is full, then a heap with the worst candidate on top.
fn push_bounded(list: &mut Vec<Candidate>, steps: &StepScores, width: usize, candidate: Candidate) {
    let worse = |a: &Candidate, b: &Candidate| rank(steps, a, b).is_gt();
    if list.len() < width {
        list.push(candidate);
        if list.len() == width {
            heap::heapify(list, &worse);
        }
    } else if worse(&list[0], &candidate) {
        list[0] = candidate;
        heap::sift_down(list, 0, &worse);
    }
}

impl Beam {
    /// How far a score leads another one after `n_steps` steps, as a sum over them: what the threshold limits.
    pub fn lead(&self, score: f64, other: f64, n_steps: usize) -> f64 {
        let steps = if self.path_score == PathScore::Mean { n_steps as f64 } else { 1.0 };
        (score - other) * steps
    }

    /// Returns the best `n` derivations found, best first; at least one. Calls `observe` after every step.
    pub fn decode(
        &self,
        problem: Problem<'_>,
        n: usize,
        (agenda, reading): (&mut Agenda, &mut dyn Reading),
        observe: &mut dyn FnMut(&Agenda),
    ) -> Vec<Decoded> {
        agenda.start(problem, self.path_score, reading);
        while agenda.may_improve(self.path_score, n) {
            agenda.advance(self, problem, None, reading);
            observe(agenda);
        }
        // Complete derivations rank above partial ones, whatever their scores.
        let (complete, partial): (Vec<_>, Vec<_>) = (agenda.beam.clone().into_iter())
            .partition(|hypothesis| agenda.is_complete(problem.system, hypothesis));
        let best = complete.into_iter().chain(partial).take(n.max(1));
        best.map(|hypothesis| agenda.decoded(problem, &hypothesis)).collect()
    }
}

impl Agenda {
    /// Whether another step may change the best `n` derivations.
    fn may_improve(&self, path_score: PathScore, n: usize) -> bool {
        let n_compared = if path_score.never_increases() { n.max(1) } else { usize::MAX };
        self.beam.iter().take(n_compared).any(|hypothesis| !hypothesis.is_final)
    }

    fn is_complete(&self, system: &dyn TransitionSystem, hypothesis: &Hypothesis) -> bool {
        system.is_complete(&self.slots[hypothesis.slot as usize].state, &self.forest)
    }

    /// The derivation of a hypothesis.
    fn decoded(&self, problem: Problem<'_>, hypothesis: &Hypothesis) -> Decoded {
        let mut actions = Vec::new();
        self.history(hypothesis, &mut actions);
        Decoded::replayed(problem, actions.into_iter().flatten().collect(), hypothesis.score)
    }
}

#[cfg(test)]
mod tests;
