//! Classifiers: from a row of columns to a score for each class.
//!
//! 1. A [`Learner`] fits instances and returns a [`Classifier`]. Everything stochastic is seeded, and the
//!    result does not depend on the number of threads.
//! 2. Scores of [`ScoreScale::Margin`] can be compared within a row only, those of [`ScoreScale::LogOdds`]
//!    between rows; those of [`ScoreScale::LogProb`] can also be added along a derivation.
//! 3. A class that was never seen scores minus infinity, not zero.
//!
//! Learners:
//!
//! - [`perceptron`]: averaged multiclass perceptron over indicators.
//! - [`maxent`]: multinomial logistic regression by L-BFGS with a Gaussian prior.
//! - [`svm`]: polynomial support vector machines, one-vs-rest.
//! - [`knn`]: memory-based learning, the classes of the nearest instances.
//! - [`boosting`]: boosted decision trees, one ensemble for each class.
//! - [`subtree_boosting`]: boosted subtrees of the configuration, one-vs-rest.
//! - [`tree_kernel`]: support vector machines with a convolution kernel over trees, one-vs-rest.
//!
//! The first two produce a [`linear::LinearModel`]. Learners composed of learners are in [`combine`].

pub mod boosting;
pub mod coarse_to_fine;
pub mod combine;
pub mod decision_tree;
pub mod forest;
pub mod instances;
pub mod knn;
pub mod lbfgs;
pub mod linear;
pub mod maxent;
pub mod packed;
pub mod perceptron;
pub mod sparse;
pub mod subtree_boosting;
pub mod svm;
pub mod tree_kernel;

use std::any::Any;

use crate::feature::{Column, Indicators, RowRef};
use crate::memory::Sections;
use crate::observer::{Event, Observer, Silent};
use crate::{Error, Result};
pub use instances::Instances;

/// The meaning of scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreScale {
    /// Comparable within one row only.
    Margin,
    /// Natural logarithms of probabilities.
    LogProb,
    /// Independent confidences: the logarithm of the odds that a class is correct, up to a factor.
    LogOdds,
}

/// The reasons for a class over its rival.
#[derive(Debug, Clone, PartialEq)]
pub enum Evidence {
    /// Nothing but the scores can be told.
    Scores,
    /// Of a linear model or a polynomial one: the features that apply, each with the weights of the two classes, or of
    /// the kinds of the two actions if the first of two steps decided. A feature is one template, or a pair of them.
    Weights(Vec<(Vec<u16>, [f32; 2])>),
    /// Of a decision tree: the columns that the tests on the path ask for, from the root.
    Path(Vec<u16>),
    /// Of boosted trees: the leaf of each tree of the class, with its confidence and the tests that hold on the path to
    /// it: columns, each with the value that it has or contains.
    Leaves(Vec<(f32, Vec<(u16, u32)>)>),
    /// Of an ensemble: the class that each member prefers, with its score, and the member that is followed, if only one
    /// is.
    Members(Vec<(u16, f32)>, Option<usize>),
    /// Of memory-based learning: the nearest training rows, each with its distance and the numbers of its instances by
    /// class.
    Neighbours(Vec<(f64, Vec<(u16, u32)>)>),
}

/// A fitted model.
pub trait Classifier: Send + Sync {
    /// The number of classes.
    fn n_classes(&self) -> usize;
    /// The meaning of the scores: margins, unless a classifier says otherwise.
    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
    /// Writes the score of every class into `out`, which is [`Classifier::n_classes`] long.
    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]);
    /// The highest-scoring class among the accepted ones, the first among equals, and its score; `None` if
    /// this cannot be computed faster than all scores.
    fn best(
        &self,
        _row: RowRef<'_>,
        _accept: &mut dyn FnMut(u16) -> bool,
        _scratch: &mut Scratch,
    ) -> Option<(u16, f32)> {
        None
    }
    /// The reasons for a class over its rival, for people; as slow as it needs to be.
    fn evidence(&self, _row: RowRef<'_>, _classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        Evidence::Scores
    }
    /// Adds what a model file stores to `sections`; the preset names the learner that loads it.
    fn store(&self, sections: &mut Sections);
}

impl<C: Classifier + ?Sized> Classifier for Box<C> {
    fn n_classes(&self) -> usize {
        (**self).n_classes()
    }

