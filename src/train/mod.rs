//! Training: from gold trees to a model.
//!
//! [`Trainer`] cleans and replays the trees, then trains a scorer in a [`Session`], in one of five ways:
//!
//! - [`batch`]: instances of gold derivations, then any [`crate::classifier::Learner`].
//! - [`online`]: a perceptron that learns while it parses, on the gold path or exploring.
//! - [`structured`]: a perceptron that learns from whole derivations found with a beam.
//! - [`neural`]: networks that learn while they parse, in batches of sentences.
//! - [`candidates`]: an ensemble of boosted trees for each label of an item system.
//!
//! A network can learn from another model too ([`teacher`]). Networks and perceptrons can continue from one ([`initial`]);
//! [`mean`] averages networks that did.
//!
//! The last four have epochs or parts; [`epochs`] selects the best epoch, stops early and resumes. [`walk`]
//! is the loop over training sentences that online and neural training share, [`perceptrons`] the training that online and
//! structured learners share.
//!
//! Nothing else in the library depends on this module: it is the cargo feature `train`.

pub mod batch;
pub mod candidate_rows;
pub mod candidates;
pub mod checkpoint;
pub mod choice;
mod encoder;
pub mod epochs;
pub mod initial;
pub mod mean;
mod merge;
pub mod neural;
pub mod online;
pub mod perceptrons;
mod prepare;
mod replay;
pub mod session;
pub mod structured;
mod tagging;
pub mod teacher;
mod trainer;
pub mod walk;

use crate::Result;
use crate::memory::Sections;
use crate::model::{DevScores, Model};
use crate::preset::MethodChoice;
use crate::scorer::Components;
pub use epochs::{EpochReport, Progress};
pub use session::Session;
pub use trainer::Trainer;

/// Trains a scorer, which [`crate::preset::registry::load_scorer`] loads.
fn train(choice: &MethodChoice, session: &Session<'_>) -> Result<Trained> {
    match choice {
        MethodChoice::OnlinePerceptron(params) => online::train(params, session),
        MethodChoice::StructuredPerceptron(params) => structured::train(params, session),
        MethodChoice::Neural(params) => neural::train(params, session),
        MethodChoice::Boosting(params) => candidates::train(params, session),
        MethodChoice::Batch(learner) => {
            let Components { system, templates, .. } = session.components;
            batch::train(&*learner.for_system(templates, system)?, session)
        }
    }
}

/// What messages call one of several models: its file, or else its number, from 1.
fn name_of(model: &Model, number: usize) -> String {
    if model.path.as_os_str().is_empty() {
        return format!("model {number}");
    }
    model.path.display().to_string()
}

/// The result of training.
#[derive(Debug, Default)]
pub struct Trained {
    /// The part of the scorer that a model stores.
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
