//! What several tests share: random trees, a toy grammar, and what makes a tree valid.

// Every test uses a part of this, and helpers of tests are tests.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod observer;
pub mod toy;
pub mod training;

use proptest::prelude::*;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use srparse::symbols::{Sentence, Vocabulary};
use srparse::tree::{Child, Token, Tree, TreeBuilder};

/// The labels of random trees.
pub const LABELS: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// A random stream of a seed.
pub fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// A random head-marked tree under `TOP`: one to six children a node, unary chains (labels may repeat
/// in them), few or many words, sometimes one word, sometimes very deep on one side.
pub fn random_tree(rng: &mut ChaCha8Rng) -> Tree {
    match rng.random_range(0..12) {
        0 => grow(rng, 1, 0),
        1 => one_sided(rng),
        2..=4 => grow(rng, 30, 0),
        _ => grow(rng, 8, 0),
    }
}

/// `n` random trees of a seed.
pub fn random_trees(seed: u64, n: usize) -> Vec<Tree> {
    let mut rng = rng(seed);
    (0..n).map(|_| random_tree(&mut rng)).collect()
}

/// A tree over `words` words, grown from the root by an explicit stack.
fn grow(rng: &mut ChaCha8Rng, words: usize, unaries: u32) -> Tree {
    enum Task {
        Visit { words: usize, unaries: u32, root: bool },
        Close { head: u32 },
    }
    let mut builder = TreeBuilder::new();
    let mut tasks = vec![Task::Visit { words, unaries, root: true }];
    while let Some(task) = tasks.pop() {
        let (words, unaries, root) = match task {
            Task::Close { head } => {
                builder.close_with_head(Some(head));
                continue;
            }
            Task::Visit { words, unaries, root } => (words, unaries, root),
        };
        if words == 1 && !root && (unaries >= 4 || rng.random_bool(0.6)) {
            let (word, tag) = (rng.random_range(0..17), rng.random_range(0..4));
            builder.token(format!("w{word}"), format!("T{tag}"));
            continue;
        }
        let most = words.min(6);
        let n = if unaries >= 4 && most > 1 {
            rng.random_range(2..=most)
        } else {
            rng.random_range(1..=most)
        };
        builder.open(if root { "TOP" } else { LABELS[rng.random_range(0..LABELS.len())] });
        tasks.push(Task::Close { head: rng.random_range(0..n as u32) });
        let unaries = if n == 1 { unaries + 1 } else { 0 };
        let parts = split(rng, words, n);
        tasks.extend(parts.into_iter().map(|words| Task::Visit { words, unaries, root: false }));
    }
    builder.finish()
}

/// `words` in `n` parts of at least one word.
fn split(rng: &mut ChaCha8Rng, words: usize, n: usize) -> Vec<usize> {
    let mut parts = vec![1; n];
    for _ in n..words {
        parts[rng.random_range(0..n)] += 1;
    }
    parts
}

/// A deep tree whose brackets all begin, or all end, at one side of the sentence.
fn one_sided(rng: &mut ChaCha8Rng) -> Tree {
    let depth = rng.random_range(20..60);
    let left = rng.random_bool(0.5);
    let head = u32::from(rng.random_bool(0.5));
    let mut builder = TreeBuilder::new();
    builder.open("TOP");
    for level in 0..depth {
        builder.open(LABELS[level % LABELS.len()]);
        if !left {
            builder.token("r", "T1");
        }
    }
    builder.token("w", "T0");
    for _ in 0..depth {
        if left {
            builder.token("l", "T2");
        }
        builder.close_with_head(Some(head));
    }
    builder.close_with_head(Some(0));
    builder.finish()
}

/// A tree as a value that proptest can shrink.
#[derive(Debug, Clone)]
pub enum Sketch {
    /// A token.
    Leaf,
    /// A node: label, head (taken modulo the number of children) and children.
    Node(usize, u32, Vec<Sketch>),
}

