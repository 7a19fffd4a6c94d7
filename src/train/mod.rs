//! Training: what is done with the training trees.
//!
//! - [`batch`]: instances first, then any [`crate::classifier::Learner`].
//! - [`candidates`]: all candidates along a path to each tree, then a classifier for each label.
//! - [`choice`]: what is right in a state, and where training goes on from it.
//! - [`neural`]: networks learn while they parse, as in `online`, in batches of sentences.
//! - [`online`]: an [`crate::scorer::OnlineLearner`] learns while it parses, on the gold path or
//!   exploring with a dynamic oracle.
//! - [`structured`]: a [`crate::scorer::StructuredLearner`] learns from whole derivations, found with a
//!   beam.

pub mod batch;
pub mod candidates;
pub mod choice;
pub mod neural;
pub mod online;
pub mod structured;

use crate::symbols::Sentence;
use crate::tree::Tree;

/// A training tree with its sentence in numbers.
#[derive(Debug, Clone)]
pub struct Example {
    /// The sentence.
    pub sentence: Sentence,
    /// The tree, cleaned and head-marked.
    pub tree: Tree,
}
