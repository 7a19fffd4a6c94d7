//! Rewriting: tokens and nodes are removed, and the root becomes `TOP`, in one pass from the bottom up.

use compact_str::CompactString;

use super::settings::{Cleaning, RootPolicy};
use crate::tree::{BottomUpBuilder, Child, TOP, Tree, is_root_label};

impl Cleaning {
    /// Returns whether a relabelled tree that keeps its tokens must be rewritten.
    pub(super) fn changes_shape(&self, tree: &Tree) -> bool {
        let Some(root) = tree.root() else { return true };
        if self.root == RootPolicy::Top && tree.node(root).label != TOP {
            return true;
        }
        tree.ids().any(|id| match *tree.children(id) {
            [Child::Node(child)] => {
                let (label, below) = (&tree.node(id).label, &tree.node(child).label);
                (self.collapse_unaries && label == below)
                    || (self.root == RootPolicy::Top && id == root && is_root_label(below))
            }
            [] => self.drops_empty() && id != root,
            _ => false,
        })
    }

    /// Rewrites a tree over the tokens at `positions`, in one pass from the bottom up.
    pub(super) fn rewrite(&self, mut tree: Tree, positions: &[u32], finally: bool) -> Tree {
        const GONE: u32 = u32::MAX;
        let mut tokens = tree.take_tokens();
        // For each old token, its new position or GONE, and the new position of the next token that remains.
        let mut position_of = vec![(GONE, 0); tokens.len() + 1];
        let (mut next, mut old) = (0, 0);
        tokens.retain(|_| {
            let stays = positions.get(next as usize) == Some(&old);
            position_of[old as usize] = (if stays { next } else { GONE }, next);
            next += u32::from(stays);
            old += 1;
            stays
        });
        position_of[old as usize].1 = next;
        let mut builder = BottomUpBuilder::new(tokens, tree.nodes().len());
        let mut rewritten: Vec<Option<Child>> = Vec::with_capacity(tree.nodes().len());
        let mut children = Vec::new();
        let root = tree.root();
        for id in tree.ids() {
            children.clear();
            children.extend(tree.children(id).iter().filter_map(|&child| match child {
                Child::Node(child) => rewritten[child.index()],
                Child::Token(token) => {
                    let position = position_of[token as usize].0;
                    (position != GONE).then_some(Child::Token(position))
                }
            }));
            let node = &mut tree.nodes_mut()[id.index()];
            let label = std::mem::take(&mut node.label);
            let at = position_of[node.start as usize].1;
            rewritten.push(if Some(id) == root && finally && self.root == RootPolicy::Top {
                Some(top(&mut builder, label, &mut children, at))
            } else {
                match children[..] {
                    [] if self.drops_empty() && Some(id) != root => None,
                    [Child::Node(child)]
                        if finally && self.collapse_unaries && *builder.label(child) == label =>
                    {
                        children.first().copied()
                    }
                    _ => Some(builder.node(label, children.iter().copied(), at)),
                }
            });
        }
        if root.is_none() {
            top(&mut builder, CompactString::const_new(""), &mut children, 0);
        }
        builder.finish()
    }
}

/// Adds the root `TOP`, exactly once, over the children of the old root.
fn top(
    builder: &mut BottomUpBuilder,
    label: CompactString,
    children: &mut Vec<Child>,
    at: u32,
) -> Child {
    if !is_root_label(&label) {
        // A node that has lost all its tokens is dropped.
        if !children.is_empty() {
            let same =
                matches!(children[..], [Child::Node(child)] if *builder.label(child) == label);
            let node = if same { children[0] } else { builder.node(label, children.drain(..), at) };
            children.clear();
            children.push(node);
        }
        return builder.node(CompactString::const_new(TOP), children.drain(..), at);
    }
    while let [Child::Node(child)] = children[..]
        && is_root_label(builder.label(child))
    {
        *children = builder.unwrap_last();
    }
    builder.node(CompactString::const_new(TOP), children.drain(..), at)
}
