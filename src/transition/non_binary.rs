//! The non-binary bottom-up system: SHIFT, REDUCE-X#k, FINISH (Fernández-González and Gómez-Rodríguez 2018,
//! section 3).
//!
//! REDUCE-X#k builds an X over the k topmost items. FINISH builds `TOP` over all items of the stack when the
//! buffer is empty, so no reduction builds the root. The inventory is read off the training trees. Legality
//! keeps the system total:
//!
//! - consecutive reductions of one item are limited to the longest unary chain of the training trees;
//! - no constituent has a single child of its own label unless one of the training trees has;
//! - FINISH takes at most as many items as a root of the training trees has children, or all items when no
//!   reduction of several items fits.
//!
//! Trees may be binarized first ([`Binarization`]), which makes this the shift-reduce parser of Kalt 2004, section
//! 4. A reduction to a temporary node is written `X*`. Temporary nodes pass their children to the node over
//! them, so they restrict no action.

mod oracle;

use serde::{Deserialize, Serialize};

use super::built_tree::visible_label;
use super::gold_tree::{
    binarized_labels_of, check_run, check_tree, label_of, longest_unary_chain, may_repeat, n_roots,
    repeats_a_label,
};
use super::head_finder::HeadFinder;
use super::inventory::{Inventory, SystemAction, stored};
use super::{
    Action, ActionKind, ActionTable, Forest, Oracle, State, StoredSystem, TransitionSystem,
};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::Binarization;
use crate::tree::{Tree, Visit};
use crate::{Error, Result};

/// The largest number of items of a reduction.
pub const MAX_ARITY: u32 = 255;

/// The largest product of actions and arities: a limit on memory.
const MAX_GROUPED: usize = 1 << 24;

/// The effect of an action of the non-binary system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum NonBinaryStep {
    /// Moves the next token to the stack.
    Shift,
    /// Builds a constituent over the topmost items.
    Reduce {
        /// Its label.
        label: Label,
        /// Whether it is a temporary node of a binarization.
        temporary: bool,
        /// The number of its items, at least 1.
        arity: u8,
    },
    /// Ends the derivation.
    Finish,
}

impl SystemAction for NonBinaryStep {
    fn kind(self) -> ActionKind {
        match self {
            Self::Shift => ActionKind::Shift,
            Self::Reduce { .. } => ActionKind::Reduce,
            Self::Finish => ActionKind::Finish,
        }
    }

    fn label(self) -> Option<Label> {
        match self {
            Self::Reduce { label, .. } => Some(label),
            _ => None,
        }
    }

    fn number(self) -> u32 {
        match self {
            Self::Shift => 0,
            Self::Finish => 1,
            Self::Reduce { label, temporary, arity } => {
                let symbol = u32::from(label.0) * 2 + u32::from(temporary);
                2 + symbol * MAX_ARITY + u32::from(arity) - 1
            }
        }
    }

    fn of_number(number: u32) -> Self {
        match number {
            0 => Self::Shift,
            1 => Self::Finish,
            _ => {
                let symbol = (number - 2) / MAX_ARITY;
                Self::Reduce {
                    label: Label((symbol / 2) as u16),
                    temporary: symbol % 2 == 1,
                    arity: ((number - 2) % MAX_ARITY + 1) as u8,
                }
            }
        }
    }

    fn with_label(self, label: Label) -> Self {
        match self {
            Self::Reduce { temporary, arity, .. } => Self::Reduce { label, temporary, arity },
            end => end,
        }
    }

    fn name(self, label: &str) -> String {
        match self {
            Self::Shift => "SHIFT".to_owned(),
            Self::Finish => "FINISH".to_owned(),
            Self::Reduce { temporary, arity, .. } => {
                let mark = if temporary { "*" } else { "" };
                format!("REDUCE-{label}{mark}#{arity}")
            }
        }
    }
}

impl NonBinaryStep {
    /// The number of items of a reduction; 0 for other actions.
    fn arity(self) -> u32 {
        match self {
            Self::Reduce { arity, .. } => arity.into(),
            _ => 0,
        }
    }
}

/// The stored tables of a non-binary system.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NonBinaryTables {
    /// The labels below the root.
    pub labels: Symbols,
    /// The codes of the actions, in order.
    pub actions: Vec<u32>,
    /// The limit on consecutive reductions of one item.
    pub max_unaries: u32,
    /// The largest number of items that FINISH takes.
    pub max_roots: u32,
    /// The binarization of the trees.
    #[serde(flatten)]
    pub binarization: Binarization,
    /// Whether a constituent may have a single child of its own label.
    #[serde(default = "may_repeat")]
    pub repeated_labels: bool,
}

