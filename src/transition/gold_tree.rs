//! Properties of gold trees that systems are built from: validity, labels, limits.

use crate::symbols::{Label, Symbols};
use crate::tree::binarize::Binarization;
use crate::tree::markovize::Markovization;
use crate::tree::{Child, Tree};
use crate::{Error, Result};

pub use crate::tree::TOP as ROOT;

/// The largest number of labels of a system.
pub const MAX_LABELS: usize = 65_000;

/// The largest number of actions between two words, of those that could go on for ever.
const MAX_RUN: u32 = 10_000;

/// Checks such a limit, which was read off training trees or comes from a model file.
///
/// # Errors
/// When it is so high that a parser could seem to hang.
pub(super) fn check_run(limit: u32) -> Result<()> {
    if limit <= MAX_RUN {
        return Ok(());
    }
    let problem = format!(
        "{limit} constituents between two words, at most {MAX_RUN}: leave out the deepest tree"
    );
    Err(Error::Unfit(problem))
}

/// Checks that a tree can be built by some system: its root is `TOP`, no other node is, and every node has words.
///
/// # Errors
/// [`Error::Unfit`] with the reason.
pub fn check_tree(tree: &Tree) -> Result<()> {
    let root = tree.root().filter(|&root| tree.node(root).label == ROOT);
    let Some(root) = root else {
        return Err(Error::Unfit("the root is not TOP: clean with root = \"top\"".into()));
    };
    if let Some(node) = tree.nodes().iter().find(|node| node.start == node.end) {
        return Err(Error::Unfit(format!(
            "a {} over no words: set clean.traces to the tags of empty elements",
            node.label
        )));
    }
    if tree.ids().any(|id| id != root && tree.node(id).label == ROOT) {
        return Err(Error::Unfit("a TOP below the root".into()));
    }
    if tree.nodes().iter().any(|node| node.label.is_empty()) {
        return Err(Error::Unfit("a node without a label".into()));
    }
    Ok(())
}

/// The labels below the roots of trees, in order of first appearance, with their frequencies. Without any, the
/// label X with frequency 0.
///
/// # Errors
/// [`Error::Unfit`] when there are more than [`MAX_LABELS`].
pub fn labels_of<'a>(trees: impl IntoIterator<Item = &'a Tree>) -> Result<(Symbols, Vec<u64>)> {
    let (mut labels, mut counts) = (Symbols::default(), Vec::new());
    for tree in trees.into_iter().filter(|tree| check_tree(tree).is_ok()) {
        for node in tree.nodes().split_last().map_or(&[][..], |(_, below)| below) {
            let label = labels.intern(&node.label) as usize;
            counts.resize(labels.len(), 0);
            counts[label] += 1;
        }
        if labels.len() > MAX_LABELS {
            return Err(too_many_labels());
        }
    }
    if labels.is_empty() {
        labels.intern("X");
        counts.push(0);
    }
    Ok((labels, counts))
}

/// Like [`labels_of`], of the binarized trees. The labels that only temporary nodes have come last, without a
/// frequency.
///
/// # Errors
/// As [`labels_of`].
pub fn binarized_labels_of<'a>(
    trees: impl IntoIterator<Item = &'a Tree>,
    binarization: Binarization,
) -> Result<(Symbols, Vec<u64>)> {
    let Binarization { markovization, .. } = binarization;
    if markovization == Markovization::default() {
        return labels_of(trees);
    }
    let trees: Vec<&Tree> = trees.into_iter().collect();
    let annotated: Vec<Tree> = trees.iter().map(|tree| markovization.annotate(tree)).collect();
    let (mut labels, counts) = labels_of(&annotated)?;
    for tree in trees.into_iter().filter(|tree| check_tree(tree).is_ok()) {
        let binary = binarization.apply(tree);
        for node in binary.nodes().iter().filter(|node| node.temporary) {
            labels.intern(&node.label);
        }
        if labels.len() > MAX_LABELS {
            return Err(too_many_labels());
        }
    }
    Ok((labels, counts))
}

/// The error for more labels than [`MAX_LABELS`].
pub(super) fn too_many_labels() -> Error {
    Error::Unfit(format!("more than {MAX_LABELS} different labels: strip function tags first"))
}

/// The label of a name.
///
/// # Errors
/// [`Error::Unfit`] when the table does not have it.
pub fn label_of(labels: &Symbols, name: &str) -> Result<Label> {
    match labels.position(name) {
        Some(position) => Ok(Label(position as u16)),
        None => Err(Error::Unfit(format!("the label {name} was not in the training trees"))),
    }
}

/// The number of children of the root.
pub fn n_roots(tree: &Tree) -> u32 {
    tree.root().map_or(0, |root| tree.children(root).len() as u32)
}

/// Whether some node has a single child of its own label.
pub fn repeats_a_label(tree: &Tree) -> bool {
    tree.ids().any(|id| match tree.children(id) {
        [Child::Node(child)] => tree.node(*child).label == tree.node(id).label,
        _ => false,
    })
}

/// The value of `repeated_labels` in tables of earlier versions, which do not have it.
pub(super) fn may_repeat() -> bool {
    true
}

/// The length of the longest chain of nodes with a single child each, without the root.
pub fn longest_unary_chain(tree: &Tree) -> u32 {
    let mut chain = vec![0; tree.nodes().len()];
    let below_root = tree.nodes().len().saturating_sub(1);
    for id in tree.ids().take(below_root) {
        chain[id.index()] = match *tree.children(id) {
            [Child::Node(child)] => chain[child.index()] + 1,
            [Child::Token(_)] => 1,
            _ => 0,
        };
    }
    chain.into_iter().max().unwrap_or(0)
}
