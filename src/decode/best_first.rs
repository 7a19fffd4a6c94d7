//! Best-first search: the best of all open hypotheses is expanded first.
//!
//! If no step increases the score of a path, as with log probabilities or a minimum, the first complete derivation
//! is the best one, unless the limits below have pruned a better one. Ties go to the longer path, then to the one
//! found first. Of several paths to the same state ([`TransitionSystem::identity`]) only the best is expanded; a
//! closed state is expanded again if a better path to it is found.
//!
//! With [`PathScore::Min`] ties are common and are broken by the higher step scores, so the search continues after
//! the first complete derivation while an open path may be better.
//!
//! After `max_states` hypotheses, or `max_scored` actions, the search returns the best derivations found, or gives up
//! ([`Unfinished`]). Each hypothesis has a state of its own, so the first limit is lower for sentences of many hundred
//! words. Besides the
//! agenda size there is a limit of 1 million open steps, beyond which the worse half is dropped. These limits bound
//! memory to about 1 GB, plus the scorer's memory of each hypothesis.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::path::compare_steps;
use super::{Cursor, Decoded, PathScore, Problem, heap};
use crate::classifier::first_best;
use crate::scorer::Reading;
use crate::transition::{Action, Forest, TransitionSystem};

/// Maximum number of words in all hypotheses together; limits memory.
const MAX_WORDS: usize = 4_000_000;

/// Maximum number of open steps, whatever the agenda size.
const MAX_OPEN: usize = 1_000_000;

/// The best steps to more states than this times the agenda size are not remembered.
const BEST_FACTOR: usize = 16;

/// The result of a search that reaches its limit without a complete derivation.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Unfinished {
    /// The longest path, completed greedily.
    #[default]
    Greedy,
    /// The last hypothesis, a partial tree that scores no less than the open ones.
    Partial,
}

/// The best-first decoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestFirst {
    /// Maximum number of hypotheses that are expanded; at least 1.
    pub max_states: usize,
    /// Maximum number of actions that are scored: a limit on time. Where candidates are scored, their number grows with
    /// the length of the sentence. Once it is reached, a path is completed greedily with as many more.
    pub max_scored: usize,
    /// The agenda size: the maximum number of open steps; at least 1, which amounts to greedy search.
    /// Values above 1 million have no effect.
    pub agenda: usize,
    /// The result if the search reaches a limit.
    pub unfinished: Unfinished,
    /// The path score.
    pub path_score: PathScore,
}

/// A hypothesis that has been taken from the agenda.
struct Node {
    cursor: Cursor,
    end: End,
    /// The parent node and the action from there; `None` for the initial configuration.
    previous: Option<(usize, Action)>,
    /// The accumulated score ([`PathScore::extend`]).
    path: f64,
    /// The sorted step scores, if they break ties.
    steps: Vec<f32>,
}

/// How far a hypothesis is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Its derivation can go on.
    Open,
    /// Its derivation has ended, with a complete tree or without.
    Final { complete: bool },
}

impl End {
    fn of(problem: Problem<'_>, cursor: &Cursor, forest: &Forest) -> Self {
        match cursor.is_final() {
            true => Self::Final { complete: problem.system.is_complete(&cursor.state, forest) },
            false => Self::Open,
        }
    }
}

/// A step on the agenda: an action from a node.
#[derive(Debug, Clone, Copy)]
struct OpenStep {
    score: f64,
    path: f64,
    /// The score of the step.
    step: f32,
    length: usize,
    number: usize,
    parent: usize,
    action: Action,
    /// The identity of the state that it leads to.
    identity: Option<u64>,
}

/// Orders open steps; the better one is greater.
fn rank(nodes: &[Node], a: &OpenStep, b: &OpenStep) -> Ordering {
    let steps = || {
        let of = |open: &OpenStep| (&nodes[open.parent].steps[..], open.step);
        compare_steps(of(a), of(b))
    };
    let by_score = a.score.total_cmp(&b.score).then_with(steps);
    by_score.then(a.length.cmp(&b.length)).then(b.number.cmp(&a.number))
}

/// Compares the path of an open step with that of a node which is at the same state or final.
fn compare_to_node(nodes: &[Node], open: &OpenStep, node: usize) -> Ordering {
    let own = (&nodes[open.parent].steps[..], open.step);
    let Node { path, steps, .. } = &nodes[node];
    let by_steps = || match steps[..] {
        [] => Ordering::Equal,
        _ => compare_steps(own, (steps, f32::INFINITY)),
    };
    open.path.total_cmp(path).then_with(by_steps)
}

