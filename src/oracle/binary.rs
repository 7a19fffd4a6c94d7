//! A dynamic oracle for the binary system: head for the smallest gold bracket still within reach.
//!
//! After Coavoux and Crabbé 2016 and Cross and Huang 2016: a gold bracket is reachable while its left
//! edge is the left edge of some stack item and its right edge is not passed. In any state the oracle
//! finds the smallest reachable gold bracket around the top of the stack and says what builds it:
//! shift while it has words to come, else join what lies inside it, with a temporary node until it is
//! whole. On the gold path this is exactly the replayed derivation.
//!
//! It is a heuristic where temporaries make it so. A temporary whose head or side is wrong is joined
//! on rather than weighed against the brackets it spoils, and a gold bracket over a constituent of a
//! wrong label but the right span is given up rather than added on top.

use super::{DynamicOracle, Oracle};
use crate::symbols::Label;
use crate::transition::binary::{Binary, BinaryAction, BinaryState, ROOT};
use crate::transition::{Forest, TransitionSystem};
use crate::tree::{Child, Tree};
use crate::{Error, Result};

/// The oracle; see the module.
#[derive(Debug, Clone, Copy, Default)]
pub struct NextBracket;

/// A gold bracket.
#[derive(Debug, Clone, Copy)]
struct Bracket {
    label: Label,
    start: u32,
    end: u32,
    head: u32,
    parent: u32,
}

/// No bracket.
const NONE: u32 = u32::MAX;

/// A gold tree as brackets that know their parents.
#[derive(Debug, Clone)]
pub struct GoldBrackets {
    /// In post-order; the `TOP` over a single constituent is left out, FINISH makes it.
    brackets: Vec<Bracket>,
    /// The smallest bracket around each token.
    around: Vec<u32>,
}

impl Oracle<Binary> for NextBracket {
    type Gold = GoldBrackets;

    fn prepare(&self, system: &Binary, tree: &Tree) -> Result<GoldBrackets> {
        system.derivation(tree)?;
        let Some(root) = tree.root() else { return Err(Error::Unfit("an empty tree".into())) };
        let implied = tree.children(root).len() <= 1;
        let mut gold =
            GoldBrackets { brackets: Vec::new(), around: vec![NONE; tree.tokens().len()] };
        for id in tree.ids() {
            if id == root && implied {
                continue;
            }
            let node = tree.node(id);
            let label = system.tables().labels.position(&node.label).unwrap_or(0);
            let here = gold.brackets.len() as u32;
            for &child in tree.children(id) {
                match child {
                    Child::Node(child) => gold.brackets[child.index()].parent = here,
                    Child::Token(position) => gold.around[position as usize] = here,
                }
            }
            let head = tree.head_token(Child::Node(id)).unwrap_or(node.start);
            let bracket = Bracket {
                label: Label(label as u16),
                start: node.start,
                end: node.end,
                head,
                parent: NONE,
            };
            gold.brackets.push(bracket);
        }
        Ok(gold)
    }

    fn optimal(
        &self,
        system: &Binary,
        gold: &GoldBrackets,
        state: &BinaryState,
        out: &mut Vec<BinaryAction>,
    ) {
        system.legal(state, out);
        let wanted = wanted(gold, state);
        let wanted = wanted.filter(|action| out.contains(action));
        out.clear();
        out.extend(wanted);
    }
}

