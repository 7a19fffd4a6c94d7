//! The treebank of everyday English keeps what its README promises.

use std::collections::BTreeSet;
use std::path::Path;

use srparse::tree::{Child, Tree};
use srparse::treebank::{ReadOptions, read_all};

use crate::sample::{LABELS, TAGS};

fn trees(file: &str) -> Vec<Tree> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/everyday").join(file);
    let (trees, report) = read_all(&[path], &ReadOptions::default()).expect("the treebank reads");
    assert_eq!(report.skipped, 0);
    trees
}

fn sentence(tree: &Tree) -> String {
    let words: Vec<&str> = tree.tokens().iter().map(|token| token.word.as_str()).collect();
    words.join(" ").to_lowercase()
}

#[test]
fn no_sentence_of_the_test_set_is_in_the_training_set() {
    let (train, test) = (trees("train.mrg"), trees("test.mrg"));
    assert_eq!((train.len(), test.len()), (1_395, 260));
    let sentences = |trees: &[Tree]| trees.iter().map(sentence).collect::<BTreeSet<_>>();
    let (train, test) = (sentences(&train), sentences(&test));
    assert_eq!((train.len(), test.len()), (1_395, 260), "a sentence stands twice");
    assert_eq!(train.intersection(&test).next(), None);
}

#[test]
fn labels_and_tags_are_those_of_the_penn_treebank() {
    let labels: BTreeSet<&str> = LABELS.split(' ').chain(["TOP", "NML"]).collect();
    let tags: BTreeSet<&str> = TAGS.split_whitespace().chain(["HYPH"]).collect();
    for tree in trees("train.mrg").iter().chain(&trees("test.mrg")) {
        let of_nodes = tree.nodes().iter().map(|node| node.label.as_str());
        let unknown: Vec<_> = of_nodes.filter(|label| !labels.contains(label)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", sentence(tree));
        let of_words = tree.tokens().iter().map(|token| token.tag.as_str());
        let unknown: Vec<_> = of_words.filter(|tag| !tags.contains(tag)).collect();
        assert!(unknown.is_empty(), "{}: {unknown:?}", sentence(tree));
    }
}

#[test]
fn the_final_punctuation_is_a_child_of_the_topmost_phrase() {
    for tree in trees("train.mrg").iter().chain(&trees("test.mrg")) {
        let Some(root) = tree.root() else { panic!("a tree without words") };
        let [Child::Node(top)] = tree.children(root) else { panic!("{}", sentence(tree)) };
        let last = tree.tokens().len() - 1;
        if tree.tokens()[last].tag == "." {
            let end = tree.children(*top).last();
            assert!(
                matches!(end, Some(Child::Token(at)) if *at as usize == last),
                "{}",
                sentence(tree)
            );
        }
    }
}