/// The non-binary system over a fixed inventory of actions.
#[derive(Debug, Clone)]
pub struct NonBinary {
    tables: NonBinaryTables,
    heads: Option<HeadFinder>,
    inventory: Inventory<NonBinaryStep>,
    /// By position, the reductions of 2 up to that many items, in order.
    several: Vec<Vec<Action>>,
    /// Like `several`, with the reductions of one item.
    all: Vec<Vec<Action>>,
}

impl NonBinary {
    /// The system that can build the given trees, rooted in `TOP`.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are too many labels.
    pub fn of_trees<'a>(
        trees: impl IntoIterator<Item = &'a Tree> + Clone,
        binarization: impl Into<Binarization>,
    ) -> Result<Self> {
        let binarization = binarization.into();
        let (labels, counts) = binarized_labels_of(trees.clone(), binarization)?;
        let mut seen = std::collections::BTreeSet::new();
        let (mut max_unaries, mut max_roots, mut repeated_labels) = (1, 1, false);
        for tree in trees {
            let Ok(derivation) = derive(tree, &labels, binarization) else { continue };
            seen.extend(derivation);
            max_unaries = max_unaries.max(longest_unary_chain(&binarization.apply(tree)));
            max_roots = max_roots.max(n_roots(tree));
            repeated_labels |= repeats_a_label(tree);
        }
        // Two items can always be joined, at least under the most frequent label.
        let common = (0..counts.len()).max_by_key(|&label| (counts[label], usize::MAX - label));
        let label = Label(common.unwrap_or(0) as u16);
        let join = NonBinaryStep::Reduce { label, temporary: false, arity: 2 };
        seen.extend([NonBinaryStep::Shift, NonBinaryStep::Finish, join]);
        let actions = seen.into_iter().map(SystemAction::number).collect();
        Self::from_tables(NonBinaryTables {
            labels,
            actions,
            max_unaries,
            max_roots,
            binarization,
            repeated_labels,
        })
    }

    /// The same system with reductions of every label over 1 to `max_arity` items, at most [`MAX_ARITY`], and
    /// roots over any number of items: the system of the paper, for which the dynamic oracle is exact.
    ///
    /// # Errors
    /// [`Error::Unfit`] when there are too many actions.
    pub fn with_every_arity(&self, max_arity: u32) -> Result<Self> {
        let mut actions: Vec<NonBinaryStep> = vec![NonBinaryStep::Shift];
        for label in 0..self.tables.labels.len() {
            let label = Label(label as u16);
            let of_arity =
                |arity| NonBinaryStep::Reduce { label, temporary: false, arity: arity as u8 };
            actions.extend((1..=max_arity.clamp(2, MAX_ARITY)).map(of_arity));
        }
        actions.push(NonBinaryStep::Finish);
        let actions = actions.into_iter().map(SystemAction::number).collect();
        Self::from_tables(NonBinaryTables { actions, max_roots: u32::MAX, ..self.tables.clone() })
    }

    /// The same system with head rules, applied while parsing, or without.
    #[must_use]
    pub fn with_heads(self, heads: Option<HeadFinder>) -> Self {
        Self { heads, ..self }
    }

    /// The reduction that would give the topmost item a parent of its own label, if that is illegal.
    fn repetition(&self, state: &State, forest: &Forest) -> Option<Action> {
        let item = state.top(forest).filter(|_| !self.tables.repeated_labels)?;
        let label = visible_label(forest, item, None)?;
        self.inventory.find(NonBinaryStep::Reduce { label, temporary: false, arity: 1 })
    }
}

/// The actions that build a tree, whether or not the inventory of a system has them all.
fn derive(tree: &Tree, labels: &Symbols, binarization: Binarization) -> Result<Vec<NonBinaryStep>> {
    check_tree(tree)?;
    let binary = binarization.apply(tree);
    let mut actions = Vec::with_capacity(tree.tokens().len() + binary.nodes().len());
    for step in binary.traverse() {
        match step {
            Visit::Open(_) => {}
            Visit::Token(_) => actions.push(NonBinaryStep::Shift),
            Visit::Close(id) if Some(id) == binary.root() => actions.push(NonBinaryStep::Finish),
            Visit::Close(id) => {
                let node = binary.node(id);
                let arity = match binary.children(id).len() {
                    0 => return Err(Error::Unfit(format!("a {}* over no words", node.label))),
                    n if n > MAX_ARITY as usize => {
                        let problem = format!("a {} of more than {MAX_ARITY} children", node.label);
                        return Err(Error::Unfit(problem));
                    }
                    n => n as u8,
                };
                let label = label_of(labels, &node.label)?;
                let temporary = node.temporary;
                actions.push(NonBinaryStep::Reduce { label, temporary, arity });
            }
        }
    }
    Ok(actions)
}

