//! Finds head children while a parser builds constituents.

use std::sync::Arc;

use crate::symbols::Symbols;
use crate::tree::heads::{HeadRules, HeadTable};

/// Head rules over the labels of a system and tag values.
#[derive(Debug, Clone)]
pub struct HeadFinder {
    pub(super) table: Arc<HeadTable>,
    pub(super) n_labels: usize,
}

impl HeadFinder {
    /// Compiles head rules for the labels of a system and the tags of sentences.
    pub fn new(rules: &HeadRules, labels: &Symbols, tags: &Symbols) -> Self {
        // Tag values 0 and 1 mean no tag and an unknown tag.
        let categories = labels.names().chain(["", ""]).chain(tags.names());
        Self { table: Arc::new(rules.table(labels.names(), categories)), n_labels: labels.len() }
    }
}
