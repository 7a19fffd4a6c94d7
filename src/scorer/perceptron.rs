//! The averaged perceptron as a scorer that learns while parsing.

use super::factored::{Classes, Factored, FactoredScratch};
use super::{Lesson, OnlineLearner, Situation, StructuredLearner};
use crate::classifier::linear::{LinearModel, Pruning, Weights};
use crate::classifier::sparse::SparseWeights;
use crate::classifier::{Classifier, ScoreKind, Scratch};
use crate::feature::{Extractor, Indicators, RowRef, Templates};
use crate::memory::Sections;
use crate::transition::TransitionSystem;

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
        let (weights, n_templates) = (self.averaged(), self.indicators.len());
        let pruning = Pruning::default();
        weights.pack(&pruning, &self.seen, ScoreKind::Margin, n_templates).store(sections);
    }
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
        self.finish_with(&self.classifier().averaged(), pruning)
    }

    /// The sum of several learners' averages, packed: a model that has learned from the same trees several
    /// times, in different orders. None without learners.
    pub fn finish_all(learners: &[Self], pruning: &Pruning) -> Option<Factored> {
        let averages = learners.iter().map(|learner| learner.classifier().averaged());
        let sum = averages.reduce(|sum, weights| sum.plus(&weights))?;
        Some(learners.first()?.finish_with(&sum, pruning))
    }

    fn finish_with(&self, weights: &Weights, pruning: &Pruning) -> Factored {
        let learning = self.classifier();
        let tables =
            weights.pack(pruning, &learning.seen, ScoreKind::Margin, learning.indicators.len());
        let model = LinearModel::new(learning.indicators.clone(), tables);
        Factored::new(self.extractor().clone(), self.classes().clone(), Box::new(model))
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

    fn see(&mut self, derivation: &[S::Action]) {
        let classes = derivation.iter().filter_map(|&action| self.classes().class(action));
        let classes: Vec<u16> = classes.chain(self.classes().idle()).collect();
        for class in classes {
            self.classifier_mut().seen[usize::from(class)] = true;
        }
    }

    fn tick(&mut self) {
        self.classifier_mut().weights.tick();
    }
}
