//! The bracketing systems, which open a nonterminal before they build its constituent: SHIFT, OPEN-X, CLOSE,
//! FINISH, in two strategies.
//!
//! - *Top-down* (Dyer et al. 2016, section 3): OPEN-X opens an X before its first word.
//! - *In-order* (Liu and Zhang 2017, section 3): OPEN-X opens an X over the last complete item, its left corner.
//!
//! CLOSE completes the innermost open constituent with all items since it was opened. The root is always
//! open: FINISH builds `TOP` over everything when nothing else is open. Over [binarized](crate::tree::binarize) trees the
//! in-order system is the left-corner parser of Kalt 2004, section 4: OPEN is *project*, CLOSE is *attach*. It
//! opens and closes `TOP` like any label. FINISH is then forced: it follows when `TOP` covers all words or
//! nothing else is legal.
//!
//! The labels are read off the training trees. Legality keeps the system total:
//!
//! - between two shifts at most as many constituents are opened as in the training trees;
//! - no constituent has a single child of its own label unless one of the training trees has: such a constituent
//!   is not closed, and it is opened only where enough words are left to give it another child;
//! - in order, a word is not shifted next to an item under the root if no root of the training trees has as
//!   many children, as long as that item can become a left corner.

use serde::{Deserialize, Serialize};

mod action;
mod derivation;
mod repetition;

pub use action::BracketAction;
use derivation::{derive, opens_root};

use super::gold_tree::{
    MAX_LABELS, ROOT, binarized_labels_of, check_run, may_repeat, n_roots, repeats_a_label,
};
use super::head_finder::HeadFinder;
use super::shared_stack::Stack;
use super::stack_buffer::StackBuffer;
use super::state::clone_in_place;
use super::union::action_codes;
use super::{Action, ActionKind, Forest, Open, TransitionSystem, View};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::Binarization;
use crate::tree::{Token, Tree};
use crate::{Error, Result};

/// When a nonterminal is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Before its first word.
    TopDown,
    /// After its first child.
    InOrder,
}

/// The stored tables of a bracketing system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BracketingTables {
    /// The labels below the root.
    pub labels: Symbols,
    /// The codes of the actions, in order.
    pub actions: Vec<u32>,
    /// When nonterminals are opened.
    pub order: Strategy,
    /// The limit on constituents opened between two shifts.
    pub max_opens: u32,
    /// The largest number of children of a root.
    pub max_roots: u32,
    /// The binarization of the trees.
    #[serde(flatten)]
    pub binarization: Binarization,
    /// Whether a constituent may have a single child of its own label.
    #[serde(default = "may_repeat")]
    pub repeated_labels: bool,
}

/// A bracketing system over a fixed inventory of actions.
#[derive(Debug, Clone)]
pub struct Bracketing {
    tables: BracketingTables,
    heads: Option<HeadFinder>,
    inventory: Vec<BracketAction>,
    opens: Vec<BracketAction>,
    /// The label of roots, if they are opened and closed.
    root: Option<Label>,
    /// Whether a constituent may have a single child of its own label. Top-down, a temporary node would hide
    /// until it is closed that it becomes one.
    may_repeat: bool,
}

/// A configuration of a bracketing system.
#[derive(Debug)]
pub struct BracketState {
    /// Complete items and buffer.
    pub base: StackBuffer,
    /// The open constituents.
    pub open: Stack,
    /// Complete items, and open constituents at the place where they were opened. In the in-order system an open
    /// constituent takes the place of its left corner.
    stack: Stack,
    /// The number of constituents opened since the last shift.
    opened: u32,
    /// Top-down, the number of open constituents whose only child, open or complete, has their label. Each needs
    /// another child.
    repetitions: u32,
}

clone_in_place!(BracketState { base, open, stack, opened, repetitions });

impl BracketState {
    /// The innermost open constituent.
    pub fn innermost(&self) -> Option<Open> {
        self.base.forest.opened.last(self.open)
    }

    /// The item that can become a left corner: the last complete one, if nothing was opened after it.
    pub fn corner(&self) -> Option<u32> {
        let last = self.base.top()?;
        (self.base.forest.stacks.last(self.stack) == Some(last)).then_some(last)
    }

