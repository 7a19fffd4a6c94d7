//! Best-first search: the hypothesis that scores best of all open ones goes on.
//!
//! When every step lowers the score, as logarithms of probabilities do, or leaves it, as the least of
//! several does, the first derivation that comes to its end is the best there is. Of equal scores the
//! longer path goes first, then the one that was found first.
//!
//! After `max_states` hypotheses the search gives up and the longest path goes on greedily, so that every
//! sentence gets a tree. Each hypothesis has a state of its own, so for sentences of more than a few hundred
//! words it gives up sooner: memory stays within a few hundred megabytes.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::{Decoded, Decoder, PathScore};
use crate::classifier::first_best;
use crate::scorer::{Scorer, Situation, score_choice};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// The words of all hypotheses together, at most: what bounds memory.
const MAX_WORDS: usize = 4_000_000;

/// The best-first decoder.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestFirst {
    /// The most hypotheses that are looked at; at least 1.
    pub max_states: usize,
    /// How the score of a path is made.
    pub path_score: PathScore,
}

/// A hypothesis that has been looked at.
struct Node<S: TransitionSystem, M> {
    state: S::State,
    memory: M,
    path: f64,
}

/// A step that may be taken.
#[derive(Debug, Clone, Copy)]
struct Open<A> {
    score: f64,
    path: f64,
    steps: usize,
    number: usize,
    parent: usize,
    action: A,
}

impl<A> Ord for Open<A> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_score = self.score.total_cmp(&other.score).then(self.steps.cmp(&other.steps));
        by_score.then(other.number.cmp(&self.number))
    }
}

impl<A> PartialOrd for Open<A> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<A> PartialEq for Open<A> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<A> Eq for Open<A> {}

/// The memory of one thread.
pub struct BestFirstScratch<S: TransitionSystem, P: Scorer<S>> {
    nodes: Vec<Node<S, P::Memory>>,
    open: BinaryHeap<Open<S::Action>>,
    /// How many steps have been opened.
    opened: usize,
    actions: Vec<S::Action>,
    scores: Vec<f32>,
    scorer: P::Scratch,
}

impl<S: TransitionSystem, P: Scorer<S>> Default for BestFirstScratch<S, P> {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            open: BinaryHeap::new(),
            opened: 0,
            actions: Vec::new(),
            scores: Vec::new(),
            scorer: P::Scratch::default(),
        }
    }
}

impl<S: TransitionSystem, P: Scorer<S>> BestFirstScratch<S, P> {
    /// Opens all steps from a node.
    fn expand(
        &mut self,
        parent: usize,
        path_score: PathScore,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
    ) {
        let Node { state, memory, path } = &self.nodes[parent];
        system.legal(state, &mut self.actions);
        let at = Situation { system, sentence, state };
        score_choice(at, scorer, memory, &self.actions, &mut self.scorer, &mut self.scores);
        let steps = system.steps(state) + 1;
        for (&action, &step) in self.actions.iter().zip(&self.scores) {
            let path = path_score.extend(*path, step);
            let (score, number) = (path_score.score(path, steps), self.opened);
            self.opened += 1;
            self.open.push(Open { score, path, steps, number, parent, action });
        }
    }

    /// Takes an open step.
    fn step(
        &self,
        open: &Open<S::Action>,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
    ) -> Node<S, P::Memory> {
        let Node { state, memory, .. } = &self.nodes[open.parent];
        let (mut state, mut memory) = (state.clone(), memory.clone());
        scorer.advance(Situation { system, sentence, state: &state }, open.action, &mut memory);
        system.apply(&mut state, open.action);
        Node { state, memory, path: open.path }
    }

    /// Goes on from the longest path as long as it takes, always with the best action.
    fn give_up(
        &mut self,
        path_score: PathScore,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
    ) -> Decoded<S::State> {
        let longest =
            (0..self.nodes.len()).rev().max_by_key(|&at| system.steps(&self.nodes[at].state));
        let Node { state, memory, path } = &self.nodes[longest.unwrap_or(0)];
        let (mut state, mut memory, mut path) = (state.clone(), memory.clone(), *path);
        while !system.is_final(&state) {
            system.legal(&state, &mut self.actions);
            let at = Situation { system, sentence, state: &state };
            score_choice(at, scorer, &memory, &self.actions, &mut self.scorer, &mut self.scores);
            let best = first_best(&self.scores);
            path = path_score.extend(path, self.scores[best]);
            scorer.advance(at, self.actions[best], &mut memory);
            system.apply(&mut state, self.actions[best]);
        }
        let score = path_score.score(path, system.steps(&state));
        let complete = system.is_complete(&state);
        Decoded { state, score, complete }
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
    ) -> Decoded<S::State> {
        self.decode_nbest(system, scorer, sentence, 1, scratch).swap_remove(0)
    }

    fn decode_nbest(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        n: usize,
        scratch: &mut Self::Scratch,
    ) -> Vec<Decoded<S::State>> {
        let path_score = self.path_score;
        let max_states = self.max_states.min(MAX_WORDS / sentence.len().max(1)).max(1);
        scorer.forget(&mut scratch.scorer);
        scorer.keep_scores(&mut scratch.scorer);
        scratch.nodes.clear();
        scratch.open.clear();
        scratch.opened = 0;
        let (state, memory) = (system.start(sentence), scorer.begin(system, sentence));
        let path = path_score.empty();
        scratch.nodes.push(Node { state, memory, path });
        let mut found = Vec::new();
        let mut at = 0;
        loop {
            let Node { state, path, .. } = &scratch.nodes[at];
            if system.is_final(state) {
                // A derivation that ends with the parts of a tree does not count as one.
                if system.is_complete(state) {
                    let score = path_score.score(*path, system.steps(state));
                    found.push(Decoded { state: state.clone(), score, complete: true });
                }
            } else {
                scratch.expand(at, path_score, system, scorer, sentence);
            }
            if found.len() >= n.max(1) || scratch.nodes.len() >= max_states {
                break;
            }
            let Some(open) = scratch.open.pop() else { break };
            let node = scratch.step(&open, system, scorer, sentence);
            at = scratch.nodes.len();
            scratch.nodes.push(node);
        }
        if found.is_empty() {
            found.push(scratch.give_up(path_score, system, scorer, sentence));
        }
        found
    }
}
