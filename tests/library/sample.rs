//! The bundled sample treebank keeps what its README promises.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use srparse::tree::heads::HeadRules;
use srparse::tree::{Child, Tree};
use srparse::treebank::{ReadOptions, read_all};

pub(super) const TAGS: &str = "$ `` '' , . : -LRB- -RRB- -NONE- CC CD DT EX FW IN JJ JJR JJS LS MD \
    NN NNS NNP NNPS PDT POS PRP PRP$ RB RBR RBS RP SYM TO UH VB VBD VBG VBN VBP VBZ WDT WP WP$ WRB #";
pub(super) const LABELS: &str = "ADJP ADVP CONJP FRAG INTJ LST NAC NP NX PP PRN PRT QP RRC S SBAR \
    SBARQ SINV SQ UCP VP WHADJP WHADVP WHNP WHPP X";
const FUNCTIONS: &str =
    "ADV NOM DTV LGS PRD PUT SBJ TPC VOC BNF DIR EXT LOC MNR PRP TMP CLR CLF HLN TTL";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/sample")
}

/// All trees of a file; none may be skipped.
pub(super) fn read(path: PathBuf) -> Vec<Tree> {
    let (trees, report) = read_all(&[path], &ReadOptions::default()).unwrap();
    assert_eq!(report.skipped, 0);
    trees
}

fn trees(file: &str) -> Vec<Tree> {
    read(folder().join(file))
}

/// Both parts, each tree with a name for messages.
fn all() -> Vec<(String, Tree)> {
    ["train.mrg", "dev.mrg"]
        .into_iter()
        .flat_map(|file| {
            let named = |(i, tree)| (format!("{file}, tree {}", i + 1), tree);
            trees(file).into_iter().enumerate().map(named).collect::<Vec<_>>()
        })
        .collect()
}

fn set(words: &str) -> BTreeSet<&str> {
    words.split_whitespace().collect()
}

/// The tokens that are words, not traces.
fn words(tree: &Tree) -> usize {
    tree.tokens().iter().filter(|token| token.tag != "-NONE-").count()
}

/// A label in its parts: category, function tags, indices.
fn parts(label: &str) -> (&str, Vec<&str>, Vec<&str>) {
    let mut pieces = label.split(['-', '=']);
    let category = pieces.next().unwrap_or_default();
    let (indices, functions) = pieces.partition(|piece| piece.parse::<u32>().is_ok());
    (category, functions, indices)
}

/// How often each label occurs, without indices.
fn labels(trees: &[Tree]) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for node in trees.iter().flat_map(Tree::nodes) {
        let (category, functions, _) = parts(&node.label);
        let label = [&[category], functions.as_slice()].concat().join("-");
        *found.entry(label).or_default() += 1;
    }
    found
}

#[test]
fn the_counts_are_those_of_the_readme() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for (file, least) in [("train.mrg", 130), ("dev.mrg", 30)] {
        let trees = trees(file);
        assert!(trees.len() >= least);
        let tokens: usize = trees.iter().map(words).sum();
        let line = format!("| `{file}` | {} | {tokens} |", trees.len());
        assert!(readme.contains(&line), "the README should say: {line}");
    }
    let text = std::fs::read_to_string(folder().join("sentences.txt")).unwrap();
    let tokens = text.split_whitespace().count();
    let line = format!("| `sentences.txt` | {} | {tokens} |", text.lines().count());
    assert!(readme.contains(&line), "the README should say: {line}");
}

#[test]
fn every_tree_has_an_unlabelled_root_with_one_child_and_ends_in_punctuation() {
    for (name, tree) in all() {
        let root = tree.root().unwrap();
        assert_eq!(tree.node(root).label, "", "{name}");
        assert!(matches!(tree.children(root), [Child::Node(_)]), "{name}");
        let last = tree.tokens().last().unwrap();
        assert!([".", "''"].contains(&last.tag.as_str()), "{name} ends in {}", last.word);
        assert!(tree.ids().all(|id| !tree.children(id).is_empty()), "{name} has an empty node");
    }
}

#[test]
fn tags_labels_and_function_tags_are_penns() {
    let (tags, categories, functions) = (set(TAGS), set(LABELS), set(FUNCTIONS));
    for (name, tree) in all() {
        for token in tree.tokens() {
            assert!(tags.contains(token.tag.as_str()), "{name}: tag {}", token.tag);
            assert!(!token.word.is_empty(), "{name}");
        }
        for node in &tree.nodes()[..tree.nodes().len() - 1] {
            let (category, found, _) = parts(&node.label);
            assert!(categories.contains(category), "{name}: label {}", node.label);
            assert!(found.iter().all(|f| functions.contains(f)), "{name}: label {}", node.label);
        }
    }
}

#[test]
fn every_index_of_a_trace_has_its_antecedent_and_the_other_way_round() {
    for (name, tree) in all() {
        let mut given = BTreeSet::new();
        let mut used = BTreeSet::new();
        for node in tree.nodes() {
            for index in parts(&node.label).2 {
                let gap = node.label.contains(&format!("={index}"));
                if gap { &mut used } else { &mut given }.insert(index.to_owned());
            }
        }
        for token in tree.tokens().iter().filter(|token| token.tag == "-NONE-") {
            let (kind, index) = token.word.split_once('-').unwrap_or((&token.word, ""));
            assert!(["*", "*T*", "*EXP*", "*U*", "0"].contains(&kind), "{name}: {}", token.word);
            if !index.is_empty() {
                used.insert(index.to_owned());
            }
        }
        assert_eq!(given, used, "{name}");
    }
}

#[test]
fn every_label_and_tag_of_dev_occurs_in_train() {
    let (train, dev) = (trees("train.mrg"), trees("dev.mrg"));
    let known = labels(&train);
    for label in labels(&dev).keys() {
        assert!(known.contains_key(label), "{label}");
    }
    let tags: BTreeSet<_> = train.iter().flat_map(Tree::tokens).map(|t| t.tag.clone()).collect();
    for token in dev.iter().flat_map(Tree::tokens) {
        assert!(tags.contains(&token.tag), "{}", token.tag);
    }
}

#[test]
fn no_sentence_stands_there_twice() {
    let mut seen = BTreeMap::new();
    for (name, tree) in all() {
        let text: Vec<&str> = tree.tokens().iter().map(|token| token.word.as_str()).collect();
        if let Some(other) = seen.insert(text.join(" "), name.clone()) {
            panic!("{name} is {other} again");
        }
    }
}

#[test]
fn the_lines_of_the_tour_are_tagged_with_penns_tags() {
    let tags = set(TAGS);
    let text = std::fs::read_to_string(folder().join("sentences.txt")).unwrap();
    for pair in text.split_whitespace() {
        let (word, tag) = pair.rsplit_once('/').unwrap();
        assert!(!word.is_empty() && tags.contains(tag), "{pair}");
    }
}

#[test]
fn both_english_head_tables_cover_every_label() {
    for table in ["collins", "collins-modified"] {
        let rules = HeadRules::named(table).unwrap();
        for (name, mut tree) in all() {
            let uncovered = rules.apply(&mut tree);
            assert!(uncovered.is_empty(), "{table}, {name}: {uncovered}");
        }
    }
}
