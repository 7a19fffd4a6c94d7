//! Best-first search: the hypothesis that scores best of all open ones goes on.
//!
//! When every step lowers the score, as logarithms of probabilities do, or leaves it, as the least of several
//! does, the first derivation that comes to its end is the best there is, among those that are kept. Of equal
//! scores the longer path goes first, then the one that was found first. Of paths to states that differ in
//! nothing but how they were reached ([`TransitionSystem::identity`]) the best goes on; a state that has been
//! looked at is looked at again when a better path leads to it.
//!
//! With [`PathScore::Min`] equal scores are common, and the steps behind the least decide. After a derivation
//! has come to its end the search goes on while an open path may still be better in these.
//!
//! After `max_states` hypotheses the search takes the best end it has found, or gives up ([`Unfinished`]).
//! Each hypothesis has a state of its own, so for sentences of many hundred words fewer are looked at. Open
//! steps have a limit besides the agenda, 1 million: when there are more, the better half is kept. So memory
//! is bounded: to about a gigabyte, and what the scorer remembers of each hypothesis.

use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::path::compare_steps;
use super::{Decoded, Decoder, PathScore, heap};
use crate::classifier::first_best;
use crate::scorer::{Configuration, Scorer, score_choice};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// The words of all hypotheses together, at most: what bounds memory.
const MAX_WORDS: usize = 4_000_000;

/// The most open steps, whatever the agenda.
const MAX_OPEN: usize = 1_000_000;

/// How many times as many states as the agenda has steps are remembered with the best step to them.
const MOST_BEST: usize = 16;

/// What happens when as many hypotheses have been looked at as may be, and none was at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unfinished {
    /// The longest path goes on greedily, so that every sentence gets a whole tree.
    #[default]
    Greedy,
    /// The hypothesis looked at last, which scores no less than those still open, is a partial tree.
    Partial,
}

/// The best-first decoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestFirst {
    /// The most hypotheses that are looked at; at least 1.
    pub max_states: usize,
    /// The most steps that are open at a time; at least 1, which is a greedy search. There are never more
    /// than 1 million.
    pub agenda: usize,
    /// What happens after that many.
    pub unfinished: Unfinished,
    /// How the score of a path is made.
    pub path_score: PathScore,
}

/// A hypothesis that has been looked at.
struct Node<S: TransitionSystem, M> {
    state: S::State,
    memory: M,
    /// The node before it, and the action from there; none at the start.
    before: Option<(usize, S::Action)>,
    path: f64,
    /// The scores of the steps to it, where they decide between paths.
    steps: Vec<f32>,
}

/// A step that may be taken.
#[derive(Debug, Clone, Copy)]
struct Open<A> {
    score: f64,
    path: f64,
    /// The score of the step.
    step: f32,
    length: usize,
    number: usize,
    parent: usize,
    action: A,
    /// What it leads to.
    identity: Option<u64>,
}

/// Greater is better.
fn rank<S: TransitionSystem, M>(
    nodes: &[Node<S, M>],
    a: &Open<S::Action>,
    b: &Open<S::Action>,
) -> Ordering {
    let steps = || {
        let of = |open: &Open<S::Action>| (&nodes[open.parent].steps[..], open.step);
        compare_steps(of(a), of(b))
    };
    let by_score = a.score.total_cmp(&b.score).then_with(steps);
    by_score.then(a.length.cmp(&b.length)).then(b.number.cmp(&a.number))
}

/// How a step compares with a node that is at the same state, or that no step follows.
fn against<S: TransitionSystem, M>(
    nodes: &[Node<S, M>],
    open: &Open<S::Action>,
    node: usize,
) -> Ordering {
    let before = (&nodes[open.parent].steps[..], open.step);
    let Node { path, steps, .. } = &nodes[node];
    let by_steps = || match steps[..] {
        [] => Ordering::Equal,
        _ => compare_steps(before, (steps, f32::INFINITY)),
    };
    open.path.total_cmp(path).then_with(by_steps)
}

/// The memory of one thread.
pub struct BestFirstScratch<S: TransitionSystem, P: Scorer<S>> {
    nodes: Vec<Node<S, P::Memory>>,
    /// The open steps, a heap with the best on top.
    open: Vec<Open<S::Action>>,
    /// How many steps have been opened.
    opened: usize,
    /// The best open step to each state that several paths lead to.
    best: FxHashMap<u64, Open<S::Action>>,
    /// The nodes of states that have been looked at.
    closed: FxHashMap<u64, usize>,
    actions: Vec<S::Action>,
    scores: Vec<f32>,
    scorer: P::Scratch,
}

