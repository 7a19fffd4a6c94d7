//! The treebanks of everyday sentences keep what their README promises.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use srparse::tree::{Child, Tree};

use crate::sample::{LABELS, TAGS, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/everyday")
}

/// The English trees for training and those for scores.
fn both() -> [Vec<Tree>; 2] {
    ["train.mrg", "test.mrg"].map(|file| read(folder().join(file)))
}

/// The folders of languages, and `.`, that of English.
fn languages() -> Vec<String> {
    let entries = folder().read_dir().unwrap().map(|entry| entry.unwrap().path());
    let folders = entries.filter(|path| path.is_dir());
    let names = folders.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
    [".".to_owned()].into_iter().chain(names).collect()
}

fn sentence(tree: &Tree) -> String {
    let words: Vec<&str> = tree.tokens().iter().map(|token| token.word.as_str()).collect();
    words.join(" ").to_lowercase()
}

#[test]
fn the_counts_are_those_of_the_readme() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    assert_eq!(languages().len(), 8);
    for language in languages() {
        for file in ["train.mrg", "test.mrg"] {
            let path = format!("{language}/{file}");
            let trees = read(folder().join(&path));
            let words: usize = trees.iter().map(|tree| tree.tokens().len()).sum();
            let line =
                format!("| `{}` | {} | {words} |", path.trim_start_matches("./"), trees.len());
            assert!(readme.contains(&line), "the README should say: {line}");
        }
    }
}

#[test]
fn no_sentence_stands_there_twice_in_training_or_test() {
    for language in languages() {
        let mut seen = BTreeSet::new();
        for file in ["train.mrg", "test.mrg"] {
            for tree in read(folder().join(&language).join(file)) {
                assert!(seen.insert(sentence(&tree)), "{language}: {}", sentence(&tree));
            }
        }
    }
}

#[test]
fn labels_and_tags_are_those_of_the_penn_treebank() {
    let labels: BTreeSet<&str> = LABELS.split(' ').chain(["TOP", "NML"]).collect();
    let tags: BTreeSet<&str> = TAGS.split_whitespace().chain(["HYPH"]).collect();
    for tree in both().iter().flatten() {
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
    for tree in both().iter().flatten() {
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
