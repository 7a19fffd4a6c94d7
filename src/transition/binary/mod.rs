//! The binary bottom-up system: SHIFT, REDUCE-UNARY-X, REDUCE-LEFT-X, REDUCE-RIGHT-X, FINISH
//! (Sagae and Lavie 2005, section 2).
//!
//! Trees are binarized head-outward ([`crate::tree::binarize`]); a reduction to a temporary node is
//! written `X*`. What is legal keeps the system total:
//!
//! - a temporary node is always the head child of the node over it, whatever the label, and is removed
//!   from the tree;
//! - no temporary node is built that no later reduction could take;
//! - consecutive unary reductions are limited, by default to the paper's three or to the longest chain
//!   of the training trees, whichever is larger;
//! - no unary reduction repeats the label below it unless one of the training trees has such a node;
//! - a reduction to `TOP` covers the whole sentence. FINISH adds `TOP` where no reduction built it.

use serde::{Deserialize, Serialize};

mod action;

pub use action::BinaryAction;

use super::gold_tree::{
    MAX_LABELS, ROOT, check_run, check_tree, label_of, repeats_a_label, too_many_labels,
};
use super::stack_buffer::StackBuffer;
use super::state::clone_in_place;
use super::union::action_codes;
use super::{Action, Forest, StackView, TransitionSystem, View};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::binarize;
use crate::tree::{Token, Tree, Visit};
use crate::{Error, Result};

/// The limit on consecutive unary reductions in Sagae and Lavie 2005, section 2.3.
pub const PAPER_MAX_UNARIES: u32 = 3;

/// The stored tables of a binary system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BinaryTables {
    /// The labels; one of them is `TOP`.
    pub labels: Symbols,
    /// The codes of the actions, in order.
    pub actions: Vec<u32>,
    /// The limit on consecutive unary reductions.
    pub max_unaries: u32,
    /// Whether a unary reduction may repeat the label below it.
    pub repeated_labels: bool,
}

/// The binary bottom-up system over a fixed inventory of actions.
#[derive(Debug, Clone)]
pub struct Binary {
    tables: BinaryTables,
    top: Label,
    inventory: Vec<BinaryAction>,
    unary: Vec<BinaryAction>,
    binary: [Vec<BinaryAction>; 2],
    temporary: [Vec<BinaryAction>; 2],
    /// The binary reductions that cover the whole sentence: `TOP` is among them.
    root_binary: [Vec<BinaryAction>; 2],
}

/// A configuration of the binary system.
#[derive(Debug)]
pub struct BinaryState {
    /// Stack and buffer.
    pub base: StackBuffer,
    /// The number of consecutive unary reductions before this configuration.
    pub unaries: u32,
}

clone_in_place!(BinaryState { base, unaries });

impl Binary {
    /// The system that can build the given trees: head-marked, rooted in `TOP`.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are more than [`MAX_LABELS`] labels.
    pub fn of_trees<'a>(trees: impl IntoIterator<Item = &'a Tree>) -> Result<Self> {
        let mut labels = Symbols::default();
        let top = Label(labels.intern(ROOT) as u16);
        let mut counts = vec![0u64];
        let mut seen = std::collections::BTreeSet::new();
        let mut max_unaries = PAPER_MAX_UNARIES;
        let mut repeated_labels = false;
        for tree in trees {
            for node in tree.nodes() {
                let label = labels.intern(&node.label) as usize;
                counts.resize(labels.len(), 0);
                counts[label] += 1;
            }
            if labels.len() > MAX_LABELS {
                return Err(too_many_labels());
            }
            let Ok(derivation) = derive(tree, &labels) else { continue };
            repeated_labels |= repeats_a_label(tree);
            let mut unaries = 0;
            for &action in &derivation {
                unaries = if matches!(action, BinaryAction::Unary(_)) { unaries + 1 } else { 0 };
                max_unaries = max_unaries.max(unaries);
                seen.insert(action);
            }
        }
        // Two items can always be joined, at least under the most frequent label.
        let common = (0..counts.len())
            .filter(|&l| l != usize::from(top.0))
            .max_by_key(|&l| (counts[l], usize::MAX - l));
        let common =
            common.map_or_else(|| Label(labels.intern("X") as u16), |label| Label(label as u16));
        seen.extend([
            BinaryAction::Shift,
            BinaryAction::Finish,
            BinaryAction::Left(common),
            BinaryAction::Right(common),
        ]);
        let actions = seen.into_iter().map(Action::code).collect();
        Self::from_tables(BinaryTables { labels, actions, max_unaries, repeated_labels })
    }

    /// The label of roots.
    pub fn root(&self) -> Label {
        self.top
    }

    /// Every action, in order.
    pub fn actions(&self) -> &[BinaryAction] {
        &self.inventory
    }
}

