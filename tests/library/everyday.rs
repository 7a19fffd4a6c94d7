//! The treebanks of everyday sentences keep what their README promises.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use srparse::tree::{Child, Tree};

use crate::sample::{LABELS, TAGS, read};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/everyday")
}

/// The files of trees of a language, `.` for English, as the README names them.
fn files(language: &str) -> Vec<String> {
    let entries = folder().join(language).read_dir().unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name.ends_with(".mrg")).collect();
    names.sort();
    names
        .iter()
        .map(|name| format!("{language}/{name}").trim_start_matches("./").to_owned())
        .collect()
}

fn english() -> Vec<Tree> {
    files(".").iter().flat_map(|file| read(folder().join(file))).collect()
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
        assert_eq!(files(&language).len(), if language == "." { 6 } else { 2 }, "{language}");
        for file in files(&language) {
            let trees = read(folder().join(&file));
            let words: usize = trees.iter().map(|tree| tree.tokens().len()).sum();
            let line = format!("| `{file}` | {} | {words} |", trees.len());
            assert!(readme.contains(&line), "the README should say: {line}");
        }
    }
}

#[test]
fn no_sentence_stands_there_twice_in_training_or_test() {
    for language in languages() {
        let mut seen = BTreeSet::new();
        for file in files(&language) {
            for tree in read(folder().join(file)) {
                assert!(seen.insert(sentence(&tree)), "{language}: {}", sentence(&tree));
            }
        }
    }
}

#[test]
fn labels_and_tags_are_those_of_the_penn_treebank() {
    let labels: BTreeSet<&str> = LABELS.split(' ').chain(["TOP", "NML"]).collect();
    let tags: BTreeSet<&str> = TAGS.split_whitespace().chain(["HYPH", "NFP"]).collect();
    for tree in &english() {
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
    for tree in &english() {
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
