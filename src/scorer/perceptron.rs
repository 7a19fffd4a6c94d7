//! The averaged perceptron as a scorer that learns while parsing.

use super::factored::{Classes, Factored, FactoredScratch};
use super::{Configuration, Lesson, OnlineLearner, StructuredLearner};
use crate::classifier::coarse_to_fine::{
    CoarseTable, CoarseToFine, KINDS, TwoStepIndicators, rank,
};
use crate::classifier::linear::{LinearModel, Pruning, Weights};
use crate::classifier::sparse::SparseWeights;
use crate::classifier::{Classifier, ScoreScale, Scratch};
use crate::feature::{Extractor, Indicators, RowRef, Templates};
use crate::memory::Sections;
use crate::transition::TransitionSystem;

/// Weights that are being learned; [`OnlinePerceptron::finish`] packs their average.
#[derive(Debug, Clone)]
pub struct Learning {
    indicators: Indicators,
    weights: SparseWeights,
    seen: Vec<bool>,
    /// What the kind of action is decided by, if that comes first; the rest is for the decision within it.
    kinds: Option<Kinds>,
}

/// The first of two steps.
#[derive(Debug, Clone)]
struct Kinds {
    indicators: Indicators,
    weights: SparseWeights,
    /// The kind of every class.
    kind_of: Vec<u8>,
}

/// The averages of weights.
struct Averages {
    weights: Weights,
    kinds: Option<Weights>,
}

impl Averages {
    fn plus(&self, other: &Self) -> Self {
        let kinds = self.kinds.as_ref().zip(other.kinds.as_ref());
        Self {
            weights: self.weights.plus(&other.weights),
            kinds: kinds.map(|(own, other)| own.plus(other)),
        }
    }
}

impl Learning {
    /// The averages of the weights so far.
    fn averages(&self) -> Averages {
        let kinds = self.kinds.as_ref().map(|kinds| kinds.weights.averaged());
        Averages { weights: self.weights.averaged(), kinds }
    }

    /// A model of such weights.
    fn pack(&self, averages: &Averages, pruning: &Pruning) -> Box<dyn Classifier> {
        let (indicators, n_templates) = (self.indicators.clone(), self.indicators.len());
        let pack =
            |pruning| averages.weights.pack(pruning, &self.seen, ScoreScale::Margin, n_templates);
        let Some((weights, kinds)) = averages.kinds.as_ref().zip(self.kinds.as_ref()) else {
            return Box::new(LinearModel::new(indicators, pack(pruning)));
        };
        let half = Pruning { max_bytes: pruning.max_bytes / 2, ..*pruning };
        let table = CoarseTable::pack(weights, &half);
        let max_bytes = pruning.max_bytes.saturating_sub(table.bytes());
        let tables = pack(&Pruning { max_bytes, ..*pruning });
        let indicators = TwoStepIndicators { kind: kinds.indicators.clone(), action: indicators };
        Box::new(CoarseToFine::new(indicators, table, tables, kinds.kind_of.clone().into()))
    }

    fn kind_of(&self, class: u16) -> Option<u8> {
        self.kinds.as_ref().map(|kinds| kinds.kind_of[usize::from(class)])
    }

    /// Moves weight to what was right: in the first step from what was predicted, in the second from
    /// the rival. The row is the one that was scored last.
    fn correct(&mut self, scratch: &Scratch, right: u16, predicted: u16, rival: u16) {
        let ids = &scratch.ids;
        if let Some(Kinds { weights, kind_of, .. }) = &mut self.kinds {
            let kind = |class: u16| u16::from(kind_of[usize::from(class)]);
            if kind(right) != kind(predicted) {
                let ids = &scratch.parts[FIRST_STEP].ids;
                weights.update(ids, kind(right), 1);
                weights.update(ids, kind(predicted), -1);
            }
        }
        if rival != right {
            self.weights.update(ids, right, 1);
            self.weights.update(ids, rival, -1);
        }
    }

    fn tick(&mut self) {
        self.weights.tick();
        if let Some(kinds) = &mut self.kinds {
            kinds.weights.tick();
        }
    }
}

/// The part of the scratch memory that the first step has.
const FIRST_STEP: usize = 0;

/// Sums up weights that are being learned.
fn add_up(
    (indicators, weights): (&Indicators, &SparseWeights),
    row: RowRef<'_>,
    scratch: &mut Scratch,
    out: &mut [f32],
) {
    let Scratch { ids, sparse, sparse_sums: sums, .. } = scratch;
    indicators.ids(row, ids);
    weights.find(ids, sparse);
    sums.clear();
    sums.resize(out.len(), 0);
    weights.add(sparse, sums);
    for (out, &sum) in out.iter_mut().zip(sums.iter()) {
        *out = sum as f32;
    }
}

