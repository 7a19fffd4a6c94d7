//! What every transition system promises, tested for each that is registered at the end of this file.
//!
//! A system is registered by one line: a name, how it is built from trees, and how far its dynamic oracle may
//! fall short.

#![allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests

#[path = "../common/mod.rs"]
mod common;
mod derivations;
mod dynamic_oracle;
mod search;
mod walk;

use proptest::prelude::*;
use srparse::oracle::replay::check_replay;
use srparse::transition::binary::Binary;
use srparse::transition::bracketing::{Bracketing, Strategy};
use srparse::transition::items::{self, Items, MaxChildren};
use srparse::transition::non_binary::NonBinary;
use srparse::transition::predictive::Predictive;
use srparse::tree::Tree;
use srparse::tree::binarize::{Binarization, Scheme, binarize, restore};
use srparse::tree::markovize::Markovization;

use common::{drawn, random_trees, sentence, sketches};
use dynamic_oracle::Shortfall;
use walk::collapsed_trees;

proptest! {
    #[test]
    fn restoring_a_binarized_tree_gives_it_back(sketch in sketches()) {
        let tree = drawn(&sketch);
        let binary = binarize(&tree);
        prop_assert!(binary.ids().all(|id| binary.children(id).len() <= 2));
        prop_assert_eq!(&restore(&binary), &tree);
        for scheme in [Scheme::None, Scheme::L, Scheme::R2, Scheme::R1, Scheme::R0] {
            prop_assert_eq!(&restore(&Binarization::from(scheme).apply(&tree)), &tree);
        }
    }

    #[test]
    fn a_system_rebuilds_the_one_tree_it_is_made_of(sketch in sketches()) {
        let tree = drawn(&sketch);
        let system = Binary::of_trees([&tree]).unwrap();
        prop_assert!(check_replay(&system, &sentence(&tree), &tree).is_ok());
    }
}

/// Runs every promise for one system.
macro_rules! contract {
    ($name:ident, $make:expr, $shortfall:expr) => {
        mod $name {
            use super::*;

            contract!(@all random_trees, $make, $shortfall);
        }
    };
    (collapsed $name:ident, $make:expr, $shortfall:expr) => {
        mod $name {
            use super::*;

            contract!(@all collapsed_trees, $make, $shortfall);
            contract!(@each derivations, collapsed_trees, $make;
                no_tree_has_a_constituent_with_an_only_child_of_its_label,
            );
        }
    };
    (@all $trees:expr, $make:expr, $shortfall:expr) => {
            contract!(@each derivations, $trees, $make;
                replaying_a_derivation_rebuilds_the_tree,
                every_state_of_a_random_walk_gives_a_valid_tree,
                a_sentence_without_words_ends,
                names_and_codes_identify_actions,
                what_is_stored_makes_the_same_system,
                the_union_of_two_systems_builds_the_trees_of_both,
            );
            contract!(@each dynamic_oracle, $trees, $make;
                the_dynamic_oracle_replays_on_the_gold_path,
                loss_never_falls_and_ends_as_the_brackets_that_differ,
                the_dynamic_oracle_leads_to_an_end_from_everywhere,
            );
            contract!(@each search, $trees, $make;
                searches_that_the_oracle_guides_find_the_tree,
                a_sentence_is_rejected_only_where_no_parse_may_end_after_its_last_word,
            );

            #[test]
            fn the_dynamic_oracle_falls_short_no_more_than_documented() {
                dynamic_oracle::the_dynamic_oracle_falls_short_no_more_than_documented(
                    $trees, $make, $shortfall,
                );
            }
    };
    (@each $module:ident, $trees:expr, $make:expr; $($promise:ident,)*) => {
        $(#[test]
        fn $promise() {
            $module::$promise($trees, $make);
        })*
    };
}

contract!(
    binary,
    |trees: &[&Tree]| Binary::of_trees(trees.iter().copied()).unwrap(),
    Shortfall { silent: 0.1, worse: 4.0, raised: 1.0 }
);

fn non_binary(trees: &[&Tree], binarization: impl Into<Binarization>) -> NonBinary {
    NonBinary::of_trees(trees.iter().copied(), binarization).unwrap()
}

// The loss rises where the inventory lacks an action that would keep it.
contract!(
    non_binary,
    |trees: &[&Tree]| non_binary(trees, Scheme::None),
    Shortfall { silent: 0.0, worse: 0.0, raised: 1.0 }
);

// With a reduction of every label and number of items the dynamic oracle is exact.
contract!(
    non_binary_whole,
    |trees: &[&Tree]| non_binary(trees, Scheme::None).with_every_arity(80).unwrap(),
    Shortfall::default()
);

fn items(trees: &[&Tree], order: items::ItemOrder, max_children: MaxChildren) -> Items {
    Items::of_trees(trees.iter().copied(), order, max_children).unwrap()
}

// With as many children as there are words the dynamic oracle is exact.
contract!(
    items_free,
    |trees: &[&Tree]| items(trees, items::ItemOrder::Free, MaxChildren::AtMost(80)),
    Shortfall::default()
);

// The loss ignores that wrong items can leave a gold item with too many children.
contract!(
    items_left_to_right,
    |trees: &[&Tree]| items(trees, items::ItemOrder::LeftToRight, MaxChildren::Auto),
    Shortfall { silent: 0.0, worse: 0.0, raised: 5.0 }
);

