//! What a system's dynamic oracle promises.

use rand::RngExt;
use rand::seq::IndexedRandom;
use srparse::transition::{Action, StoredSystem};

use srparse::tree::Tree;

use super::walk::{TREES, Trees, WALKS, borrowed, legal, random_walk};
use crate::common::{differences, rng, sentence, shown};

pub(crate) fn the_dynamic_oracle_replays_on_the_gold_path<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(6, TREES);
    let system = make(&borrowed(&trees));
    if !system.has_dynamic_oracle() {
        return;
    }
    let mut optimal = Vec::new();
    for tree in &trees {
        let oracle = system.dynamic_oracle(tree).unwrap().unwrap();
        let (mut state, mut forest) = system.start(&sentence(tree));
        for action in system.derivation(tree).unwrap() {
            oracle.optimal(&state, &forest, &mut optimal);
            if system.identity(&state, &forest, None).is_none() {
                assert_eq!(optimal, [action], "in {}", shown(tree));
            }
            assert!(optimal.contains(&action), "in {}", shown(tree));
            assert_eq!(oracle.loss(&state, &forest), Some(0));
            system.apply(&mut state, &mut forest, action);
        }
        assert_eq!(oracle.loss(&state, &forest), Some(0));
    }
}

pub(crate) fn loss_never_falls_and_ends_as_the_brackets_that_differ<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(7, TREES);
    let system = make(&borrowed(&trees));
    if !system.has_dynamic_oracle() {
        return;
    }
    let mut rng = rng(7);
    for tree in &trees {
        let oracle = system.dynamic_oracle(tree).unwrap().unwrap();
        let sentence = sentence(tree);
        for _ in 0..WALKS {
            let mut before = 0;
            random_walk(&system, &sentence, &mut rng, |state, forest, _| {
                let loss = oracle.loss(state, forest).unwrap();
                assert!(loss >= before, "loss fell from {before} to {loss}");
                before = loss;
                if state.finished {
                    let built = system.tree(state, forest, tree.tokens());
                    assert_eq!(
                        loss,
                        differences(&system.target(tree), &built),
                        "{} {}",
                        shown(tree),
                        shown(&built)
                    );
                }
            });
        }
    }
}

pub(crate) fn the_dynamic_oracle_leads_to_an_end_from_everywhere<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(8, TREES);
    let system = make(&borrowed(&trees));
    if !system.has_dynamic_oracle() {
        return;
    }
    let mut rng = rng(8);
    let mut optimal = Vec::new();
    for tree in &trees {
        let oracle = system.dynamic_oracle(tree).unwrap().unwrap();
        let sentence = sentence(tree);
        random_walk(&system, &sentence, &mut rng, |state, forest, rng| {
            // Walks may be long: a sample of their states is enough.
            if !rng.random_bool(0.1) {
                return;
            }
            let (mut state, mut forest) = (state.clone(), forest.clone());
            while !state.finished {
                let actions = legal(&system, &state, &forest);
                oracle.optimal(&state, &forest, &mut optimal);
                assert!(optimal.iter().all(|action| actions.contains(action)), "{optimal:?}");
                // Where a heuristic gives no action, training continues with a prediction: any action.
                let action = optimal.first().or_else(|| actions.choose(rng)).unwrap();
                system.apply(&mut state, &mut forest, *action);
                assert!(state.steps as usize <= system.bound(sentence.len()));
            }
        });
    }
}

/// How often a dynamic oracle falls short of the least loss, in percent of the states of random walks that
/// sometimes leave the gold path. All are zero for an exact oracle; the bounds of a heuristic are measured
/// values with some margin, given where the system is registered.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Shortfall {
    /// It gives no action although actions differ in loss.
    pub(crate) silent: f64,
    /// Its action loses more than another action.
    pub(crate) worse: f64,
    /// Every action raises the loss, which was too low before.
    pub(crate) raised: f64,
}

pub(crate) fn the_dynamic_oracle_falls_short_no_more_than_documented<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
    most: Shortfall,
) {
    let trees = trees(9, TREES);
    let system = make(&borrowed(&trees));
    if !system.has_dynamic_oracle() {
        return;
    }
    let mut rng = rng(9);
    let (mut states, mut silent, mut worse, mut raised) = (0u32, 0u32, 0u32, 0u32);
    let mut optimal = Vec::new();
    for tree in trees.iter().chain(&trees) {
        let oracle = system.dynamic_oracle(tree).unwrap().unwrap();
        let (mut state, mut forest) = system.start(&sentence(tree));
        while !state.finished {
            let actions = legal(&system, &state, &forest);
            let next = |action: Action| {
                let (mut next, mut forest) = (state.clone(), forest.clone());
                system.apply(&mut next, &mut forest, action);
                oracle.loss(&next, &forest).unwrap()
            };
            let losses: Vec<u32> = actions.iter().map(|&action| next(action)).collect();
            let (least, largest) = (*losses.iter().min().unwrap(), *losses.iter().max().unwrap());
            oracle.optimal(&state, &forest, &mut optimal);
            states += 1;
            silent += u32::from(optimal.is_empty() && least < largest);
            worse += u32::from(optimal.iter().any(|&action| next(action) > least));
            raised += u32::from(least > oracle.loss(&state, &forest).unwrap());
            let strays = optimal.is_empty() || rng.random_bool(0.2);
            let action = if strays { *actions.choose(&mut rng).unwrap() } else { optimal[0] };
            system.apply(&mut state, &mut forest, action);
        }
    }
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(states);
    let found =
        Shortfall { silent: percent(silent), worse: percent(worse), raised: percent(raised) };
    println!("{states} states: {found:.2?}");
    assert!(
        found.silent <= most.silent && found.worse <= most.worse && found.raised <= most.raised,
        "{found:?} is above {most:?}"
    );
}
