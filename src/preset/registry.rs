//! The one place that knows which transition systems there are.

use super::SystemChoice;
use crate::error::{Error, Result};
use crate::oracle::Supervised;
use crate::transition::binary::{Binary, BinaryTables};
use crate::tree::Tree;

/// What a system is made from.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Training trees, cleaned and head-marked.
    Trees(&'a [&'a Tree]),
    /// The tables of a stored model.
    Tables(&'a serde_json::Value),
}

/// Something that can be done with any system.
pub trait SystemVisitor {
    /// What comes of it.
    type Output;
    /// Does it.
    ///
    /// # Errors
    /// Whatever can go wrong.
    fn visit<S: Supervised + 'static>(self, system: S) -> Result<Self::Output>;
}

/// Makes the chosen system and hands it to the visitor.
///
/// # Errors
/// When the source does not make such a system, or the visitor fails.
pub fn with_system<V: SystemVisitor>(
    choice: &SystemChoice,
    source: Source<'_>,
    visitor: V,
) -> Result<V::Output> {
    match choice {
        SystemChoice::Binary { .. } => visitor.visit(match source {
            Source::Trees(trees) => Binary::of_trees(trees.iter().copied())?,
            Source::Tables(tables) => {
                let tables: BinaryTables =
                    serde_json::from_value(tables.clone()).map_err(|error| {
                        Error::Unfit(format!("the system's tables do not read: {error}"))
                    })?;
                Binary::of_tables(tables)?
            }
        }),
    }
}
