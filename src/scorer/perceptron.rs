//! The averaged perceptron (Collins 2002), trained while parsing.

mod settings;

pub use settings::{Exploration, OnlineParams, StructuredParams, Update};

use super::factored::{Classes, Factored, FactoredReading};
use super::{Configuration, Lesson, OnlineLearner};
use crate::classifier::coarse_to_fine::{
    CoarseTable, CoarseToFine, KINDS, TwoStepIndicators, rank,
};
use crate::classifier::linear::{LinearModel, Pruning, WeightTables, Weights};
use crate::classifier::packed::Lookup;
use crate::classifier::sparse::{self, SparseWeights};
use crate::classifier::{self, Classifier, ScoreScale};
use crate::error::{Error, Result};
use crate::feature::{Extractor, Indicators, RowRef, Templates};
use crate::memory::Sections;
use crate::transition::Action;

/// A perceptron in training; [`OnlinePerceptron::finish`] packs the average of its weights.
#[derive(Debug, Clone)]
pub struct Learning {
    indicators: Indicators,
    /// The weights that training continues from.
    initial: Option<WeightTables>,
    weights: SparseWeights,
    /// Whether each class occurs in a gold derivation.
    seen: Vec<bool>,
    /// With coarse-to-fine actions, the first step, which chooses the kind of action; the other fields are for
    /// the second step.
    coarse: Option<CoarseStep>,
}

/// The first step of coarse-to-fine actions.
#[derive(Debug, Clone)]
struct CoarseStep {
    indicators: Indicators,
    /// The weights that training continues from.
    initial: Option<CoarseTable>,
    weights: SparseWeights,
    /// The action kind of each class.
    kind_of: Vec<u8>,
}

/// The weights of a packed model that training continues from.
#[derive(Debug, Clone)]
pub struct InitialWeights {
    classes: WeightTables,
    kinds: Option<CoarseTable>,
}

impl InitialWeights {
    /// Loads the weights of a model; `classes` has the class that each of its classes becomes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when a section is missing, or is not of such a model.
    pub fn load(
        sections: &Sections,
        classes: &[u16],
        n_classes: usize,
        coarse_to_fine: bool,
    ) -> Result<Self> {
        let tables = WeightTables::load(sections)?;
        if tables.offsets.len() != classes.len() {
            return Err(Error::corrupt("the weights are not those of the system's actions"));
        }
        let kinds = coarse_to_fine.then(|| CoarseTable::load(sections)).transpose()?;
        Ok(Self { classes: tables.renumbered(classes, n_classes), kinds })
    }
}

/// Averaged weights.
struct Averages {
    weights: Weights,
    coarse: Option<Weights>,
}

impl Averages {
    fn plus(&self, other: &Self) -> Self {
        let coarse = self.coarse.as_ref().zip(other.coarse.as_ref());
        Self {
            weights: self.weights.plus(&other.weights),
            coarse: coarse.map(|(own, other)| own.plus(other)),
        }
    }

    fn divided_by(self, n: usize) -> Self {
        let factor = 1.0 / n as f32;
        Self {
            weights: self.weights.scaled(factor),
            coarse: self.coarse.map(|coarse| coarse.scaled(factor)),
        }
    }
}

impl Learning {
    /// The averages of the weights so far.
    fn averages(&self) -> Averages {
        let coarse = self.coarse.as_ref().map(|coarse| coarse.weights.averaged());
        Averages { weights: self.weights.averaged(), coarse }
    }