impl Classifier for Learning {
    fn n_classes(&self) -> usize {
        self.seen.len()
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::Margin
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        add_up((&self.indicators, &self.weights), row, scratch, out);
        if let Some(Kinds { indicators, weights, kind_of }) = &self.kinds {
            let mut sums = [0.0; KINDS];
            add_up((indicators, weights), row, scratch.part(FIRST_STEP), &mut sums);
            rank(kind_of, &sums, out);
        }
    }

    /// Stores the average of the weights so far.
    fn store(&self, sections: &mut Sections) {
        self.pack(&self.averages(), &Pruning::default()).store(sections);
    }
}

/// Features and weights that are being learned.
pub type OnlinePerceptron = Factored<Learning>;

impl OnlinePerceptron {
    /// Nothing learned yet. With `coarse_to_fine` the kind of action is decided on first, then which of
    /// that kind.
    pub fn untrained(templates: &Templates, classes: Classes, coarse_to_fine: bool) -> Self {
        let seen = vec![false; classes.len()];
        let TwoStepIndicators { kind, action } = TwoStepIndicators::new(templates);
        let kinds = coarse_to_fine.then(|| Kinds {
            indicators: kind,
            weights: SparseWeights::default(),
            kind_of: classes.kinds().iter().map(|&kind| kind as u8).collect(),
        });
        let indicators = if coarse_to_fine { action } else { Indicators::new(templates) };
        let learning = Learning { indicators, weights: SparseWeights::default(), seen, kinds };
        Self::new(Extractor::new(templates), classes, learning)
    }

    /// The average of the weights so far, packed.
    pub fn finish(&self, pruning: &Pruning) -> Factored {
        self.finish_with(&self.classifier().averages(), pruning)
    }

    /// The sum of several learners' averages, packed: a model that has learned from the same trees several
    /// times, in different orders. None without learners.
    pub fn finish_all(learners: &[Self], pruning: &Pruning) -> Option<Factored> {
        let averages = learners.iter().map(|learner| learner.classifier().averages());
        let sum = averages.reduce(|sum, averages| sum.plus(&averages))?;
        Some(learners.first()?.finish_with(&sum, pruning))
    }

    fn finish_with(&self, averages: &Averages, pruning: &Pruning) -> Factored {
        let model = self.classifier().pack(averages, pruning);
        Factored::new(self.extractor().clone(), self.classes().clone(), model)
    }

    /// The number of features with a weight.
    pub fn n_features(&self) -> usize {
        let Learning { weights, kinds, .. } = self.classifier();
        kinds.as_ref().map_or(0, |kinds| kinds.weights.len()) + weights.len()
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
        let wrong = lesson.target != lesson.predicted;
        let rival = if wrong { self.rival(lesson) } else { None };
        let learning = self.classifier_mut();
        if let Some(target) = target {
            learning.seen[usize::from(target)] = true;
        }
        if let (Some(rival), Some(target), Some(predicted)) = (rival, target, predicted) {
            learning.correct(scratch.classifier(), target, predicted, rival);
        }
        learning.tick();
        f32::from(u8::from(wrong))
    }
}

impl OnlinePerceptron {
    /// The class that the right action of a lesson has to score above: the best of those that are decided
    /// between in the same step.
    fn rival<S: TransitionSystem>(&self, lesson: &Lesson<'_, S>) -> Option<u16> {
        let class = |at: usize| self.classes().class(lesson.actions[at]);
        let kind = |class: Option<u16>| class.and_then(|class| self.classifier().kind_of(class));
        let kind_of_target = kind(class(lesson.target));
        let same = (0..lesson.actions.len()).filter(|&at| kind(class(at)) == kind_of_target);
        let score = |at: usize| lesson.scores[at];
        class(same.reduce(|best, at| if score(at) > score(best) { at } else { best })?)
    }
}

/// Changes of weights: the indicators of one decision after the other.
#[derive(Debug, Default)]
pub struct Changes {
    ids: Vec<u64>,
    /// Where the indicators of each decision end, its class, and what is added to its weights.
    decisions: Vec<(u32, u16, i32)>,
}

/// Decides in one step: whole derivations are not learned from in two.
impl<S: TransitionSystem> StructuredLearner<S> for OnlinePerceptron {
    type Changes = Changes;

    fn note(
        &self,
        at: Configuration<'_, S>,
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
        self.fill_row(at, scratch);
        self.classifier().indicators.append_ids(scratch.row(), &mut changes.ids);
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
        self.classifier_mut().tick();
    }
}