/// Sketches of trees up to ten levels deep, with one to six children a node.
pub fn sketches() -> impl Strategy<Value = Sketch> {
    Just(Sketch::Leaf).prop_recursive(10, 60, 6, |inner| {
        (0..LABELS.len(), 0..6u32, prop::collection::vec(inner, 1..=6))
            .prop_map(|(label, head, children)| Sketch::Node(label, head, children))
    })
}

/// The head-marked tree of a sketch under `TOP`.
pub fn drawn(sketch: &Sketch) -> Tree {
    fn draw(sketch: &Sketch, builder: &mut TreeBuilder) {
        match sketch {
            Sketch::Leaf => builder.token("w", "T"),
            Sketch::Node(label, head, children) => {
                builder.open(LABELS[*label]);
                children.iter().for_each(|child| draw(child, builder));
                builder.close_with_head(Some(head % children.len() as u32));
            }
        }
    }
    let mut builder = TreeBuilder::new();
    builder.open("TOP");
    draw(sketch, &mut builder);
    builder.close_with_head(Some(0));
    builder.finish()
}

/// Words and tags of trees as numbers, everything known.
pub fn vocabulary(trees: &[Tree]) -> Vocabulary {
    Vocabulary::of(trees.iter().map(Tree::tokens), 1)
}

/// The sentence of a tree in the numbers of a vocabulary of its own.
pub fn sentence(tree: &Tree) -> Sentence {
    Vocabulary::of([tree.tokens()], 1).encode(tree.tokens())
}

/// A tree as brackets, for messages.
pub fn shown(tree: &Tree) -> String {
    let mut line = Vec::new();
    srparse::treebank::penn::write_line(tree, &mut line).unwrap();
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

/// Says what is wrong with a tree that should be valid over `tokens`: the tokens in order, one `TOP` at
/// the root and nowhere else, no node without words, no temporary node, every node exactly over its
/// children, heads that are children.
pub fn assert_valid(tree: &Tree, tokens: &[Token]) {
    assert_eq!(tree.tokens(), tokens, "the words changed");
    let root = tree.root().expect("a tree has a root");
    let mut covered = vec![0u32; tokens.len()];
    for id in tree.ids() {
        let node = tree.node(id);
        assert_eq!(node.label == "TOP", id == root, "{} in {}", node.label, shown(tree));
        assert!(!node.temporary && !node.label.is_empty(), "{node:?}");
        assert!(node.start < node.end || tokens.is_empty(), "{node:?} has no words");
        let mut at = node.start;
        for &child in tree.children(id) {
            let (start, end) = tree.child_span(child);
            assert_eq!(start, at, "the children of {node:?} have a gap");
            at = end;
            match child {
                Child::Token(position) => covered[position as usize] += 1,
                Child::Node(child) => assert!(child < id, "a parent stands before its child"),
            }
        }
        assert_eq!(at, node.end, "the children of {node:?} do not fill it");
        if let Some(head) = node.head {
            assert!((head as usize) < tree.children(id).len(), "{node:?} is headed from outside");
        }
    }
    assert!(covered.iter().all(|&times| times == 1), "each word stands in one place: {covered:?}");
}

/// A bracket: label, first token, one past the last.
pub type Bracket = (String, u32, u32);

/// The brackets of a tree without its root, sorted.
pub fn brackets(tree: &Tree) -> Vec<Bracket> {
    let nodes = tree.nodes().split_last().map_or(&[][..], |(_, below)| below);
    let mut all: Vec<Bracket> =
        nodes.iter().map(|node| (node.label.to_string(), node.start, node.end)).collect();
    all.sort();
    all
}

/// How many brackets of two trees have no partner in the other, roots aside.
pub fn differences(a: &Tree, b: &Tree) -> u32 {
    let (a, mut b) = (brackets(a), brackets(b));
    let mut missing = 0;
    for bracket in a {
        match b.iter().position(|other| *other == bracket) {
            Some(at) => drop(b.swap_remove(at)),
            None => missing += 1,
        }
    }
    missing + b.len() as u32
}
