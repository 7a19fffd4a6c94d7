//! The actions of the binary system.

use crate::symbols::Label;
use crate::transition::ActionKind;
use crate::transition::inventory::SystemAction;

/// The effect of an action of the binary system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum BinaryStep {
    /// Moves the next token to the stack.
    Shift,
    /// Builds a constituent over the topmost item.
    Unary(Label),
    /// Joins the two topmost items.
    Join {
        /// Whether the right one is the head.
        head_is_right: bool,
        /// Whether the node is temporary.
        temporary: bool,
        label: Label,
    },
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
            Self::Unary(label) | Self::Join { label, .. } => Some(label),
        }
    }

    fn number(self) -> u32 {
        let reduce = |label: Label, kind: u32| 2 + u32::from(label.0) * 5 + kind;
        match self {
            Self::Shift => 0,
            Self::Finish => 1,
            Self::Unary(label) => reduce(label, 0),
            Self::Join { head_is_right, temporary, label } => {
                reduce(label, 1 + 2 * u32::from(head_is_right) + u32::from(temporary))
            }
        }
    }

    fn of_number(number: u32) -> Self {
        let Some(number) = number.checked_sub(2) else {
            return if number == 0 { Self::Shift } else { Self::Finish };
        };
        let label = Label((number / 5) as u16);
        match number % 5 {
            0 => Self::Unary(label),
            kind => Self::Join { head_is_right: kind > 2, temporary: kind % 2 == 0, label },
        }
    }

    fn with_label(self, label: Label) -> Self {
        match self {
            Self::Shift | Self::Finish => self,
            Self::Unary(_) => Self::Unary(label),
            Self::Join { head_is_right, temporary, .. } => {
                Self::Join { head_is_right, temporary, label }
            }
        }
    }

    fn name(self, label: &str) -> String {
        match self {
            Self::Shift => "SHIFT".to_owned(),
            Self::Finish => "FINISH".to_owned(),
            Self::Unary(_) => format!("REDUCE-UNARY-{label}"),
            Self::Join { head_is_right, temporary, .. } => {
                let head = if head_is_right { "RIGHT" } else { "LEFT" };
                format!("REDUCE-{head}-{label}{}", if temporary { "*" } else { "" })
            }
        }
    }
}
