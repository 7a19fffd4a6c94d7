//! What a system promises without an oracle, and that its derivations rebuild the trees.

use std::collections::BTreeSet;

use rand::seq::IndexedRandom;
use srparse::oracle::replay::{Replay, check_replay, same_brackets};
use srparse::oracle::{Oracle, Supervised};
use srparse::symbols::Sentence;
use srparse::transition::built_tree::built_nodes;
use srparse::transition::gold_tree::repeats_a_label;
use srparse::transition::{Action, TransitionSystem};
use srparse::tree::Tree;
use srparse::tree::markovize::without_ancestors;

use super::walk::{TREES, Trees, borrowed, legal, random_walk};
use crate::common::{assert_valid, rng, sentence, shown};

pub(crate) fn replaying_a_derivation_rebuilds_the_tree<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(1, TREES);
    let system = make(&borrowed(&trees));
    for tree in &trees {
        let sentence = sentence(tree);
        let gold = Replay.prepare(&system, tree).unwrap();
        assert_eq!(check_replay(&system, &sentence, tree).unwrap(), gold.len());
        assert!(gold.len() <= system.bound(sentence.len()));
        let mut state = system.start(&sentence);
        for &action in &gold {
            assert!(legal(&system, &state).contains(&action), "gold {action:?} is illegal");
            system.apply(&mut state, action);
        }
        let rebuilt = system.tree(&state, tree.tokens());
        assert!(
            system.is_final(&state) && same_brackets(&rebuilt, &system.target(tree)),
            "{} {}",
            shown(&rebuilt),
            shown(tree)
        );
        assert_valid(&rebuilt, tree.tokens());
    }
}

pub(crate) fn every_state_of_a_random_walk_gives_a_valid_tree<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(2, TREES);
    // A system built from few trees meets many sentences that its inventory does not cover.
    for known in [1, 10, TREES] {
        let system = make(&borrowed(&trees[..known]));
        let mut rng = rng(known as u64);
        for tree in &trees {
            random_walk(&system, &sentence(tree), &mut rng, |state, _| {
                let built = system.tree(state, tree.tokens());
                assert_valid(&built, tree.tokens());
                constituents_are_those_of_the_tree(&system, state, &built);
            });
        }
    }
}

pub(crate) fn no_tree_has_a_constituent_with_an_only_child_of_its_label<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(11, TREES);
    for known in [1, 10, TREES] {
        let system = make(&borrowed(&trees[..known]));
        let mut rng = rng(11 + known as u64);
        for tree in &trees {
            random_walk(&system, &sentence(tree), &mut rng, |state, _| {
                let built = system.tree(state, tree.tokens());
                assert!(!repeats_a_label(&built), "{}", shown(&built));
            });
        }
    }
}

pub(crate) fn constituents_are_those_of_the_tree<S: TransitionSystem>(
    system: &S,
    state: &S::State,
    tree: &Tree,
) {
    let view = system.view(state);
    let built = built_nodes(view.forest, &view.complete.to_vec(), view.labels);
    let built = built.into_iter().map(|id| {
        let node = view.forest.node(id);
        (without_ancestors(system.label_name(node.label.unwrap())), node.start, node.end)
    });
    let (_, nodes) = tree.nodes().split_last().unwrap();
    let nodes = nodes.iter().map(|node| (&*node.label, node.start, node.end));
    assert!(built.eq(nodes), "{}", shown(tree));
}

pub(crate) fn a_sentence_without_words_ends<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let system = make(&borrowed(&trees(3, 20)));
    random_walk(&system, &Sentence::default(), &mut rng(1), |state, _| {
        assert_eq!(system.tree(state, &[]).tokens().len(), 0);
    });
}

pub(crate) fn names_and_codes_identify_actions<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(4, TREES);
    let system = make(&borrowed(&trees));
    let state = system.start(&sentence(&trees[0]));
    let mut actions = Vec::new();
    system.inventory(&state, &mut actions);
    let mut names: Vec<String> = actions.iter().map(|&action| system.name(action)).collect();
    // Actions that do the same to different candidates share a code.
    let mut codes: Vec<(u32, String)> =
        actions.iter().map(|&action| (action.code(), system.kind_name(action))).collect();
    let mut kinds: Vec<String> = codes.iter().map(|(_, kind)| kind.clone()).collect();
    kinds.sort();
    kinds.dedup();
    names.sort();
    names.dedup();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!((names.len(), codes.len()), (actions.len(), kinds.len()));
}

pub(crate) fn what_is_stored_makes_the_same_system<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(5, TREES);
    let system = make(&borrowed(&trees[..20]));
    let stored = serde_json::to_string(system.tables()).unwrap();
    let again = S::from_tables(serde_json::from_str(&stored).unwrap()).unwrap();
    assert_eq!(stored, serde_json::to_string(again.tables()).unwrap());
    let mut rng = rng(5);
    for tree in &trees {
        let sentence = sentence(tree);
        let mut twin = again.start(&sentence);
        let mut state = system.start(&sentence);
        while !system.is_final(&state) {
            let actions = legal(&system, &state);
            assert_eq!(actions, legal(&again, &twin));
            let action = *actions.choose(&mut rng).unwrap();
            assert_eq!(system.name(action), again.name(action));
            system.apply(&mut state, action);
            again.apply(&mut twin, action);
        }
        assert!(again.is_final(&twin));
        assert_eq!(system.tree(&state, tree.tokens()), again.tree(&twin, tree.tokens()));
    }
}

/// The union knows the trees, labels and actions of both systems; one that adds nothing leaves all numbers as they are.
pub(crate) fn the_union_of_two_systems_builds_the_trees_of_both<S: Supervised>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(6, TREES);
    let stored = |system: &S| serde_json::to_string(system.tables()).unwrap();
    let names = |system: &S| {
        let mut actions = Vec::new();
        system.inventory(&system.start(&sentence(&trees[0])), &mut actions);
        actions.iter().map(|&action| system.name(action)).collect::<BTreeSet<String>>()
    };
    let [first, second] = [&trees[..3], &trees[3..20]].map(|trees| make(&borrowed(trees)));
    let both = first.union(&second).unwrap();
    for (system, trees) in [(&first, &trees[..3]), (&second, &trees[3..20])] {
        for tree in trees.iter().filter(|tree| system.derivation(tree).is_ok()) {
            assert!(both.derivation(tree).is_ok(), "{}", shown(tree));
        }
        assert!(system.labels().all(|label| both.labels().any(|name| name == label)));
        assert!(names(&both).is_superset(&names(system)));
        assert_eq!(stored(&system.union(system).unwrap()), stored(system));
    }
}
