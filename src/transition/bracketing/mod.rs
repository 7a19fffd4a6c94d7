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
mod oracle;
mod repetition;

use action::BracketStep;
use derivation::{derive, opens_root};

use super::gold_tree::{
    ROOT, binarized_labels_of, check_run, may_repeat, n_roots, repeats_a_label,
};
use super::head_finder::HeadFinder;
use super::inventory::{Inventory, SystemAction, stored};
use super::shared_stack::Stack;
use super::{
    Action, ActionKind, ActionTable, Forest, Open, Oracle, State, StoredSystem, TransitionSystem,
};
use crate::Result;
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::Tree;
use crate::tree::binarize::Binarization;

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
    inventory: Inventory<BracketStep>,
    opens: Vec<Action>,
    /// The label of roots, if they are opened and closed.
    root: Option<Label>,
    /// Whether a constituent may have a single child of its own label. Top-down, a temporary node would hide
    /// until it is closed that it becomes one.
    may_repeat: bool,
}

/// The innermost open constituent.
fn innermost(state: &State, forest: &Forest) -> Option<Open> {
    forest.opened.last(state.open)
}

/// The item that can become a left corner: the last complete one, if nothing was opened after it.
fn corner(state: &State, forest: &Forest) -> Option<u32> {
    let last = state.top(forest)?;
    (forest.stacks.last(state.stack) == Some(last)).then_some(last)
}

/// The number of complete children of the innermost open constituent, if there is one.
fn n_children(state: &State, forest: &Forest) -> Option<usize> {
    innermost(state, forest).map(|open| state.items.len() - open.first as usize)
}

/// Whether a constituent is open that has no children yet.
fn is_empty(state: &State, forest: &Forest) -> bool {
    n_children(state, forest) == Some(0)
}

/// Whether the innermost open constituent has a single complete child.
fn only_corner(state: &State, forest: &Forest) -> bool {
    n_children(state, forest) == Some(1)
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
        let ends = [BracketStep::Shift, BracketStep::Close, BracketStep::Finish];
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
        let actions = seen.into_iter().map(SystemAction::number).collect();
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

    fn opens_root(&self) -> bool {
        opens_root(self.tables.order, self.tables.binarization)
    }

    /// Whether a `TOP` covers everything.
    fn has_root(&self, state: &State, forest: &Forest) -> bool {
        let Some(item) = state.only_item(forest) else { return false };
        let label = forest.node(item).label.map(|label| self.label_name(label));
        state.remaining() == 0 && state.open.is_empty() && label == Some(ROOT)
    }

    fn may_open(&self, state: &State, forest: &Forest) -> bool {
        let has_place = match self.tables.order {
            Strategy::TopDown => state.remaining() > 0 && !self.must_close(state, forest),
            Strategy::InOrder => corner(state, forest).is_some(),
        };
        let dead_end = || self.dead_end(state, forest);
        has_place
            && state.run < self.tables.max_opens
            && self.opens.iter().any(|&open| Some(open) != dead_end())
    }

    fn may_shift(&self, state: &State, forest: &Forest, may_open: bool) -> bool {
        let roots = state.items.len();
        let crowded = state.open.is_empty() && roots >= self.tables.max_roots as usize;
        let waits = self.tables.order == Strategy::InOrder && crowded && may_open;
        let waits = waits && !self.opens_root();
        state.remaining() > 0 && !waits && !self.must_close(state, forest)
    }
}

impl StoredSystem for Bracketing {
    type Tables = BracketingTables;

    fn tables(&self) -> &BracketingTables {
        &self.tables
    }

    fn from_tables(tables: BracketingTables) -> Result<Self> {
        check_run(tables.max_opens)?;
        let ends = [BracketStep::Shift, BracketStep::Close, BracketStep::Finish];
        let inventory = Inventory::new(&tables.actions, &tables.labels, &ends, "bracketing")?;
        let opens = inventory.select(|step| step.kind() == ActionKind::Open);
        let root = tables.labels.position(ROOT).map(|position| Label(position as u16));
        let root = root.filter(|_| opens_root(tables.order, tables.binarization));
        let is_temporary = |step: &BracketStep| matches!(step, BracketStep::Open(_, true));
        let hides = tables.order == Strategy::TopDown && inventory.steps().iter().any(is_temporary);
        let may_repeat = tables.repeated_labels || hides;
        Ok(Self { opens, inventory, heads: None, root, may_repeat, tables })
    }

    fn union(&self, other: &Self) -> Result<Self> {
        let mut tables = self.tables.clone();
        let (labels, others) = (&mut tables.labels, &other.tables.labels);
        tables.actions = self.inventory.union(labels, &other.inventory, others)?;
        tables.max_opens = tables.max_opens.max(other.tables.max_opens);
        tables.max_roots = tables.max_roots.max(other.tables.max_roots);
        tables.repeated_labels |= other.tables.repeated_labels;
        Self::from_tables(tables)
    }
}

