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

use super::gold::{Gold, chain};
use super::{DynamicOracle, Oracle};
use crate::Result;
use crate::symbols::Label;
use crate::transition::non_binary::{NonBinary, NonBinaryAction, NonBinaryState};
use crate::transition::{Action, TransitionSystem};
use crate::tree::Tree;

/// The oracle; see the module.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reachability;

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
    fn new(system: &NonBinary, gold: &Gold, state: &NonBinaryState) -> Self {
        let base = &state.base;
        let max_unaries = system.tables().max_unaries;
        let unaries_left = max_unaries.saturating_sub(state.unaries);
        let mut outlook =
            Self { ending: Vec::new(), pending: Vec::new(), unaries_left, max_unaries };
        for (depth, id) in base.items().from_top().enumerate() {
            let start = base.forest.node(id).start;
            let built = if depth == 0 { chain(&base.forest, id) } else { Vec::new() };
            let ending = gold.remaining(start, base.buffer, &built);
            let further = gold.at(start, base.buffer + 1).len() as u32;
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
    fn cost(&self, action: NonBinaryAction) -> u32 {
        let all = |depth: usize| self.reachable(self.ending[depth].len() as u32, depth);
        match action {
            NonBinaryAction::Shift => (0..self.ending.len()).map(all).sum(),
            NonBinaryAction::Finish => self.pending.iter().sum(),
            NonBinaryAction::Reduce { label, arity, .. } => {
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

impl Oracle<NonBinary> for Reachability {
    type Gold = Gold;

    fn prepare(&self, system: &NonBinary, tree: &Tree) -> Result<Gold> {
        system.derivation(tree)?;
        Gold::new(tree, &system.tables().labels)
    }

    fn optimal(
        &self,
        system: &NonBinary,
        gold: &Gold,
        state: &NonBinaryState,
        out: &mut Vec<NonBinaryAction>,
    ) {
        system.legal(state, out);
        let outlook = Outlook::new(system, gold, state);
        // The lowest bracket of each span for which there is a reduction.
        let mut gold_actions = Vec::new();
        for (ending, arity) in outlook.ending.iter().zip(1u8..=u8::MAX) {
            let reduce =
                |&label: &Label| NonBinaryAction::Reduce { label, temporary: false, arity };
            gold_actions.extend(ending.iter().map(reduce).find(|a| out.binary_search(a).is_ok()));
        }
        let builds_nothing = |action: &&NonBinaryAction| action.arity() == 0;
        let likely = out.iter().filter(builds_nothing).chain(&gold_actions);
        let least = likely.map(|&action| outlook.cost(action)).min();
        if least == Some(0) {
            out.retain(|&action| {
                (action.arity() == 0 || gold_actions.contains(&action)) && outlook.cost(action) == 0
            });
            return;
        }
        let is_later_of_chain = |action: NonBinaryAction| {
            let depth = (action.arity() as usize).checked_sub(1);
            let in_chain = depth
                .zip(action.label())
                .is_some_and(|(depth, label)| outlook.ending[depth].contains(&label));
            in_chain && !gold_actions.contains(&action)
        };
        let least = out.iter().map(|&action| outlook.cost(action)).min().unwrap_or(0);
        out.retain(|&action| outlook.cost(action) == least && !is_later_of_chain(action));
    }
}

impl DynamicOracle<NonBinary> for Reachability {
    /// Roots do not count: every tree has one.
    fn loss(&self, system: &NonBinary, gold: &Gold, state: &NonBinaryState) -> u32 {
        let (wrong, right) = gold.compare(&state.base.forest, &state.base.items().to_vec());
        let reachable = if system.is_final(state) {
            0
        } else {
            let outlook = Outlook::new(system, gold, state);
            outlook.pending.iter().sum::<u32>() + gold.from(state.base.buffer)
        };
        wrong + gold.len() - right - reachable
    }
}
