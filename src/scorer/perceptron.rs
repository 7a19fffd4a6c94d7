//! The averaged perceptron as a scorer that learns while parsing.

use super::factored::{Classes, Factored, FactoredScratch};
use super::{Lesson, OnlineLearner, Situation, StructuredLearner};
use crate::classifier::linear::{LinearModel, Pruning, Tables, Weights};
use crate::classifier::sparse::SparseWeights;
use crate::classifier::{Classifier, Instances, ScoreKind, Scratch};
use crate::feature::{Extractor, Indicators, RowRef, Templates};
use crate::memory::Sections;
use crate::transition::{Action, TransitionSystem};
use crate::{Error, Result};

/// Weights that are being learned; [`OnlinePerceptron::finish`] packs their average.
#[derive(Debug, Clone)]
pub struct Learning {
    indicators: Indicators,
    weights: SparseWeights,
    seen: Vec<bool>,
}

impl Learning {
    /// The average of the weights so far.
    fn averaged(&self) -> Weights {
        let mut averaged = Weights::default();
        self.weights.averaged(|id, row| averaged.push(id, row));
        averaged
    }

    fn pack(&self, weights: &Weights, pruning: &Pruning) -> Tables {
        weights.pack(pruning, &self.seen, ScoreKind::Margin, self.indicators.len())
    }
}

impl Classifier for Learning {
    fn n_classes(&self) -> usize {
        self.seen.len()
    }

    fn kind(&self) -> ScoreKind {
        ScoreKind::Margin
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let Scratch { ids, sparse, sparse_sums: sums, .. } = scratch;
        self.indicators.ids(row, ids);
        self.weights.find(ids, sparse);
        sums.clear();
        sums.resize(out.len(), 0);
        self.weights.add(sparse, sums);
        for (out, &sum) in out.iter_mut().zip(sums.iter()) {
            *out = sum as f32;
        }
    }

    /// Stores the average of the weights so far.
    fn store(&self, sections: &mut Sections) {
        self.pack(&self.averaged(), &Pruning::default()).store(sections);
    }
}

/// How weights are packed.
#[derive(Debug, Clone, Copy)]
pub struct Packing<'a> {
    /// What is left out.
    pub pruning: &'a Pruning,
    /// The numbers of templates after which a decision may be clear.
    pub stage_ends: &'a [u32],
    /// The share of decisions that may be taken otherwise for that.
    pub stage_wrong: f64,
    /// Decisions that tell which margins are enough; without them there are no stages.
    pub instances: Option<&'a Instances>,
}

/// Features and weights that are being learned.
pub type OnlinePerceptron = Factored<Learning>;

impl OnlinePerceptron {
    /// Nothing learned yet.
    pub fn untrained(templates: &Templates, classes: Classes) -> Self {
        let (indicators, seen) = (Indicators::new(templates), vec![false; classes.len()]);
        let learning = Learning { indicators, weights: SparseWeights::default(), seen };
        Self::new(Extractor::new(templates), classes, learning)
    }

    /// The average of the weights so far, packed.
    pub fn finish(&self, pruning: &Pruning) -> Factored {
        let model = self.model(&self.classifier().averaged(), pruning);
        self.with_model(model)
    }

    /// The sum of several learners' averages, packed as it says: a model that has learned from the same
    /// trees several times, in different orders.
    ///
    /// # Errors
    /// When there is no learner, or stages do not fit the templates.
    pub fn finish_all(learners: &[&Self], packing: &Packing<'_>) -> Result<Factored> {
        let averages = learners.iter().map(|learner| learner.classifier().averaged());
        let sum = averages.reduce(|sum, weights| sum.plus(&weights));
        let (Some(first), Some(sum)) = (learners.first(), sum) else {
            return Err(Error::Unfit("there are no weights to pack".into()));
        };
        let mut model = first.model(&sum, packing.pruning);
        if let Some(instances) = packing.instances {
            let stages = model.stages(packing.stage_ends, packing.stage_wrong, instances)?;
            model = model.with_stages(stages);
        }
        Ok(first.with_model(model))
    }

    fn model(&self, weights: &Weights, pruning: &Pruning) -> LinearModel {
        let learning = self.classifier();
        LinearModel::new(learning.indicators.clone(), learning.pack(weights, pruning))
    }

    fn with_model(&self, model: LinearModel) -> Factored {
        Factored::new(self.extractor().clone(), self.classes().clone(), Box::new(model))
    }

    /// Takes note of actions that training trees need: all others score minus infinity in the end.
    pub fn see<A: Action>(&mut self, actions: &[A]) {
        for &action in actions {
            let class = self.classes().class(action);
            for class in class.into_iter().chain(self.classes().idle()) {
                self.classifier_mut().seen[usize::from(class)] = true;
            }
        }
    }

    /// The number of features with a weight.
    pub fn n_features(&self) -> usize {
        self.classifier().weights.len()
    }
}

impl<S: TransitionSystem> OnlineLearner<S> for OnlinePerceptron {
    fn learn(
        &mut self,
        lesson: &Lesson<'_, S>,
        _memory: &(),
        scratch: &mut FactoredScratch,
    ) -> f32 {
        let class = |at: usize| self.classes().class(lesson.actions[at]);
        let (target, predicted) = (class(lesson.target), class(lesson.predicted));
        let Learning { weights, seen, .. } = self.classifier_mut();
        if let Some(target) = target {
            seen[usize::from(target)] = true;
        }
        let wrong = lesson.target != lesson.predicted;
        if let (true, Some(target), Some(predicted)) = (wrong, target, predicted) {
            let ids = &scratch.classifier().ids;
            weights.update(ids, target, 1);
            weights.update(ids, predicted, -1);
        }
        weights.tick();
        f32::from(u8::from(wrong))
    }
}

/// Changes of weights: the indicators of one decision after the other.
#[derive(Debug, Default)]
pub struct Changes {
    ids: Vec<u64>,
    /// Where the indicators of each decision end, the class, and what is added to its weights.
    decisions: Vec<(u32, u16, i32)>,
}

impl<S: TransitionSystem> StructuredLearner<S> for OnlinePerceptron {
    type Changes = Changes;

    fn note(
        &self,
        at: Situation<'_, S>,
        action: Option<S::Action>,
        amount: i32,
        scratch: &mut FactoredScratch,
        changes: &mut Changes,
    ) {
        let class = match action {
            Some(action) => self.classes().class(action),
            None => self.classes().idle(),
        };
        let Some(class) = class else { return };
        let row = self.fill_row(at, scratch).borrow();
        self.classifier().indicators.append_ids(row, &mut changes.ids);
        changes.decisions.push((changes.ids.len() as u32, class, amount));
    }

    fn change(&mut self, changes: &Changes) {
        let mut first = 0;
        for &(end, class, amount) in &changes.decisions {
            let ids = &changes.ids[first..end as usize];
            self.classifier_mut().weights.update(ids, class, amount);
            first = end as usize;
        }
    }

    fn tick(&mut self) {
        self.classifier_mut().weights.tick();
    }
}
