//! A choice of brackets: by label or by number of children.

use crate::eval::Counts;
use crate::eval::brackets::{Bracket, bare_label};
use crate::eval::evaluation::{CHILDREN, children_row};
use crate::tree::function_tags_problem;
use crate::{Error, Result};

/// Which brackets are counted; all by default. Each bracket is chosen by its own label and children, as in the tables
/// of `srparse eval`: for recall those of the gold bracket, for precision those of the test bracket.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BracketFilter {
    label: Option<String>,
    children: Option<usize>,
}

impl BracketFilter {
    /// Returns a filter for brackets with this label, without function tags, and with this number of children, one of
    /// [`CHILDREN`]; `None` for any.
    ///
    /// # Errors
    /// When the label has function tags, or the number of children is another.
    pub fn new(label: Option<&str>, children: Option<&str>) -> Result<Self> {
        let row = |children| {
            let row = CHILDREN.iter().position(|&row| row == children);
            let problem = || format!("`{children}` must be one of {}", CHILDREN.join(", "));
            row.ok_or_else(|| Error::config("children", problem()))
        };
        let problem = label.and_then(|label| function_tags_problem(label, bare_label(label)));
        if let (Some(label), Some(problem)) = (label, problem) {
            return Err(Error::config("label", format!("`{label}`: {problem}")));
        }
        Ok(Self { label: label.map(str::to_owned), children: children.map(row).transpose()? })
    }

    /// Returns the label.
    pub fn label(&self) -> Option<&str> {
        self.label.as_deref()
    }

    /// Returns the number of children, one of [`CHILDREN`].
    pub fn children(&self) -> Option<&'static str> {
        self.children.map(|row| CHILDREN[row])
    }

    /// Checks that there are brackets to compare, given the counts of each sentence.
    ///
    /// # Errors
    /// When a label or a number of children was chosen that no bracket has.
    pub fn check(&self, sentences: &[[Counts; 2]]) -> Result<()> {
        let empty = sentences.iter().flatten().all(|counts| counts.gold + counts.test == 0);
        if empty && *self != Self::default() {
            let problem = "no bracket has the label and the number of children asked for: the tables of `srparse eval` \
                           list both; labels are case-sensitive and without function tags";
            return Err(Error::config("brackets", problem));
        }
        Ok(())
    }

    pub(crate) fn contains(&self, bracket: &Bracket<'_>) -> bool {
        self.label.as_ref().is_none_or(|label| label == bracket.label)
            && self.children.is_none_or(|row| row == children_row(bracket))
    }
}
