//! Head children, found while a parser builds constituents.

use std::sync::Arc;

use crate::symbols::Symbols;
use crate::tree::heads::{HeadRules, HeadTable};

/// Finds head children in the numbers of a system: labels, then tag values.
#[derive(Debug, Clone)]
pub struct HeadFinder {
    pub(super) table: Arc<HeadTable>,
    pub(super) n_labels: usize,
}

impl HeadFinder {
    /// The finder of a system with these labels over sentences with these tags.
    pub fn new(rules: &HeadRules, labels: &Symbols, tags: &Symbols) -> Self {
        // Tag values 0 and 1 are nothing and an unknown tag.
        let categories = labels.names().chain(["", ""]).chain(tags.names());
        Self { table: Arc::new(rules.table(labels.names(), categories)), n_labels: labels.len() }
    }
}
