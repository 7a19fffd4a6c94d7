//! The actions of the bracketing systems.

use crate::symbols::Label;
use crate::transition::ActionKind;
use crate::transition::inventory::SystemAction;

/// The effect of an action of the bracketing systems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum BracketStep {
    /// Moves the next token from the buffer.
    Shift,
    /// Completes the innermost open constituent.
    Close,
    /// Opens a nonterminal, or a temporary node of a binarization.
    Open(Label, bool),
    /// Ends the derivation.
    Finish,
}

impl SystemAction for BracketStep {
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

    fn number(self) -> u32 {
        match self {
            Self::Shift => 0,
            Self::Close => 1,
            Self::Finish => 2,
            Self::Open(label, temporary) => 3 + u32::from(label.0) * 2 + u32::from(temporary),
        }
    }

    fn of_number(number: u32) -> Self {
        match number {
            0 => Self::Shift,
            1 => Self::Close,
            2 => Self::Finish,
            _ => Self::Open(Label(((number - 3) / 2) as u16), (number - 3) % 2 == 1),
        }
    }

    fn with_label(self, label: Label) -> Self {
        match self {
            Self::Open(_, temporary) => Self::Open(label, temporary),
            end => end,
        }
    }

    fn name(self, label: &str) -> String {
        match self {
            Self::Shift => "SHIFT".to_owned(),
            Self::Close => "CLOSE".to_owned(),
            Self::Finish => "FINISH".to_owned(),
            Self::Open(_, temporary) => {
                let mark = if temporary { "*" } else { "" };
                format!("OPEN-{label}{mark}")
            }
        }
    }
}