/// Joins the two topmost items.
fn join(state: &mut BinaryState, label: Label, temporary: bool, head_is_left: bool) {
    state.base.join_under(usize::from(!head_is_left), label, temporary, 2);
    state.unaries = 0;
}

/// The actions that build a tree, whether or not some system has them all.
fn derive(tree: &Tree, labels: &Symbols) -> Result<Vec<BinaryAction>> {
    check_tree(tree)?;
    let binary = binarize(tree);
    let mut actions = Vec::with_capacity(2 * tree.tokens().len() + tree.nodes().len() + 1);
    for step in binary.traverse() {
        match step {
            Visit::Open(_) => {}
            Visit::Token(_) => actions.push(BinaryAction::Shift),
            Visit::Close(id) => {
                let node = binary.node(id);
                let is_root = Some(id) == binary.root();
                let label = label_of(labels, &node.label)?;
                let n = binary.children(id).len();
                // A node whose head is not marked is headed by its last child.
                let head_is_left = n == 2 && node.head == Some(0);
                match (n, head_is_left, node.temporary) {
                    (1, ..) if is_root => {}
                    (1, ..) => actions.push(BinaryAction::Unary(label)),
                    (_, true, false) => actions.push(BinaryAction::Left(label)),
                    (_, true, true) => actions.push(BinaryAction::LeftTemporary(label)),
                    (_, false, false) => actions.push(BinaryAction::Right(label)),
                    (_, false, true) => actions.push(BinaryAction::RightTemporary(label)),
                }
            }
        }
    }
    actions.push(BinaryAction::Finish);
    Ok(actions)
}

impl TransitionSystem for Binary {
    type State = BinaryState;
    type Action = BinaryAction;
    type Tables = BinaryTables;

    fn tables(&self) -> &BinaryTables {
        &self.tables
    }

    fn from_tables(tables: BinaryTables) -> Result<Self> {
        check_run(tables.max_unaries)?;
        let top = tables.labels.position(ROOT).filter(|_| tables.labels.len() <= MAX_LABELS + 1);
        let Some(top) = top.map(|position| Label(position as u16)) else {
            return Err(Error::corrupt("the label table has no TOP or too many labels"));
        };
        let inventory: Vec<BinaryAction> =
            tables.actions.iter().map(|&code| BinaryAction::of_code(code)).collect();
        let known = |action: &BinaryAction| {
            action.label().is_none_or(|label| usize::from(label.0) < tables.labels.len())
        };
        let same = tables.actions.iter().zip(&inventory).all(|(&code, a)| a.code() == code);
        let sorted = inventory.windows(2).all(|pair| pair[0] < pair[1]);
        let ends = [BinaryAction::Shift, BinaryAction::Finish];
        let pick = |wanted: &dyn Fn(BinaryAction) -> bool| -> Vec<BinaryAction> {
            inventory.iter().copied().filter(|&action| wanted(action)).collect()
        };
        let binary = |with_top: bool| {
            [
                pick(&|a| matches!(a, BinaryAction::Left(l) if with_top || l != top)),
                pick(&|a| matches!(a, BinaryAction::Right(l) if with_top || l != top)),
            ]
        };
        let groups = binary(false);
        let total = ends.iter().all(|action| inventory.contains(action))
            && groups.iter().all(|group| !group.is_empty());
        if !(same && sorted && total && inventory.iter().all(known)) {
            return Err(Error::corrupt("the action table is not that of a binary system"));
        }
        Ok(Self {
            unary: pick(&|a| matches!(a, BinaryAction::Unary(l) if l != top)),
            temporary: [
                pick(&|a| matches!(a, BinaryAction::LeftTemporary(_))),
                pick(&|a| matches!(a, BinaryAction::RightTemporary(_))),
            ],
            root_binary: binary(true),
            binary: groups,
            top,
            inventory,
            tables,
        })
    }

    fn union(&self, other: &Self) -> Result<Self> {
        let mut tables = self.tables.clone();
        let labels = (&mut tables.labels, &other.tables.labels);
        let actions = [&self.inventory[..], &other.inventory];
        tables.actions = action_codes(labels, actions, BinaryAction::relabelled)?;
        tables.max_unaries = tables.max_unaries.max(other.tables.max_unaries);
        tables.repeated_labels |= other.tables.repeated_labels;
        Self::from_tables(tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("labels", self.tables.labels.len().to_string()),
            ("actions", self.inventory.len().to_string()),
            ("consecutive unaries, at most", self.tables.max_unaries.to_string()),
        ]
    }