impl TransitionSystem for Bracketing {
    fn stored(&self) -> serde_json::Value {
        stored(&self.tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("labels", self.tables.labels.len().to_string()),
            ("actions", self.tables.actions.len().to_string()),
            ("opened between two shifts, at most", self.tables.max_opens.to_string()),
            ("children of a root, at most", self.tables.max_roots.to_string()),
        ]
    }

    fn labels(&self) -> &Symbols {
        &self.tables.labels
    }

    fn actions(&self) -> &ActionTable {
        self.inventory.table()
    }

    fn name(&self, action: Action) -> String {
        self.inventory.name(action, &self.tables.labels)
    }

    /// Without FINISH where it is forced.
    fn n_actions(&self) -> usize {
        self.tables.actions.len() - usize::from(self.opens_root())
    }

    fn derivation(&self, tree: &Tree) -> Result<Vec<Action>> {
        let BracketingTables { labels, order, binarization, .. } = &self.tables;
        self.inventory.derivation(derive(tree, labels, *order, *binarization)?, labels)
    }

    /// None over binarized trees: temporary nodes are not brackets.
    fn has_dynamic_oracle(&self) -> bool {
        self.tables.binarization.is_none()
    }

    fn dynamic_oracle<'a>(&'a self, tree: &Tree) -> Result<Option<Box<dyn Oracle + 'a>>> {
        if !self.has_dynamic_oracle() {
            return Ok(None);
        }
        Ok(Some(Box::new(oracle::OpenBrackets::new(self, tree)?)))
    }

    fn start(&self, sentence: &Sentence) -> (State, Forest) {
        (State::new(sentence), Forest::of_sentence(sentence, self.heads.as_ref()))
    }

    fn is_forced(&self, state: &State, forest: &Forest) -> bool {
        let is_over = state.remaining() == 0 && state.open.is_empty();
        self.opens_root()
            && is_over
            && (self.has_root(state, forest) || !self.may_open(state, forest))
    }

    fn is_complete(&self, state: &State, forest: &Forest) -> bool {
        if self.opens_root() {
            return state.finished && (self.has_root(state, forest) || state.n_tokens == 0);
        }
        state.finished && state.items.len() <= self.tables.max_roots as usize
    }

    fn legal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        out.clear();
        if state.finished {
            return;
        }
        if self.is_forced(state, forest) {
            out.push(self.inventory.finish());
            return;
        }
        let may_open = self.may_open(state, forest);
        if self.may_shift(state, forest, may_open) {
            out.push(self.inventory.shift());
        }
        let may_close = !state.open.is_empty() && !is_empty(state, forest);
        if may_close && (self.may_repeat || !self.is_repetition(state, forest)) {
            out.extend(self.inventory.find(BracketStep::Close));
        }
        if may_open {
            out.extend_from_slice(&self.opens);
            let dead_end = self.dead_end(state, forest);
            if let Some(at) = dead_end.and_then(|open| out.binary_search(&open).ok()) {
                out.remove(at);
            }
        }
        if state.remaining() == 0 && state.open.is_empty() && !self.opens_root() {
            out.push(self.inventory.finish());
        }
    }

    fn apply(&self, state: &mut State, forest: &mut Forest, action: Action) {
        let step = self.inventory.step(action);
        if !self.may_repeat && self.tables.order == Strategy::TopDown {
            self.count_repetitions(state, forest, step);
        }
        state.note(action.code);
        match step {
            BracketStep::Shift => {
                let token = state.shift(forest);
                forest.stacks.push(&mut state.stack, token);
                state.run = 0;
            }
            BracketStep::Open(label, temporary) => {
                let corner = match self.tables.order {
                    Strategy::TopDown => None,
                    Strategy::InOrder => forest.stacks.pop(&mut state.stack),
                };
                let node = forest.push_open(label, temporary, corner, state.buffer);
                let first = state.items.len() - usize::from(corner.is_some());
                let place = Open { node, first: first as u32, base: state.stack.len() as u32 };
                forest.opened.push(&mut state.open, place);
                forest.stacks.push(&mut state.stack, node);
                state.run += 1;
            }
            BracketStep::Close => {
                let Some(closed) = forest.opened.pop(&mut state.open) else { return };
                let opened = *forest.node(closed.node);
                if let Some(label) = opened.label {
                    let n = state.items.len() - closed.first as usize;
                    let head = |forest: &Forest, children: &[u32]| {
                        forest.head_among(self.heads.as_ref(), label, children)
                    };
                    let id = state.join(forest, (label, opened.temporary), n, head);
                    forest.stacks.truncate(&mut state.stack, closed.base as usize);
                    forest.stacks.push(&mut state.stack, id);
                }
            }
            BracketStep::Finish => state.finished = true,
        }
    }

    fn bound(&self, n: usize) -> usize {
        // The limit holds before each shift and after the last one; everything opened is closed.
        n + 2 * (n + 1) * self.tables.max_opens as usize + 1
    }

    fn stack(&self, state: &State) -> Stack {
        state.stack
    }
}
