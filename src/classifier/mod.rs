//! Classifiers: from a row of columns to a score for each class.
//!
//! 1. A [`Learner`] fits instances and gives a [`Classifier`]; everything stochastic is seeded, and the
//!    number of threads changes nothing.
//! 2. Scores of [`ScoreScale::Margin`] may be compared within one row only, those of
//!    [`ScoreScale::LogOdds`] between rows; those of [`ScoreScale::LogProb`] may be added along a derivation.
//! 3. A class that was never seen scores minus infinity, not zero.
//!
//! Learners:
//!
//! - [`perceptron`]: averaged multiclass perceptron over indicators.
//! - [`maxent`]: multinomial logistic regression by L-BFGS with a Gaussian prior.
//! - [`svm`]: polynomial support vector machines, one-vs-rest.
//! - [`knn`]: memory-based learning, the classes of the nearest instances.
//! - [`boosting`]: boosted decision trees, one ensemble for each class.
//!
//! The first two end as a [`linear::LinearModel`]. Learners made of learners are in [`combine`].

pub mod boosting;
pub mod coarse_to_fine;
pub mod combine;
pub mod decision_tree;
pub mod instances;
pub mod knn;
pub mod lbfgs;
pub mod linear;
pub mod maxent;
pub mod packed;
pub mod perceptron;
pub mod sparse;
pub mod svm;

use crate::feature::{Row, RowRef};
use crate::memory::Sections;
use crate::observer::{Event, Observer, Silent};
use crate::{Error, Result};
pub use instances::Instances;

/// What scores mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreScale {
    /// Comparable within one row only.
    Margin,
    /// Natural logarithms of probabilities.
    LogProb,
    /// Confidences, each for itself: the logarithm of the odds that a class is right, up to a factor.
    LogOdds,
}

/// A fitted model.
pub trait Classifier: Send + Sync {
    /// The number of classes.
    fn n_classes(&self) -> usize;
    /// What the scores mean.
    fn scale(&self) -> ScoreScale;
    /// Writes the score of every class into `out`, which is [`Classifier::n_classes`] long.
    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]);
    /// The class that [`Classifier::scores`] scores highest among those that are accepted, the first among
    /// equals, and its score; `None` when there is no quicker way to know than to score all.
    fn best(
        &self,
        _row: RowRef<'_>,
        _accept: &mut dyn FnMut(u16) -> bool,
        _scratch: &mut Scratch,
    ) -> Option<(u16, f32)> {
        None
    }
    /// Puts what a model file needs into `sections`; the learner's name in the preset says how to load it.
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

    fn store(&self, sections: &mut Sections) {
        (**self).store(sections);
    }
}

/// The position of the highest score, the first among equals; 0 if there are none.
pub fn first_best<T: PartialOrd>(scores: &[T]) -> usize {
    let mut best = 0;
    for (at, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = at;
        }
    }
    best
}

/// Memory of one thread for [`Classifier::scores`]; each classifier uses what it needs.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// One-hot ids.
    pub ids: Vec<u64>,
    /// Where in a table something was found.
    pub places: Vec<u32>,
    /// Where the long rows among them begin.
    pub long: Vec<u32>,
    /// Sums of integers.
    pub sums: Vec<i16>,
    /// Rows of weights that are being learned.
    pub sparse: Vec<sparse::Row>,
    /// Sums of such weights.
    pub sparse_sums: Vec<i32>,
    /// The scores of a part.
    pub scores: Vec<f32>,
    /// A row made from another.
    pub row: Row,
    /// The search of neighbours.
    pub knn: knn::Memory,
    /// The tests that hold in a row.
    pub held: boosting::Held,
    /// The memory of parts.
    pub parts: Vec<Self>,
}

impl Scratch {
    /// The memory of a component, created on first use.
    pub fn part(&mut self, at: usize) -> &mut Self {
        if self.parts.len() <= at {
            self.parts.resize_with(at + 1, Self::default);
        }
        &mut self.parts[at]
    }
}

/// What a learner needs besides the instances.
#[derive(Clone, Copy)]
pub struct Fit<'a> {
    /// Seeds everything random.
    pub seed: u64,
    /// Receives progress, and may stop the fit: it ends early with what it has learned, or with
    /// [`Error::Stopped`] if that is nothing.
    pub observer: &'a dyn Observer,
    /// Where finished parts are stored, so that a fit can be resumed.
    pub checkpoint: Option<&'a dyn Checkpoint>,
}

impl Fit<'_> {
    /// A fit without observer and checkpoint.
    pub fn quiet(seed: u64) -> Self {
        Self { seed, observer: &Silent, checkpoint: None }
    }

    /// Reports a step: the share of the work that is done, from 0 to 1, and what was done.
    pub fn step(&self, share: f64, text: &str) {
        self.observer.event(Event::Step { share, text });
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
    /// The part kept under a name.
    fn load(&self, name: &str) -> Option<Sections>;
    /// Keeps a part, if it can be written: the fit goes on without.
    fn save(&self, name: &str, sections: &Sections);
}

/// A way to fit classifiers.
pub trait Learner: Send + Sync {
    /// Fits the instances.
    ///
    /// # Errors
    /// When the instances have columns the learner cannot take, or are too many for it; [`Error::Stopped`]
    /// when the fit was stopped before anything was learned.
    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>>;
    /// The classifier that such a learner fitted, from what [`Classifier::store`] put.
    ///
    /// # Errors
    /// When the sections are not those of such a classifier.
    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>>;
}
