//! The dynamic oracle of the item system, for any order: it keeps gold items reachable.
//!
//! A gold item is reachable while no item crosses or contains it and, in a fixed order, while the last
//! inferred item does not come after it. The loss is the number of gold items that are neither inferred nor
//! reachable, plus the number of items that are not gold. Optimal actions have the least loss: in a fixed order
//! it is wrong to infer a gold item while others before it are reachable, because they are lost. So on the gold
//! path the optimal actions are all gold items whose children are on the frontier in a free order, and one item
//! in a fixed order.
//!
//! The loss ignores the limit on children: where wrong items leave a gold item with more children than the
//! limit, it counts as reachable until it is lost otherwise. This does not occur on the gold path.

use super::{ItemOrder, Items, TOP, is_past, label, span};
use crate::Result;
use crate::symbols::Label;
use crate::transition::gold_brackets::{Gold, chain};
use crate::transition::{Action, Forest, Oracle, State, TransitionSystem};
use crate::tree::Tree;

/// The oracle for a tree; see the module.
pub(super) struct ItemOracle<'a> {
    system: &'a Items,
    gold: Gold,
}

/// A gold item that can still be inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reachable {
    start: u32,
    end: u32,
    label: Label,
    /// Whether it is the lowest of those over its span.
    is_lowest: bool,
}

impl Reachable {
    /// Whether it is lost when another item, over `start..end`, is inferred.
    fn is_lost_by(self, start: u32, end: u32, order: ItemOrder) -> bool {
        let (same, outside) =
            ((self.start, self.end) == (start, end), self.end <= start || self.start >= end);
        let around = self.start <= start && self.end >= end;
        let past = match order {
            ItemOrder::Free => false,
            ItemOrder::LeftToRight => self.end < end,
            ItemOrder::RightToLeft => self.start > start,
        };
        past || !(same || outside || around)
    }
}

/// The gold items that can still be inferred, from left to right, the smaller first.
fn reachable(oracle: &ItemOracle<'_>, state: &State, forest: &Forest) -> Vec<Reachable> {
    let ItemOracle { system, gold } = oracle;
    let mut found = Vec::new();
    if state.finished {
        return found;
    }
    let items = &state.frontier.items;
    for &id in items {
        let node = forest.node(id);
        let start = node.start;
        let built = chain(forest, id);
        let own = gold.remaining(start, node.end, &built).into_iter();
        let own = own.map(|label| (node.end, label));
        let wider = gold.at(start, node.end + 1).iter().map(|bracket| (bracket.end, bracket.label));
        let mut before = None;
        for (end, label) in own.chain(wider) {
            let is_lowest = before != Some(end);
            before = Some(end);
            // Where an item ends, the frontier has an edge.
            let at = items.partition_point(|&id| forest.node(id).end < end);
            let is_edge = items.get(at).is_some_and(|&id| forest.node(id).end == end);
            if is_edge && !is_past(state, system.tables.order, (start, end)) {
                found.push(Reachable { start, end, label, is_lowest });
            }
        }
    }
    found
}

impl<'a> ItemOracle<'a> {
    /// The oracle of a system for a tree, without the nodes that the system cannot build.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when a label is unknown.
    pub(super) fn new(system: &'a Items, tree: &Tree) -> Result<Self> {
        let gold = Gold::new(&system.target(tree), &system.tables.labels)?;
        Ok(Self { system, gold })
    }
}

impl Oracle for ItemOracle<'_> {
    fn optimal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        let order = self.system.tables.order;
        self.system.legal(state, forest, out);
        let open_items = reachable(self, state, forest);
        let mut least = usize::MAX;
        // What an item over a span loses is the same for all labels, which stand together.
        let (mut last, mut lost) = ((0, 0), 0);
        let mut here: Vec<&Reachable> = Vec::new();
        let loss = |&action: &Action| {
            let (start, end) = span(state, forest, action.place);
            if label(action) == TOP {
                return open_items.len();
            }
            if last != (start, end) {
                last = (start, end);
                lost = open_items.iter().filter(|item| item.is_lost_by(start, end, order)).count();
                here.clear();
                here.extend(open_items.iter().filter(|item| (item.start, item.end) == last));
            }
            match here.iter().find(|item| item.label == label(action)) {
                Some(item) if item.is_lowest => lost,
                // Right, but not before those below it.
                Some(_) => usize::MAX,
                None => lost + 1,
            }
        };
        let losses = out.iter().map(loss).inspect(|&loss| least = least.min(loss));
        let losses: Vec<usize> = losses.collect();
        let mut losses = losses.iter();
        out.retain(|_| losses.next() == Some(&least));
    }

    /// Roots do not count: every tree has one.
    fn loss(&self, state: &State, forest: &Forest) -> Option<u32> {
        let (wrong, right) = self.gold.compare(forest, &state.frontier.items);
        let open = reachable(self, state, forest).len() as u32;
        Some(wrong + (self.gold.len() - right - open))
    }
}

#[cfg(test)]
mod tests;
