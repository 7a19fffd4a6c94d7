//! The item system: labelled spans, inferred bottom-up (Turian and Melamed 2005).
//!
//! A configuration is its *frontier*: the topmost items from left to right, and tokens where nothing has been
//! built. An action infers an item over adjacent items of the frontier, so no two items cross, and children
//! come before parents. As in the paper (section 3),
//!
//! - no two items have both the same span and the same label;
//! - the number of children of an item is limited: to 5 in the paper, or as in the training trees;
//! - items are inferred in any order, or in one of two fixed orders ([`ItemOrder`]), in which each tree has
//!   one derivation.
//!
//! Every tree has one `TOP`, over the whole frontier, which ends the derivation. It is always a candidate,
//! with any number of children, so every derivation can end.
//!
//! The code of an action is the label of its item, and its place is the range of the frontier that becomes the item.
//!
//! A tree outside the limits is reduced to one within them ([`Items::reduced`]).

mod oracle;
mod settings;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::action_table::{ActionRow, ActionTable};
use super::gold_tree::{ROOT, check_tree, label_of, labels_of};
use super::head_finder::HeadFinder;
use super::inventory::{add_labels, stored};
use super::state::Frontier;
use super::{
    Action, ActionKind, Focus, Forest, Oracle, StackView, State, StoredSystem, TransitionSystem,
    View,
};
use crate::hash::split_mix;
use crate::sort::stable_sort_by_key;
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::{BottomUpBuilder, Child, Tree};
use crate::{Error, Result};

pub use settings::{ItemOrder, MaxChildren};

/// The label of the root, the first label of the system.
pub const TOP: Label = Label(0);

/// Infers an item over a range of the frontier.
pub fn infer(first: u32, last: u32, label: Label) -> Action {
    Action { place: [first, last], code: label.0.into() }
}

/// The stored tables of an item system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ItemTables {
    /// The labels: `TOP`, then those below the roots.
    pub labels: Symbols,
    /// The order in which items are inferred.
    pub order: ItemOrder,
    /// The largest number of children of an item other than `TOP`.
    pub max_children: u16,
}

/// The item system.
#[derive(Debug, Clone)]
pub struct Items {
    tables: ItemTables,
    actions: ActionTable,
    heads: Option<HeadFinder>,
}

/// The range of the frontier that becomes an item.
fn range(action: Action) -> std::ops::Range<usize> {
    let [first, last] = action.place;
    first as usize..last as usize
}

/// The label of the item that an action infers.
fn label(action: Action) -> Label {
    Label(action.code as u16)
}

/// The span of a range of the frontier.
fn span(state: &State, forest: &Forest, [first, last]: [u32; 2]) -> (u32, u32) {
    let node = |at: u32| forest.node(state.frontier.items[at as usize]);
    (node(first).start, node(last - 1).end)
}

/// Whether an item over a span comes before the last inferred one in a fixed order.
fn is_past(state: &State, order: ItemOrder, (start, end): (u32, u32)) -> bool {
    match order {
        ItemOrder::Free => false,
        ItemOrder::LeftToRight => end < state.frontier.edge,
        ItemOrder::RightToLeft => start > state.frontier.edge,
    }
}

impl Items {
    /// The system over the labels of the given trees, from which `auto` takes the limit on children.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are too many labels.
    pub fn of_trees<'a>(
        trees: impl IntoIterator<Item = &'a Tree> + Clone,
        order: ItemOrder,
        max_children: MaxChildren,
    ) -> Result<Self> {
        let mut labels = Symbols::default();
        labels.intern(ROOT);
        labels_of(trees.clone())?.0.names().for_each(|name| {
            labels.intern(name);
        });
        let max_children = match max_children {
            MaxChildren::AtMost(most) => most,
            MaxChildren::Auto => {
                let most = trees.into_iter().map(most_children).max().unwrap_or(0);
                most.clamp(2, u16::MAX.into()) as u16
            }
        };
        Self::from_tables(ItemTables { labels, order, max_children })
    }

    /// The same system with head rules, applied while parsing, or without.
    #[must_use]
    pub fn with_heads(mut self, heads: Option<HeadFinder>) -> Self {
        self.heads = heads;
        self
    }

    /// Adds an item over this range of the frontier for every label that its span does not have yet.
    fn legal_over(
        &self,
        (state, forest): (&State, &Forest),
        place: [u32; 2],
        out: &mut Vec<Action>,
    ) {
        let [first, last] = place;
        let infer = |label| infer(first, last, label);
        if place == [0, state.frontier.items.len() as u32] {
            out.push(infer(TOP));
        }
        let too_many = last - first > u32::from(self.tables.max_children);
        if too_many || is_past(state, self.tables.order, span(state, forest, place)) {
            return;
        }
        let labels = (1..self.tables.labels.len() as u16).map(Label);
        if last - first > 1 {
            out.extend(labels.map(infer));
        } else {
            let id = state.frontier.items[first as usize];
            out.extend(labels.filter(|&label| !is_in_chain(forest, id, label)).map(infer));
        }
    }

    /// The tree without the nodes that the system cannot build: those with more children than the limit, whose
    /// children pass to their parents, repeatedly; and those with the label of a node below them over the same
    /// span.
    pub fn reduced<'a>(&self, tree: &'a Tree) -> Cow<'a, Tree> {
        let below_root = tree.nodes().len().saturating_sub(1);
        let mut builder = BottomUpBuilder::new(tree.tokens().to_vec(), tree.nodes().len());
        // For each node what its parent gets as children.
        let mut passed: Vec<Vec<Child>> = Vec::with_capacity(tree.nodes().len());
        // The labels of the unary chain below each new node, and its own.
        let mut chains: Vec<Vec<&str>> = Vec::new();
        let mut dropped = 0;
        for id in tree.ids() {
            let node = tree.node(id);
            let mut children = Vec::new();
            for &child in tree.children(id) {
                match child {
                    Child::Node(child) => children.append(&mut passed[child.index()]),
                    Child::Token(_) => children.push(child),
                }
            }
            let chain = match children[..] {
                [Child::Node(only)] => chains[only.index()].clone(),
                _ => Vec::new(),
            };
            let is_root = id.index() == below_root;
            let too_many = children.len() > usize::from(self.tables.max_children);
            if !is_root && (too_many || chain.contains(&node.label.as_str())) {
                dropped += 1;
                passed.push(children);
                continue;
            }
            chains.push([&chain[..], &[node.label.as_str()]].concat());
            passed.push(vec![builder.node(node.label.clone(), children, node.start)]);
        }
        if dropped == 0 { Cow::Borrowed(tree) } else { Cow::Owned(builder.finish()) }
    }
}