/// Scratch memory of one thread.
#[derive(Default)]
pub struct BestFirstScratch {
    forest: Forest,
    nodes: Vec<Node>,
    /// The agenda: a heap with the best step on top.
    open: Vec<OpenStep>,
    /// The number of steps opened so far.
    opened: usize,
    /// The number of actions scored so far.
    scored: usize,
    /// For each state, by identity, the best open step to it.
    best: FxHashMap<u64, OpenStep>,
    /// For each state, by identity, its node.
    closed: FxHashMap<u64, usize>,
    actions: Vec<Action>,
    scores: Vec<f32>,
}

impl BestFirstScratch {
    /// Begins a search with the empty derivation.
    fn start(&mut self, problem: Problem<'_>, path_score: PathScore, reading: &mut dyn Reading) {
        self.nodes.clear();
        self.open.clear();
        self.best.clear();
        self.closed.clear();
        (self.opened, self.scored) = (0, 0);
        let (cursor, forest) = Cursor::start(problem, reading);
        reading.cache_scores();
        let (path, end) = (path_score.empty(), End::of(problem, &cursor, &forest));
        self.forest = forest;
        self.nodes.push(Node { cursor, end, previous: None, path, steps: Vec::new() });
    }

    /// Adds all steps from a node to the agenda.
    fn expand(
        &mut self,
        parent: usize,
        search: &BestFirst,
        problem: Problem<'_>,
        reading: &mut dyn Reading,
    ) {
        let Self { forest, nodes, open, opened, scored, best, closed, actions, scores } = self;
        let Node { cursor, path, .. } = &nodes[parent];
        cursor.legal(problem, forest, actions);
        cursor.scores(problem, forest, actions, reading, scores);
        *scored += actions.len();
        let length = cursor.state.steps as usize + 1;
        let better = |a: &OpenStep, b: &OpenStep| rank(nodes, a, b).is_gt();
        for (&action, &step) in actions.iter().zip(&*scores) {
            let path = search.path_score.extend(*path, step);
            let (score, number) = (search.path_score.score(path, length), *opened);
            let identity = problem.system.identity(&cursor.state, forest, Some(action));
            let step = OpenStep { score, path, step, length, number, parent, action, identity };
            if let Some(identity) = identity {
                let is_closed = |&node: &usize| compare_to_node(nodes, &step, node).is_le();
                if best.get(&identity).is_some_and(|known| !better(&step, known))
                    || closed.get(&identity).is_some_and(is_closed)
                {
                    continue;
                }
                best.insert(identity, step);
            }
            *opened += 1;
            heap::push(open, step, &better);
        }
        self.prune(search.agenda);
    }

    /// Drops the worst open steps if there are too many.
    fn prune(&mut self, agenda: usize) {
        let Self { nodes, open, best, .. } = self;
        let better = |a: &OpenStep, b: &OpenStep| rank(nodes, a, b).is_gt();
        if open.len() > agenda.min(MAX_OPEN) {
            if !best.is_empty() {
                // Steps to states with a better path do not count.
                let best_to = |identity| best.get(&identity).map(|known| known.number);
                open.retain(|step| {
                    step.identity.and_then(best_to).is_none_or(|best| best == step.number)
                });
            }
            let most = if agenda > MAX_OPEN { MAX_OPEN / 2 } else { agenda };
            if open.len() > most {
                open.select_nth_unstable_by(most - 1, |a, b| rank(nodes, b, a));
                open.truncate(most);
            }
            heap::heapify(open, &better);
        }
        if best.len() / BEST_FACTOR > agenda.min(MAX_OPEN / 8) {
            // Most of these steps have left the agenda.
            best.clear();
            for step in open.iter() {
                let Some(identity) = step.identity else { continue };
                let known = best.entry(identity).or_insert(*step);
                if better(step, known) {
                    *known = *step;
                }
            }
        }
    }

    /// Takes the best open step whose path is not worse than the node `end`, if that is given; returns the new
    /// node, or `None` if there is no such step.
    fn advance(
        &mut self,
        problem: Problem<'_>,
        path_score: PathScore,
        end: Option<usize>,
        reading: &mut dyn Reading,
    ) -> Option<usize> {
        let Self { forest, nodes, open, closed, .. } = self;
        let better = |a: &OpenStep, b: &OpenStep| rank(nodes, a, b).is_gt();
        let step = loop {
            let step = heap::pop(open, &better)?;
            let is_worse = end.is_some_and(|end| compare_to_node(nodes, &step, end).is_lt());
            let known = step.identity.and_then(|identity| closed.get(&identity));
            // Skips steps to states with a better path.
            if !is_worse && known.is_none_or(|&node| compare_to_node(nodes, &step, node).is_gt()) {
                break step;
            }
        };
        if let Some(identity) = step.identity {
            closed.insert(identity, nodes.len());
        }
        let Node { cursor, steps, .. } = &nodes[step.parent];
        let mut cursor = cursor.clone();
        cursor.take(problem, forest, step.action, reading);
        let end = End::of(problem, &cursor, forest);
        let mut extended = Vec::new();
        path_score.extend_steps(steps, step.step, &mut extended);
        let previous = Some((step.parent, step.action));
        nodes.push(Node { cursor, end, previous, path: step.path, steps: extended });
        Some(nodes.len() - 1)
    }

