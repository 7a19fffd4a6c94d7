//! The list of transition systems and of scorers.

use serde::Deserialize;

use super::{MethodChoice, SystemChoice};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::scorer::{Components, Factored, Focused, Scorer};
use crate::symbols::{Symbols, Vocabulary};
use crate::transition::binary::Binary;
use crate::transition::bracketing::{Bracketing, Strategy};
use crate::transition::head_finder::HeadFinder;
use crate::transition::items::Items;
use crate::transition::non_binary::NonBinary;
use crate::transition::predictive::Predictive;
use crate::transition::{StoredSystem, TransitionSystem};
use crate::tree::Tree;
use crate::tree::heads::HeadRules;

/// The largest product of the numbers of clauses, and of labels and tags: 16 MB of priorities.
const MAX_HEAD_TABLE: usize = 1 << 22;

/// The source of a transition system.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Training trees, cleaned and head-marked.
    Trees(&'a [&'a Tree]),
    /// The tables of a stored model.
    Tables(&'a serde_json::Value),
    /// The tables of a stored model, with the labels and actions that training trees add.
    Extended(&'a serde_json::Value, &'a [&'a Tree]),
}

impl Source<'_> {
    fn system<S: StoredSystem>(self, of_trees: impl FnOnce(&[&Tree]) -> Result<S>) -> Result<S> {
        match self {
            Self::Trees(trees) => of_trees(trees),
            Self::Tables(tables) => restored(tables),
            Self::Extended(tables, trees) => restored::<S>(tables)?.union(&of_trees(trees)?),
        }
    }
}

/// The inputs for building a system.
#[derive(Debug, Clone, Copy)]
pub struct SystemBuilder<'a> {
    /// The choice in the preset.
    pub choice: &'a SystemChoice,
    /// The parts that it is made from.
    pub source: Source<'a>,
    /// The head rules, if the preset has any.
    pub heads: Option<&'a HeadRules>,
    /// The vocabulary that sentences will be encoded with.
    pub vocabulary: &'a Vocabulary,
}

impl SystemBuilder<'_> {
    /// Builds the chosen system.
    ///
    /// # Errors
    /// When the source does not fit it.
    pub fn build(&self) -> Result<Box<dyn TransitionSystem>> {
        let Self { choice, source, .. } = self;
        Ok(match choice {
            SystemChoice::Binary { .. } => {
                Box::new(source.system(|trees| Binary::of_trees(trees.iter().copied()))?)
            }
            SystemChoice::NonBinary { .. } => {
                let system = source.system(|trees| {
                    NonBinary::of_trees(trees.iter().copied(), choice.binarization())
                })?;
                let heads = self.head_finder(system.labels())?;
                Box::new(system.with_heads(heads))
            }
            SystemChoice::TopDown { .. } => Box::new(self.bracketing(Strategy::TopDown)?),
            SystemChoice::Predictive { .. } => Box::new(source.system(|trees| {
                Predictive::of_trees(trees.iter().copied(), choice.binarization())
            })?),
            SystemChoice::Items { order, max_children, .. } => {
                let system: Items = source.system(|trees| {
                    Items::of_trees(trees.iter().copied(), *order, *max_children)
                })?;
                check_order(system.tables().order == *order)?;
                let heads = self.head_finder(system.labels())?;
                Box::new(system.with_heads(heads))
            }
            SystemChoice::InOrder { .. } => Box::new(self.bracketing(Strategy::InOrder)?),
        })
    }

    fn bracketing(&self, order: Strategy) -> Result<Bracketing> {
        let binarization = self.choice.binarization();
        let system: Bracketing = self
            .source
            .system(|trees| Bracketing::of_trees(trees.iter().copied(), order, binarization))?;
        check_order(system.tables().order == order)?;
        let heads = self.head_finder(system.labels())?;
        Ok(system.with_heads(heads))
    }

    fn head_finder(&self, labels: &Symbols) -> Result<Option<HeadFinder>> {
        let Some(rules) = self.heads else { return Ok(None) };
        let tags = self.vocabulary.tags();
        let (n_clauses, n_names) = (rules.n_clauses(), labels.len() + tags.len());
        if n_clauses * n_names > MAX_HEAD_TABLE {
            let problem = format!(
                "{n_clauses} clauses are too many for {n_names} labels and tags: use a shorter table, or strip \
                 function tags"
            );
            return Err(Error::config("system.heads", problem));
        }
        Ok(Some(HeadFinder::new(rules, labels, tags)))
    }
}

fn check_order(is_that_of_the_preset: bool) -> Result<()> {
    if is_that_of_the_preset {
        return Ok(());
    }
    Err(Error::Corrupt("the system's tables are of another order".into()))
}

/// Loads the scorer that training has stored in a model.
///
/// # Errors
/// [`Error::Corrupt`] when the sections are not those of such a scorer.
pub fn load_scorer(
    choice: &MethodChoice,
    components: Components<'_>,
    sections: &Sections,
) -> Result<Box<dyn Scorer>> {
    match choice {
        MethodChoice::OnlinePerceptron(params) => params.load(components, sections),
        MethodChoice::StructuredPerceptron(params) => params.load(components, sections),
        MethodChoice::Neural(params) => params.load(components, sections),
        MethodChoice::Boosting(params) => Focused::load(params, components, sections),
        MethodChoice::Batch(learner) => {
            let learner = learner.for_system(components.templates, components.system)?;
            Factored::load(components, components.classes(), learner.load(sections)?)
        }
    }
}

/// The system whose tables a model has.
fn restored<S: StoredSystem>(tables: &serde_json::Value) -> Result<S> {
    let tables = S::Tables::deserialize(tables)
        .map_err(|_| Error::corrupt("the tables are not those of its transition system"))?;
    S::from_tables(tables)
}