    fn scale(&self) -> ScoreScale {
        (**self).scale()
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        (**self).scores(row, scratch, out);
    }

    fn best(
        &self,
        row: RowRef<'_>,
        accept: &mut dyn FnMut(u16) -> bool,
        scratch: &mut Scratch,
    ) -> Option<(u16, f32)> {
        (**self).best(row, accept, scratch)
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], scratch: &mut Scratch) -> Evidence {
        (**self).evidence(row, classes, scratch)
    }

    fn store(&self, sections: &mut Sections) {
        (**self).store(sections);
    }
}

/// The position of the highest score, the first among equals; 0 for an empty list.
pub fn first_best<T: PartialOrd>(scores: &[T]) -> usize {
    let mut best = 0;
    for (at, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = at;
        }
    }
    best
}

/// Scratch memory of one thread for one classifier, which alone knows what is in it.
#[derive(Debug, Default)]
pub struct Scratch(Option<Box<dyn Any + Send>>);

impl Scratch {
    /// The memory of a classifier, empty if another kind of classifier used it before.
    pub(crate) fn of<M: Default + Send + 'static>(&mut self) -> &mut M {
        let memory = self.0.get_or_insert_with(|| Box::new(M::default()));
        if !memory.is::<M>() {
            *memory = Box::new(M::default());
        }
        memory.downcast_mut().expect("it has just been made")
    }
}

/// The needs of a learner besides the instances.
#[derive(Clone, Copy)]
pub struct Fit<'a> {
    /// The seed of everything random.
    pub seed: u64,
    /// Receives progress, and may stop the fit, which then returns what it has learned so far, or
    /// [`Error::Stopped`] if that is nothing.
    pub observer: &'a dyn Observer,
    /// Where finished components are stored, so that a fit can be resumed.
    pub checkpoint: Option<&'a dyn Checkpoint>,
}

impl Fit<'_> {
    /// A fit without observer and checkpoint.
    pub fn quiet(seed: u64) -> Self {
        Self { seed, observer: &Silent, checkpoint: None }
    }

    /// Reports progress: the share of the work that is done, from 0 to 1, and what was done.
    pub fn step(&self, share: f64, text: &str) {
        self.observer.event(Event::Step { share, text });
    }

    /// Logs a result.
    pub fn log(&self, text: &str) {
        self.observer.event(Event::Milestone(text));
    }

    /// Whether to stop soon.
    pub fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }

    /// Returns an error if the fit is to stop, for fits that have learned nothing yet.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn unless_stopped(&self) -> Result<()> {
        if self.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Stores the finished components of a fit. Each combination of data, settings and seed needs a checkpoint of
/// its own.
pub trait Checkpoint: Sync {
    /// Loads the component with this name, if it was saved.
    fn load(&self, name: &str) -> Option<Sections>;
    /// Saves a component; if it cannot be written, training goes on without it.
    fn save(&self, name: &str, sections: &Sections);
}

/// The parts that a learner is built from besides its settings.
#[derive(Debug, Clone)]
pub struct Parts {
    /// The columns of every row.
    pub columns: Vec<Column>,
    /// Their one-hot view.
    pub indicators: Indicators,
    /// For each class, whether it is a shift.
    pub shifts: Vec<bool>,
}

/// The settings of a learner.
pub trait LearnerParams {
    /// Builds the learner.
    ///
    /// # Errors
    /// When the settings do not fit each other or the columns, with the key relative to them.
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>>;
}

/// A way to fit classifiers.
pub trait Learner: Send + Sync {
    /// The scale of the scores of what it fits.
    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }
    /// Whether it supports columns that are trees.
    fn takes_trees(&self) -> bool {
        false
    }
    /// Whether a fit has parts that are finished one by one, so that it can be resumed.
    fn has_parts(&self) -> bool {
        false
    }
    /// Fits the instances.
    ///
    /// # Errors
    /// When the learner does not support the columns, or there are too many instances; [`Error::Stopped`]
    /// when the fit was stopped before anything was learned.
    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>>;
    /// Loads a classifier from what [`Classifier::store`] wrote.
    ///
    /// # Errors
    /// When the sections are not those of such a classifier.
    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>>;
}