impl<S: TransitionSystem, P: Scorer<S>> Default for BestFirstScratch<S, P> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            open: Vec::new(),
            opened: 0,
            best: FxHashMap::default(),
            closed: FxHashMap::default(),
            actions: Vec::new(),
            scores: Vec::new(),
            scorer: P::Scratch::default(),
        }
    }
}

impl<S: TransitionSystem, P: Scorer<S>> BestFirstScratch<S, P> {
    /// Begins a search with the one hypothesis that has done nothing.
    fn start(&mut self, path_score: PathScore, system: &S, scorer: &P, sentence: &Sentence) {
        self.nodes.clear();
        self.open.clear();
        self.best.clear();
        self.closed.clear();
        self.opened = 0;
        let state = system.start(sentence);
        let at = Configuration { system, sentence, state: &state };
        let memory = scorer.begin(at, &mut self.scorer);
        scorer.cache_scores(&mut self.scorer);
        let path = path_score.empty();
        self.nodes.push(Node { state, memory, before: None, path, steps: Vec::new() });
    }

    /// Opens all steps from a node.
    fn expand(
        &mut self,
        parent: usize,
        search: &BestFirst,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
    ) {
        let Self { nodes, open, opened, best, closed, actions, scores, .. } = self;
        let Node { state, memory, path, .. } = &nodes[parent];
        system.legal(state, actions);
        let at = Configuration { system, sentence, state };
        score_choice(at, scorer, memory, actions, &mut self.scorer, scores);
        let length = system.steps(state) + 1;
        let better = |a: &Open<S::Action>, b: &Open<S::Action>| rank(nodes, a, b).is_gt();
        for (&action, &step) in actions.iter().zip(&*scores) {
            let path = search.path_score.extend(*path, step);
            let (score, number) = (search.path_score.score(path, length), *opened);
            let identity = system.identity(state, Some(action));
            let step = Open { score, path, step, length, number, parent, action, identity };
            if let Some(identity) = identity {
                let is_closed = |&node: &usize| against(nodes, &step, node).is_le();
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
        self.cut(search.agenda);
    }

    /// Keeps the best open steps if there are more than may be.
    fn cut(&mut self, agenda: usize) {
        let Self { nodes, open, best, .. } = self;
        let better = |a: &Open<S::Action>, b: &Open<S::Action>| rank(nodes, a, b).is_gt();
        if open.len() > agenda.min(MAX_OPEN) {
            if !best.is_empty() {
                // Those that a better path has overtaken take no room.
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
        if best.len() / MOST_BEST > agenda.min(MAX_OPEN / 8) {
            // Most of them have left the agenda.
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

    /// Takes the best open step that may lead to something better than the node `end`, if there is one; gives
    /// the node it leads to.
    fn advance(
        &mut self,
        path_score: PathScore,
        end: Option<usize>,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
    ) -> Option<usize> {
        let Self { nodes, open, closed, .. } = self;
        let better = |a: &Open<S::Action>, b: &Open<S::Action>| rank(nodes, a, b).is_gt();
        let step = loop {
            let step = heap::pop(open, &better)?;
            let is_late = end.is_some_and(|end| against(nodes, &step, end).is_lt());
            let known = step.identity.and_then(|identity| closed.get(&identity));
            // One that a better path has overtaken is passed over.
            if !is_late && known.is_none_or(|&node| against(nodes, &step, node).is_gt()) {
                break step;
            }
        };
        if let Some(identity) = step.identity {
            closed.insert(identity, nodes.len());
        }
        let Node { state, memory, steps, .. } = &nodes[step.parent];
        let (mut state, mut memory) = (state.clone(), memory.clone());
        system.apply(&mut state, step.action);
        let after = Configuration { system, sentence, state: &state };
        scorer.advance(after, step.action, &mut memory, &mut self.scorer);
        let mut longer = Vec::new();
        path_score.extend_steps(steps, step.step, &mut longer);
        let before = Some((step.parent, step.action));
        nodes.push(Node { state, memory, before, path: step.path, steps: longer });
        Some(nodes.len() - 1)
    }

    /// Goes on from the longest path as long as it takes, always with the best action.
    fn give_up(
        &mut self,
        path_score: PathScore,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
    ) -> Decoded<S::State, S::Action> {
        let longest =
            (0..self.nodes.len()).rev().max_by_key(|&at| system.steps(&self.nodes[at].state));
        let longest = longest.unwrap_or(0);
        let mut taken = self.history(longest);
        let Node { state, memory, path, .. } = &self.nodes[longest];
        let (mut state, mut memory, mut path) = (state.clone(), memory.clone(), *path);
        while !system.is_final(&state) {
            system.legal(&state, &mut self.actions);
            let at = Configuration { system, sentence, state: &state };
            let actions = &self.actions;
            score_choice(at, scorer, &memory, actions, &mut self.scorer, &mut self.scores);
            let best = first_best(&self.scores);
            path = path_score.extend(path, self.scores[best]);
            system.apply(&mut state, self.actions[best]);
            let after = Configuration { system, sentence, state: &state };
            scorer.advance(after, self.actions[best], &mut memory, &mut self.scorer);
            taken.push(self.actions[best]);
        }
        let score = path_score.score(path, system.steps(&state));
        let complete = system.is_complete(&state);
        Decoded { state, actions: taken, score, complete }
    }

    /// The actions that led to a node.
    fn history(&self, mut node: usize) -> Vec<S::Action> {
        let mut actions = Vec::new();
        while let Some((before, action)) = self.nodes[node].before {
            actions.push(action);
            node = before;
        }
        actions.reverse();
        actions
    }

    /// Adds a node to the best `n` ends, best first.
    fn add_end(&self, at: usize, n: usize, system: &S, ends: &mut Vec<usize>) {
        let identity = |at: usize| system.identity(&self.nodes[at].state, None);
        let same = identity(at);
        ends.retain(|&other| same.is_none() || identity(other) != same);
        let steps = |at: usize| (&self.nodes[at].steps[..], f32::INFINITY);
        let is_as_good = |&other: &usize| {
            let by_path = self.nodes[other].path.total_cmp(&self.nodes[at].path);
            by_path.then_with(|| compare_steps(steps(other), steps(at))).is_ge()
        };
        // Where no ties are broken, the order in which ends are found is that of the search.
        let is_ranked = !self.nodes[at].steps.is_empty();
        let place = if is_ranked { ends.partition_point(is_as_good) } else { ends.len() };
        ends.insert(place, at);
        ends.truncate(n);
    }

    /// A node as the end of a search.
    fn decoded(
        &self,
        at: usize,
        path_score: PathScore,
        system: &S,
    ) -> Decoded<S::State, S::Action> {
        let Node { state, path, .. } = &self.nodes[at];
        let score = path_score.score(*path, system.steps(state));
        let complete = system.is_complete(state);
        Decoded { state: state.clone(), actions: self.history(at), score, complete }
    }
}

impl<S: TransitionSystem, P: Scorer<S>> Decoder<S, P> for BestFirst {
    type Scratch = BestFirstScratch<S, P>;

    fn decode(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        scratch: &mut Self::Scratch,
    ) -> Decoded<S::State, S::Action> {
        self.decode_nbest(system, scorer, sentence, 1, scratch).swap_remove(0)
    }

    fn decode_nbest(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        n: usize,
        scratch: &mut Self::Scratch,
    ) -> Vec<Decoded<S::State, S::Action>> {
        let path_score = self.path_score;
        let max_states = self.max_states.min(MAX_WORDS / sentence.len().max(1)).max(1);
        scratch.start(path_score, system, scorer, sentence);
        let n = n.max(1);
        let mut ends = Vec::new();
        let mut at = 0;
        loop {
            let state = &scratch.nodes[at].state;
            if !system.is_final(state) {
                scratch.expand(at, self, system, scorer, sentence);
            } else if system.is_complete(state) {
                // A derivation that ends with the parts of a tree does not count as one.
                scratch.add_end(at, n, system, &mut ends);
            }
            let end = ends.get(n - 1).copied();
            if (end.is_some() && !path_score.breaks_ties()) || scratch.nodes.len() >= max_states {
                break;
            }
            match scratch.advance(path_score, end, system, scorer, sentence) {
                Some(next) => at = next,
                None => break,
            }
        }
        if ends.is_empty() && self.unfinished == Unfinished::Greedy {
            return vec![scratch.give_up(path_score, system, scorer, sentence)];
        }
        if ends.is_empty() {
            ends.push(at);
        }
        ends.iter().map(|&end| scratch.decoded(end, path_score, system)).collect()
    }
}

#[cfg(test)]
mod tests;