    /// Packs averaged weights into a classifier.
    fn pack(&self, averages: &Averages, pruning: &Pruning) -> Box<dyn Classifier> {
        let (indicators, n_templates) = (self.indicators.clone(), self.indicators.len());
        let (weights, seen) = (&averages.weights, &self.seen);
        let pack = |pruning: &Pruning| match &self.initial {
            Some(initial) => initial.plus(weights, pruning, seen, n_templates),
            None => weights.pack(pruning, seen, ScoreScale::Margin, n_templates),
        };
        let Some((weights, coarse)) = averages.coarse.as_ref().zip(self.coarse.as_ref()) else {
            return Box::new(LinearModel::new(indicators, pack(pruning)));
        };
        let half = pruning.limited_to(pruning.max_bytes / 2);
        let table = match &coarse.initial {
            Some(initial) => initial.plus(weights, &half),
            None => CoarseTable::pack(weights, &half),
        };
        let tables = pack(&pruning.limited_to(pruning.max_bytes.saturating_sub(table.bytes())));
        let indicators = TwoStepIndicators { kind: coarse.indicators.clone(), action: indicators };
        Box::new(CoarseToFine::new(indicators, table, tables, coarse.kind_of.clone().into()))
    }

    fn kind_of(&self, class: u16) -> Option<u8> {
        self.coarse.as_ref().map(|coarse| coarse.kind_of[usize::from(class)])
    }

    /// The perceptron update for the row that was scored last: in the first step the kind of the target against
    /// the kind of the prediction, in the second the target against its rival.
    fn update(&mut self, scratch: &LearningMemory, target: u16, predicted: u16, rival: u16) {
        let LearningMemory { first, second } = scratch;
        if let Some(CoarseStep { weights, kind_of, .. }) = &mut self.coarse {
            let kind = |class: u16| u16::from(kind_of[usize::from(class)]);
            if kind(target) != kind(predicted) {
                weights.update(&first.lookup.ids, kind(target), 1);
                weights.update(&first.lookup.ids, kind(predicted), -1);
            }
        }
        if rival != target {
            self.weights.update(&second.lookup.ids, target, 1);
            self.weights.update(&second.lookup.ids, rival, -1);
        }
    }

    /// Stores the weights, so that training can go on.
    fn store_state(&self, sections: &mut Sections) {
        let mut weights = Sections::default();
        self.weights.store(&mut weights);
        sections.put_part("weights", weights);
        if let Some(coarse) = &self.coarse {
            let mut weights = Sections::default();
            coarse.weights.store(&mut weights);
            sections.put_part("coarse", weights);
        }
        let seen: Vec<u8> = self.seen.iter().map(|&seen| u8::from(seen)).collect();
        sections.put("seen", seen.into());
    }

    /// Loads stored weights; after an error nothing has changed.
    fn load_state(&mut self, sections: &Sections) -> Result<()> {
        let seen = sections.get::<u8>("seen")?;
        if seen.len() != self.seen.len() {
            return Err(Error::corrupt("the perceptron has other classes"));
        }
        let weights = SparseWeights::load(&sections.part("weights"), seen.len())?;
        if let Some(coarse) = &mut self.coarse {
            coarse.weights = SparseWeights::load(&sections.part("coarse"), KINDS)?;
        }
        self.weights = weights;
        self.seen = seen.iter().map(|&seen| seen > 0).collect();
        Ok(())
    }

    fn tick(&mut self) {
        self.weights.tick();
        if let Some(coarse) = &mut self.coarse {
            coarse.weights.tick();
        }
    }
}

/// Scratch memory of one thread: the indicators of the row that was scored last, for each step.
#[derive(Default)]
struct LearningMemory {
    first: StepMemory,
    second: StepMemory,
}

#[derive(Default)]
struct StepMemory {
    lookup: Lookup,
    rows: Vec<sparse::Row>,
    sums: Vec<i32>,
}

/// Writes the score of each class into `out`.
fn sum_weights(
    (indicators, weights): (&Indicators, &SparseWeights),
    row: RowRef<'_>,
    memory: &mut StepMemory,
    out: &mut [f32],
) {
    let StepMemory { lookup, rows, sums } = memory;
    indicators.ids(row, &mut lookup.ids);
    weights.find(&lookup.ids, rows);
    sums.clear();
    sums.resize(out.len(), 0);
    weights.add(rows, sums);
    for (out, &sum) in out.iter_mut().zip(sums.iter()) {
        *out = sum as f32;
    }
}

