//! A choice of brackets: by label or by number of children.

use crate::eval::brackets::Bracket;
use crate::eval::evaluation::children_row;

/// Which brackets are counted; all by default. Each bracket is chosen by its own label and children, as in the tables
/// of `srparse eval`: for recall those of the gold bracket, for precision those of the test bracket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BracketFilter {
    /// The label, up to the first `-` or `=`; `None` for all labels.
    pub label: Option<String>,
    /// The row of [`CHILDREN`](crate::eval::CHILDREN); `None` for any number of children.
    pub children: Option<usize>,
}

impl BracketFilter {
    pub(crate) fn contains(&self, bracket: &Bracket<'_>) -> bool {
        self.label.as_ref().is_none_or(|label| label == bracket.label)
            && self.children.is_none_or(|row| row == children_row(bracket))
    }
}
