//! Training: from gold trees to a scorer.
//!
//! A [`TrainingMethod`] trains on a [`Session`] and loads what it stored:
//!
//! - [`batch`]: instances of gold derivations, then any [`crate::classifier::Learner`].
//! - [`online`]: a perceptron that learns while it parses, on the gold path or exploring.
//! - [`structured`]: a perceptron that learns from whole derivations found with a beam.
//! - [`neural`]: networks that learn while they parse, in batches of sentences.
//! - [`candidates`]: an ensemble of boosted trees for each label of an item system.
//!
//! A network can learn from another model too ([`teacher`]).
//!
//! The last four have epochs or parts; [`epochs`] selects the best epoch, stops early and resumes. [`walk`]
//! is the loop over training sentences that online and neural training share.

pub mod batch;
pub mod candidate_rows;
pub mod candidates;
pub mod checkpoint;
pub mod choice;
pub mod epochs;
pub mod neural;
pub mod online;
mod perceptrons;
pub mod session;
pub mod structured;
pub mod teacher;
pub mod walk;

use crate::Result;
use crate::memory::Sections;
use crate::model::DevScores;
use crate::scorer::Scorer;
use crate::symbols::Sentence;
use crate::tree::Tree;
pub use epochs::{EpochReport, Progress};
pub use session::{Components, Session};

/// A training tree with its encoded sentence.
#[derive(Debug, Clone)]
pub struct Example {
    /// The sentence.
    pub sentence: Sentence,
    /// The tree, cleaned and head-marked.
    pub tree: Tree,
}

/// A way to train a scorer for a system.
pub trait TrainingMethod: Sync {
    /// Trains.
    ///
    /// # Errors
    /// When the data do not suit the method, or training was stopped before anything was learned.
    fn train(&self, session: &Session<'_>) -> Result<Trained>;
    /// Loads the scorer from the sections that [`TrainingMethod::train`] returned.
    ///
    /// # Errors
    /// [`crate::Error::Corrupt`] when they are not the sections of such a scorer.
    fn load(&self, components: Components<'_>, sections: &Sections) -> Result<Box<dyn Scorer>>;
}

/// The result of training.
#[derive(Debug, Default)]
pub struct Trained {
    /// What a model stores of the scorer.
    pub sections: Sections,
    /// The selected epoch, from 1; 0 for methods without epochs.
    pub epoch: u32,
    /// The scores on the dev set, if there is one.
    pub dev: Option<DevScores>,
    /// The threshold that was chosen, for boosted trees.
    pub threshold: Option<f64>,
    /// The labels that were trained, if others are missing.
    pub labels: Vec<String>,
}