/// Whether a node or the unary chain below it has a label.
fn is_in_chain(forest: &Forest, mut id: u32, label: Label) -> bool {
    while let Some(here) = forest.node(id).label {
        match *forest.children(id) {
            _ if here == label => return true,
            [child] => id = child,
            _ => return false,
        }
    }
    false
}

/// The largest number of labels.
const MAX_NUMBER: usize = super::gold_tree::MAX_LABELS + 1;

/// The largest number of children of a node below the root.
fn most_children(tree: &Tree) -> usize {
    let below_root = tree.nodes().len().saturating_sub(1);
    tree.ids().take(below_root).map(|id| tree.children(id).len()).max().unwrap_or(0)
}

fn mix(hash: u64, value: u32) -> u64 {
    split_mix(hash ^ u64::from(value))
}

/// The hash of an item over a range of the frontier; a sum of hashes identifies a set of items. The label below
/// an item of a unary chain is part of its hash: chains of the same labels differ only in their order.
fn item_hash(state: &State, forest: &Forest, action: Action) -> u64 {
    let (start, end) = span(state, forest, action.place);
    let below = match state.frontier.items[range(action)] {
        [only] => forest.node(only).label.map_or(1, |label| u32::from(label.0) + 2),
        _ => 0,
    };
    mix(mix(mix(mix(1, start), end), action.code), below)
}

impl StoredSystem for Items {
    type Tables = ItemTables;

    fn tables(&self) -> &ItemTables {
        &self.tables
    }

    fn from_tables(tables: ItemTables) -> Result<Self> {
        let n_labels = tables.labels.len();
        if tables.labels.position(ROOT) != Some(0) || !(2..=MAX_NUMBER).contains(&n_labels) {
            return Err(Error::corrupt(format!(
                "an item system has {ROOT} and from 1 to {MAX_NUMBER} other labels"
            )));
        }
        if tables.max_children < 2 {
            return Err(Error::corrupt("an item system joins at least 2 children"));
        }
        let row = |code: u16| ActionRow {
            number: code.into(),
            kind: if Label(code) == TOP { ActionKind::Finish } else { ActionKind::Reduce },
            label: Some(Label(code)),
        };
        let actions = ActionTable::new((0..n_labels as u16).map(row));
        Ok(Self { tables, actions, heads: None })
    }

    fn union(&self, other: &Self) -> Result<Self> {
        let mut tables = self.tables.clone();
        add_labels(&mut tables.labels, &other.tables.labels)?;
        tables.max_children = tables.max_children.max(other.tables.max_children);
        Self::from_tables(tables)
    }
}

impl TransitionSystem for Items {
    fn stored(&self) -> serde_json::Value {
        stored(&self.tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("labels", self.tables.labels.len().to_string()),
            ("children of an item, at most", self.tables.max_children.to_string()),
        ]
    }

    fn labels(&self) -> &Symbols {
        &self.tables.labels
    }

    fn actions(&self) -> &ActionTable {
        &self.actions
    }

    fn n_actions(&self) -> usize {
        0
    }

    fn name(&self, action: Action) -> String {
        let [first, last] = action.place;
        format!("{}[{first},{last}]", self.kind_name(action))
    }

    fn kind_name(&self, action: Action) -> String {
        format!("INFER-{}", self.label_name(label(action)))
    }

