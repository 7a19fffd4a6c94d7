//! Best-first search: the hypothesis that scores best of all open ones goes on.
//!
//! When every step lowers the score, as logarithms of probabilities do, or leaves it, as the least of
//! several does, the first derivation that comes to its end is the best there is, among those that are kept. Of
//! equal scores the longer path goes first, then the one that was found first. Of paths to states that differ
//! in nothing but how they were reached ([`TransitionSystem::identity`]) the best goes on.
//!
//! After `max_states` hypotheses the search gives up ([`Unfinished`]). Each hypothesis has a state of its own,
//! so for sentences of more than a few hundred words it gives up sooner: memory stays within a few hundred
//! megabytes.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use super::path::compare_steps;
use super::{Decoded, Decoder, PathScore, heap};
use crate::classifier::first_best;
use crate::scorer::{Scorer, Situation, score_choice};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// The words of all hypotheses together, at most: what bounds memory.
const MAX_WORDS: usize = 4_000_000;

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
    /// The most steps that are open at a time; at least 1, which is a greedy search.
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

/// The memory of one thread.
pub struct BestFirstScratch<S: TransitionSystem, P: Scorer<S>> {
    nodes: Vec<Node<S, P::Memory>>,
    /// The open steps, a heap with the best on top.
    open: Vec<Open<S::Action>>,
    /// How many steps have been opened.
    opened: usize,
    /// The best open step to each state that several paths lead to.
    best: FxHashMap<u64, Open<S::Action>>,
    /// Those that have been looked at.
    closed: FxHashSet<u64>,
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
            closed: FxHashSet::default(),
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
        let at = Situation { system, sentence, state: &state };
        let memory = scorer.begin(at, &mut self.scorer);
        scorer.keep_scores(&mut self.scorer);
        let path = path_score.empty();
        self.nodes.push(Node { state, memory, before: None, path, steps: Vec::new() });
    }

    /// Opens all steps from a node, and keeps the best `agenda` of all open ones.
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
        let at = Situation { system, sentence, state };
        score_choice(at, scorer, memory, actions, &mut self.scorer, scores);
        let length = system.steps(state) + 1;
        let better = |a: &Open<S::Action>, b: &Open<S::Action>| rank(nodes, a, b).is_gt();
        for (&action, &step) in actions.iter().zip(&*scores) {
            let path = search.path_score.extend(*path, step);
            let (score, number) = (search.path_score.score(path, length), *opened);
            let identity = system.identity(state, Some(action));
            let step = Open { score, path, step, length, number, parent, action, identity };
            if let Some(identity) = identity {
                let known = best.get(&identity);
                if closed.contains(&identity) || known.is_some_and(|known| !better(&step, known)) {
                    continue;
                }
                best.insert(identity, step);
            }
            *opened += 1;
            heap::push(open, step, &better);
        }
        if open.len() > search.agenda {
            open.select_nth_unstable_by(search.agenda - 1, |a, b| rank(nodes, b, a));
            open.truncate(search.agenda);
            heap::heapify(open, &better);
        }
        if best.len() / MOST_BEST > search.agenda {
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

    /// Takes the best open step; gives the node it leads to.
    fn advance(
        &mut self,
        path_score: PathScore,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
    ) -> Option<usize> {
        let Self { nodes, open, closed, .. } = self;
        let better = |a: &Open<S::Action>, b: &Open<S::Action>| rank(nodes, a, b).is_gt();
        let step = loop {
            let step = heap::pop(open, &better)?;
            // One that a better path has overtaken is passed over.
            if step.identity.is_none_or(|identity| closed.insert(identity)) {
                break step;
            }
        };
        let Node { state, memory, steps, .. } = &nodes[step.parent];
        let (mut state, mut memory) = (state.clone(), memory.clone());
        system.apply(&mut state, step.action);
        let after = Situation { system, sentence, state: &state };
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
            let at = Situation { system, sentence, state: &state };
            let actions = &self.actions;
            score_choice(at, scorer, &memory, actions, &mut self.scorer, &mut self.scores);
            let best = first_best(&self.scores);
            path = path_score.extend(path, self.scores[best]);
            system.apply(&mut state, self.actions[best]);
            let after = Situation { system, sentence, state: &state };
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
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            let state = &scratch.nodes[at].state;
            if system.is_final(state) {
                // A derivation that ends with the parts of a tree does not count as one.
                if system.is_complete(state) {
                    found.push(scratch.decoded(at, path_score, system));
                }
            } else {
                scratch.expand(at, self, system, scorer, sentence);
            }
            if found.len() >= n.max(1) || scratch.nodes.len() >= max_states {
                break;
            }
            let Some(next) = scratch.advance(path_score, system, scorer, sentence) else { break };
            at = next;
        }
        if found.is_empty() {
            found.push(match self.unfinished {
                Unfinished::Greedy => scratch.give_up(path_score, system, scorer, sentence),
                Unfinished::Partial => scratch.decoded(at, path_score, system),
            });
        }
        found
    }
}