impl Classifier for Learning {
    fn n_classes(&self) -> usize {
        self.seen.len()
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut classifier::Scratch, out: &mut [f32]) {
        let LearningMemory { first, second } = scratch.of();
        sum_weights((&self.indicators, &self.weights), row, second, out);
        if let Some(initial) = &self.initial {
            initial.add_scores(&mut second.lookup, out);
        }
        if let Some(CoarseStep { indicators, initial, weights, kind_of }) = &self.coarse {
            let mut sums = [0.0; KINDS];
            sum_weights((indicators, weights), row, first, &mut sums);
            if let Some(initial) = initial {
                let before = initial.sums(&first.lookup.ids);
                sums.iter_mut().zip(before).for_each(|(sum, before)| *sum += before);
            }
            rank(kind_of, &sums, out);
        }
    }

    fn store(&self, _sections: &mut Sections) {
        unreachable!("weights are packed before they are stored");
    }
}

/// A scorer whose perceptron is in training.
pub type OnlinePerceptron = Factored<Learning>;

impl OnlinePerceptron {
    /// A perceptron with zero weights. With `coarse_to_fine` it chooses a kind of action first, then an action of
    /// that kind.
    pub fn untrained(templates: &Templates, classes: Classes, coarse_to_fine: bool) -> Self {
        let seen = vec![false; classes.len()];
        let TwoStepIndicators { kind, action } = TwoStepIndicators::new(templates);
        let coarse = coarse_to_fine.then(|| CoarseStep {
            indicators: kind,
            initial: None,
            weights: SparseWeights::default(),
            kind_of: classes.kinds().iter().map(|&kind| kind as u8).collect(),
        });
        let indicators = if coarse_to_fine { action } else { Indicators::new(templates) };
        let weights = SparseWeights::default();
        let learning = Learning { indicators, initial: None, weights, seen, coarse };
        Self::new(Extractor::new(templates), classes, learning)
    }

    /// Continues from the weights of a model, to which those that are learned are added.
    #[must_use]
    pub fn continuing(mut self, initial: InitialWeights) -> Self {
        let InitialWeights { classes, kinds } = initial;
        let learning = self.classifier_mut();
        for (seen, before) in learning.seen.iter_mut().zip(classes.seen()) {
            *seen |= before;
        }
        learning.initial = Some(classes);
        if let Some(coarse) = &mut learning.coarse {
            coarse.initial = kinds;
        }
        self
    }

    /// Packs the average of the weights so far.
    pub fn finish(&self, pruning: &Pruning) -> Factored {
        self.finish_with(&self.classifier().averages(), pruning)
    }

    /// Packs the sum of the averages of several perceptrons, trained on the same trees in different orders, or their mean
    /// if they continue from a model, whose weights count once; `None` for no perceptrons.
    pub fn finish_all(learners: &[Self], pruning: &Pruning) -> Option<Factored> {
        let averages = learners.iter().map(|learner| learner.classifier().averages());
        let mut sum = averages.reduce(|sum, averages| sum.plus(&averages))?;
        let first = learners.first()?;
        if first.classifier().initial.is_some() {
            sum = sum.divided_by(learners.len());
        }
        Some(first.finish_with(&sum, pruning))
    }

    fn finish_with(&self, averages: &Averages, pruning: &Pruning) -> Factored {
        let model = self.classifier().pack(averages, pruning);
        Factored::new(self.extractor().clone(), self.classes().clone(), model)
    }

    /// Stores the state of training.
    pub fn store(&self, sections: &mut Sections) {
        self.classifier().store_state(sections);
    }

    /// Loads a stored state of training; after an error nothing has changed.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it is that of another perceptron.
    pub fn resume(&mut self, sections: &Sections) -> Result<()> {
        self.classifier_mut().load_state(sections)
    }

