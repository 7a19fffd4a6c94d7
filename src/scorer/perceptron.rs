//! The averaged perceptron as a scorer that learns while parsing.

use super::factored::{Classes, Factored};
use super::{Lesson, OnlineLearner, Scorer, Situation};
use crate::classifier::ScoreKind;
use crate::classifier::linear::{LinearModel, Pruning, Weights};
use crate::classifier::sparse::{self, SparseWeights};
use crate::feature::{Extractor, Indicators, Row, Templates, extract};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// Weights in training; [`OnlinePerceptron::finish`] packs their average.
#[derive(Debug, Clone)]
pub struct OnlinePerceptron {
    extractor: Extractor,
    indicators: Indicators,
    classes: Classes,
    weights: SparseWeights,
    seen: Vec<bool>,
}

/// The memory of one thread.
#[derive(Debug, Default)]
pub struct PerceptronScratch {
    places: extract::Scratch,
    row: Row,
    ids: Vec<u64>,
    rows: Vec<sparse::Row>,
    sums: Vec<i32>,
    scores: Vec<f32>,
}

impl OnlinePerceptron {
    /// Nothing learned yet.
    pub fn new(templates: &Templates, classes: Classes) -> Self {
        Self {
            extractor: Extractor::new(templates),
            indicators: Indicators::new(templates),
            weights: SparseWeights::default(),
            seen: vec![false; classes.len()],
            classes,
        }
    }

    /// The average of the weights so far, packed.
    pub fn finish(&self, pruning: &Pruning) -> Factored {
        let mut averaged = Weights::default();
        self.weights.averaged(|id, row| averaged.push(id, row));
        let tables = averaged.pack(pruning, &self.seen, ScoreKind::Margin, self.indicators.len());
        let model = LinearModel::new(self.indicators.clone(), tables);
        Factored::new(self.extractor.clone(), self.classes.clone(), Box::new(model))
    }

    /// The number of features with a weight.
    pub fn n_features(&self) -> usize {
        self.weights.len()
    }
}

impl<S: TransitionSystem> Scorer<S> for OnlinePerceptron {
    type Memory = ();
    type Scratch = PerceptronScratch;

    fn begin(&self, _system: &S, _sentence: &Sentence) {}

    fn score(
        &self,
        at: Situation<'_, S>,
        _memory: &(),
        actions: &[S::Action],
        scratch: &mut PerceptronScratch,
        out: &mut Vec<f32>,
    ) {
        let PerceptronScratch { places, row, ids, rows, sums, scores } = scratch;
        self.extractor.extract(at.sentence, &at.system.view(at.state, None), places, row);
        self.indicators.ids(row.borrow(), ids);
        self.weights.find(ids, rows);
        sums.clear();
        sums.resize(self.classes.len(), 0);
        self.weights.add(rows, sums);
        scores.clear();
        scores.extend(sums.iter().map(|&sum| sum as f32));
        self.classes.pick(actions, scores, out);
    }

    fn advance(&self, _at: Situation<'_, S>, _action: S::Action, _memory: &mut ()) {}

    fn kind(&self) -> ScoreKind {
        ScoreKind::Margin
    }
}

impl<S: TransitionSystem> OnlineLearner<S> for OnlinePerceptron {
    fn learn(
        &mut self,
        lesson: &Lesson<'_, S>,
        _memory: &(),
        scratch: &mut PerceptronScratch,
    ) -> f32 {
        let class = |at: usize| self.classes.class(lesson.actions[at]);
        let (target, predicted) = (class(lesson.target), class(lesson.predicted));
        if let Some(target) = target {
            self.seen[usize::from(target)] = true;
        }
        let wrong = lesson.target != lesson.predicted;
        if let (true, Some(target), Some(predicted)) = (wrong, target, predicted) {
            self.weights.update(&scratch.ids, target, 1);
            self.weights.update(&scratch.ids, predicted, -1);
        }
        self.weights.tick();
        f32::from(u8::from(wrong))
    }
}