    /// The number of complete children of the innermost open constituent, if there is one.
    fn n_children(&self) -> Option<usize> {
        self.innermost().map(|open| self.base.items.len() - open.first as usize)
    }

    /// Whether a constituent is open that has no children yet.
    fn is_empty(&self) -> bool {
        self.n_children() == Some(0)
    }

    /// Whether the innermost open constituent has a single complete child.
    pub fn only_corner(&self) -> bool {
        self.n_children() == Some(1)
    }
}

impl Bracketing {
    /// The system that can build the given trees, rooted in `TOP`.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are too many labels.
    pub fn of_trees<'a>(
        trees: impl IntoIterator<Item = &'a Tree> + Clone,
        order: Strategy,
        binarization: impl Into<Binarization>,
    ) -> Result<Self> {
        let binarization = binarization.into();
        let (mut labels, _) = binarized_labels_of(trees.clone(), binarization)?;
        if opens_root(order, binarization) {
            labels.intern(ROOT);
        }
        let ends = [BracketAction::Shift, BracketAction::Close, BracketAction::Finish];
        let mut seen = std::collections::BTreeSet::from(ends);
        let (mut max_opens, mut max_roots, mut repeated_labels) = (1, 1, false);
        for tree in trees {
            let Ok(derivation) = derive(tree, &labels, order, binarization) else { continue };
            let mut opened = 0;
            for &action in &derivation {
                match action.kind() {
                    ActionKind::Open => opened += 1,
                    ActionKind::Shift => opened = 0,
                    _ => {}
                }
                max_opens = max_opens.max(opened);
            }
            seen.extend(derivation);
            max_roots = max_roots.max(n_roots(tree));
            repeated_labels |= repeats_a_label(tree);
        }
        let actions = seen.into_iter().map(Action::code).collect();
        Self::from_tables(BracketingTables {
            labels,
            actions,
            order,
            max_opens,
            max_roots,
            binarization,
            repeated_labels,
        })
    }

    /// The same system with roots over any number of children and up to `max_opens` constituents opened
    /// between two shifts. As long as that limit is not reached, the dynamic oracle is exact.
    ///
    /// # Errors
    /// None: the tables stay valid.
    pub fn with_limits(&self, max_opens: u32) -> Result<Self> {
        Self::from_tables(BracketingTables {
            max_opens,
            max_roots: u32::MAX,
            ..self.tables.clone()
        })
    }

    /// The same system with head rules, applied while parsing, or without.
    #[must_use]
    pub fn with_heads(self, heads: Option<HeadFinder>) -> Self {
        Self { heads, ..self }
    }

    /// Every action, in order.
    pub fn actions(&self) -> &[BracketAction] {
        &self.inventory
    }

    fn opens_root(&self) -> bool {
        opens_root(self.tables.order, self.tables.binarization)
    }

    /// Whether a `TOP` covers everything.
    fn has_root(&self, state: &BracketState) -> bool {
        let Some(item) = state.base.only_item() else { return false };
        let label = state.base.forest.node(item).label.map(|label| self.label_name(label));
        state.base.remaining() == 0 && state.open.is_empty() && label == Some(ROOT)
    }

    fn may_open(&self, state: &BracketState) -> bool {
        let has_place = match self.tables.order {
            Strategy::TopDown => state.base.remaining() > 0 && !self.must_close(state),
            Strategy::InOrder => state.corner().is_some(),
        };
        let dead_end = || self.dead_end(state);
        has_place
            && state.opened < self.tables.max_opens
            && self.opens.iter().any(|&open| Some(open) != dead_end())
    }

    fn may_shift(&self, state: &BracketState, may_open: bool) -> bool {
        let roots = state.base.items.len();
        let crowded = state.open.is_empty() && roots >= self.tables.max_roots as usize;
        let waits = self.tables.order == Strategy::InOrder && crowded && may_open;
        let waits = waits && !self.opens_root();
        state.base.remaining() > 0 && !waits && !self.must_close(state)
    }
}

