//! The actions of the binary system.

use crate::symbols::Label;
use crate::transition::{Action, ActionKind};

/// An action of the binary system; the direction names the head child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BinaryAction {
    /// Moves the next token to the stack.
    Shift,
    /// Builds a constituent over the topmost item.
    Unary(Label),
    /// Joins the two topmost items, headed by the left one.
    Left(Label),
    /// Like `Left`, with a temporary node.
    LeftTemporary(Label),
    /// Joins the two topmost items, headed by the right one.
    Right(Label),
    /// Like `Right`, with a temporary node.
    RightTemporary(Label),
    /// Ends the derivation.
    Finish,
}

impl Action for BinaryAction {
    fn kind(self) -> ActionKind {
        match self {
            Self::Shift => ActionKind::Shift,
            Self::Finish => ActionKind::Finish,
            _ => ActionKind::Reduce,
        }
    }

    fn label(self) -> Option<Label> {
        match self {
            Self::Shift | Self::Finish => None,
            Self::Unary(label)
            | Self::Left(label)
            | Self::LeftTemporary(label)
            | Self::Right(label)
            | Self::RightTemporary(label) => Some(label),
        }
    }

    fn code(self) -> u32 {
        let reduce = |label: Label, kind: u32| 2 + u32::from(label.0) * 5 + kind;
        match self {
            Self::Shift => 0,
            Self::Finish => 1,
            Self::Unary(label) => reduce(label, 0),
            Self::Left(label) => reduce(label, 1),
            Self::LeftTemporary(label) => reduce(label, 2),
            Self::Right(label) => reduce(label, 3),
            Self::RightTemporary(label) => reduce(label, 4),
        }
    }
}

impl BinaryAction {
    /// The action with the new number of its label.
    pub(super) fn relabelled(self, numbers: &[Label]) -> Self {
        let label = |old: Label| numbers[usize::from(old.0)];
        match self {
            Self::Shift | Self::Finish => self,
            Self::Unary(old) => Self::Unary(label(old)),
            Self::Left(old) => Self::Left(label(old)),
            Self::LeftTemporary(old) => Self::LeftTemporary(label(old)),
            Self::Right(old) => Self::Right(label(old)),
            Self::RightTemporary(old) => Self::RightTemporary(label(old)),
        }
    }

    pub(super) fn of_code(code: u32) -> Self {
        let Some(code) = code.checked_sub(2) else {
            return if code == 0 { Self::Shift } else { Self::Finish };
        };
        let label = Label((code / 5) as u16);
        match code % 5 {
            0 => Self::Unary(label),
            1 => Self::Left(label),
            2 => Self::LeftTemporary(label),
            3 => Self::Right(label),
            _ => Self::RightTemporary(label),
        }
    }
}
