//! The binary bottom-up system: SHIFT, REDUCE-UNARY-X, REDUCE-LEFT-X, REDUCE-RIGHT-X, FINISH
//! (Sagae and Lavie 2005, section 2).
//!
//! Trees are binarized head-outward ([`crate::tree::binarize`]); a reduction to a temporary node is
//! written `X*`. What is legal keeps the system total:
//!
//! - a temporary node is always the head of what absorbs it, whatever the label: it dissolves there;
//! - no temporary node is made that nothing could absorb any more;
//! - consecutive unary reductions are limited, by default to the paper's three or to the longest chain
//!   of the training trees, whichever is larger;
//! - `TOP` covers the whole sentence or is not built. FINISH adds it where no reduction did.

use serde::{Deserialize, Serialize};

mod action;
mod state;

pub use action::BinaryAction;
pub use state::BinaryState;

pub use super::stacked::ROOT;

use super::stacked::{check_tree, label_of, tree_of};
use super::state::{Dependents, Forest, View};
use super::{Action, TransitionSystem};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::binarize;
use crate::tree::{Child, Step, Token, Tree};
use crate::{Error, Result};

/// The limit on consecutive unary reductions in Sagae and Lavie 2005, section 2.3.
pub const PAPER_MAX_UNARIES: u32 = 3;

/// What is stored of a binary system.
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
    labels: Symbols,
    top: Label,
    max_unaries: u32,
    inventory: Vec<BinaryAction>,
    unary: Vec<BinaryAction>,
    binary: [Vec<BinaryAction>; 2],
    temporary: [Vec<BinaryAction>; 2],
    /// The binary reductions that cover the whole sentence: `TOP` is among them.
    root_binary: [Vec<BinaryAction>; 2],
    repeated_labels: bool,
}

impl Binary {
    /// The system that can build the given trees: head-marked, rooted in `TOP`.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are more than 65,000 labels or no usable tree.
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
            if labels.len() > 65_000 {
                return Err(Error::Unfit(
                    "more than 65,000 different labels: strip function tags first".into(),
                ));
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
        // Whatever the training trees lack, two items can be joined under some label: the commonest.
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
        Ok(Self::new(labels, seen.into_iter().collect(), max_unaries, repeated_labels))
    }

    /// The system as stored.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the tables do not make a total system.
    pub fn of_tables(tables: BinaryTables) -> Result<Self> {
        let BinaryTables { labels, actions, max_unaries, repeated_labels } = tables;
        if labels.position(ROOT).is_none() || labels.len() > 65_001 {
            return Err(Error::Unfit("the label table has no TOP or too many labels".into()));
        }
        let mut inventory = Vec::with_capacity(actions.len());
        for code in actions {
            let label = Label((code.saturating_sub(2) / 5) as u16);
            let action = match code {
                0 => BinaryAction::Shift,
                1 => BinaryAction::Finish,
                _ => [
                    BinaryAction::Unary,
                    BinaryAction::Left,
                    BinaryAction::LeftTemporary,
                    BinaryAction::Right,
                    BinaryAction::RightTemporary,
                ][((code - 2) % 5) as usize](label),
            };
            if action.code() != code || usize::from(label.0) >= labels.len() {
                return Err(Error::Unfit(format!("action {code} has no label")));
            }
            inventory.push(action);
        }
        let system = Self::new(labels, inventory, max_unaries, repeated_labels);
        let needed = [BinaryAction::Shift, BinaryAction::Finish];
        let sorted = system.inventory.windows(2).all(|pair| pair[0] < pair[1]);
        let total = system.binary.iter().all(|group| !group.is_empty());
        if !sorted || !total || needed.iter().any(|action| !system.inventory.contains(action)) {
            return Err(Error::Unfit("the action table is not that of a binary system".into()));
        }
        Ok(system)
    }

    /// What to store.
    pub fn tables(&self) -> BinaryTables {
        BinaryTables {
            labels: self.labels.clone(),
            actions: self.inventory.iter().map(|action| action.code()).collect(),
            max_unaries: self.max_unaries,
            repeated_labels: self.repeated_labels,
        }
    }

    fn new(
        labels: Symbols,
        inventory: Vec<BinaryAction>,
        max_unaries: u32,
        repeated_labels: bool,
    ) -> Self {
        let top = Label(labels.position(ROOT).unwrap_or(0) as u16);
        let pick = |wanted: &dyn Fn(BinaryAction) -> bool| -> Vec<BinaryAction> {
            inventory.iter().copied().filter(|&action| wanted(action)).collect()
        };
        let is_top = |label: Label| label == top;
        let left = |with_top: bool| {
            pick(&|a| matches!(a, BinaryAction::Left(l) if with_top || !is_top(l)))
        };
        let right = |with_top: bool| {
            pick(&|a| matches!(a, BinaryAction::Right(l) if with_top || !is_top(l)))
        };
        Self {
            unary: pick(&|a| matches!(a, BinaryAction::Unary(l) if !is_top(l))),
            binary: [left(false), right(false)],
            root_binary: [left(true), right(true)],
            temporary: [
                pick(&|a| matches!(a, BinaryAction::LeftTemporary(_))),
                pick(&|a| matches!(a, BinaryAction::RightTemporary(_))),
            ],
            repeated_labels,
            top,
            max_unaries,
            inventory,
            labels,
        }
    }

    /// The labels.
    pub fn labels(&self) -> &Symbols {
        &self.labels
    }

