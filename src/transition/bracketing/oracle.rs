//! The dynamic oracles of the top-down and in-order systems.
//!
//! The constructions follow Fernández-González and Gómez-Rodríguez 2018 ("Dynamic oracles for top-down and
//! in-order shift-reduce constituent parsing"); the loss is that of the non-binary system. Every open
//! constituent is closed somewhere, so it becomes either a missing gold bracket or a wrong bracket. Gold brackets
//! that begin before the buffer and end in it contain each other, so what an open constituent can become depends
//! only on its left edge:
//!
//! - *Top-down*, the open constituents of a left edge are matched with the gold brackets of that edge, from the
//!   outermost to the innermost. Those that begin at the buffer are empty: a gold bracket that begins there can
//!   also be opened inside them, if it ends no later than the innermost of them.
//! - *In order*, no two open constituents have the same left edge. One becomes the smallest gold bracket of that
//!   edge, or it is wrong and is closed at once; larger brackets can still be opened over it.
//!
//! The loss is exact while the limits on opened constituents and on the children of a root do not bind, and where
//! a constituent may have a single child of its own label: some action keeps it, and at the end it is the number
//! of brackets that differ. Where it may not, an open constituent that needs another child can cost more. The brackets of a unary chain have
//! the same loss in any order; of several optimal OPEN actions only the first on the gold path is returned.

use super::{BracketStep, Bracketing, Strategy, corner, only_corner};
use crate::Result;
use crate::symbols::Label;
use crate::transition::gold_brackets::{Gold, chain};
use crate::transition::inventory::SystemAction;
use crate::transition::{Action, ActionKind, Forest, Oracle, State, TransitionSystem};
use crate::tree::Tree;

/// The oracle of both strategies for a tree; see the module.
pub(super) struct OpenBrackets<'a> {
    system: &'a Bracketing,
    gold: Gold,
}

impl<'a> OpenBrackets<'a> {
    /// The oracle of a system for a tree.
    ///
    /// # Errors
    /// [`crate::Error::Unfit`] when the system cannot build it.
    pub(super) fn new(system: &'a Bracketing, tree: &Tree) -> Result<Self> {
        system.derivation(tree)?;
        Ok(Self { system, gold: Gold::new(tree, &system.tables.labels)? })
    }
}

/// The part of a configuration that decides which gold brackets can still be built.
#[derive(Debug, Clone)]
struct Configuration {
    order: Strategy,
    /// Label and left edge of each open constituent, from the outermost to the innermost.
    open: Vec<(Label, u32)>,
    /// The left edge of the last complete item and its unary chain, the lowest label first.
    last: Option<(u32, Vec<Label>)>,
    /// Whether the last complete item can become a left corner.
    is_corner: bool,
    /// Whether the innermost open constituent has one child; not updated by [`Configuration::after`].
    only_child: bool,
    buffer: u32,
}

impl Configuration {
    fn new(system: &Bracketing, state: &State, forest: &Forest) -> Self {
        let of = |node: u32| {
            let node = forest.node(node);
            node.label.map(|label| (label, node.start))
        };
        let (last, open) = (state.top(forest), forest.opened.view(state.open).to_vec());
        Self {
            order: system.tables.order,
            open: open.into_iter().filter_map(|open| of(open.node)).collect(),
            last: last.map(|id| (forest.node(id).start, chain(forest, id))),
            is_corner: corner(state, forest).is_some(),
            only_child: only_corner(state, forest),
            buffer: state.buffer,
        }
    }