    /// The number of features with weights.
    pub fn n_features(&self) -> usize {
        let Learning { weights, coarse, .. } = self.classifier();
        coarse.as_ref().map_or(0, |coarse| coarse.weights.len()) + weights.len()
    }
}

impl OnlineLearner for FactoredReading<&mut OnlinePerceptron> {
    fn learn(&mut self, lesson: &Lesson<'_>) {
        let (perceptron, scratch) = self.parts();
        let class = |at: usize| perceptron.classes().class(lesson.actions[at]);
        let (target, predicted) = (class(lesson.target), class(lesson.predicted));
        let wrong = lesson.target != lesson.predicted;
        let rival = if wrong { perceptron.rival(lesson) } else { None };
        let learning = perceptron.classifier_mut();
        if let Some(target) = target {
            learning.seen[usize::from(target)] = true;
        }
        if let (Some(rival), Some(target), Some(predicted)) = (rival, target, predicted) {
            learning.update(scratch.of(), target, predicted, rival);
        }
        learning.tick();
    }
}

impl OnlinePerceptron {
    /// The class that the target competes with in its step: the best-scoring one among all actions, or among those
    /// of the target's kind for coarse-to-fine actions.
    fn rival(&self, lesson: &Lesson<'_>) -> Option<u16> {
        let class = |at: usize| self.classes().class(lesson.actions[at]);
        let kind = |class: Option<u16>| class.and_then(|class| self.classifier().kind_of(class));
        let kind_of_target = kind(class(lesson.target));
        let same = (0..lesson.actions.len()).filter(|&at| kind(class(at)) == kind_of_target);
        let score = |at: usize| lesson.scores[at];
        class(same.reduce(|best, at| if score(at) > score(best) { at } else { best })?)
    }
}

/// Weight updates of one or more decisions, to be applied later.
#[derive(Debug, Default)]
pub struct Changes {
    ids: Vec<u64>,
    /// For each decision: the end of its indicators in `ids`, its class, and the amount added to its weights.
    decisions: Vec<(u32, u16, i32)>,
}

/// Learning from whole derivations, without coarse-to-fine actions.
impl FactoredReading<&OnlinePerceptron> {
    /// Adds to `changes` an update that increases the weights of all features of an action (`None`: an idle step)
    /// by `amount`.
    pub fn note(
        &mut self,
        at: Configuration<'_>,
        action: Option<Action>,
        amount: i32,
        changes: &mut Changes,
    ) {
        let classes = self.scorer().classes();
        let class = match action {
            Some(action) => classes.class(action),
            None => classes.idle(),
        };
        let Some(class) = class else { return };
        let perceptron = *self.parts().0;
        let row = self.fill_row(at);
        perceptron.classifier().indicators.append_ids(row, &mut changes.ids);
        changes.decisions.push((changes.ids.len() as u32, class, amount));
    }
}

impl OnlinePerceptron {
    /// Applies updates to the weights.
    pub fn change(&mut self, changes: &Changes) {
        let mut first = 0;
        for &(end, class, amount) in &changes.decisions {
            let ids = &changes.ids[first..end as usize];
            self.classifier_mut().weights.update(ids, class, amount);
            first = end as usize;
        }
    }

    /// Marks the actions of a gold derivation as seen, before training. Actions that occur in no gold derivation
    /// are never chosen.
    pub fn mark_seen(&mut self, derivation: &[Action]) {
        let classes = derivation.iter().filter_map(|&action| self.classes().class(action));
        let classes: Vec<u16> = classes.chain(self.classes().idle()).collect();
        for class in classes {
            self.classifier_mut().seen[usize::from(class)] = true;
        }
    }

    /// Counts one more time step in the average of the weights.
    pub fn tick(&mut self) {
        self.classifier_mut().tick();
    }
}
