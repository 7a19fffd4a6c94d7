//! Beam search: the best few hypotheses at every step.
//!
//! All hypotheses of a step have taken equally many steps. One that is final stays in the beam and
//! takes idle steps until all are final (Zhu et al. 2013, section 3.2), scored as the scorer says, so that
//! derivations of different length can be compared. Ties go to the hypothesis that ranked higher before,
//! then to the action that comes first. Of hypotheses that lead to the same state
//! ([`TransitionSystem::identity`]) the best is kept.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;

use super::path::compare_steps;
use super::{Decoded, Decoder, PathScore, heap};
use crate::scorer::{Configuration, Scorer, score_choice};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// The beam decoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beam {
    /// The most hypotheses that are kept at a step; at least 1.
    pub width: usize,
    /// By how much the score of a hypothesis may trail the best one's, as a sum over all its steps, before
    /// it is dropped; 0 for any.
    pub threshold: f64,
    /// How the score of a path is made.
    pub path_score: PathScore,
}

/// One step of a hypothesis: the step before it, and the action; none for an idle step.
#[derive(Debug, Clone, Copy)]
pub struct Step<A> {
    before: u32,
    /// The action taken.
    pub action: Option<A>,
}

/// Stands for the step before the first.
const START: u32 = u32::MAX;

/// A hypothesis in the beam.
struct Slot<S: TransitionSystem, M> {
    state: S::State,
    memory: M,
}

/// A place in the beam.
#[derive(Debug, Clone, Copy)]
pub struct Hypothesis {
    slot: u32,
    step: u32,
    /// What is kept of the path's score.
    path: f64,
    /// The score of the path.
    pub score: f64,
    /// Whether the derivation has ended.
    pub is_final: bool,
    /// Whether the path is the one that was asked to be followed.
    pub followed: bool,
}

/// What decides between paths of the same score: the scores of their steps, if any do, by hypothesis of the
/// beam.
type Steps = [Vec<f32>];

/// What a followed path does next.
#[derive(Debug, Clone, Copy)]
pub struct Follow<A> {
    /// Its action; none for an idle step.
    pub action: Option<A>,
    /// What other actions score more than they do.
    pub margin: f32,
}

/// A successor of a hypothesis.
#[derive(Debug, Clone, Copy)]
struct Candidate<A> {
    score: f64,
    path: f64,
    /// The score of the last step.
    last: f32,
    parent: u32,
    action: Option<A>,
}

/// The hypotheses of a search, best first, and all that led to them.
pub struct Agenda<S: TransitionSystem, P: Scorer<S>> {
    slots: Vec<Slot<S, P::Memory>>,
    free: Vec<u32>,
    beam: Vec<Hypothesis>,
    before: Vec<Hypothesis>,
    uses: Vec<u32>,
    steps: Vec<Step<S::Action>>,
    /// How many steps all hypotheses have taken, idle ones included.
    taken: usize,
    candidates: Vec<Candidate<S::Action>>,
    /// The scores of the steps of each hypothesis, from the least, where ties are decided by them.
    scored: Vec<Vec<f32>>,
    scored_before: Vec<Vec<f32>>,
    /// The best candidate for each state that several hypotheses lead to.
    best: FxHashMap<u64, Candidate<S::Action>>,
    actions: Vec<S::Action>,
    scores: Vec<f32>,
    scorer: P::Scratch,
}

impl<S: TransitionSystem, P: Scorer<S>> Default for Agenda<S, P> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            beam: Vec::new(),
            before: Vec::new(),
            uses: Vec::new(),
            steps: Vec::new(),
            taken: 0,
            candidates: Vec::new(),
            scored: Vec::new(),
            scored_before: Vec::new(),
            best: FxHashMap::default(),
            actions: Vec::new(),
            scores: Vec::new(),
            scorer: P::Scratch::default(),
        }
    }
}

/// Better candidates first.
fn rank<A: Copy + Ord>(steps: &Steps, a: &Candidate<A>, b: &Candidate<A>) -> Ordering {
    let scored = |one: &Candidate<A>| (&steps[one.parent as usize][..], one.last);
    let by_steps =
        || if steps.is_empty() { Ordering::Equal } else { compare_steps(scored(b), scored(a)) };
    let by_score = b.score.total_cmp(&a.score).then_with(by_steps);
    by_score.then_with(|| (a.parent, a.action).cmp(&(b.parent, b.action)))
}