    /// The gold brackets that begin at `left`, end at `least` (the buffer or behind it) or later, and have
    /// not been built, the innermost first; in groups of equal spans.
    fn missing(&self, gold: &Gold, left: u32, least: u32) -> Vec<Vec<Label>> {
        let built: &[Label] = match &self.last {
            Some((start, built)) if *start == left => built,
            _ => &[],
        };
        let mut groups = Vec::new();
        if least == self.buffer {
            groups.push(gold.remaining(left, self.buffer, built));
        }
        let further = gold.at(left, self.buffer + 1).chunk_by(|a, b| a.end == b.end);
        groups.extend(further.map(|group| group.iter().map(|bracket| bracket.label).collect()));
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// The number of gold brackets that can still be built minus the open constituents that become wrong ones.
    fn outlook(&self, gold: &Gold) -> i64 {
        match self.order {
            Strategy::TopDown => self.top_down(gold),
            Strategy::InOrder => self.in_order(gold),
        }
    }

    fn top_down(&self, gold: &Gold) -> i64 {
        let fresh = self.open.iter().rev().take_while(|open| open.1 == self.buffer).count();
        let (begun, empty) = self.open.split_at(self.open.len() - fresh);
        let mut sum = i64::from(gold.from(self.buffer + 1));
        for opened in begun.chunk_by(|a, b| a.1 == b.1) {
            // A bracket that ends at the buffer is out of reach while an empty constituent is open inside.
            let least = self.buffer + u32::from(fresh > 0);
            let groups = self.missing(gold, opened[0].1, least);
            let labels: Vec<Label> = opened.iter().map(|open| open.0).collect();
            let mut matched = vec![0; labels.len() + 1];
            groups.iter().rev().for_each(|group| match_group(&mut matched, &labels, group));
            sum += 2 * matched[labels.len()] - labels.len() as i64;
        }
        let labels: Vec<Label> = empty.iter().map(|open| open.0).collect();
        sum + opened_at_buffer(&labels, &self.missing(gold, self.buffer, self.buffer))
    }

    fn in_order(&self, gold: &Gold) -> i64 {
        let mut sum = i64::from(gold.from(self.buffer));
        for &(label, left) in &self.open {
            let groups = self.missing(gold, left, self.buffer);
            sum += groups.iter().map(|group| group.len() as i64).sum::<i64>();
            let fits = groups.first().is_some_and(|smallest| smallest.contains(&label));
            sum -= i64::from(!fits);
        }
        if let (true, Some((left, _))) = (self.is_corner, &self.last) {
            sum += self
                .missing(gold, *left, self.buffer)
                .iter()
                .map(|group| group.len() as i64)
                .sum::<i64>();
        }
        sum
    }

    /// The configuration after an action, and the number of right brackets minus wrong ones that it completes.
    fn after(&self, gold: &Gold, step: BracketStep) -> (Self, i64) {
        let mut next = self.clone();
        match step {
            BracketStep::Shift => {
                next.last = Some((self.buffer, Vec::new()));
                next.buffer += 1;
                next.is_corner = true;
                (next, 0)
            }
            BracketStep::Open(label, _) => {
                let left = match (self.order, &self.last) {
                    (Strategy::InOrder, Some((left, _))) => *left,
                    _ => self.buffer,
                };
                next.open.push((label, left));
                next.is_corner = false;
                (next, 0)
            }
            BracketStep::Close => {
                let Some((label, left)) = next.open.pop() else { return (next, 0) };
                let mut built = match next.last.take() {
                    Some((_, built)) if self.only_child => built,
                    _ => Vec::new(),
                };
                let remaining = gold.remaining(left, self.buffer, &built);
                built.push(label);
                next.last = Some((left, built));
                next.is_corner = true;
                (next, if remaining.contains(&label) { 1 } else { -1 })
            }
            BracketStep::Finish => (next, 0),
        }
    }

    /// The value of an action; the loss is least where it is highest.
    fn value(&self, gold: &Gold, step: BracketStep) -> i64 {
        if step == BracketStep::Finish {
            return 0;
        }
        let (next, completed) = self.after(gold, step);
        next.outlook(gold) + completed
    }

    /// The labels of gold brackets that can be opened here, the first on the gold path first.
    fn openable(&self, gold: &Gold) -> Vec<Label> {
        match (self.order, &self.last) {
            (Strategy::TopDown, _) => {
                let groups = self.missing(gold, self.buffer, self.buffer);
                let mut labels: Vec<Label> = groups.into_iter().flatten().collect();
                labels.reverse();
                // Labels that are open already come last: they may have to be opened again inside.
                let mut opened = Vec::new();
                for (label, _) in self.open.iter().filter(|open| open.1 == self.buffer) {
                    if let Some(at) = labels.iter().position(|other| other == label) {
                        opened.push(labels.remove(at));
                    }
                }
                labels.append(&mut opened);
                labels
            }
            (Strategy::InOrder, Some((left, _))) => {
                self.missing(gold, *left, self.buffer).into_iter().flatten().collect()
            }
            (Strategy::InOrder, None) => Vec::new(),
        }
    }
}

/// Extends `best`, for each number of open constituents from the outermost the largest number of them that can
/// become gold brackets, by a group of brackets inside those before. The order within a group does not matter.
fn match_group(best: &mut [i64], open: &[Label], group: &[Label]) {
    for last in (1..=open.len()).rev() {
        let mut most = best[last];
        pair_up(&open[..last], group, |first, paired| most = most.max(best[first] + paired));
        best[last] = most;
    }
}

/// Pairs the innermost open constituents with brackets of a group; after each pair, calls `each` with the first
/// paired constituent and the number of pairs.
fn pair_up(open: &[Label], group: &[Label], mut each: impl FnMut(usize, i64)) {
    let mut left = group.to_vec();
    let mut paired = 0;
    for (first, label) in open.iter().enumerate().rev() {
        if left.is_empty() {
            break;
        }
        if let Some(at) = left.iter().position(|other| other == label) {
            left.swap_remove(at);
            paired += 1;
            each(first, paired);
        }
    }
}

/// The share of the outlook of gold brackets that begin at the buffer, in groups from the innermost, and of the
/// empty constituents opened there.
fn opened_at_buffer(open: &[Label], groups: &[Vec<Label>]) -> i64 {
    let mut inside: i64 = groups.iter().map(|group| group.len() as i64).sum();
    if open.is_empty() {
        return inside;
    }
    let n = open.len();
    let mut outer = vec![0; n + 1];
    let mut most = 0;
    // The innermost open constituent ends with some group; groups that end later are matched or lost.
    for group in groups.iter().rev() {
        most = most.max(2 * outer[n] + inside);
        pair_up(open, group, |first, paired| most = most.max(2 * outer[first] + paired + inside));
        match_group(&mut outer, open, group);
        inside -= group.len() as i64;
    }
    most - n as i64
}

impl Oracle for OpenBrackets<'_> {
    fn optimal(&self, state: &State, forest: &Forest, out: &mut Vec<Action>) {
        let Self { system, gold } = self;
        let inventory = &system.inventory;
        system.legal(state, forest, out);
        let here = Configuration::new(system, state, forest);
        let openable = here.openable(gold);
        let opens = |action: Action| inventory.step(action).kind() == ActionKind::Open;
        // All labels that are not gold here have the same value.
        let others = out.iter().filter(|&&action| opens(action));
        let mut others = others.filter_map(|&action| inventory.step(action).label());
        let other = others.find(|label| !openable.contains(label));
        let mut candidates: Vec<Action> =
            out.iter().copied().filter(|&action| !opens(action)).collect();
        for label in openable.into_iter().chain(other) {
            let action = inventory.find(BracketStep::Open(label, false));
            let action = action.filter(|action| out.binary_search(action).is_ok());
            candidates.extend(action.filter(|action| !candidates.contains(action)));
        }
        let value = |&action: &Action| here.value(gold, inventory.step(action));
        let values: Vec<i64> = candidates.iter().map(value).collect();
        let best = values.iter().copied().max().unwrap_or(0);
        out.clear();
        for (&action, _) in candidates.iter().zip(&values).filter(|&(_, &value)| value == best) {
            // One OPEN action is enough.
            if !(opens(action) && out.iter().any(|&other| opens(other))) {
                out.push(action);
            }
        }
        out.sort_unstable();
    }

    /// Roots do not count: every tree has one.
    fn loss(&self, state: &State, forest: &Forest) -> Option<u32> {
        let Self { system, gold } = self;
        let (wrong, right) = gold.compare(forest, &forest.stacks.view(state.items).to_vec());
        let outlook = match state.finished {
            true => 0,
            false => Configuration::new(system, state, forest).outlook(gold),
        };
        let loss = i64::from(wrong) + i64::from(gold.len()) - i64::from(right) - outlook;
        Some(u32::try_from(loss).unwrap_or(0))
    }
}
