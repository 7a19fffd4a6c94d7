use super::*;
use crate::symbols::Sentence;
use crate::transition::items::{MaxChildren, infer};
use crate::tree::TreeBuilder;

/// `(A w w) (B w w)` under one `C`.
fn tree() -> Tree {
    let mut builder = TreeBuilder::new();
    builder.open("TOP");
    builder.open("C");
    for label in ["A", "B"] {
        builder.open(label);
        builder.token("w", "T");
        builder.token("w", "T");
        builder.close();
    }
    builder.close();
    builder.close();
    builder.finish()
}

/// The right items after some have been inferred, and the loss.
fn asked(order: ItemOrder, inferred: &[(u32, u32, &str)]) -> (Vec<String>, u32) {
    let tree = tree();
    let system = Items::of_trees([&tree], order, MaxChildren::AtMost(5)).unwrap();
    let oracle = ItemOracle::new(&system, &tree).unwrap();
    let (mut state, mut forest) =
        system.start(&Sentence { words: vec![2; 4], ..Sentence::default() });
    for &(first, last, label) in inferred {
        let label = Label(system.labels().position(label).unwrap() as u16);
        system.apply(&mut state, &mut forest, infer(first, last, label));
    }
    let mut optimal = Vec::new();
    oracle.optimal(&state, &forest, &mut optimal);
    let names = optimal.into_iter().map(|infer| system.name(infer)).collect();
    (names, oracle.loss(&state, &forest).unwrap())
}

#[test]
fn in_a_free_order_every_item_whose_children_are_there_is_right() {
    let both = ["INFER-A[0,2]", "INFER-B[2,4]"].map(str::to_owned).to_vec();
    assert_eq!(asked(ItemOrder::Free, &[]), (both, 0));
    assert_eq!(asked(ItemOrder::Free, &[(2, 4, "B")]), (vec!["INFER-A[0,2]".to_owned()], 0));
}

#[test]
fn in_a_fixed_order_a_gold_item_that_strands_others_is_wrong() {
    let first = |name: &str| (vec![name.to_owned()], 0);
    assert_eq!(asked(ItemOrder::LeftToRight, &[]), first("INFER-A[0,2]"));
    assert_eq!(asked(ItemOrder::RightToLeft, &[]), first("INFER-B[2,4]"));
    // B is gold, but A is lost with it; C can still be built.
    assert_eq!(asked(ItemOrder::LeftToRight, &[(2, 4, "B")]), (vec!["INFER-C[0,3]".to_owned()], 1));
}

#[test]
fn wrong_items_cost_themselves_and_what_they_cross() {
    // Over the second half of A and the first of B: itself, A and B.
    assert_eq!(asked(ItemOrder::Free, &[(1, 3, "C")]), (vec!["INFER-C[0,3]".to_owned()], 3));
    // A wrong label over a right span costs itself, and the right one can still stand on it.
    let (right, loss) = asked(ItemOrder::Free, &[(0, 2, "B")]);
    assert_eq!((right, loss), (["INFER-A[0,1]", "INFER-B[1,3]"].map(str::to_owned).to_vec(), 1));
}
