//! Head-outward binarization with marked temporary nodes, and its exact inverse.
//!
//! A node with more than two children becomes a chain of binary nodes that grows outward from its head
//! child: first every left sibling, nearest first, then every right sibling, nearest first. The nodes
//! between are temporary: they carry the node's label and are marked (Sagae and Lavie 2005, section 2
//! and figure 1; the paper leaves the order of the sides open). Attaching left siblings first lets a
//! bottom-up parser attach them as soon as the head stands on top of its stack, and keeps the stack short.

use super::{Child, NodeId, Tree, TreeBuilder};

/// A step of building the binary tree, taken from an explicit stack.
enum Task {
    Visit(Child),
    Close(NodeId),
    CloseTemporary { head: u32 },
    CloseBinary { head: u32 },
    Open(NodeId),
}

/// The tree with at most two children a node. Heads must have been marked; a node without a mark takes
/// its last child. Children of temporary nodes keep their spans, so [`restore`] gives the tree back.
pub fn binarize(tree: &Tree) -> Tree {
    let mut builder = TreeBuilder::new();
    let mut tasks: Vec<Task> =
        tree.root().map(|root| Task::Visit(Child::Node(root))).into_iter().collect();
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(Child::Token(position)) => {
                let token = &tree.tokens()[position as usize];
                builder.token(token.word.clone(), token.tag.clone());
            }
            Task::Visit(Child::Node(id)) => plan_node(tree, id, &mut tasks),
            Task::Open(id) => builder.open(tree.node(id).label.clone()),
            Task::Close(id) => builder.close_with_head(tree.node(id).head),
            Task::CloseBinary { head } => builder.close_with_head(Some(head)),
            Task::CloseTemporary { head } => builder.close_temporary(Some(head)),
        }
    }
    builder.finish()
}

/// Puts the steps for one node on the stack, last step first.
fn plan_node(tree: &Tree, id: NodeId, tasks: &mut Vec<Task>) {
    let children = tree.children(id);
    let n = children.len();
    if n <= 2 {
        tasks.push(Task::Close(id));
        tasks.extend(children.iter().rev().map(|&child| Task::Visit(child)));
        tasks.push(Task::Open(id));
        return;
    }
    let head = tree.node(id).head.map_or(n - 1, |head| head as usize);
    let (n_left, n_right) = (head, n - 1 - head);
    // In reading order: the brackets that will take right siblings open first, then each left sibling
    // stands right behind the bracket that takes it, then the head, then everything closes inside out.
    let mut written: Vec<Task> = Vec::with_capacity(3 * n);
    written.extend((0..n_right).map(|_| Task::Open(id)));
    for &sibling in &children[..head] {
        written.extend([Task::Open(id), Task::Visit(sibling)]);
    }
    written.push(Task::Visit(children[head]));
    for left_to_close in (0..n_left).rev() {
        let last = left_to_close == 0 && n_right == 0;
        written.push(if last {
            Task::CloseBinary { head: 1 }
        } else {
            Task::CloseTemporary { head: 1 }
        });
    }
    for (sibling, left_to_close) in children[head + 1..].iter().zip((0..n_right).rev()) {
        let last = left_to_close == 0;
        written.push(Task::Visit(*sibling));
        written.push(if last {
            Task::CloseBinary { head: 0 }
        } else {
            Task::CloseTemporary { head: 0 }
        });
    }
    tasks.extend(written.into_iter().rev());
}

/// The tree without its temporary nodes: their children go to the parent, and the head of a node is the
/// child that the head token stands under.
pub fn restore(tree: &Tree) -> Tree {
    let mut builder = TreeBuilder::new();
    let mut head_tokens = Vec::new();
    for step in tree.walk() {
        match step {
            super::Step::Token(position) => {
                let token = &tree.tokens()[position as usize];
                builder.token(token.word.clone(), token.tag.clone());
            }
            super::Step::Open(id) if !tree.node(id).temporary => {
                builder.open(tree.node(id).label.clone());
            }
            super::Step::Close(id) if !tree.node(id).temporary => {
                builder.close();
                let marked = tree.node(id).head.is_some();
                head_tokens.push(if marked { tree.head_token(Child::Node(id)) } else { None });
            }
            _ => {}
        }
    }
    let mut restored = builder.finish();
    mark_heads(&mut restored, &head_tokens);
    restored
}

/// Marks in every node the child that its head token stands under, where there is one.
pub(crate) fn mark_heads(tree: &mut Tree, head_tokens: &[Option<u32>]) {
    for (id, &head) in tree.ids().zip(head_tokens) {
        let position = head.and_then(|head| {
            let spans = tree.children(id).iter().map(|&child| tree.child_span(child));
            spans.into_iter().position(|(start, end)| start <= head && head < end)
        });
        tree.nodes_mut()[id.index()].head = position.map(|position| position as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn flat(n: usize, head: u32) -> Tree {
        let mut builder = TreeBuilder::new();
        builder.open("TOP");
        builder.open("NP");
        for i in 0..n {
            builder.token(format!("w{i}"), "T");
        }
        builder.close_with_head(Some(head));
        builder.close_with_head(Some(0));
        builder.finish()
    }

    #[test]
    fn left_siblings_attach_first_then_right_ones() {
        let binary = binarize(&flat(4, 1));
        let rows: Vec<_> =
            binary.nodes().iter().map(|n| (n.start, n.end, n.temporary, n.head.unwrap())).collect();
        assert_eq!(rows, [(0, 2, true, 1), (0, 3, true, 0), (0, 4, false, 0), (0, 4, false, 0)]);
    }

    proptest! {
        #[test]
        fn restoring_a_binarized_flat_tree_gives_it_back(n in 1usize..12, head in 0usize..12) {
            let tree = flat(n, (head % n) as u32);
            prop_assert_eq!(restore(&binarize(&tree)), tree);
        }
    }
}
