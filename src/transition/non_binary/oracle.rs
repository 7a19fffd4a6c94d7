//! The dynamic oracle of the non-binary system (Fernández-González and Gómez-Rodríguez 2018, section 4).
//!
//! A gold bracket is reachable if it has not been built and begins in the buffer, or begins where a stack item
//! begins and does not end before the buffer. The loss of a configuration is the number of gold brackets that are
//! neither built nor reachable, plus the number of wrong brackets built. It respects the limit on unary
//! reductions. Brackets are compared with their labels. The brackets of a unary chain have the same loss in any
//! order; of several optimal actions only the one that builds the lowest bracket of a chain is returned, which
//! on the gold path is the replayed action alone.
//!
//! The loss is exact for a system with reductions of every label and number of items
//! ([`NonBinary::with_every_arity`]) in which labels may repeat in unary chains: some action always keeps it, and
//! at the end it is the number of brackets that differ. An inventory read off training trees may lack the reductions that keep it; the oracle
//! then gives the legal actions that raise it least.

use super::{NonBinary, NonBinaryStep};
use crate::Result;
use crate::symbols::Label;
use crate::transition::gold_brackets::{Gold, chain};
use crate::transition::inventory::SystemAction;
use crate::transition::{Action, Forest, Oracle, State, TransitionSystem};
use crate::tree::Tree;

/// The oracle for a tree; see the module.
pub(super) struct Reachability<'a> {
    system: &'a NonBinary,
    gold: Gold,
}

impl<'a> Reachability<'a> {
    /// The oracle of a system for a tree.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build it.
    pub(super) fn new(system: &'a NonBinary, tree: &Tree) -> Result<Self> {
        system.derivation(tree)?;
        Ok(Self { system, gold: Gold::new(tree, &system.tables.labels)? })
    }
}

/// The gold brackets that can still be built over the stack, from the top down.
struct Outlook {
    /// For each item the gold brackets that begin with it and end at the buffer, the lowest first.
    ending: Vec<Vec<Label>>,
    /// For each item the number of reachable gold brackets that begin with it.
    pending: Vec<u32>,
    /// The number of reductions of one item that may follow.
    unaries_left: u32,
    max_unaries: u32,
}

impl Outlook {
    fn new(oracle: &Reachability<'_>, state: &State, forest: &Forest) -> Self {
        let Reachability { system, gold } = oracle;
        let max_unaries = system.tables.max_unaries;
        let unaries_left = max_unaries.saturating_sub(state.run);
        let mut outlook =
            Self { ending: Vec::new(), pending: Vec::new(), unaries_left, max_unaries };
        for (depth, id) in forest.stacks.view(state.items).from_top().enumerate() {
            let start = forest.node(id).start;
            let built = if depth == 0 { chain(forest, id) } else { Vec::new() };
            let ending = gold.remaining(start, state.buffer, &built);
            let further = gold.at(start, state.buffer + 1).len() as u32;
            outlook.pending.push(further + outlook.reachable(ending.len() as u32, depth));
            outlook.ending.push(ending);
        }
        outlook
    }

    /// The number of brackets that begin with an item, end at the buffer and can be built.
    fn reachable(&self, ending: u32, depth: usize) -> u32 {
        // The first bracket over several items is not a unary.
        if depth == 0 { ending.min(self.unaries_left) } else { ending.min(self.max_unaries + 1) }
    }

    /// The rise of the loss by an action.
    fn cost(&self, step: NonBinaryStep) -> u32 {
        let all = |depth: usize| self.reachable(self.ending[depth].len() as u32, depth);
        match step {
            NonBinaryStep::Shift => (0..self.ending.len()).map(all).sum(),
            NonBinaryStep::Finish => self.pending.iter().sum(),
            NonBinaryStep::Reduce { label, arity, .. } => {
                let depth = usize::from(arity) - 1;
                let inside: u32 = self.pending[..depth].iter().sum();
                let hit = u32::from(self.ending[depth].contains(&label));
                let left = self.ending[depth].len() as u32 - hit;
                let unaries_left =
                    if depth == 0 { self.unaries_left - 1 } else { self.max_unaries };
                inside + all(depth) - hit - left.min(unaries_left) + (1 - hit)
            }
        }
    }
}

impl Oracle for Reachability<'_> {
    fn optimal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        let inventory = &self.system.inventory;
        self.system.legal(state, forest, out);
        let outlook = Outlook::new(self, state, forest);
        // The lowest bracket of each span for which there is a reduction.
        let mut gold_steps = Vec::new();
        for (ending, arity) in outlook.ending.iter().zip(1u8..=u8::MAX) {
            let reduce = |&label: &Label| NonBinaryStep::Reduce { label, temporary: false, arity };
            let is_legal = |&step: &NonBinaryStep| {
                inventory.find(step).is_some_and(|action| out.binary_search(&action).is_ok())
            };
            gold_steps.extend(ending.iter().map(reduce).find(is_legal));
        }
        let builds_nothing = |step: &NonBinaryStep| step.arity() == 0;
        let steps = || out.iter().map(|&action| inventory.step(action));
        let likely = steps().filter(builds_nothing).chain(gold_steps.iter().copied());
        let least = likely.map(|step| outlook.cost(step)).min();
        if least == Some(0) {
            out.retain(|&action| {
                let step = inventory.step(action);
                (step.arity() == 0 || gold_steps.contains(&step)) && outlook.cost(step) == 0
            });
            return;
        }
        let is_later_of_chain = |step: NonBinaryStep| {
            let depth = (step.arity() as usize).checked_sub(1);
            let in_chain = depth
                .zip(step.label())
                .is_some_and(|(depth, label)| outlook.ending[depth].contains(&label));
            in_chain && !gold_steps.contains(&step)
        };
        let least = steps().map(|step| outlook.cost(step)).min().unwrap_or(0);
        out.retain(|&action| {
            let step = inventory.step(action);
            outlook.cost(step) == least && !is_later_of_chain(step)
        });
    }

    /// Roots do not count: every tree has one.
    fn loss(&self, state: &State, forest: &Forest) -> Option<u32> {
        let Self { gold, .. } = self;
        let (wrong, right) = gold.compare(forest, &forest.stacks.view(state.items).to_vec());
        let reachable = if state.finished {
            0
        } else {
            let outlook = Outlook::new(self, state, forest);
            outlook.pending.iter().sum::<u32>() + gold.from(state.buffer)
        };
        Some(wrong + gold.len() - right - reachable)
    }
}