    /// Completes the longest path greedily, as far as the limit on scored actions allows.
    fn finish_greedily(
        &mut self,
        search: &BestFirst,
        problem: Problem<'_>,
        reading: &mut dyn Reading,
    ) -> Decoded {
        let (system, path_score) = (problem.system, search.path_score);
        let mut left = search.max_scored;
        let steps = |&at: &usize| self.nodes[at].cursor.state.steps;
        let longest = (0..self.nodes.len()).rev().max_by_key(steps).unwrap_or(0);
        let mut taken = self.history(longest);
        let Node { cursor, path, .. } = &self.nodes[longest];
        let (mut cursor, mut path) = (cursor.clone(), *path);
        let forest = &mut self.forest;
        while !cursor.is_final() && left > 0 {
            cursor.legal(problem, forest, &mut self.actions);
            left = left.saturating_sub(self.actions.len());
            cursor.scores(problem, forest, &self.actions, reading, &mut self.scores);
            let best = first_best(&self.scores);
            path = path_score.extend(path, self.scores[best]);
            cursor.take(problem, forest, self.actions[best], reading);
            taken.push(self.actions[best]);
        }
        let score = path_score.score(path, cursor.state.steps as usize);
        Decoded::new(system, (cursor.state, std::mem::take(forest)), taken, score)
    }

    /// The actions that led to a node.
    fn history(&self, mut node: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some((previous, action)) = self.nodes[node].previous {
            actions.push(action);
            node = previous;
        }
        actions.reverse();
        actions
    }

    /// Adds a final node to the best `n` ones, best first.
    fn add_end(&self, at: usize, n: usize, system: &dyn TransitionSystem, ends: &mut Vec<usize>) {
        let identity =
            |at: usize| system.identity(&self.nodes[at].cursor.state, &self.forest, None);
        let same = identity(at);
        ends.retain(|&other| same.is_none() || identity(other) != same);
        let steps = |at: usize| (&self.nodes[at].steps[..], f32::INFINITY);
        let is_as_good = |&other: &usize| {
            let by_path = self.nodes[other].path.total_cmp(&self.nodes[at].path);
            by_path.then_with(|| compare_steps(steps(other), steps(at))).is_ge()
        };
        // Without tie breaking, final nodes are found in the order of their scores.
        let is_ranked = !self.nodes[at].steps.is_empty();
        let place = if is_ranked { ends.partition_point(is_as_good) } else { ends.len() };
        ends.insert(place, at);
        ends.truncate(n);
    }

    /// The derivation of a node.
    fn decoded(&self, at: usize, path_score: PathScore, problem: Problem<'_>) -> Decoded {
        let Node { cursor, path, .. } = &self.nodes[at];
        let score = path_score.score(*path, cursor.state.steps as usize);
        Decoded::replayed(problem, self.history(at), score)
    }
}

impl BestFirst {
    /// Returns the best `n` derivations found, best first; at least one.
    pub fn decode(
        &self,
        problem: Problem<'_>,
        n: usize,
        agenda: &mut BestFirstScratch,
        reading: &mut dyn Reading,
    ) -> Vec<Decoded> {
        let (system, path_score) = (problem.system, self.path_score);
        let max_states = self.max_states.min(MAX_WORDS / problem.sentence.len().max(1)).max(1);
        agenda.start(problem, path_score, reading);
        let n = n.max(1);
        let mut ends = Vec::new();
        let mut at = 0;
        loop {
            match agenda.nodes[at].end {
                End::Open => agenda.expand(at, self, problem, reading),
                End::Final { complete: true } => agenda.add_end(at, n, system, &mut ends),
                // A final state without a complete tree does not count.
                End::Final { complete: false } => {}
            }
            let end = ends.get(n - 1).copied();
            let is_limit = agenda.nodes.len() >= max_states || agenda.scored >= self.max_scored;
            if (end.is_some() && !path_score.breaks_ties()) || is_limit {
                break;
            }
            match agenda.advance(problem, path_score, end, reading) {
                Some(next) => at = next,
                None => break,
            }
        }
        if ends.is_empty() && self.unfinished == Unfinished::Greedy {
            return vec![agenda.finish_greedily(self, problem, reading)];
        }
        if ends.is_empty() {
            ends.push(at);
        }
        ends.iter().map(|&end| agenda.decoded(end, path_score, problem)).collect()
    }
}

#[cfg(test)]
mod tests;
