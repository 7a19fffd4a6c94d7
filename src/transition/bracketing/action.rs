//! The actions of the bracketing systems.

use crate::symbols::Label;
use crate::transition::{Action, ActionKind};

/// An action of the bracketing systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BracketAction {
    /// Moves the next token from the buffer.
    Shift,
    /// Completes the innermost open constituent.
    Close,
    /// Opens a nonterminal, or a temporary node of a binarization.
    Open(Label, bool),
    /// Ends the derivation.
    Finish,
}

impl Action for BracketAction {
    fn kind(self) -> ActionKind {
        match self {
            Self::Shift => ActionKind::Shift,
            Self::Close => ActionKind::Reduce,
            Self::Open(..) => ActionKind::Open,
            Self::Finish => ActionKind::Finish,
        }
    }

    fn label(self) -> Option<Label> {
        match self {
            Self::Open(label, _) => Some(label),
            _ => None,
        }
    }

    fn code(self) -> u32 {
        match self {
            Self::Shift => 0,
            Self::Close => 1,
            Self::Finish => 2,
            Self::Open(label, temporary) => 3 + u32::from(label.0) * 2 + u32::from(temporary),
        }
    }
}

impl BracketAction {
    /// The action with the new number of its label.
    pub(super) fn relabelled(self, numbers: &[Label]) -> Self {
        let label = |old: Label| numbers[usize::from(old.0)];
        match self {
            Self::Open(old, temporary) => Self::Open(label(old), temporary),
            end => end,
        }
    }

    pub(super) fn of_code(code: u32) -> Self {
        match code {
            0 => Self::Shift,
            1 => Self::Close,
            2 => Self::Finish,
            _ => Self::Open(Label(((code - 3) / 2) as u16), (code - 3) % 2 == 1),
        }
    }
}
