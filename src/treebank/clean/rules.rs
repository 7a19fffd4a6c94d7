//! Rules of Tsurgeon as a setting of cleaning.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::find::transform::Rules;
use crate::tree::Tree;

/// Rules that change the trees of a treebank; see [`Rules`].
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TreeRules {
    text: String,
    /// `None` if the text is empty.
    rules: Option<Arc<Rules>>,
}

impl TreeRules {
    /// Returns whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.rules.is_none()
    }

    /// The tree after the rules; a tree on which they fail is not changed.
    pub(super) fn apply(&self, tree: Tree) -> Tree {
        match self.change(&tree) {
            Some(Ok(changed)) => changed,
            _ => tree,
        }
    }

    /// The tree after the rules, if there are any.
    ///
    /// # Errors
    /// When they do not end, leave no tree, or make too large a tree.
    pub(in crate::treebank) fn change(&self, tree: &Tree) -> Option<Result<Tree>> {
        self.rules.as_ref().map(|rules| rules.changer().change(tree.clone()))
    }
}

impl PartialEq for TreeRules {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for TreeRules {}

impl TryFrom<String> for TreeRules {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let rules = match text.trim() {
            "" => None,
            _ => Some(Arc::new(Rules::parse(&text, "rules")?)),
        };
        Ok(Self { text, rules })
    }
}

impl From<TreeRules> for String {
    fn from(rules: TreeRules) -> Self {
        rules.text
    }
}
