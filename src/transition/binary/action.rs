//! The actions of the binary system.

use crate::symbols::Label;
use crate::transition::ActionKind;
use crate::transition::inventory::SystemAction;

/// The effect of an action of the binary system; the direction names the head child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum BinaryStep {
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

impl SystemAction for BinaryStep {
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

    fn number(self) -> u32 {
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

    fn of_number(number: u32) -> Self {
        let Some(number) = number.checked_sub(2) else {
            return if number == 0 { Self::Shift } else { Self::Finish };
        };
        let label = Label((number / 5) as u16);
        match number % 5 {
            0 => Self::Unary(label),
            1 => Self::Left(label),
            2 => Self::LeftTemporary(label),
            3 => Self::Right(label),
            _ => Self::RightTemporary(label),
        }
    }

    fn with_label(self, label: Label) -> Self {
        match self {
            Self::Shift | Self::Finish => self,
            Self::Unary(_) => Self::Unary(label),
            Self::Left(_) => Self::Left(label),
            Self::LeftTemporary(_) => Self::LeftTemporary(label),
            Self::Right(_) => Self::Right(label),
            Self::RightTemporary(_) => Self::RightTemporary(label),
        }
    }

    fn name(self, label: &str) -> String {
        match self {
            Self::Shift => "SHIFT".to_owned(),
            Self::Finish => "FINISH".to_owned(),
            Self::Unary(_) => format!("REDUCE-UNARY-{label}"),
            Self::Left(_) => format!("REDUCE-LEFT-{label}"),
            Self::LeftTemporary(_) => format!("REDUCE-LEFT-{label}*"),
            Self::Right(_) => format!("REDUCE-RIGHT-{label}"),
            Self::RightTemporary(_) => format!("REDUCE-RIGHT-{label}*"),
        }
    }
}
