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
mod oracle;

use action::BinaryStep;

use super::gold_tree::{
    MAX_LABELS, ROOT, check_run, check_tree, label_of, repeats_a_label, too_many_labels,
};
use super::inventory::{Inventory, SystemAction, stored};
use super::{Action, ActionTable, Forest, Oracle, State, StoredSystem, TransitionSystem};
use crate::symbols::{Label, Sentence, Symbols};
use crate::tree::binarize::binarize;
use crate::tree::{Tree, Visit};
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
    inventory: Inventory<BinaryStep>,
    unary: Vec<Action>,
    binary: [Vec<Action>; 2],
    temporary: [Vec<Action>; 2],
    /// The binary reductions that cover the whole sentence: `TOP` is among them.
    root_binary: [Vec<Action>; 2],
}

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
                unaries = if matches!(action, BinaryStep::Unary(_)) { unaries + 1 } else { 0 };
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
        let join =
            |head_is_right| BinaryStep::Join { head_is_right, temporary: false, label: common };
        seen.extend([BinaryStep::Shift, BinaryStep::Finish, join(false), join(true)]);
        let actions = seen.into_iter().map(SystemAction::number).collect();
        Self::from_tables(BinaryTables { labels, actions, max_unaries, repeated_labels })
    }
}

/// The actions that build a tree, whether or not some system has them all.
fn derive(tree: &Tree, labels: &Symbols) -> Result<Vec<BinaryStep>> {
    check_tree(tree)?;
    let binary = binarize(tree);
    let mut actions = Vec::with_capacity(2 * tree.tokens().len() + tree.nodes().len() + 1);
    for step in binary.traverse() {
        match step {
            Visit::Open(_) => {}
            Visit::Token(_) => actions.push(BinaryStep::Shift),
            Visit::Close(id) => {
                let node = binary.node(id);
                let is_root = Some(id) == binary.root();
                let label = label_of(labels, &node.label)?;
                let n = binary.children(id).len();
                // A node whose head is not marked is headed by its last child.
                let (head_is_right, temporary) = (node.head != Some(0), node.temporary);
                match n {
                    1 if is_root => {}
                    1 => actions.push(BinaryStep::Unary(label)),
                    _ => actions.push(BinaryStep::Join { head_is_right, temporary, label }),
                }
            }
        }
    }
    actions.push(BinaryStep::Finish);
    Ok(actions)
}

impl StoredSystem for Binary {
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
        let ends = [BinaryStep::Shift, BinaryStep::Finish];
        let inventory = Inventory::new(&tables.actions, &tables.labels, &ends, "binary")?;
        // Those that are headed by the left item, and those that are headed by the right one.
        let joins = |is_temporary: bool, may_be_top: bool| {
            [false, true].map(|is_right| {
                inventory.select(|step| {
                    matches!(step, BinaryStep::Join { head_is_right, temporary, label }
                        if (head_is_right, temporary) == (is_right, is_temporary)
                            && (may_be_top || label != top))
                })
            })
        };
        let groups = joins(false, false);
        if groups.iter().any(Vec::is_empty) {
            return Err(Error::corrupt("the action table is not that of a binary system"));
        }
        Ok(Self {
            unary: inventory.select(|step| matches!(step, BinaryStep::Unary(l) if l != top)),
            temporary: joins(true, true),
            root_binary: joins(false, true),
            binary: groups,
            top,
            inventory,
            tables,
        })
    }

    fn union(&self, other: &Self) -> Result<Self> {
        let mut tables = self.tables.clone();
        let (labels, others) = (&mut tables.labels, &other.tables.labels);
        tables.actions = self.inventory.union(labels, &other.inventory, others)?;
        tables.max_unaries = tables.max_unaries.max(other.tables.max_unaries);
        tables.repeated_labels |= other.tables.repeated_labels;
        Self::from_tables(tables)
    }
}

impl TransitionSystem for Binary {
    fn stored(&self) -> serde_json::Value {
        stored(&self.tables)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![
            ("labels", self.tables.labels.len().to_string()),
            ("actions", self.n_actions().to_string()),
            ("consecutive unaries, at most", self.tables.max_unaries.to_string()),
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
        let labels = &self.tables.labels;
        self.inventory.derivation(derive(tree, labels)?, labels)
    }

    fn has_dynamic_oracle(&self) -> bool {
        true
    }

    fn dynamic_oracle<'a>(&'a self, tree: &Tree) -> Result<Option<Box<dyn Oracle + 'a>>> {
        Ok(Some(Box::new(oracle::NextBracket::new(self, tree)?)))
    }

    fn start(&self, sentence: &Sentence) -> (State, Forest) {
        (State::new(sentence), Forest::with_room_for(sentence.len(), true))
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
        let Some(s0) = state.item(forest, 0) else {
            if at_end {
                out.push(self.inventory.finish());
            }
            return;
        };
        // A complete TOP takes no parent.
        let is_root = s0.label == Some(self.top);
        if !s0.temporary && !is_root && state.run < self.tables.max_unaries {
            let own = if self.tables.repeated_labels { None } else { s0.label };
            let own = own.and_then(|label| self.inventory.find(BinaryStep::Unary(label)));
            out.extend(self.unary.iter().filter(|&&action| Some(action) != own));
        }
        if let Some(s1) = state.item(forest, 1) {
            let is_last = at_end && state.items.len() == 2;
            let dead_end = at_end && state.item(forest, 2).is_none_or(|s2| s2.temporary);
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
            out.push(self.inventory.finish());
        }
    }

    fn apply(&self, state: &mut State, forest: &mut Forest, action: Action) {
        state.note(action.code);
        match self.inventory.step(action) {
            BinaryStep::Shift => {
                state.shift(forest);
                state.run = 0;
            }
            BinaryStep::Unary(label) => {
                state.join(forest, (label, false), 1, |_, _| 0);
                state.run += 1;
            }
            BinaryStep::Join { head_is_right, temporary, label } => {
                state.join(forest, (label, temporary), 2, |_, _| usize::from(head_is_right));
                state.run = 0;
            }
            BinaryStep::Finish => state.finished = true,
        }
    }

    fn bound(&self, n: usize) -> usize {
        2 * n + 2 * n * self.tables.max_unaries as usize + 1
    }
}
