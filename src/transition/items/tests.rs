use super::*;
use crate::tree::TreeBuilder;
use crate::treebank::penn;

/// A tree of labels, with `.` for a token: `A(. B(. .))` under `TOP`.
fn tree(text: &str) -> Tree {
    let mut builder = TreeBuilder::new();
    builder.open(ROOT);
    let mut label = String::new();
    for character in text.chars() {
        match character {
            '(' => builder.open(std::mem::take(&mut label)),
            ')' => builder.close(),
            '.' => builder.token("w", "T"),
            ' ' => {}
            _ => label.push(character),
        }
    }
    builder.close();
    builder.finish()
}

fn shown(tree: &Tree) -> String {
    let mut line = Vec::new();
    penn::write_line(tree, &mut line).unwrap();
    String::from_utf8(line).unwrap().replace("(T w)", ".").trim_end().to_owned()
}

fn system(trees: &[Tree], order: ItemOrder, max_children: MaxChildren) -> Items {
    Items::of_trees(trees, order, max_children).unwrap()
}

#[test]
fn items_with_too_many_children_leave_them_to_their_parents_again_and_again() {
    let reduced = |text: &str, most: u16| {
        let tree = tree(text);
        let system =
            system(std::slice::from_ref(&tree), ItemOrder::Free, MaxChildren::AtMost(most));
        let reduced = system.reduced(&tree).into_owned();
        shown(&reduced)
    };
    assert_eq!(reduced("A(B(. . .) C(.))", 3), "(TOP (A (B . . .) (C .)))");
    assert_eq!(reduced("A(B(. . .) C(.))", 2), "(TOP . . . (C .))");
    assert_eq!(reduced("A(B(C(. . .)) .)", 2), "(TOP . . . .)");
    // The same label over the same span only once.
    assert_eq!(reduced("A(B(A(. .)))", 2), "(TOP (B (A . .)))");
}

#[test]
fn auto_reads_the_limit_off_the_trees_but_not_off_their_roots() {
    let trees = [tree("A(. B(. . .)) C(.) . . ."), tree("A(.)")];
    let tables = system(&trees, ItemOrder::Free, MaxChildren::Auto).tables().clone();
    assert_eq!(tables.max_children, 3);
    assert_eq!(tables.labels.names().collect::<Vec<_>>(), ["TOP", "B", "A", "C"]);
}

#[test]
fn orders_are_post_order_and_its_mirror() {
    let tree = tree("A(B(.) C(D(. .) .))");
    let spans = |order: ItemOrder| {
        let system = system(std::slice::from_ref(&tree), order, MaxChildren::Auto);
        let (mut state, mut forest) =
            system.start(&Sentence { words: vec![2; 4], ..Sentence::default() });
        let derivation = system.derivation(&tree).unwrap();
        let step = |action: Action| {
            let span = span(&state, &forest, action.place);
            system.apply(&mut state, &mut forest, action);
            format!("{}{}{}", system.label_name(label(action)), span.0, span.1)
        };
        derivation.into_iter().map(step).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(spans(ItemOrder::Free), "B01 D13 C14 A04 TOP04");
    assert_eq!(spans(ItemOrder::LeftToRight), "B01 D13 C14 A04 TOP04");
    assert_eq!(spans(ItemOrder::RightToLeft), "D13 C14 B01 A04 TOP04");
}

#[test]
fn what_stands_before_the_item_inferred_last_is_no_candidate_in_a_fixed_order() {
    let tree = tree("A(. . .)");
    let candidates = |order: ItemOrder, first: u32, last: u32| {
        let system = system(std::slice::from_ref(&tree), order, MaxChildren::AtMost(2));
        let (mut state, mut forest) =
            system.start(&Sentence { words: vec![2; 4], ..Sentence::default() });
        system.apply(&mut state, &mut forest, infer(first, last, Label(1)));
        let mut legal = Vec::new();
        system.legal(&state, &forest, &mut legal);
        let span = |action: &Action| span(&state, &forest, action.place);
        legal.iter().map(span).collect::<Vec<_>>()
    };
    // TOP over the whole frontier is always one; A stands over 1–3 already.
    let all = [(0, 1), (0, 3), (0, 4), (1, 4), (3, 4)];
    assert_eq!(candidates(ItemOrder::Free, 1, 3), all);
    assert_eq!(candidates(ItemOrder::LeftToRight, 1, 3), [(0, 3), (0, 4), (1, 4), (3, 4)]);
    assert_eq!(candidates(ItemOrder::RightToLeft, 1, 3), [(0, 1), (0, 3), (0, 4), (1, 4)]);
}

#[test]
fn states_that_differ_in_their_history_only_are_the_same() {
    let tree = tree("A(. .) B(. .)");
    for order in [ItemOrder::Free, ItemOrder::LeftToRight] {
        let system = system(std::slice::from_ref(&tree), order, MaxChildren::Auto);
        let identity = |spans: [(u32, u32, u16); 2]| {
            let (mut state, mut forest) =
                system.start(&Sentence { words: vec![2; 4], ..Sentence::default() });
            for (first, last, label) in spans {
                let infer = infer(first, last, Label(label));
                let foretold = system.identity(&state, &forest, Some(infer));
                system.apply(&mut state, &mut forest, infer);
                assert_eq!(system.identity(&state, &forest, None), foretold);
            }
            system.identity(&state, &forest, None)
        };
        let same = identity([(0, 2, 1), (1, 3, 2)]);
        assert_eq!(same, identity([(2, 4, 2), (0, 2, 1)]));
        assert_eq!(same.is_some(), order == ItemOrder::Free);
        assert!(same.is_none() || same != identity([(0, 2, 2), (1, 3, 1)]));
    }
}

#[test]
fn unary_chains_of_the_same_labels_in_another_order_are_other_states() {
    let tree = tree("A(B(.)) .");
    let system = system(std::slice::from_ref(&tree), ItemOrder::Free, MaxChildren::Auto);
    let identity = |steps: &[(u32, u32, u16)]| {
        let (mut state, mut forest) =
            system.start(&Sentence { words: vec![2; 2], ..Sentence::default() });
        for &(first, last, label) in steps {
            let infer = infer(first, last, Label(label));
            let foretold = system.identity(&state, &forest, Some(infer));
            system.apply(&mut state, &mut forest, infer);
            assert_eq!(system.identity(&state, &forest, None), foretold);
        }
        system.identity(&state, &forest, None)
    };
    assert_ne!(identity(&[(0, 1, 1), (0, 1, 2)]), identity(&[(0, 1, 2), (0, 1, 1)]));
    assert_ne!(identity(&[(0, 2, 1), (0, 1, 2)]), identity(&[(0, 2, 2), (0, 1, 1)]));
    let apart = [(0, 1, 1), (1, 2, 2), (0, 1, 2)];
    assert_eq!(identity(&apart), identity(&[apart[1], apart[0], apart[2]]));
}

#[test]
fn limits_are_numbers_or_auto() {
    let read = |text: &str| serde_json::from_str::<MaxChildren>(text);
    for good in ["5", "\"auto\""] {
        let limit = read(good).unwrap();
        assert_eq!(read(&serde_json::to_string(&limit).unwrap()).unwrap(), limit);
    }
    for wrong in ["1", "-3", "70000", "\"5\"", "\"1\"", "\"many\""] {
        assert!(read(wrong).unwrap_err().to_string().contains("auto"), "{wrong}");
    }
}