impl StoredSystem for NonBinary {
    type Tables = NonBinaryTables;

    fn tables(&self) -> &NonBinaryTables {
        &self.tables
    }

    fn from_tables(tables: NonBinaryTables) -> Result<Self> {
        check_run(tables.max_unaries)?;
        let ends = [NonBinaryStep::Shift, NonBinaryStep::Finish];
        let inventory = Inventory::new(&tables.actions, &tables.labels, &ends, "non-binary")?;
        let largest = inventory.steps().iter().map(|step| step.arity()).max().unwrap_or(0);
        if tables.actions.len() * (largest as usize + 1) > MAX_GROUPED {
            return Err(Error::Unfit(format!("too many actions: {}", tables.actions.len())));
        }
        let of_arity =
            |least: u32, most: u32| inventory.select(|step| (least..=most).contains(&step.arity()));
        Ok(Self {
            several: (0..=largest).map(|most| of_arity(2, most)).collect(),
            all: (0..=largest).map(|most| of_arity(1, most)).collect(),
            inventory,
            heads: None,
            tables,
        })
    }

    fn union(&self, other: &Self) -> Result<Self> {
        let mut tables = self.tables.clone();
        let (labels, others) = (&mut tables.labels, &other.tables.labels);
        tables.actions = self.inventory.union(labels, &other.inventory, others)?;
        tables.max_unaries = tables.max_unaries.max(other.tables.max_unaries);
        tables.max_roots = tables.max_roots.max(other.tables.max_roots);
        tables.repeated_labels |= other.tables.repeated_labels;
        Self::from_tables(tables)
    }
}

impl TransitionSystem for NonBinary {
    fn stored(&self) -> serde_json::Value {
        stored(&self.tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("labels", self.tables.labels.len().to_string()),
            ("actions", self.n_actions().to_string()),
            ("consecutive unaries, at most", self.tables.max_unaries.to_string()),
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

    fn derivation(&self, tree: &Tree) -> Result<Vec<Action>> {
        let NonBinaryTables { labels, binarization, .. } = &self.tables;
        self.inventory.derivation(derive(tree, labels, *binarization)?, labels)
    }

    /// None over binarized trees: temporary nodes are not brackets.
    fn has_dynamic_oracle(&self) -> bool {
        self.tables.binarization.is_none()
    }

    fn dynamic_oracle<'a>(&'a self, tree: &Tree) -> Result<Option<Box<dyn Oracle + 'a>>> {
        if !self.has_dynamic_oracle() {
            return Ok(None);
        }
        Ok(Some(Box::new(oracle::Reachability::new(self, tree)?)))
    }

    fn start(&self, sentence: &Sentence) -> (State, Forest) {
        (State::new(sentence), Forest::of_sentence(sentence, self.heads.as_ref()))
    }

    fn is_complete(&self, state: &State, _forest: &Forest) -> bool {
        state.finished && state.items.len() <= self.tables.max_roots as usize
    }

    fn legal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        out.clear();
        if state.finished {
            return;
        }
        let at_end = state.remaining() == 0;
        if !at_end {
            out.push(self.inventory.shift());
        }
        let n = state.items.len();
        let height = n.min(self.all.len() - 1);
        let groups = if state.run < self.tables.max_unaries { &self.all } else { &self.several };
        out.extend_from_slice(&groups[height]);
        let repetition = self.repetition(state, forest);
        if let Some(at) = repetition.and_then(|action| out.binary_search(&action).ok()) {
            out.remove(at);
        }
        let fits = n <= self.tables.max_roots as usize || self.several[height].is_empty();
        if at_end && fits {
            out.push(self.inventory.finish());
        }
    }

    fn apply(&self, state: &mut State, forest: &mut Forest, action: Action) {
        state.note(action.code);
        match self.inventory.step(action) {
            NonBinaryStep::Shift => {
                state.shift(forest);
                state.run = 0;
            }
            NonBinaryStep::Reduce { label, temporary, arity } => {
                let head = |forest: &Forest, children: &[u32]| {
                    forest.head_among(self.heads.as_ref(), label, children)
                };
                state.join(forest, (label, temporary), arity.into(), head);
                state.run = if arity == 1 { state.run + 1 } else { 0 };
            }
            NonBinaryStep::Finish => state.finished = true,
        }
    }

    fn bound(&self, n: usize) -> usize {
        // Unaries may follow each of the n shifts and each of at most n - 1 reductions of several items.
        2 * n + 2 * n * self.tables.max_unaries as usize + 1
    }
}
