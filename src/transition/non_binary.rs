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

use serde::{Deserialize, Serialize};

use super::built_tree::visible_label;
use super::gold_tree::{
    MAX_LABELS, binarized_labels_of, check_run, check_tree, label_of, longest_unary_chain,
    may_repeat, n_roots, repeats_a_label,
};
use super::head_finder::HeadFinder;
use super::stack_buffer::StackBuffer;
use super::state::clone_in_place;
use super::union::action_codes;
use super::{Action, ActionKind, Forest, StackView, TransitionSystem, View};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::Binarization;
use crate::tree::{Token, Tree, Visit};
use crate::{Error, Result};

/// The largest number of items of a reduction.
pub const MAX_ARITY: u32 = 255;

/// The largest product of actions and arities: a limit on memory.
const MAX_GROUPED: usize = 1 << 24;

/// An action of the non-binary system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NonBinaryAction {
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

impl Action for NonBinaryAction {
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

    fn code(self) -> u32 {
        match self {
            Self::Shift => 0,
            Self::Finish => 1,
            Self::Reduce { label, temporary, arity } => {
                let symbol = u32::from(label.0) * 2 + u32::from(temporary);
                2 + symbol * MAX_ARITY + u32::from(arity) - 1
            }
        }
    }
}

impl NonBinaryAction {
    fn of_code(code: u32) -> Self {
        match code {
            0 => Self::Shift,
            1 => Self::Finish,
            _ => {
                let symbol = (code - 2) / MAX_ARITY;
                Self::Reduce {
                    label: Label((symbol / 2) as u16),
                    temporary: symbol % 2 == 1,
                    arity: ((code - 2) % MAX_ARITY + 1) as u8,
                }
            }
        }
    }

    /// The action with the new number of its label.
    fn relabelled(self, numbers: &[Label]) -> Self {
        let label = |old: Label| numbers[usize::from(old.0)];
        match self {
            Self::Reduce { label: old, temporary, arity } => {
                Self::Reduce { label: label(old), temporary, arity }
            }
            end => end,
        }
    }

    /// The number of items of a reduction; 0 for other actions.
    pub fn arity(self) -> u32 {
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
    inventory: Vec<NonBinaryAction>,
    /// By position, the reductions of 2 up to that many items, in order.
    several: Vec<Vec<NonBinaryAction>>,
    /// Like `several`, with the reductions of one item.
    all: Vec<Vec<NonBinaryAction>>,
}

/// A configuration of the non-binary system.
#[derive(Debug)]
pub struct NonBinaryState {
    /// Stack and buffer.
    pub base: StackBuffer,
    /// The number of consecutive reductions of one item before this configuration.
    pub unaries: u32,
}

clone_in_place!(NonBinaryState { base, unaries });

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
        let join = NonBinaryAction::Reduce { label, temporary: false, arity: 2 };
        seen.extend([NonBinaryAction::Shift, NonBinaryAction::Finish, join]);
        let actions = seen.into_iter().map(Action::code).collect();
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
        let mut actions: Vec<NonBinaryAction> = vec![NonBinaryAction::Shift];
        for label in 0..self.tables.labels.len() {
            let label = Label(label as u16);
            let of_arity =
                |arity| NonBinaryAction::Reduce { label, temporary: false, arity: arity as u8 };
            actions.extend((1..=max_arity.clamp(2, MAX_ARITY)).map(of_arity));
        }
        actions.push(NonBinaryAction::Finish);
        let actions = actions.into_iter().map(Action::code).collect();
        Self::from_tables(NonBinaryTables { actions, max_roots: u32::MAX, ..self.tables.clone() })
    }

    /// The same system with head rules, applied while parsing, or without.
    #[must_use]
    pub fn with_heads(self, heads: Option<HeadFinder>) -> Self {
        Self { heads, ..self }
    }

    /// The reduction that would give the topmost item a parent of its own label, if that is illegal.
    fn repetition(&self, base: &StackBuffer) -> Option<NonBinaryAction> {
        let item = base.top().filter(|_| !self.tables.repeated_labels)?;
        let label = visible_label(&base.forest, item, None)?;
        Some(NonBinaryAction::Reduce { label, temporary: false, arity: 1 })
    }

    /// Every action, in order.
    pub fn actions(&self) -> &[NonBinaryAction] {
        &self.inventory
    }

    /// Whether the inventory has an action.
    pub fn has(&self, action: NonBinaryAction) -> bool {
        self.inventory.binary_search(&action).is_ok()
    }
}

/// The actions that build a tree, whether or not the inventory of a system has them all.
fn derive(
    tree: &Tree,
    labels: &Symbols,
    binarization: Binarization,
) -> Result<Vec<NonBinaryAction>> {
    check_tree(tree)?;
    let binary = binarization.apply(tree);
    let mut actions = Vec::with_capacity(tree.tokens().len() + binary.nodes().len());
    for step in binary.traverse() {
        match step {
            Visit::Open(_) => {}
            Visit::Token(_) => actions.push(NonBinaryAction::Shift),
            Visit::Close(id) if Some(id) == binary.root() => actions.push(NonBinaryAction::Finish),
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
                actions.push(NonBinaryAction::Reduce { label, temporary, arity });
            }
        }
    }
    Ok(actions)
}

impl TransitionSystem for NonBinary {
    type State = NonBinaryState;
    type Action = NonBinaryAction;
    type Tables = NonBinaryTables;

    fn tables(&self) -> &NonBinaryTables {
        &self.tables
    }

