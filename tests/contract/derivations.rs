//! What a system promises without an oracle, and that its derivations rebuild the trees.

use std::collections::BTreeSet;

use rand::seq::IndexedRandom;
use srparse::oracle::replay::{check_replay, same_brackets};
use srparse::symbols::Sentence;
use srparse::transition::built_tree::built_nodes;
use srparse::transition::gold_tree::repeats_a_label;
use srparse::transition::{Forest, State, StoredSystem, TransitionSystem};
use srparse::tree::Tree;
use srparse::tree::markovize::without_ancestors;

use super::walk::{TREES, Trees, borrowed, legal, random_walk};
use crate::common::{assert_valid, rng, sentence, shown};

pub(crate) fn replaying_a_derivation_rebuilds_the_tree<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(1, TREES);
    let system = make(&borrowed(&trees));
    for tree in &trees {
        let sentence = sentence(tree);
        let gold = system.derivation(tree).unwrap();
        assert_eq!(check_replay(&system, &sentence, tree).unwrap(), gold.len());
        assert!(gold.len() <= system.bound(sentence.len()));
        let (mut state, mut forest) = system.start(&sentence);
        for &action in &gold {
            let legal = legal(&system, &state, &forest);
            assert!(legal.contains(&action), "gold {action:?} is illegal");
            system.apply(&mut state, &mut forest, action);
        }
        let rebuilt = system.tree(&state, &forest, tree.tokens());
        assert!(
            state.finished && same_brackets(&rebuilt, &system.target(tree)),
            "{} {}",
            shown(&rebuilt),
            shown(tree)
        );
        assert_valid(&rebuilt, tree.tokens());
    }
}

pub(crate) fn every_state_of_a_random_walk_gives_a_valid_tree<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(2, TREES);
    // A system built from few trees meets many sentences that its inventory does not cover.
    for known in [1, 10, TREES] {
        let system = make(&borrowed(&trees[..known]));
        let mut rng = rng(known as u64);
        for tree in &trees {
            random_walk(&system, &sentence(tree), &mut rng, |state, forest, _| {
                let built = system.tree(state, forest, tree.tokens());
                assert_valid(&built, tree.tokens());
                constituents_are_those_of_the_tree(&system, (state, forest), &built);
            });
        }
    }
}

pub(crate) fn no_tree_has_a_constituent_with_an_only_child_of_its_label<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(11, TREES);
    for known in [1, 10, TREES] {
        let system = make(&borrowed(&trees[..known]));
        let mut rng = rng(11 + known as u64);
        for tree in &trees {
            random_walk(&system, &sentence(tree), &mut rng, |state, forest, _| {
                let built = system.tree(state, forest, tree.tokens());
                assert!(!repeats_a_label(&built), "{}", shown(&built));
            });
        }
    }
}

pub(crate) fn constituents_are_those_of_the_tree(
    system: &dyn TransitionSystem,
    (state, forest): (&State, &Forest),
    tree: &Tree,
) {
    let view = system.view(state, forest);
    let built = built_nodes(view.forest, &view.complete.to_vec(), view.labels);
    let built = built.into_iter().map(|id| {
        let node = view.forest.node(id);
        (without_ancestors(system.label_name(node.label.unwrap())), node.start, node.end)
    });
    let (_, nodes) = tree.nodes().split_last().unwrap();
    let nodes = nodes.iter().map(|node| (&*node.label, node.start, node.end));
    assert!(built.eq(nodes), "{}", shown(tree));
}

pub(crate) fn a_sentence_without_words_ends<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let system = make(&borrowed(&trees(3, 20)));
    random_walk(&system, &Sentence::default(), &mut rng(1), |state, forest, _| {
        assert_eq!(system.tree(state, forest, &[]).tokens().len(), 0);
    });
}

pub(crate) fn names_and_codes_identify_actions<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(4, TREES);
    let system = make(&borrowed(&trees));
    let (state, forest) = system.start(&sentence(&trees[0]));
    let mut actions = Vec::new();
    system.inventory(&state, &forest, &mut actions);
    let mut names: Vec<String> = actions.iter().map(|&action| system.name(action)).collect();
    // Actions that do the same to different candidates share a code.
    let mut codes: Vec<(u32, String)> =
        actions.iter().map(|&action| (action.code, system.kind_name(action))).collect();
    let mut kinds: Vec<String> = codes.iter().map(|(_, kind)| kind.clone()).collect();
    kinds.sort();
    kinds.dedup();
    names.sort();
    names.dedup();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!((names.len(), codes.len()), (actions.len(), kinds.len()));
}

pub(crate) fn what_is_stored_makes_the_same_system<S: StoredSystem>(
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
        let (mut twin, mut twins) = again.start(&sentence);
        let (mut state, mut forest) = system.start(&sentence);
        while !state.finished {
            let actions = legal(&system, &state, &forest);
            assert_eq!(actions, legal(&again, &twin, &twins));
            let action = *actions.choose(&mut rng).unwrap();
            assert_eq!(system.name(action), again.name(action));
            system.apply(&mut state, &mut forest, action);
            again.apply(&mut twin, &mut twins, action);
        }
        assert!(twin.finished);
        let trees = [(&system, &state, &forest), (&again, &twin, &twins)]
            .map(|(system, state, forest)| system.tree(state, forest, tree.tokens()));
        assert_eq!(trees[0], trees[1]);
    }
}

/// The union knows the trees, labels and actions of both systems; one that adds nothing leaves all numbers as they are.
pub(crate) fn the_union_of_two_systems_builds_the_trees_of_both<S: StoredSystem>(
    trees: Trees,
    make: impl Fn(&[&Tree]) -> S,
) {
    let trees = trees(6, TREES);
    let stored = |system: &S| serde_json::to_string(system.tables()).unwrap();
    let names = |system: &S| {
        let (mut actions, (state, forest)) = (Vec::new(), system.start(&sentence(&trees[0])));
        system.inventory(&state, &forest, &mut actions);
        actions.iter().map(|&action| system.name(action)).collect::<BTreeSet<String>>()
    };
    let [first, second] = [&trees[..3], &trees[3..20]].map(|trees| make(&borrowed(trees)));
    let both = first.union(&second).unwrap();
    for (system, trees) in [(&first, &trees[..3]), (&second, &trees[3..20])] {
        for tree in trees.iter().filter(|tree| system.derivation(tree).is_ok()) {
            assert!(both.derivation(tree).is_ok(), "{}", shown(tree));
        }
        assert!(system.labels().names().all(|label| both.labels().position(label).is_some()));
        assert!(names(&both).is_superset(&names(system)));
        assert_eq!(stored(&system.union(system).unwrap()), stored(system));
    }
}
