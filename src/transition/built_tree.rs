//! The tree of the constituents built so far.

use super::gold_tree::ROOT;
use super::state::Forest;
use crate::symbols::{Label, Symbols};
use crate::tree::binarize::mark_heads;
use crate::tree::markovize::without_ancestors;
use crate::tree::{Token, Tree, TreeBuilder};

/// A tree of `TOP` over the items and the tokens from `buffer` on, without temporary nodes and with labels without
/// ancestors. A `TOP` among the items is not repeated. Heads are marked if the system knows them.
pub fn tree_of(
    forest: &Forest,
    items: &[u32],
    buffer: u32,
    labels: &Symbols,
    tokens: &[Token],
) -> Tree {
    let mut builder = TreeBuilder::new();
    let mut heads = Vec::with_capacity(2 * tokens.len() + 1);
    builder.open(ROOT);
    walk(forest, items, labels, |visit| match visit {
        Visit::Token(position) => {
            let token = &tokens[position as usize];
            builder.token(token.word.clone(), token.tag.clone());
        }
        Visit::Open(label) => {
            builder.open(without_ancestors(labels.name(label.0.into()).unwrap_or_default()));
        }
        Visit::Close(id) => {
            builder.close();
            heads.push(Some(forest.node(id).head));
        }
    });
    for token in &tokens[buffer as usize..] {
        builder.token(token.word.clone(), token.tag.clone());
    }
    builder.close();
    heads.push(items.last().map(|&id| forest.node(id).head));
    let mut tree = builder.finish();
    if forest.has_heads() {
        mark_heads(&mut tree, &heads);
    }
    tree
}

/// The constituents that become nodes in [`tree_of`], in the order of the nodes, without the root.
pub fn built_nodes(forest: &Forest, items: &[u32], labels: &Symbols) -> Vec<u32> {
    let mut nodes = Vec::new();
    walk(forest, items, labels, |visit| {
        if let Visit::Close(id) = visit {
            nodes.push(id);
        }
    });
    nodes
}

/// The label that an item has in [`tree_of`]: its own or, for temporary nodes and `root`, that of an only
/// child. `None` for a token, or where several children pass to the parent.
pub fn visible_label(forest: &Forest, item: u32, root: Option<Label>) -> Option<Label> {
    let mut id = item;
    while let Some(label) = forest.node(id).label {
        if !forest.node(id).temporary && Some(label) != root {
            return Some(label);
        }
        let &[only] = forest.children(id) else { return None };
        id = only;
    }
    None
}

/// A step of a walk over what has been built.
enum Visit {
    /// The token of this position.
    Token(u32),
    /// The beginning of a constituent.
    Open(Label),
    /// The end of a constituent.
    Close(u32),
}

/// Walks over items from left to right, skipping temporary nodes and `TOP`.
fn walk(forest: &Forest, items: &[u32], labels: &Symbols, mut see: impl FnMut(Visit)) {
    enum Task {
        Visit(u32),
        Close(u32),
    }
    let built_root = labels.position(ROOT).map(|position| Label(position as u16));
    let mut tasks: Vec<Task> = items.iter().rev().map(|&id| Task::Visit(id)).collect();
    while let Some(task) = tasks.pop() {
        let id = match task {
            Task::Visit(id) => id,
            Task::Close(id) => {
                see(Visit::Close(id));
                continue;
            }
        };
        let node = forest.node(id);
        let Some(label) = node.label else {
            see(Visit::Token(node.start));
            continue;
        };
        if !node.temporary && Some(label) != built_root {
            see(Visit::Open(label));
            tasks.push(Task::Close(id));
        }
        tasks.extend(forest.children(id).iter().rev().map(|&child| Task::Visit(child)));
    }
}