/// The action that leads to the smallest reachable gold bracket around the top of the stack.
fn wanted(gold: &GoldBrackets, state: &BinaryState) -> Option<BinaryAction> {
    let Some(s0) = state.item(0) else {
        return Some(if state.remaining() > 0 {
            BinaryAction::Shift
        } else {
            BinaryAction::Finish
        });
    };
    let Some(target) = next_bracket(gold, state) else {
        return match (state.remaining() > 0, state.item(1)) {
            (true, _) => Some(BinaryAction::Shift),
            (false, None) => Some(BinaryAction::Finish),
            (false, Some(_)) => None,
        };
    };
    if (target.start, target.end) == (s0.start, s0.end) {
        return Some(BinaryAction::Unary(target.label));
    }
    let inside = state.items().take_while(|item| item.start >= target.start).count();
    let complete = target.end == s0.end;
    if inside == 1 {
        return Some(BinaryAction::Shift);
    }
    let s1 = state.item(1)?;
    let holds_head = |start: u32, end: u32| start <= target.head && target.head < end;
    let last = complete && inside == 2;
    if holds_head(s0.start, s0.end) && !s1.temporary {
        // The head stands on top: take the left sibling.
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

/// The smallest gold bracket around the top of the stack that can still be built.
fn next_bracket(gold: &GoldBrackets, state: &BinaryState) -> Option<Bracket> {
    let s0 = state.item(0)?;
    let mut at = gold.around[s0.start as usize];
    let covers = |bracket: &Bracket| bracket.start <= s0.start && bracket.end >= s0.end;
    while at != NONE && !covers(&gold.brackets[at as usize]) {
        at = gold.brackets[at as usize].parent;
    }
    if let (Some(&top), true) = (state.stack().last(), s0.label.is_some()) {
        at = above_own_span(gold, at, state.forest(), top);
    }
    // Its left edge must be that of a stack item; every item is looked at once on the way up.
    let mut edges = state.items().map(|item| item.start).peekable();
    while at != NONE {
        let bracket = gold.brackets[at as usize];
        while edges.peek().is_some_and(|&edge| edge > bracket.start) {
            edges.next();
        }
        if edges.peek() == Some(&bracket.start) {
            return Some(bracket);
        }
        at = bracket.parent;
    }
    None
}

/// The first bracket above those over the very span of a constituent that it stands for: those that
/// the unary chain at its top has built, from the lowest up, and what is below them; all of them if the
/// topmost label of the chain is none of theirs.
fn above_own_span(gold: &GoldBrackets, from: u32, forest: &Forest, top: u32) -> u32 {
    let span = (forest.node(top).start, forest.node(top).end);
    let next = |at: u32| {
        let bracket = gold.brackets.get(at as usize)?;
        ((bracket.start, bracket.end) == span).then_some(bracket)
    };
    // Labels repeat in chains, so the whole chain is compared, not its topmost label alone.
    let mut chain = Vec::new();
    let mut id = top;
    while let (Some(label), false) = (forest.node(id).label, forest.node(id).temporary) {
        chain.push(label);
        match *forest.children(id) {
            [child] => id = child,
            _ => break,
        }
    }
    let (mut above_match, mut found) = (from, false);
    for &label in chain.iter().rev() {
        let mut at = above_match;
        found = false;
        while let (Some(bracket), false) = (next(at), found) {
            at = bracket.parent;
            found = bracket.label == label;
        }
        if found {
            above_match = at;
        }
    }
    while let (Some(bracket), false) = (next(above_match), found) {
        above_match = bracket.parent;
    }
    above_match
}

impl DynamicOracle<Binary> for NextBracket {
    /// Roots count for nothing: every tree has one.
    fn loss(&self, system: &Binary, gold: &GoldBrackets, state: &BinaryState) -> u32 {
        let is_root = |label: Label| system.label_name(label) == ROOT;
        let mut built: Vec<(u32, u32, Label)> = Vec::new();
        let mut ids: Vec<u32> = state.stack().to_vec();
        while let Some(id) = ids.pop() {
            let node = state.forest().node(id);
            if let (Some(label), false) = (node.label.filter(|&l| !is_root(l)), node.temporary) {
                built.push((node.start, node.end, label));
            }
            ids.extend_from_slice(state.forest().children(id));
        }
        let mut lost = 0;
        let edge = |position: u32| {
            state.items().any(|item| item.start == position) || position >= state.buffer()
        };
        let open = !system.is_final(state);
        for bracket in gold.brackets.iter().filter(|bracket| !is_root(bracket.label)) {
            let key = (bracket.start, bracket.end, bracket.label);
            if let Some(at) = built.iter().position(|&built| built == key) {
                built.swap_remove(at);
                continue;
            }
            let over_top =
                state.item(0).is_some_and(|s0| bracket.start < s0.start || bracket.end > s0.end);
            let unary = state.item(0).is_some_and(|s0| {
                (bracket.start, bracket.end) == (s0.start, s0.end) && !s0.temporary
            });
            let ahead = open
                && (bracket.end > state.buffer()
                    || (bracket.end == state.buffer() && (over_top || unary)));
            lost += u32::from(!(ahead && edge(bracket.start)));
        }
        lost + built.len() as u32
    }
}
