//! Markovization: labels that remember some of their context (Klein and Manning 2003, section 2).
//!
//! - Horizontal: a temporary node `NP*` of a binarization marks a place among the children of an NP. Of the siblings
//!   to the left of it, it remembers the last few: `NP|<DT-JJ>*`.
//! - Vertical: a constituent remembers its ancestors: `NP^<S>`. Its tokens keep their tags.
//!
//! Parses have labels [`without_ancestors`] again. To a transition system labels that remember different things are different
//! labels: a parse may have a constituent over an only child of its plain label where no training tree has.

use serde::{Deserialize, Serialize};

use super::Tree;

/// What labels remember.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Markovization {
    /// How many siblings a temporary node remembers at most; a large number stands for all.
    #[schemars(range(max = 1_000_000_000))]
    pub horizontal: u32,
    /// How many labels on the way to the root a constituent knows, with its own: 1 for its own alone, 2 for that of its
    /// parent too.
    #[schemars(range(min = 1, max = 1_000_000_000))]
    pub vertical: u32,
}

impl Default for Markovization {
    fn default() -> Self {
        Self { horizontal: 0, vertical: 1 }
    }
}

impl Markovization {
    /// Returns the tree with labels that remember ancestors. The root, and whatever stands alone, stays as it is.
    pub fn annotate(self, tree: &Tree) -> Tree {
        let parents = tree.parents();
        let mut annotated = tree.clone();
        for id in tree.ids() {
            let ancestors = std::iter::successors(parents[id.index()], |id| parents[id.index()]);
            let names: Vec<&str> = ancestors
                .take(self.vertical.saturating_sub(1) as usize)
                .map(|id| tree.node(id).label.as_str())
                .collect();
            if !names.is_empty() {
                let label = format!("{}^<{}>", tree.node(id).label, names.join("-"));
                annotated.nodes_mut()[id.index()].label = label.into();
            }
        }
        annotated
    }
}

/// The label of a constituent without its ancestors.
pub fn without_ancestors(label: &str) -> &str {
    cut(label, "^<")
}

/// The category that a label has without what it remembers, also that of a temporary node: `NP` of `NP^<S>|<DT>`.
pub fn category(label: &str) -> &str {
    without_ancestors(cut(label, "|<"))
}

fn cut<'a>(label: &'a str, border: &str) -> &'a str {
    let at = label.strip_suffix('>').and_then(|label| label.rfind(border));
    at.map_or(label, |at| &label[..at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::TreeBuilder;

    #[test]
    fn labels_remember_ancestors_and_forget_them_again() {
        let mut builder = TreeBuilder::new();
        for label in ["TOP", "S", "VP", "VP"] {
            builder.open(label);
        }
        builder.token("go", "VB");
        (0..4).for_each(|_| builder.close());
        let tree = builder.finish();
        for (vertical, expected) in [
            (1, ["VP", "VP", "S", "TOP"]),
            (2, ["VP^<VP>", "VP^<S>", "S^<TOP>", "TOP"]),
            (9, ["VP^<VP-S-TOP>", "VP^<S-TOP>", "S^<TOP>", "TOP"]),
        ] {
            let annotated = Markovization { vertical, ..Markovization::default() }.annotate(&tree);
            let labels = annotated.nodes().iter().map(|node| node.label.as_str());
            assert!(labels.clone().eq(expected), "{annotated:?}");
            assert!(labels.map(without_ancestors).eq(["VP", "VP", "S", "TOP"]));
        }
        for label in ["<", "^<", "NP", "A>", "A^B"] {
            assert_eq!(without_ancestors(label), label);
        }
    }

    #[test]
    fn a_category_remembers_nothing() {
        for label in ["NP", "NP^<S>", "NP^<VP-S>", "NP|<>", "NP|<DT-JJ>", "NP^<S>|<DT>"] {
            assert_eq!(category(label), "NP");
        }
        for label in ["<", "|<", "^<", "A|B", "A>"] {
            assert_eq!(category(label), label);
        }
        assert_eq!(without_ancestors("NP|<DT>"), "NP|<DT>");
    }
}
