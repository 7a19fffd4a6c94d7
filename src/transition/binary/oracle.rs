//! The dynamic oracle of the binary system: it aims at the smallest gold bracket that is still reachable.
//!
//! After Coavoux and Crabbé (2016) and Cross and Huang (2016): a gold bracket is reachable while its left edge
//! is the left edge of some stack item and its right edge is not passed. The oracle finds the smallest
//! reachable gold bracket around the top of the stack and gives the action that builds it: a shift while it
//! lacks words, else a reduction of the items inside it, to temporary nodes until it is complete. On the gold
//! path this is exactly the replayed derivation.
//!
//! Temporary nodes make it a heuristic. A temporary node with a wrong head or side is joined further, whatever
//! brackets that loses, and a gold bracket over a constituent with the right span and a wrong label is given
//! up rather than added on top.

use super::{Binary, BinaryStep};
use crate::Result;
use crate::transition::gold_brackets::{Bracket, Gold, chain};
use crate::transition::{Action, Forest, Oracle, State, TransitionSystem};
use crate::tree::{Child, Tree};

/// The oracle for a tree; see the module.
pub(super) struct NextBracket<'a> {
    system: &'a Binary,
    below_root: Gold,
    /// The root, unless it has a single child and FINISH builds it.
    root: Option<Bracket>,
}

impl<'a> NextBracket<'a> {
    /// The oracle of a system for a tree, head-marked.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build it.
    pub(super) fn new(system: &'a Binary, tree: &Tree) -> Result<Self> {
        system.derivation(tree)?;
        let below_root = Gold::new(tree, &system.tables.labels)?;
        let root = tree.root().filter(|&root| tree.children(root).len() > 1).map(|root| Bracket {
            end: tree.tokens().len() as u32,
            label: system.top,
            head: tree.head_token(Child::Node(root)).unwrap_or(0),
        });
        Ok(Self { system, below_root, root })
    }

    /// The action that leads to the smallest reachable gold bracket around the top of the stack.
    fn next_action(&self, state: &State, forest: &Forest) -> Option<BinaryStep> {
        let Some(s0) = state.item(forest, 0) else {
            return Some(if state.remaining() > 0 {
                BinaryStep::Shift
            } else {
                BinaryStep::Finish
            });
        };
        let Some((start, target)) = self.next_bracket(state, forest) else {
            return match (state.remaining() > 0, state.item(forest, 1)) {
                (true, _) => Some(BinaryStep::Shift),
                (false, None) => Some(BinaryStep::Finish),
                (false, Some(_)) => None,
            };
        };
        if (start, target.end) == (s0.start, s0.end) {
            return Some(BinaryStep::Unary(target.label));
        }
        let inside = state.from_top(forest).take_while(|item| item.start >= start).count();
        let complete = target.end == s0.end;
        if inside == 1 {
            return Some(BinaryStep::Shift);
        }
        let s1 = state.item(forest, 1)?;
        let holds_head = |start: u32, end: u32| start <= target.head && target.head < end;
        let temporary = !(complete && inside == 2);
        let join = |head_is_right| {
            Some(BinaryStep::Join { head_is_right, temporary, label: target.label })
        };
        if holds_head(s0.start, s0.end) && !s1.temporary {
            // The head is on top: join its left sibling.
            return join(true);
        }
        if !s0.temporary
            && (s1.temporary
                || holds_head(s1.start, s1.end)
                || (complete && target.head < s0.start))
        {
            return join(false);
        }
        if !complete {
            return Some(BinaryStep::Shift);
        }
        join(!s1.temporary)
    }

    /// The smallest gold bracket around the top of the stack that can still be built, with its left edge. It begins
    /// where a stack item begins.
    fn next_bracket(&self, state: &State, forest: &Forest) -> Option<(u32, Bracket)> {
        let s0 = state.item(forest, 0)?;
        for (depth, item) in state.from_top(forest).enumerate() {
            let around = self.below_root.at(item.start, s0.end);
            let done = if depth == 0 { built_over(around, state, forest) } else { 0 };
            if let Some(&bracket) = around.get(done) {
                return Some((item.start, bracket));
            }
        }
        let is_over_all = |root: &Bracket| (s0.start, s0.end) == (0, root.end);
        self.root.filter(|root| !is_over_all(root)).map(|root| (0, root))
    }
}

/// The number of gold brackets around the top of the stack, from the innermost, that are built or given up:
/// those over its span up to the last one that its unary chain has built, or all over its span if its own label
/// is not among theirs.
fn built_over(around: &[Bracket], state: &State, forest: &Forest) -> usize {
    let (Some(top), Some(s0)) = (state.top(forest), state.item(forest, 0)) else { return 0 };
    if s0.label.is_none() {
        return 0;
    }
    let over_span = &around[..around.partition_point(|bracket| bracket.end == s0.end)];
    // Labels may repeat in a chain, so the whole chain is compared.
    let (mut above, mut is_gold) = (0, false);
    for label in chain(forest, top) {
        let found = over_span[above..].iter().position(|bracket| bracket.label == label);
        is_gold = found.is_some();
        above += found.map_or(0, |at| at + 1);
    }
    if is_gold { above } else { over_span.len() }
}

impl Oracle for NextBracket<'_> {
    fn optimal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        self.system.legal(state, forest, out);
        let wanted = self.next_action(state, forest);
        let wanted = wanted.and_then(|step| self.system.inventory.find(step));
        let wanted = wanted.filter(|action| out.contains(action));
        out.clear();
        out.extend(wanted);
    }

    /// Roots do not count: every tree has one.
    fn loss(&self, state: &State, forest: &Forest) -> Option<u32> {
        let items = forest.stacks.view(state.items).to_vec();
        let (missing, wrong) = self.below_root.missing(forest, &items);
        let is_edge = |position: u32| {
            state.from_top(forest).any(|item| item.start == position) || position >= state.buffer
        };
        let is_ahead = |start: u32, end: u32| {
            let over_top = state.item(forest, 0).is_some_and(|s0| start < s0.start || end > s0.end);
            let unary = state
                .item(forest, 0)
                .is_some_and(|s0| (start, end) == (s0.start, s0.end) && !s0.temporary);
            end > state.buffer || (end == state.buffer && (over_top || unary))
        };
        let is_open = !state.finished;
        let is_lost =
            |(start, end): (u32, u32)| !(is_open && is_ahead(start, end) && is_edge(start));
        let lost = missing.iter().filter(|(start, bracket)| is_lost((*start, bracket.end))).count();
        Some(lost as u32 + wrong)
    }
}
