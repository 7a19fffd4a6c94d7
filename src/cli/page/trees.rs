//! Pages with trees, one line of data for each sentence.

use askama::Template;
use serde::Serialize;

use super::TreeData;

/// A page with trees.
#[derive(Template)]
#[template(path = "trees.html")]
pub(in crate::cli) struct TreesPage {
    pub(in crate::cli) title: String,
}

/// A sentence, with a tree or several.
#[derive(Debug, Default, Serialize)]
pub(in crate::cli) struct SentenceTrees<'t> {
    /// Its number, if it is not that of its line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) n: Option<u64>,
    /// The text in place of the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) name: Option<&'t str>,
    pub(in crate::cli) trees: Vec<PageTree<'t>>,
    /// Why there is no tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) problem: Option<&'t str>,
}

/// A tree and what a parser says of it.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct PageTree<'t> {
    #[serde(flatten)]
    pub(in crate::cli) tree: TreeData<'t>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) rank: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) score: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::cli) complete: Option<bool>,
}

impl<'t> PageTree<'t> {
    pub(in crate::cli) fn of(tree: &'t crate::tree::Tree) -> Self {
        Self { tree: TreeData::of(tree), rank: None, score: None, complete: None }
    }

    /// A tree in which the nodes that a search has found are marked; for a tag or a word, the node over it.
    pub(in crate::cli) fn with_found(
        tree: &'t crate::tree::Tree,
        found: &[crate::find::Position],
    ) -> Self {
        Self { tree: TreeData::of(tree).with_found(tree, found), ..Self::of(tree) }
    }
}