impl TransitionSystem for Bracketing {
    type State = BracketState;
    type Action = BracketAction;
    type Tables = BracketingTables;

    fn tables(&self) -> &BracketingTables {
        &self.tables
    }

    fn from_tables(tables: BracketingTables) -> Result<Self> {
        check_run(tables.max_opens)?;
        let inventory: Vec<BracketAction> =
            tables.actions.iter().map(|&code| BracketAction::of_code(code)).collect();
        let known = |action: &BracketAction| {
            action.label().is_none_or(|label| usize::from(label.0) < tables.labels.len())
        };
        let same = tables.actions.iter().zip(&inventory).all(|(&code, a)| a.code() == code);
        let sorted = inventory.windows(2).all(|pair| pair[0] < pair[1]);
        let ends = [BracketAction::Shift, BracketAction::Close, BracketAction::Finish];
        let total = ends.iter().all(|action| inventory.contains(action));
        let few = tables.labels.len() <= MAX_LABELS;
        if !(same && sorted && total && few && inventory.iter().all(known)) {
            return Err(Error::corrupt("the action table is not that of a bracketing system"));
        }
        let is_open = |action: &&BracketAction| action.kind() == ActionKind::Open;
        let opens = inventory.iter().filter(is_open).copied().collect();
        let root = tables.labels.position(ROOT).map(|position| Label(position as u16));
        let root = root.filter(|_| opens_root(tables.order, tables.binarization));
        let is_temporary = |action: &BracketAction| matches!(action, BracketAction::Open(_, true));
        let hides = tables.order == Strategy::TopDown && inventory.iter().any(is_temporary);
        let may_repeat = tables.repeated_labels || hides;
        Ok(Self { opens, inventory, heads: None, root, may_repeat, tables })
    }

