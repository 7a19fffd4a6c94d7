//! Random walks through a transition system, every step checked.

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom;
use srparse::symbols::Sentence;
use srparse::transition::{Action, Forest, State, TransitionSystem};
use srparse::tree::Tree;
use srparse::treebank::Cleaning;

use crate::common::random_trees;

/// The number of random trees of a test.
pub(crate) const TREES: usize = 200;
/// The number of random walks over each sentence.
pub(crate) const WALKS: usize = 3;

/// Random trees by their seed and number.
pub(crate) type Trees = fn(u64, usize) -> Vec<Tree>;

/// Random trees without constituents that have a single child of their own label.
pub(crate) fn collapsed_trees(seed: u64, n: usize) -> Vec<Tree> {
    let cleaning = Cleaning { collapse_unaries: true, ..Cleaning::none() };
    random_trees(seed, n).into_iter().map(|tree| cleaning.apply(tree)).collect()
}

/// Legal actions, checked as they are handed out.
pub(crate) fn legal(system: &dyn TransitionSystem, state: &State, forest: &Forest) -> Vec<Action> {
    let mut out = Vec::new();
    system.legal(state, forest, &mut out);
    assert!(!out.is_empty(), "no action is legal before the end");
    assert!(out.windows(2).all(|pair| pair[0] < pair[1]), "out of order: {out:?}");
    if system.is_forced(state, forest) {
        assert_eq!(out.len(), 1, "a choice: {out:?}");
        return out;
    }
    let mut inventory = Vec::new();
    system.inventory(state, forest, &mut inventory);
    let is_known = |action| inventory.binary_search(action).is_ok();
    assert!(inventory.is_sorted() && out.iter().all(is_known), "not in the inventory: {out:?}");
    out
}

/// Takes random legal actions, `each` seeing every configuration on the way and the last one.
pub(crate) fn random_walk(
    system: &dyn TransitionSystem,
    sentence: &Sentence,
    rng: &mut ChaCha8Rng,
    mut each: impl FnMut(&State, &Forest, &mut ChaCha8Rng),
) {
    let (mut state, mut forest) = system.start(sentence);
    let bound = system.bound(sentence.len());
    for step in 0.. {
        assert_eq!(state.steps as usize, step);
        each(&state, &forest, rng);
        if state.finished {
            return;
        }
        assert!(step < bound, "more than {bound} actions over {} words", sentence.len());
        let action = *legal(system, &state, &forest).choose(rng).unwrap();
        system.apply(&mut state, &mut forest, action);
    }
}

pub(crate) fn borrowed(trees: &[Tree]) -> Vec<&Tree> {
    trees.iter().collect()
}
