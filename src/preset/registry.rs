//! The one place that knows which transition systems there are.

use serde::Deserialize;

use super::SystemChoice;
use crate::error::{Error, Result};
use crate::oracle::Supervised;
use crate::symbols::{Symbols, Vocabulary};
use crate::transition::TransitionSystem;
use crate::transition::binary::Binary;
use crate::transition::bracketing::{Bracketing, Strategy};
use crate::transition::head_finder::HeadFinder;
use crate::transition::items::Items;
use crate::transition::non_binary::NonBinary;
use crate::transition::predictive::Predictive;
use crate::tree::Tree;
use crate::tree::heads::HeadRules;

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
    fn visit<S: Supervised>(self, system: S) -> Result<Self::Output>;
}

/// What a system is made of.
#[derive(Debug, Clone, Copy)]
pub struct Making<'a> {
    /// The choice in the preset.
    pub choice: &'a SystemChoice,
    /// What it is made from.
    pub source: Source<'a>,
    /// The head rules, if the preset has any.
    pub heads: Option<&'a HeadRules>,
    /// The vocabulary that sentences will be encoded with.
    pub vocabulary: &'a Vocabulary,
}

/// Makes the chosen system and hands it to the visitor.
///
/// # Errors
/// When the source does not make such a system, or the visitor fails.
pub fn with_system<V: SystemVisitor>(making: Making<'_>, visitor: V) -> Result<V::Output> {
    let Making { choice, source, .. } = making;
    match choice {
        SystemChoice::Binary { .. } => visitor.visit(match source {
            Source::Trees(trees) => Binary::of_trees(trees.iter().copied())?,
            Source::Tables(tables) => restored(tables)?,
        }),
        SystemChoice::NonBinary { binarization, .. } => {
            let system = match source {
                Source::Trees(trees) => NonBinary::of_trees(trees.iter().copied(), *binarization)?,
                Source::Tables(tables) => restored(tables)?,
            };
            let heads = making.head_finder(&system.tables().labels);
            visitor.visit(system.with_heads(heads))
        }
        SystemChoice::TopDown { .. } => visitor.visit(making.bracketing(Strategy::TopDown)?),
        SystemChoice::Predictive { binarization } => visitor.visit(match source {
            Source::Trees(trees) => Predictive::of_trees(trees.iter().copied(), *binarization)?,
            Source::Tables(tables) => restored(tables)?,
        }),
        SystemChoice::Items { order, max_children, .. } => {
            let system = match source {
                Source::Trees(trees) => {
                    Items::of_trees(trees.iter().copied(), *order, *max_children)?
                }
                Source::Tables(tables) => restored(tables)?,
            };
            check_order(system.tables().order == *order)?;
            let heads = making.head_finder(&system.tables().labels);
            visitor.visit(system.with_heads(heads))
        }
        SystemChoice::InOrder { .. } => visitor.visit(making.bracketing(Strategy::InOrder)?),
    }
}

impl Making<'_> {
    fn bracketing(&self, order: Strategy) -> Result<Bracketing> {
        let system = match self.source {
            Source::Trees(trees) => {
                Bracketing::of_trees(trees.iter().copied(), order, self.choice.binarization())?
            }
            Source::Tables(tables) => restored(tables)?,
        };
        check_order(system.tables().order == order)?;
        let heads = self.head_finder(&system.tables().labels);
        Ok(system.with_heads(heads))
    }

    fn head_finder(&self, labels: &Symbols) -> Option<HeadFinder> {
        self.heads.map(|rules| HeadFinder::new(rules, labels, self.vocabulary.tags()))
    }
}

fn check_order(is_that_of_the_preset: bool) -> Result<()> {
    if is_that_of_the_preset {
        return Ok(());
    }
    Err(Error::Unfit("the system's tables are of another order".into()))
}

/// What a model file stores of a system.
pub fn stored<S: TransitionSystem>(system: &S) -> serde_json::Value {
    serde_json::to_value(system.tables()).unwrap_or_default()
}

fn restored<S: TransitionSystem>(tables: &serde_json::Value) -> Result<S> {
    let tables = S::Tables::deserialize(tables)
        .map_err(|error| Error::Unfit(format!("the system's tables are malformed: {error}")))?;
    S::from_tables(tables)
}