    fn union(&self, other: &Self) -> Result<Self> {
        let mut tables = self.tables.clone();
        let labels = (&mut tables.labels, &other.tables.labels);
        let actions = [&self.inventory[..], &other.inventory];
        tables.actions = action_codes(labels, actions, BracketAction::relabelled)?;
        tables.max_opens = tables.max_opens.max(other.tables.max_opens);
        tables.max_roots = tables.max_roots.max(other.tables.max_roots);
        tables.repeated_labels |= other.tables.repeated_labels;
        Self::from_tables(tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let tables = self.tables();
        vec![
            ("labels", tables.labels.len().to_string()),
            ("actions", self.actions().len().to_string()),
            ("opened between two shifts, at most", tables.max_opens.to_string()),
            ("children of a root, at most", tables.max_roots.to_string()),
        ]
    }

    fn derivation(&self, tree: &Tree) -> Result<Vec<BracketAction>> {
        let BracketingTables { labels, order, binarization, .. } = &self.tables;
        let derivation = derive(tree, labels, *order, *binarization)?;
        let lacks = |action: &&BracketAction| self.inventory.binary_search(action).is_err();
        if let Some(&action) = derivation.iter().find(lacks) {
            return Err(Error::Unfit(format!("the system has no action {}", self.name(action))));
        }
        Ok(derivation)
    }

    fn start(&self, sentence: &Sentence) -> BracketState {
        BracketState {
            base: StackBuffer::new(sentence, self.heads.as_ref()),
            open: Stack::default(),
            stack: Stack::default(),
            opened: 0,
            repetitions: 0,
        }
    }

    fn forest_mut(state: &mut BracketState) -> &mut Forest {
        &mut state.base.forest
    }

    fn is_final(&self, state: &BracketState) -> bool {
        state.base.finished
    }

    fn is_forced(&self, state: &BracketState) -> bool {
        let is_over = state.base.remaining() == 0 && state.open.is_empty();
        self.opens_root() && is_over && (self.has_root(state) || !self.may_open(state))
    }

    fn is_complete(&self, state: &BracketState) -> bool {
        if self.opens_root() {
            return state.base.finished && (self.has_root(state) || state.base.n_tokens == 0);
        }
        state.base.finished && state.base.items.len() <= self.tables.max_roots as usize
    }

    fn legal(&self, state: &BracketState, out: &mut Vec<BracketAction>) {
        out.clear();
        let BracketState { base, open, .. } = state;
        if base.finished {
            return;
        }
        if self.is_forced(state) {
            out.push(BracketAction::Finish);
            return;
        }
        let at_end = base.remaining() == 0;
        let may_open = self.may_open(state);
        if self.may_shift(state, may_open) {
            out.push(BracketAction::Shift);
        }
        if !open.is_empty() && !state.is_empty() && (self.may_repeat || !self.is_repetition(state))
        {
            out.push(BracketAction::Close);
        }
        if may_open {
            out.extend_from_slice(&self.opens);
            if let Some(at) = self.dead_end(state).and_then(|open| out.binary_search(&open).ok()) {
                out.remove(at);
            }
        }
        if at_end && open.is_empty() && !self.opens_root() {
            out.push(BracketAction::Finish);
        }
    }

    fn apply(&self, state: &mut BracketState, action: BracketAction) {
        if !self.may_repeat && self.tables.order == Strategy::TopDown {
            self.count_repetitions(state, action);
        }
        let BracketState { base, open, stack, opened, .. } = state;
        base.note(action.code());
        match action {
            BracketAction::Shift => {
                let token = base.shift();
                base.forest.stacks.push(stack, token);
                *opened = 0;
            }
            BracketAction::Open(label, temporary) => {
                let forest = &mut base.forest;
                let corner = match self.tables.order {
                    Strategy::TopDown => None,
                    Strategy::InOrder => forest.stacks.pop(stack),
                };
                let node = forest.push_open(label, temporary, corner, base.buffer);
                let first = base.items.len() - usize::from(corner.is_some());
                let place = Open { node, first: first as u32, base: stack.len() as u32 };
                forest.opened.push(open, place);
                forest.stacks.push(stack, node);
                *opened += 1;
            }
            BracketAction::Close => {
                let Some(closed) = base.forest.opened.pop(open) else { return };
                let opened = *base.forest.node(closed.node);
                if let Some(label) = opened.label {
                    let n = base.items.len() - closed.first as usize;
                    let id = base.join(self.heads.as_ref(), label, opened.temporary, n);
                    base.forest.stacks.truncate(stack, closed.base as usize);
                    base.forest.stacks.push(stack, id);
                }
            }
            BracketAction::Finish => base.finished = true,
        }
    }

    /// Open constituents are left out: their complete children become siblings.
    fn tree(&self, state: &BracketState, tokens: &[Token]) -> Tree {
        state.base.tree(&self.tables.labels, tokens)
    }

    fn view<'a>(&'a self, state: &'a BracketState) -> View<'a> {
        let base = &state.base;
        View {
            forest: &base.forest,
            labels: &self.tables.labels,
            stack: base.forest.stacks.view(state.stack),
            frontier: &[],
            open: base.forest.opened.view(state.open),
            complete: base.items(),
            buffer: base.buffer,
            recent: base.recent,
            focus: None,
            signatures: &[],
        }
    }

    fn steps(&self, state: &BracketState) -> usize {
        state.base.steps as usize
    }

    fn bound(&self, n: usize) -> usize {
        // The limit holds before each shift and after the last one; everything opened is closed.
        n + 2 * (n + 1) * self.tables.max_opens as usize + 1
    }

    fn inventory(&self, _state: &BracketState, out: &mut Vec<BracketAction>) {
        out.clear();
        out.extend_from_slice(&self.inventory);
        if self.opens_root() {
            out.retain(|&action| action != BracketAction::Finish);
        }
    }

    fn name(&self, action: BracketAction) -> String {
        match action {
            BracketAction::Shift => "SHIFT".to_owned(),
            BracketAction::Close => "CLOSE".to_owned(),
            BracketAction::Finish => "FINISH".to_owned(),
            BracketAction::Open(label, temporary) => {
                let mark = if temporary { "*" } else { "" };
                format!("OPEN-{}{mark}", self.label_name(label))
            }
        }
    }

    fn label_name(&self, label: Label) -> &str {
        self.tables.labels.name(u32::from(label.0)).unwrap_or_default()
    }
}