impl<S: TransitionSystem, P: Scorer<S>> Agenda<S, P> {
    /// Begins a search with the one hypothesis that has done nothing.
    pub fn start(&mut self, system: &S, scorer: &P, sentence: &Sentence, path_score: PathScore) {
        self.steps.clear();
        self.taken = 0;
        self.free.clear();
        self.free.extend((1..self.slots.len() as u32).rev());
        let state = system.start(sentence);
        let memory =
            scorer.begin(Configuration { system, sentence, state: &state }, &mut self.scorer);
        scorer.cache_scores(&mut self.scorer);
        let slot = Slot { state, memory };
        let is_final = system.is_final(&slot.state);
        match self.slots.first_mut() {
            Some(first) => *first = slot,
            None => self.slots.push(slot),
        }
        let path = path_score.empty();
        let score = path_score.score(path, 0);
        self.scored.clear();
        if path_score.breaks_ties() {
            self.scored.push(Vec::new());
        }
        self.beam.clear();
        self.beam.push(Hypothesis { slot: 0, step: START, path, score, is_final, followed: true });
    }

    /// The hypotheses, best first.
    pub fn beam(&self) -> &[Hypothesis] {
        &self.beam
    }

    /// Writes the actions that led to a hypothesis into `out` (emptied first), first to last; none
    /// for an idle step.
    pub fn history(&self, hypothesis: &Hypothesis, out: &mut Vec<Option<S::Action>>) {
        out.clear();
        let mut at = hypothesis.step;
        while let Some(step) = self.steps.get(at as usize) {
            out.push(step.action);
            at = step.before;
        }
        out.reverse();
    }

    /// Takes one step with every hypothesis and keeps the best `beam.width`. A path is still `followed` if
    /// it was before and its last action is that of `follow`; one that leaves the followed path scores
    /// higher by the margin that comes with it.
    pub fn advance(
        &mut self,
        beam: &Beam,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        follow: Option<Follow<S::Action>>,
    ) {
        self.expand(beam, system, scorer, sentence, follow);
        self.candidates.sort_unstable_by(|a, b| rank(&self.scored, a, b));
        self.taken += 1;
        if beam.threshold > 0.0 {
            let steps = if beam.path_score == PathScore::Mean { self.taken as f64 } else { 1.0 };
            let best = self.candidates.first().map_or(0.0, |best| best.score);
            // The difference of two infinite scores is no number.
            self.candidates.retain(|other| {
                other.score == best || (best - other.score) * steps <= beam.threshold
            });
        }
        std::mem::swap(&mut self.beam, &mut self.before);
        std::mem::swap(&mut self.scored, &mut self.scored_before);
        self.scored.resize_with(self.scored_before.len().min(1) * self.candidates.len(), Vec::new);
        self.uses.clear();
        self.uses.resize(self.before.len(), 0);
        for candidate in &self.candidates {
            self.uses[candidate.parent as usize] += 1;
        }
        for (parent, &uses) in self.before.iter().zip(&self.uses) {
            if uses == 0 {
                self.free.push(parent.slot);
            }
        }
        self.beam.clear();
        for at in 0..self.candidates.len() {
            let Candidate { score, path, last, parent, action, .. } = self.candidates[at];
            let parent_at = parent as usize;
            if let Some(scored) = self.scored.get_mut(at) {
                beam.path_score.extend_steps(&self.scored_before[parent_at], last, scored);
            }
            let parent = self.before[parent_at];
            self.uses[parent_at] -= 1;
            let slot = if self.uses[parent_at] == 0 { parent.slot } else { self.copy(parent.slot) };
            let Slot { state, memory } = &mut self.slots[slot as usize];
            if let Some(action) = action {
                system.apply(state, action);
                let after = Configuration { system, sentence, state };
                scorer.advance(after, action, memory, &mut self.scorer);
            }
            self.beam.push(Hypothesis {
                slot,
                step: self.steps.len() as u32,
                path,
                score,
                is_final: system.is_final(state),
                followed: parent.followed && follow.is_none_or(|follow| action == follow.action),
            });
            self.steps.push(Step { before: parent.step, action });
        }
    }

