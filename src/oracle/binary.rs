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

use super::gold::{Bracket, Gold, chain};
use super::{DynamicOracle, Oracle};
use crate::Result;
use crate::transition::TransitionSystem;
use crate::transition::binary::{Binary, BinaryAction, BinaryState};
use crate::tree::{Child, Tree};

/// The oracle; see the module.
#[derive(Debug, Clone, Copy, Default)]
pub struct NextBracket;

/// A gold tree, prepared for the binary system.
#[derive(Debug, Clone)]
pub struct BinaryGold {
    below_root: Gold,
    /// The root, unless it has a single child and FINISH builds it.
    root: Option<Bracket>,
}

impl Oracle<Binary> for NextBracket {
    type Gold = BinaryGold;

    fn prepare(&self, system: &Binary, tree: &Tree) -> Result<BinaryGold> {
        system.derivation(tree)?;
        let below_root = Gold::new(tree, &system.tables().labels)?;
        let root = tree.root().filter(|&root| tree.children(root).len() > 1).map(|root| Bracket {
            end: tree.tokens().len() as u32,
            label: system.root(),
            head: tree.head_token(Child::Node(root)).unwrap_or(0),
        });
        Ok(BinaryGold { below_root, root })
    }

    fn optimal(
        &self,
        system: &Binary,
        gold: &BinaryGold,
        state: &BinaryState,
        out: &mut Vec<BinaryAction>,
    ) {
        system.legal(state, out);
        let wanted = next_action(gold, state);
        let wanted = wanted.filter(|action| out.contains(action));
        out.clear();
        out.extend(wanted);
    }
}

/// The action that leads to the smallest reachable gold bracket around the top of the stack.
fn next_action(gold: &BinaryGold, state: &BinaryState) -> Option<BinaryAction> {
    let Some(s0) = state.base.item(0) else {
        return Some(if state.base.remaining() > 0 {
            BinaryAction::Shift
        } else {
            BinaryAction::Finish
        });
    };
    let Some((start, target)) = next_bracket(gold, state) else {
        return match (state.base.remaining() > 0, state.base.item(1)) {
            (true, _) => Some(BinaryAction::Shift),
            (false, None) => Some(BinaryAction::Finish),
            (false, Some(_)) => None,
        };
    };
    if (start, target.end) == (s0.start, s0.end) {
        return Some(BinaryAction::Unary(target.label));
    }
    let inside = state.base.from_top().take_while(|item| item.start >= start).count();
    let complete = target.end == s0.end;
    if inside == 1 {
        return Some(BinaryAction::Shift);
    }
    let s1 = state.base.item(1)?;
    let holds_head = |start: u32, end: u32| start <= target.head && target.head < end;
    let last = complete && inside == 2;
    if holds_head(s0.start, s0.end) && !s1.temporary {
        // The head is on top: join its left sibling.
        return Some(if last {
            BinaryAction::Right(target.label)
        } else {
            BinaryAction::RightTemporary(target.label)
        });
    }
    if !s0.temporary
        && (s1.temporary || holds_head(s1.start, s1.end) || (complete && target.head < s0.start))
    {
        let left = if last {
            BinaryAction::Left(target.label)
        } else {
            BinaryAction::LeftTemporary(target.label)
        };
        return Some(left);
    }
    if !complete {
        return Some(BinaryAction::Shift);
    }
    Some(match (s1.temporary, last) {
        (true, true) => BinaryAction::Left(target.label),
        (true, false) => BinaryAction::LeftTemporary(target.label),
        (false, true) => BinaryAction::Right(target.label),
        (false, false) => BinaryAction::RightTemporary(target.label),
    })
}

/// The smallest gold bracket around the top of the stack that can still be built, with its left edge. It begins
/// where a stack item begins.
fn next_bracket(gold: &BinaryGold, state: &BinaryState) -> Option<(u32, Bracket)> {
    let s0 = state.base.item(0)?;
    for (depth, item) in state.base.from_top().enumerate() {
        let around = gold.below_root.at(item.start, s0.end);
        let done = if depth == 0 { built_over(around, state) } else { 0 };
        if let Some(&bracket) = around.get(done) {
            return Some((item.start, bracket));
        }
    }
    let is_over_all = |root: &Bracket| (s0.start, s0.end) == (0, root.end);
    gold.root.filter(|root| !is_over_all(root)).map(|root| (0, root))
}

/// The number of gold brackets around the top of the stack, from the innermost, that are built or given up:
/// those over its span up to the last one that its unary chain has built, or all over its span if its own label
/// is not among theirs.
fn built_over(around: &[Bracket], state: &BinaryState) -> usize {
    let base = &state.base;
    let (Some(top), Some(s0)) = (base.top(), base.item(0)) else { return 0 };
    if s0.label.is_none() {
        return 0;
    }
    let over_span = &around[..around.partition_point(|bracket| bracket.end == s0.end)];
    // Labels may repeat in a chain, so the whole chain is compared.
    let (mut above, mut is_gold) = (0, false);
    for label in chain(&base.forest, top) {
        let found = over_span[above..].iter().position(|bracket| bracket.label == label);
        is_gold = found.is_some();
        above += found.map_or(0, |at| at + 1);
    }
    if is_gold { above } else { over_span.len() }
}

impl DynamicOracle<Binary> for NextBracket {
    /// Roots do not count: every tree has one.
    fn loss(&self, system: &Binary, gold: &BinaryGold, state: &BinaryState) -> u32 {
        let base = &state.base;
        let (missing, wrong) = gold.below_root.missing(&base.forest, &base.items().to_vec());
        let is_edge = |position: u32| {
            base.from_top().any(|item| item.start == position) || position >= base.buffer
        };
        let is_ahead = |start: u32, end: u32| {
            let over_top = base.item(0).is_some_and(|s0| start < s0.start || end > s0.end);
            let unary =
                base.item(0).is_some_and(|s0| (start, end) == (s0.start, s0.end) && !s0.temporary);
            end > base.buffer || (end == base.buffer && (over_top || unary))
        };
        let is_open = !system.is_final(state);
        let is_lost =
            |(start, end): (u32, u32)| !(is_open && is_ahead(start, end) && is_edge(start));
        let lost = missing.iter().filter(|(start, bracket)| is_lost((*start, bracket.end))).count();
        lost as u32 + wrong
    }
}