contract!(
    items_right_to_left_of_three,
    |trees: &[&Tree]| items(trees, items::ItemOrder::RightToLeft, MaxChildren::AtMost(3)),
    Shortfall { silent: 0.0, worse: 0.0, raised: 30.0 }
);

contract!(shift_reduce_l, |trees: &[&Tree]| non_binary(trees, Scheme::L), Shortfall::default());
contract!(shift_reduce_r2, |trees: &[&Tree]| non_binary(trees, Scheme::R2), Shortfall::default());
contract!(shift_reduce_r1, |trees: &[&Tree]| non_binary(trees, Scheme::R1), Shortfall::default());

fn bracketing(
    trees: &[&Tree],
    order: Strategy,
    binarization: impl Into<Binarization>,
) -> Bracketing {
    Bracketing::of_trees(trees.iter().copied(), order, binarization).unwrap()
}

// The loss rises where a limit read off the trees forbids what would keep it.
contract!(
    top_down,
    |trees: &[&Tree]| bracketing(trees, Strategy::TopDown, Scheme::None),
    Shortfall { silent: 0.0, worse: 0.0, raised: 0.6 }
);
contract!(
    in_order,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, Scheme::None),
    Shortfall { silent: 0.0, worse: 0.0, raised: 0.6 }
);

// Without binding limits the dynamic oracles are exact.
contract!(
    top_down_without_limits,
    |trees: &[&Tree]| bracketing(trees, Strategy::TopDown, Scheme::None).with_limits(80).unwrap(),
    Shortfall::default()
);
contract!(
    in_order_without_limits,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, Scheme::None).with_limits(80).unwrap(),
    Shortfall::default()
);

contract!(
    left_corner_l,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, Scheme::L),
    Shortfall::default()
);
contract!(
    left_corner_r2,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, Scheme::R2),
    Shortfall::default()
);
contract!(
    left_corner_r1,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, Scheme::R1),
    Shortfall::default()
);

macro_rules! predictive {
    ($name:ident, $scheme:expr) => {
        contract!(
            $name,
            |trees: &[&Tree]| Predictive::of_trees(trees.iter().copied(), $scheme).unwrap(),
            Shortfall::default()
        );
    };
}

predictive!(predictive, Scheme::None);
predictive!(predictive_l, Scheme::L);
predictive!(predictive_r2, Scheme::R2);
predictive!(predictive_r1, Scheme::R1);
predictive!(predictive_r0, Scheme::R0);

/// A binarization whose labels remember two siblings and the parent.
fn remembering(scheme: Scheme) -> Binarization {
    Binarization { scheme, markovization: Markovization { horizontal: 2, vertical: 2 } }
}

contract!(
    shift_reduce_l_remembering,
    |trees: &[&Tree]| non_binary(trees, remembering(Scheme::L)),
    Shortfall::default()
);
contract!(
    non_binary_remembering,
    |trees: &[&Tree]| non_binary(trees, remembering(Scheme::None)),
    Shortfall::default()
);
contract!(
    left_corner_r1_remembering,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, remembering(Scheme::R1)),
    Shortfall::default()
);
predictive!(predictive_r0_remembering, remembering(Scheme::R0));

// Systems of trees whose unary repetitions were collapsed. The losses do not know that a constituent cannot be
// closed over an only child of its label.
contract!(
    collapsed binary_collapsed,
    |trees: &[&Tree]| Binary::of_trees(trees.iter().copied()).unwrap(),
    Shortfall { silent: 0.1, worse: 4.0, raised: 1.0 }
);
contract!(
    collapsed non_binary_collapsed,
    |trees: &[&Tree]| non_binary(trees, Scheme::None).with_every_arity(80).unwrap(),
    Shortfall { silent: 0.0, worse: 0.0, raised: 0.1 }
);
contract!(
    collapsed shift_reduce_r1_collapsed,
    |trees: &[&Tree]| non_binary(trees, Scheme::R1),
    Shortfall::default()
);
contract!(
    collapsed items_collapsed,
    |trees: &[&Tree]| items(trees, items::ItemOrder::Free, MaxChildren::AtMost(80)),
    Shortfall::default()
);
contract!(
    collapsed top_down_collapsed,
    |trees: &[&Tree]| bracketing(trees, Strategy::TopDown, Scheme::None).with_limits(80).unwrap(),
    Shortfall { silent: 0.0, worse: 0.0, raised: 1.6 }
);
contract!(
    collapsed in_order_collapsed,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, Scheme::None).with_limits(80).unwrap(),
    Shortfall { silent: 0.0, worse: 0.0, raised: 0.5 }
);
contract!(
    collapsed left_corner_r1_collapsed,
    |trees: &[&Tree]| bracketing(trees, Strategy::InOrder, Scheme::R1),
    Shortfall::default()
);
contract!(
    collapsed predictive_collapsed,
    |trees: &[&Tree]| Predictive::of_trees(trees.iter().copied(), Scheme::None).unwrap(),
    Shortfall::default()
);
contract!(
    collapsed predictive_r0_collapsed,
    |trees: &[&Tree]| Predictive::of_trees(trees.iter().copied(), Scheme::R0).unwrap(),
    Shortfall::default()
);
