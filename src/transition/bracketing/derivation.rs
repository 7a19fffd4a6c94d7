//! The actions that build a tree.

use super::{BracketStep, Strategy};
use crate::symbols::Symbols;
use crate::transition::gold_tree::{check_tree, label_of};
use crate::tree::binarize::{Binarization, Scheme};
use crate::tree::{Child, NodeId, Tree};
use crate::{Error, Result};

/// Whether the root is opened and closed like any constituent, as in Kalt's left-corner parser: it ends with a
/// root over all input, and a root over less can still become a left corner.
pub(super) fn opens_root(order: Strategy, binarization: Binarization) -> bool {
    order == Strategy::InOrder && binarization.scheme != Scheme::None
}

/// The actions that build a tree, whether or not the inventory of a system has them all.
pub(super) fn derive(
    tree: &Tree,
    labels: &Symbols,
    order: Strategy,
    binarization: Binarization,
) -> Result<Vec<BracketStep>> {
    enum Task {
        Visit(Child),
        Open(NodeId),
        Close,
    }
    check_tree(tree)?;
    let binary = binarization.apply(tree);
    let mut actions = Vec::with_capacity(tree.tokens().len() + 2 * binary.nodes().len());
    let roots = binary.root().map_or(&[][..], |root| binary.children(root));
    let root = binary.root().filter(|_| opens_root(order, binarization) && !roots.is_empty());
    let mut tasks: Vec<Task> = match root {
        Some(root) => vec![Task::Visit(Child::Node(root))],
        None => roots.iter().rev().map(|&child| Task::Visit(child)).collect(),
    };
    while let Some(task) = tasks.pop() {
        match task {
            Task::Visit(Child::Token(_)) => actions.push(BracketStep::Shift),
            Task::Visit(Child::Node(id)) => {
                let [first, rest @ ..] = binary.children(id) else {
                    let problem = format!("a {}* over no words", binary.node(id).label);
                    return Err(Error::Unfit(problem));
                };
                tasks.push(Task::Close);
                tasks.extend(rest.iter().rev().map(|&child| Task::Visit(child)));
                let (open, first) = (Task::Open(id), Task::Visit(*first));
                tasks.extend(match order {
                    Strategy::TopDown => [first, open],
                    Strategy::InOrder => [open, first],
                });
            }
            Task::Open(id) => {
                let node = binary.node(id);
                actions.push(BracketStep::Open(label_of(labels, &node.label)?, node.temporary));
            }
            Task::Close => actions.push(BracketStep::Close),
        }
    }
    actions.push(BracketStep::Finish);
    Ok(actions)
}
