//! What holds of scoring whatever the trees: any tree against itself is perfect, nothing panics.

use proptest::prelude::*;
use srparse::eval::{Evaluation, Params, Status};
use srparse::tree::heads::HeadRules;
use srparse::tree::{Tree, TreeBuilder};

/// Some labels and tags: plain, with functions, deleted, equivalent, empty.
const LABELS: [&str; 12] =
    ["S", "NP-SBJ", "ADVP", "PRT", "TOP", "-NONE-", ",", ".", "''", "", "=2", "VROOT"];

/// A tree from a list of steps: open a node, add a word, close a node.
fn tree(steps: &[(u8, usize)]) -> Tree {
    let mut builder = TreeBuilder::new();
    builder.open("TOP");
    for &(step, label) in steps {
        let label = LABELS[label % LABELS.len()];
        match step % 4 {
            0 => builder.open(label),
            1 | 2 => builder.token(["'", "word"][usize::from(step) / 128], label),
            _ if builder.depth() > 1 => builder.close(),
            _ => {}
        }
    }
    while builder.depth() > 0 {
        builder.close();
    }
    builder.finish()
}

fn trees() -> impl Strategy<Value = Tree> {
    proptest::collection::vec((any::<u8>(), any::<usize>()), 0..60).prop_map(|steps| tree(&steps))
}

fn evaluation(params: &str) -> Evaluation {
    let params = Params::named(params).expect("the set is embedded");
    Evaluation::new(params, HeadRules::named("collins").ok())
}

proptest! {
    #[test]
    fn a_tree_against_itself_is_perfect_or_has_nothing_to_score(tree in trees()) {
        for params in Params::names() {
            let mut evaluation = evaluation(params);
            let score = evaluation.add(&tree, &tree);
            prop_assert_ne!(score.status, Status::Error);
            prop_assert_eq!((score.test, score.matched), (score.gold, score.gold));
            prop_assert_eq!((score.crossing, score.correct_tags), (0, score.words));
            prop_assert_eq!(score.attachments.correct, score.attachments.words);
            if score.gold > 0 {
                prop_assert_eq!(evaluation.all.f1(), 100.0);
                prop_assert_eq!(evaluation.all.f1_failures_empty(), 100.0);
            }
        }
    }

    #[test]
    fn counts_stay_within_each_other(gold in trees(), test in trees()) {
        for params in Params::names() {
            let mut evaluation = evaluation(params);
            let score = evaluation.add(&gold, &test);
            prop_assert!(score.matched <= score.gold.min(score.test));
            prop_assert!(score.crossing <= score.test && score.correct_tags <= score.words);
            prop_assert!(evaluation.all.f1_failures_empty() <= evaluation.all.f1());
            let by_label: u64 = evaluation.labels.values().map(|row| row.gold_matched).sum();
            let by_children: u64 = evaluation.children.iter().map(|row| row.test_matched).sum();
            prop_assert_eq!((by_label, by_children), (score.matched.into(), score.matched.into()));
        }
    }

    #[test]
    fn no_line_panics(gold in "[()ab' .,-]{0,60}", test in "[()ab' .,-]{0,60}", any in ".{0,40}") {
        for params in Params::names() {
            let mut evaluation = evaluation(params);
            evaluation.add_lines(&gold, &test);
            evaluation.add_lines(&gold, &any);
            evaluation.add_lines(&any, &any);
        }
    }

    #[test]
    fn quotes_in_any_order_do_not_panic(
        gold in "(\\((''|POS|``|NN|S|NN) ('|w)?\\)?|\\)){0,20}",
        test in "(\\((''|POS|``|NN|S|NN) ('|w)?\\)?|\\)){0,20}",
    ) {
        evaluation("new").add_lines(&gold, &test);
    }

    #[test]
    fn no_parameter_text_panics(text in "([A-Z_]{0,12}|EQ_LABEL|LABELED|[ \\t\\r\\n#é0-9]{0,3}){0,30}", any in any::<String>()) {
        let _ = Params::parse(&text, "x.prm");
        let _ = Params::parse(&any, "x.prm");
    }
}