    fn derivation(&self, tree: &Tree) -> Result<Vec<BinaryAction>> {
        let derivation = derive(tree, &self.tables.labels)?;
        let lacks = |action: &&BinaryAction| self.inventory.binary_search(action).is_err();
        if let Some(&action) = derivation.iter().find(lacks) {
            return Err(Error::Unfit(format!("the system has no action {}", self.name(action))));
        }
        Ok(derivation)
    }

    fn start(&self, sentence: &Sentence) -> BinaryState {
        BinaryState { base: StackBuffer::with_named_heads(sentence), unaries: 0 }
    }

    fn forest_mut(state: &mut BinaryState) -> &mut Forest {
        &mut state.base.forest
    }

    fn is_final(&self, state: &BinaryState) -> bool {
        state.base.finished
    }

    fn legal(&self, state: &BinaryState, out: &mut Vec<BinaryAction>) {
        out.clear();
        let BinaryState { base, unaries } = state;
        if base.finished {
            return;
        }
        let at_end = base.remaining() == 0;
        if !at_end {
            out.push(BinaryAction::Shift);
        }
        let Some(s0) = base.item(0) else {
            if at_end {
                out.push(BinaryAction::Finish);
            }
            return;
        };
        // A complete TOP takes no parent.
        let is_root = s0.label == Some(self.top);
        if !s0.temporary && !is_root && *unaries < self.tables.max_unaries {
            let own = if self.tables.repeated_labels { None } else { s0.label };
            out.extend(self.unary.iter().filter(|action| own.is_none() || action.label() != own));
        }
        if let Some(s1) = base.item(1) {
            let is_last = at_end && base.items.len() == 2;
            let dead_end = at_end && base.item(2).is_none_or(|s2| s2.temporary);
            let groups = if is_last { &self.root_binary } else { &self.binary };
            for (direction, absorbed) in [(0, s0), (1, s1)] {
                if !absorbed.temporary {
                    out.extend_from_slice(&groups[direction]);
                    if !dead_end {
                        out.extend_from_slice(&self.temporary[direction]);
                    }
                }
            }
        } else if at_end && !s0.temporary {
            out.push(BinaryAction::Finish);
        }
    }

    fn apply(&self, state: &mut BinaryState, action: BinaryAction) {
        state.base.note(action.code());
        match action {
            BinaryAction::Shift => {
                state.base.shift();
                state.unaries = 0;
            }
            BinaryAction::Unary(label) => {
                state.base.join_under(0, label, false, 1);
                state.unaries += 1;
            }
            BinaryAction::Left(label) => join(state, label, false, true),
            BinaryAction::LeftTemporary(label) => join(state, label, true, true),
            BinaryAction::Right(label) => join(state, label, false, false),
            BinaryAction::RightTemporary(label) => join(state, label, true, false),
            BinaryAction::Finish => state.base.finished = true,
        }
    }

    fn tree(&self, state: &BinaryState, tokens: &[Token]) -> Tree {
        state.base.tree(&self.tables.labels, tokens)
    }

    fn view<'a>(&'a self, state: &'a BinaryState) -> View<'a> {
        let base = &state.base;
        View {
            forest: &base.forest,
            labels: &self.tables.labels,
            stack: base.items(),
            frontier: &[],
            open: StackView::Listed(&[]),
            complete: base.items(),
            buffer: base.buffer,
            recent: base.recent,
            focus: None,
            signatures: &[],
        }
    }

    fn steps(&self, state: &BinaryState) -> usize {
        state.base.steps as usize
    }

    fn bound(&self, n: usize) -> usize {
        2 * n + 2 * n * self.tables.max_unaries as usize + 1
    }

    fn inventory(&self, _state: &BinaryState, out: &mut Vec<BinaryAction>) {
        out.clear();
        out.extend_from_slice(&self.inventory);
    }

    fn name(&self, action: BinaryAction) -> String {
        let label = action.label().map(|label| self.label_name(label)).unwrap_or_default();
        match action {
            BinaryAction::Shift => "SHIFT".to_owned(),
            BinaryAction::Finish => "FINISH".to_owned(),
            BinaryAction::Unary(_) => format!("REDUCE-UNARY-{label}"),
            BinaryAction::Left(_) => format!("REDUCE-LEFT-{label}"),
            BinaryAction::LeftTemporary(_) => format!("REDUCE-LEFT-{label}*"),
            BinaryAction::Right(_) => format!("REDUCE-RIGHT-{label}"),
            BinaryAction::RightTemporary(_) => format!("REDUCE-RIGHT-{label}*"),
        }
    }

    fn label_name(&self, label: Label) -> &str {
        self.tables.labels.name(u32::from(label.0)).unwrap_or_default()
    }
}