    /// Every action, in order.
    pub fn actions(&self) -> &[BinaryAction] {
        &self.inventory
    }

    /// The limit on consecutive unary reductions.
    pub fn max_unaries(&self) -> u32 {
        self.max_unaries
    }

    /// The one derivation that builds the tree, which must be head-marked and rooted in `TOP`.
    ///
    /// # Errors
    /// [`Error::Unfit`] when the system cannot build it, with the reason.
    pub fn derivation(&self, tree: &Tree) -> Result<Vec<BinaryAction>> {
        let derivation = derive(tree, &self.labels)?;
        match derivation.iter().find(|action| self.inventory.binary_search(action).is_err()) {
            Some(&action) => {
                Err(Error::Unfit(format!("the system has no action {}", self.name(action))))
            }
            None => Ok(derivation),
        }
    }

    fn reduce(&self, state: &mut BinaryState, label: Label, temporary: bool, head_is_left: bool) {
        let (Some(right), Some(left)) = (state.stack.pop(), state.stack.pop()) else { return };
        let (left_head, right_head) = (state.forest.node(left).head, state.forest.node(right).head);
        let (head, dependent) =
            if head_is_left { (left_head, right_head) } else { (right_head, left_head) };
        state.dependents.attach(head, dependent);
        let id = state.forest.push(label, temporary, &[left, right], head);
        state.stack.push(id);
        state.unaries = 0;
    }
}

/// Whether some node has a single child of its own label.
fn repeats_a_label(tree: &Tree) -> bool {
    tree.ids().any(|id| match tree.children(id) {
        [Child::Node(child)] => tree.node(*child).label == tree.node(id).label,
        _ => false,
    })
}

/// The actions that build a tree, whether or not some system has them all.
fn derive(tree: &Tree, labels: &Symbols) -> Result<Vec<BinaryAction>> {
    check_tree(tree)?;
    let binary = binarize(tree);
    let mut actions = Vec::with_capacity(2 * tree.tokens().len() + tree.nodes().len() + 1);
    for step in binary.walk() {
        match step {
            Step::Open(_) => {}
            Step::Token(_) => actions.push(BinaryAction::Shift),
            Step::Close(id) => {
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

    fn start(&self, sentence: &Sentence) -> BinaryState {
        BinaryState {
            forest: Forest::with_room_for(sentence.len()),
            stack: Vec::with_capacity(sentence.len().min(64)),
            buffer: 0,
            n_tokens: sentence.len() as u32,
            dependents: Dependents::new(sentence.len()),
            unaries: 0,
            recent: [0; 2],
            steps: 0,
            finished: false,
        }
    }

    fn is_final(&self, state: &BinaryState) -> bool {
        state.finished
    }

    fn legal(&self, state: &BinaryState, out: &mut Vec<BinaryAction>) {
        out.clear();
        if state.finished {
            return;
        }
        let at_end = state.remaining() == 0;
        if !at_end {
            out.push(BinaryAction::Shift);
        }
        let Some(s0) = state.item(0) else {
            if at_end {
                out.push(BinaryAction::Finish);
            }
            return;
        };
        // A finished TOP stays on top.
        let is_root = s0.label == Some(self.top);
        if !s0.temporary && !is_root && state.unaries < self.max_unaries {
            let own = if self.repeated_labels { None } else { s0.label };
            out.extend(self.unary.iter().filter(|action| own.is_none() || action.label() != own));
        }
        if let Some(s1) = state.item(1) {
            let is_last = at_end && state.stack.len() == 2;
            let dead_end = at_end && state.item(2).is_none_or(|s2| s2.temporary);
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
        state.steps += 1;
        state.recent = [action.code() + 1, state.recent[0]];
        match action {
            BinaryAction::Shift => {
                let id = state.forest.push_token(state.buffer);
                state.stack.push(id);
                state.buffer += 1;
                state.unaries = 0;
            }
            BinaryAction::Unary(label) => {
                if let Some(child) = state.stack.pop() {
                    let head = state.forest.node(child).head;
                    let id = state.forest.push(label, false, &[child], head);
                    state.stack.push(id);
                    state.unaries += 1;
                }
            }
            BinaryAction::Left(label) => self.reduce(state, label, false, true),
            BinaryAction::LeftTemporary(label) => self.reduce(state, label, true, true),
            BinaryAction::Right(label) => self.reduce(state, label, false, false),
            BinaryAction::RightTemporary(label) => self.reduce(state, label, true, false),
            BinaryAction::Finish => state.finished = true,
        }
    }

    fn tree(&self, state: &BinaryState, tokens: &[Token]) -> Tree {
        tree_of(&state.forest, &state.stack, state.buffer, &self.labels, tokens, true)
    }

    fn view<'a>(&'a self, state: &'a BinaryState, _focus: Option<BinaryAction>) -> View<'a> {
        View {
            forest: &state.forest,
            labels: &self.labels,
            stack: &state.stack,
            open: &[],
            complete: &state.stack,
            buffer: state.buffer,
            dependents: Some(&state.dependents),
            recent: state.recent,
            focus: None,
            signatures: &[],
        }
    }

    fn steps(&self, state: &BinaryState) -> usize {
        state.steps as usize
    }

    fn bound(&self, n: usize) -> usize {
        2 * n + 2 * n * self.max_unaries as usize + 1
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
        self.labels.name(u32::from(label.0)).unwrap_or_default()
    }
}