    fn from_tables(tables: NonBinaryTables) -> Result<Self> {
        check_run(tables.max_unaries)?;
        let inventory: Vec<NonBinaryAction> =
            tables.actions.iter().map(|&code| NonBinaryAction::of_code(code)).collect();
        let known = |action: &NonBinaryAction| {
            action.label().is_none_or(|label| usize::from(label.0) < tables.labels.len())
        };
        let same = tables.actions.iter().zip(&inventory).all(|(&code, a)| a.code() == code);
        let sorted = inventory.windows(2).all(|pair| pair[0] < pair[1]);
        let ends = [NonBinaryAction::Shift, NonBinaryAction::Finish];
        let total = ends.iter().all(|action| inventory.contains(action));
        let few = tables.labels.len() <= MAX_LABELS;
        if !(same && sorted && total && few && inventory.iter().all(known)) {
            return Err(Error::corrupt("the action table is not that of a non-binary system"));
        }
        let largest = inventory.iter().map(|action| action.arity()).max().unwrap_or(0);
        if inventory.len() * (largest as usize + 1) > MAX_GROUPED {
            return Err(Error::Unfit(format!("too many actions: {}", inventory.len())));
        }
        let of_arity = |least: u32, most: u32| -> Vec<NonBinaryAction> {
            let fits = |action: &&NonBinaryAction| (least..=most).contains(&action.arity());
            inventory.iter().filter(fits).copied().collect()
        };
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
        let labels = (&mut tables.labels, &other.tables.labels);
        let actions = [&self.inventory[..], &other.inventory];
        tables.actions = action_codes(labels, actions, NonBinaryAction::relabelled)?;
        tables.max_unaries = tables.max_unaries.max(other.tables.max_unaries);
        tables.max_roots = tables.max_roots.max(other.tables.max_roots);
        tables.repeated_labels |= other.tables.repeated_labels;
        Self::from_tables(tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let tables = self.tables();
        vec![
            ("labels", tables.labels.len().to_string()),
            ("actions", self.actions().len().to_string()),
            ("consecutive unaries, at most", tables.max_unaries.to_string()),
            ("children of a root, at most", tables.max_roots.to_string()),
        ]
    }

    fn derivation(&self, tree: &Tree) -> Result<Vec<NonBinaryAction>> {
        let derivation = derive(tree, &self.tables.labels, self.tables.binarization)?;
        if let Some(&action) = derivation.iter().find(|&&action| !self.has(action)) {
            return Err(Error::Unfit(format!("the system has no action {}", self.name(action))));
        }
        Ok(derivation)
    }

    fn start(&self, sentence: &Sentence) -> NonBinaryState {
        NonBinaryState { base: StackBuffer::new(sentence, self.heads.as_ref()), unaries: 0 }
    }

    fn forest_mut(state: &mut NonBinaryState) -> &mut Forest {
        &mut state.base.forest
    }

    fn is_final(&self, state: &NonBinaryState) -> bool {
        state.base.finished
    }

    fn is_complete(&self, state: &NonBinaryState) -> bool {
        state.base.finished && state.base.items.len() <= self.tables.max_roots as usize
    }

    fn legal(&self, state: &NonBinaryState, out: &mut Vec<NonBinaryAction>) {
        out.clear();
        let NonBinaryState { base, unaries } = state;
        if base.finished {
            return;
        }
        let at_end = base.remaining() == 0;
        if !at_end {
            out.push(NonBinaryAction::Shift);
        }
        let n = base.items.len();
        let height = n.min(self.all.len() - 1);
        let groups = if *unaries < self.tables.max_unaries { &self.all } else { &self.several };
        out.extend_from_slice(&groups[height]);
        if let Some(at) = self.repetition(base).and_then(|action| out.binary_search(&action).ok()) {
            out.remove(at);
        }
        let fits = n <= self.tables.max_roots as usize || self.several[height].is_empty();
        if at_end && fits {
            out.push(NonBinaryAction::Finish);
        }
    }

    fn apply(&self, state: &mut NonBinaryState, action: NonBinaryAction) {
        let NonBinaryState { base, unaries } = state;
        base.note(action.code());
        match action {
            NonBinaryAction::Shift => {
                base.shift();
                *unaries = 0;
            }
            NonBinaryAction::Reduce { label, temporary, arity } => {
                base.join(self.heads.as_ref(), label, temporary, arity.into());
                *unaries = if arity == 1 { *unaries + 1 } else { 0 };
            }
            NonBinaryAction::Finish => base.finished = true,
        }
    }

    fn tree(&self, state: &NonBinaryState, tokens: &[Token]) -> Tree {
        state.base.tree(&self.tables.labels, tokens)
    }

    fn view<'a>(&'a self, state: &'a NonBinaryState) -> View<'a> {
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

    fn steps(&self, state: &NonBinaryState) -> usize {
        state.base.steps as usize
    }

    fn bound(&self, n: usize) -> usize {
        // Unaries may follow each of the n shifts and each of at most n - 1 reductions of several items.
        2 * n + 2 * n * self.tables.max_unaries as usize + 1
    }

    fn inventory(&self, _state: &NonBinaryState, out: &mut Vec<NonBinaryAction>) {
        out.clear();
        out.extend_from_slice(&self.inventory);
    }

    fn name(&self, action: NonBinaryAction) -> String {
        match action {
            NonBinaryAction::Shift => "SHIFT".to_owned(),
            NonBinaryAction::Finish => "FINISH".to_owned(),
            NonBinaryAction::Reduce { label, temporary, arity } => {
                let mark = if temporary { "*" } else { "" };
                format!("REDUCE-{}{mark}#{arity}", self.label_name(label))
            }
        }
    }

    fn label_name(&self, label: Label) -> &str {
        self.tables.labels.name(u32::from(label.0)).unwrap_or_default()
    }
}
