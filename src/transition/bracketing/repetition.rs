//! Constituents with a single child of their own label, which are not closed.
//!
//! Each gets another child. In order, the next word is its second child, so it is not opened after the last one.
//! Top-down, several may be open at a time; each needs a word outside the innermost, so they are counted.

use super::super::built_tree::visible_label;
use super::{BracketAction, BracketState, Bracketing, Open, Strategy};

impl Bracketing {
    /// Whether the innermost open constituent has a single child, complete and of its own label.
    pub(super) fn is_repetition(&self, state: &BracketState) -> bool {
        let base = &state.base;
        let (Some(open), Some(last)) = (state.innermost(), base.top()) else { return false };
        let node = base.forest.node(open.node);
        state.only_corner()
            && !node.temporary
            && node.label == visible_label(&base.forest, last, self.root)
    }

    /// Top-down, whether all words that remain are needed by repetitions outside the innermost open constituent.
    pub(super) fn must_close(&self, state: &BracketState) -> bool {
        let BracketState { base, repetitions, .. } = state;
        *repetitions > 0
            && base.remaining() == *repetitions
            && !state.is_empty()
            && !self.is_repetition(state)
    }

    /// Top-down, counts repetitions that an action begins or ends.
    pub(super) fn count_repetitions(&self, state: &mut BracketState, action: BracketAction) {
        let has_label = |open: Open, label| state.base.forest.node(open.node).label == Some(label);
        match action {
            BracketAction::Shift | BracketAction::Open(..) if self.is_repetition(state) => {
                state.repetitions = state.repetitions.saturating_sub(1);
            }
            BracketAction::Open(label, _) if state.is_empty() => {
                let repeats = state.innermost().is_some_and(|open| has_label(open, label));
                state.repetitions += u32::from(repeats);
            }
            _ => {}
        }
    }

    /// The nonterminal that would be a repetition without a word left for another child.
    pub(super) fn dead_end(&self, state: &BracketState) -> Option<BracketAction> {
        let BracketState { base, repetitions, .. } = state;
        let label = match self.tables.order {
            _ if self.may_repeat => None,
            Strategy::InOrder if base.remaining() > 0 => None,
            Strategy::InOrder => visible_label(&base.forest, state.corner()?, self.root),
            Strategy::TopDown if state.is_empty() && base.remaining() <= *repetitions + 1 => {
                base.forest.node(state.innermost()?.node).label
            }
            Strategy::TopDown => None,
        };
        label.map(|label| BracketAction::Open(label, false))
    }
}
