//! Constituents with a single child of their own label, which are not closed.
//!
//! Each gets another child. In order, the next word is its second child, so it is not opened after the last one.
//! Top-down, several may be open at a time; each needs a word outside the innermost, so they are counted.

use super::super::built_tree::visible_label;
use super::{BracketStep, Bracketing, Strategy, corner, innermost, is_empty, only_corner};
use crate::transition::{Action, Forest, Open, State};

impl Bracketing {
    /// Whether the innermost open constituent has a single child, complete and of its own label.
    pub(super) fn is_repetition(&self, state: &State, forest: &Forest) -> bool {
        let (Some(open), Some(last)) = (innermost(state, forest), state.top(forest)) else {
            return false;
        };
        let node = forest.node(open.node);
        only_corner(state, forest)
            && !node.temporary
            && node.label == visible_label(forest, last, self.root)
    }

    /// Top-down, whether all words that remain are needed by repetitions outside the innermost open constituent.
    pub(super) fn must_close(&self, state: &State, forest: &Forest) -> bool {
        state.repetitions > 0
            && state.remaining() == state.repetitions
            && !is_empty(state, forest)
            && !self.is_repetition(state, forest)
    }

    /// Top-down, counts repetitions that an action begins or ends.
    pub(super) fn count_repetitions(&self, state: &mut State, forest: &Forest, step: BracketStep) {
        let has_label = |open: Open, label| forest.node(open.node).label == Some(label);
        match step {
            BracketStep::Shift | BracketStep::Open(..) if self.is_repetition(state, forest) => {
                state.repetitions = state.repetitions.saturating_sub(1);
            }
            BracketStep::Open(label, _) if is_empty(state, forest) => {
                let repeats = innermost(state, forest).is_some_and(|open| has_label(open, label));
                state.repetitions += u32::from(repeats);
            }
            _ => {}
        }
    }

    /// The nonterminal that would be a repetition without a word left for another child.
    pub(super) fn dead_end(&self, state: &State, forest: &Forest) -> Option<Action> {
        let label = match self.tables.order {
            _ if self.may_repeat => None,
            Strategy::InOrder if state.remaining() > 0 => None,
            Strategy::InOrder => visible_label(forest, corner(state, forest)?, self.root),
            Strategy::TopDown
                if is_empty(state, forest) && state.remaining() <= state.repetitions + 1 =>
            {
                forest.node(innermost(state, forest)?.node).label
            }
            Strategy::TopDown => None,
        };
        label.and_then(|label| self.inventory.find(BracketStep::Open(label, false)))
    }
}