    /// Of the reduced tree; in a free order, the derivation from left to right.
    fn derivation(&self, tree: &Tree) -> Result<Vec<Action>> {
        check_tree(tree)?;
        let tree = self.reduced(tree);
        let mut nodes: Vec<_> = tree.nodes().iter().collect();
        if self.tables.order == ItemOrder::RightToLeft {
            stable_sort_by_key(&mut nodes, |node| (std::cmp::Reverse(node.start), node.end));
        }
        let mut frontier: Vec<(u32, u32)> =
            (0..tree.tokens().len() as u32).map(|at| (at, at + 1)).collect();
        let infer = |node: &&crate::tree::Node| {
            let first = frontier.partition_point(|item| item.0 < node.start);
            let last = frontier.partition_point(|item| item.0 < node.end);
            frontier.splice(first..last, [(node.start, node.end)]);
            let label = label_of(&self.tables.labels, &node.label)?;
            Ok(infer(first as u32, last as u32, label))
        };
        nodes.iter().map(infer).collect()
    }

    fn target<'a>(&self, tree: &'a Tree) -> Cow<'a, Tree> {
        self.reduced(tree)
    }

    fn has_dynamic_oracle(&self) -> bool {
        true
    }

    fn dynamic_oracle<'a>(&'a self, tree: &Tree) -> Result<Option<Box<dyn Oracle + 'a>>> {
        Ok(Some(Box::new(oracle::ItemOracle::new(self, tree)?)))
    }

    fn start(&self, sentence: &Sentence) -> (State, Forest) {
        let mut forest = Forest::of_sentence(sentence, self.heads.as_ref());
        let mut state = State::new(sentence);
        let n = state.n_tokens;
        state.frontier = Frontier {
            items: (0..n).map(|at| forest.push_token(at)).collect(),
            signatures: (0..n).map(|at| mix(0, at)).collect(),
            edge: if self.tables.order == ItemOrder::RightToLeft { u32::MAX } else { 0 },
            sum: 0,
        };
        state.buffer = n;
        state.finished = n == 0;
        (state, forest)
    }

    fn legal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        out.clear();
        if state.finished {
            return;
        }
        let (here, n) = ((state, forest), state.frontier.items.len() as u32);
        let most = u32::from(self.tables.max_children);
        for first in 0..n {
            for last in first + 1..=n.min(first + most) {
                self.legal_over(here, [first, last], out);
            }
            if first == 0 && n > most {
                self.legal_over(here, [0, n], out);
            }
        }
    }

    fn apply(&self, state: &mut State, forest: &mut Forest, action: Action) {
        let hash = item_hash(state, forest, action);
        let (range, label) = (range(action), label(action));
        let Frontier { items, signatures, edge, sum } = &mut state.frontier;
        *sum = sum.wrapping_add(hash);
        let below = signatures[range.clone()].iter();
        let below = below.fold(u64::from(label.0), |all, &one| mix(all.rotate_left(7) ^ one, 1));
        signatures[range.start] = below;
        signatures.drain(range.start + 1..range.end);
        let head = |forest: &Forest, children: &[u32]| {
            forest.head_among(self.heads.as_ref(), label, children)
        };
        let id = forest.push((label, false), &items[range.clone()], head);
        items[range.start] = id;
        items.drain(range.start + 1..range.end);
        let node = forest.node(id);
        *edge = match self.tables.order {
            ItemOrder::Free => 0,
            ItemOrder::LeftToRight => node.end,
            ItemOrder::RightToLeft => node.start,
        };
        state.steps += 1;
        state.finished = label == TOP;
    }

    /// Every label over each of the 2n - 1 spans of a binary tree, and `TOP`.
    fn bound(&self, n: usize) -> usize {
        let labels = self.tables.labels.len() - 1;
        if n == 0 { 0 } else { (2 * n - 1) * labels + 1 }
    }

    fn inventory(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        self.legal(state, forest, out);
    }

    fn view<'a>(&'a self, state: &'a State, forest: &'a Forest) -> View<'a> {
        let items = &state.frontier.items;
        View {
            forest,
            labels: &self.tables.labels,
            stack: StackView::Listed(items),
            frontier: items,
            open: StackView::Listed(&[]),
            complete: StackView::Listed(items),
            buffer: state.buffer,
            recent: [0; 2],
            actions: &self.actions,
            focus: None,
            signatures: &state.frontier.signatures,
        }
    }

    fn has_candidates(&self) -> bool {
        true
    }

    fn focused_view<'a>(
        &'a self,
        state: &'a State,
        forest: &'a Forest,
        action: Action,
    ) -> View<'a> {
        let [first, last] = action.place;
        let children = &state.frontier.items[range(action)];
        let head = first + forest.head_among(self.heads.as_ref(), label(action), children) as u32;
        View { focus: Some(Focus { first, last, head }), ..self.view(state, forest) }
    }

    fn identity(&self, state: &State, forest: &Forest, next: Option<Action>) -> Option<u64> {
        let more = next.map_or(0, |action| item_hash(state, forest, action));
        let is_free = self.tables.order == ItemOrder::Free;
        is_free.then(|| state.frontier.sum.wrapping_add(more))
    }
}

#[cfg(test)]
mod tests;