    /// Fills the candidates: the best successors of all hypotheses.
    fn expand(
        &mut self,
        beam: &Beam,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        follow: Option<Follow<S::Action>>,
    ) {
        let &Beam { width, path_score, .. } = beam;
        self.candidates.clear();
        self.best.clear();
        let scored = &self.scored;
        for (hypothesis, parent) in self.beam.iter().zip(0..) {
            let Slot { state, memory } = &self.slots[hypothesis.slot as usize];
            let at = Configuration { system, sentence, state };
            let steps = system.steps(state);
            let follow = follow.filter(|_| hypothesis.followed);
            let ahead = |action| match follow {
                Some(follow) if action != follow.action => follow.margin,
                _ => 0.0,
            };
            if hypothesis.is_final {
                let (mut path, last) = (hypothesis.path, f32::INFINITY);
                if path_score.counts_waiting() {
                    let step = scorer.idle(at, memory, &mut self.scorer);
                    path = path_score.extend(path, step + ahead(None));
                }
                let score = path_score.score(path, steps);
                let waiting = Candidate { score, path, last, parent, action: None };
                keep(&mut self.candidates, scored, width, waiting);
                continue;
            }
            system.legal(state, &mut self.actions);
            let actions = &self.actions;
            score_choice(at, scorer, memory, actions, &mut self.scorer, &mut self.scores);
            for (&action, &step) in self.actions.iter().zip(&self.scores) {
                let identity = system.identity(state, Some(action));
                let action = Some(action);
                let last = step + ahead(action);
                let path = path_score.extend(hypothesis.path, last);
                let score = path_score.score(path, steps + 1);
                let candidate = Candidate { score, path, last, parent, action };
                let Some(identity) = identity else {
                    keep(&mut self.candidates, scored, width, candidate);
                    continue;
                };
                let known = self.best.entry(identity).or_insert(candidate);
                if rank(scored, &candidate, known).is_lt() {
                    *known = candidate;
                }
            }
        }
        // No two candidates rank the same: what is kept does not depend on the order of the map.
        for &candidate in self.best.values() {
            keep(&mut self.candidates, scored, width, candidate);
        }
    }

    /// A copy of a slot.
    fn copy(&mut self, from: u32) -> u32 {
        let from = from as usize;
        if let Some(to) = self.free.pop() {
            let slots = self.slots.get_disjoint_mut([from, to as usize]);
            let [source, target] = slots.expect("a free slot is not in use");
            target.state.clone_from(&source.state);
            target.memory.clone_from(&source.memory);
            return to;
        }
        let Slot { state, memory } = &self.slots[from];
        let copy = Slot { state: state.clone(), memory: memory.clone() };
        self.slots.push(copy);
        self.slots.len() as u32 - 1
    }
}

/// Adds a candidate if it is among the best `width`; the worst of a full list gives way. The list is in
/// no order until it is full, then a heap with the worst on top.
fn keep<A: Copy + Ord>(
    list: &mut Vec<Candidate<A>>,
    steps: &Steps,
    width: usize,
    candidate: Candidate<A>,
) {
    let worse = |a: &Candidate<A>, b: &Candidate<A>| rank(steps, a, b).is_gt();
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

impl<S: TransitionSystem, P: Scorer<S>> Decoder<S, P> for Beam {
    type Scratch = Agenda<S, P>;

    fn decode(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        agenda: &mut Agenda<S, P>,
    ) -> Decoded<S::State, S::Action> {
        self.decode_nbest(system, scorer, sentence, 1, agenda).swap_remove(0)
    }

    fn decode_nbest(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        n: usize,
        agenda: &mut Agenda<S, P>,
    ) -> Vec<Decoded<S::State, S::Action>> {
        agenda.start(system, scorer, sentence, self.path_score);
        while agenda.goes_on(self.path_score, n) {
            agenda.advance(self, system, scorer, sentence, None);
        }
        // Whole trees are better than the parts of one, whatever they score.
        let mut ranked = agenda.beam.clone();
        ranked.sort_by_key(|hypothesis| !system.is_complete(agenda.state(hypothesis)));
        ranked.iter().take(n.max(1)).map(|best| agenda.decoded(system, best)).collect()
    }
}

impl<S: TransitionSystem, P: Scorer<S>> Agenda<S, P> {
    /// Whether another step may change the best `n` derivations.
    fn goes_on(&self, path_score: PathScore, n: usize) -> bool {
        let sure = if path_score.never_rises() { n.max(1) } else { usize::MAX };
        self.beam.iter().take(sure).any(|hypothesis| !hypothesis.is_final)
    }

    fn state(&self, hypothesis: &Hypothesis) -> &S::State {
        &self.slots[hypothesis.slot as usize].state
    }

    /// A hypothesis as the end of a search.
    fn decoded(&self, system: &S, hypothesis: &Hypothesis) -> Decoded<S::State, S::Action> {
        let state = self.state(hypothesis).clone();
        let complete = system.is_complete(&state);
        let mut actions = Vec::new();
        self.history(hypothesis, &mut actions);
        let actions = actions.into_iter().flatten().collect();
        Decoded { state, actions, score: hypothesis.score, complete }
    }
}
