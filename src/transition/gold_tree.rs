//! What systems read off gold trees: whether they can be built at all, their labels and their limits.

use crate::symbols::{Label, Symbols};
use crate::tree::{Child, Tree};
use crate::{Error, Result};

/// The label of every root.
pub const ROOT: &str = "TOP";

/// The largest number of labels a system may have.
pub const MAX_LABELS: usize = 65_000;

/// What keeps every system from building a tree: a root that is not `TOP`, a `TOP` below it, a node over no
/// words.
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
            "a {} over no words: clean with traces = true",
            node.label
        )));
    }
    if tree.ids().any(|id| id != root && tree.node(id).label == ROOT) {
        return Err(Error::Unfit("a TOP below the root".into()));
    }
    Ok(())
}

/// The labels below the roots of trees, in order of first appearance, with how often each is seen. There is
/// one at least.
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

/// The error for more labels than [`MAX_LABELS`].
pub(super) fn too_many_labels() -> Error {
    Error::Unfit(format!("more than {MAX_LABELS} different labels: strip function tags first"))
}

/// The number of a label.
///
/// # Errors
/// [`Error::Unfit`] when there is none.
pub fn label_of(labels: &Symbols, name: &str) -> Result<Label> {
    match labels.position(name) {
        Some(position) => Ok(Label(position as u16)),
        None => Err(Error::Unfit(format!("the label {name} was not in the training trees"))),
    }
}

/// How many children the root of a tree has.
pub fn n_roots(tree: &Tree) -> u32 {
    tree.root().map_or(0, |root| tree.children(root).len() as u32)
}

/// The longest chain of nodes with a single child each, of which the root is none.
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
