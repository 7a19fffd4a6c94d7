//! The stack of a hypothesis.

use std::sync::Arc;

use crate::transition::View;

/// A stack of what a network has computed for each item. Its copies share what is below.
#[derive(Debug)]
pub(super) struct Stack<T>(Option<Arc<Pushed<T>>>);

/// An item of the stack.
#[derive(Debug)]
struct Pushed<T> {
    /// The node of the forest.
    node: u32,
    item: T,
    below: Stack<T>,
}

impl<T> Default for Stack<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> Clone for Stack<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Drop for Pushed<T> {
    /// Drops what is below without recursion: a stack may be as high as a sentence is long.
    fn drop(&mut self) {
        let mut below = self.below.0.take();
        while let Some(mut item) = below.and_then(Arc::into_inner) {
            below = item.below.0.take();
        }
    }
}

/// The nodes of the items from the topmost one on.
fn items<'a>(view: &'a View<'_>) -> impl Iterator<Item = u32> + 'a {
    // The in-order system removes the first child from the stack when it opens a nonterminal. Here the child stays below
    // the nonterminal (Liu and Zhang 2017, section 3).
    let corner = |id: u32| {
        let first = view.forest.children(id).first();
        first.copied().filter(|_| view.forest.node(id).open)
    };
    view.stack.from_top().flat_map(move |id| [Some(id), corner(id)]).flatten()
}

impl<T> Stack<T> {
    /// The topmost item.
    pub(super) fn top(&self) -> Option<&T> {
        self.0.as_ref().map(|top| &top.item)
    }

    /// The items of nodes that follow each other in the stack, given the topmost node first.
    pub(super) fn find(
        &self,
        nodes: impl Iterator<Item = u32>,
    ) -> impl Iterator<Item = Option<&T>> {
        let mut rest = self.0.as_deref();
        nodes.map(move |node| {
            while let Some(other) = rest.filter(|other| other.node > node) {
                rest = other.below.0.as_deref();
            }
            rest.filter(|other| other.node == node).map(|own| &own.item)
        })
    }

    /// Pops what has left the stack and pushes what is new: `item` computes it from the node, the stack so far, and the
    /// stack before, which has the children of the node.
    pub(super) fn update(&mut self, view: &View<'_>, mut item: impl FnMut(u32, &Self, &Self) -> T) {
        // An item is built when it is pushed, so numbers grow towards the top, and what is below an item never
        // changes.
        let (before, mut new, mut kept) = (self.clone(), 0, items(view).peekable());
        loop {
            match (&self.0, kept.peek()) {
                (Some(top), Some(&id)) if top.node == id => break,
                (Some(top), id) if id.is_none_or(|&id| top.node > id) => {
                    let below = top.below.clone();
                    *self = below;
                }
                (_, Some(_)) => {
                    new += 1;
                    kept.next();
                }
                (_, None) => break,
            }
        }
        for number in (0..new).rev() {
            let Some(node) = items(view).nth(number) else { break };
            let item = item(node, self, &before);
            let below = std::mem::take(self);
            self.0 = Some(Arc::new(Pushed { node, item, below }));
        }
    }
}
