//! A scorer that extracts features of a configuration and applies a classifier whose classes are actions.

use super::score_cache::ScoreCache;
use super::{Configuration, Memory, Scorer, Scratch};
use crate::classifier::{self, Classifier, Evidence, ScoreScale, first_best};
use crate::feature::{Extractor, Row, RowRef, extract};
use crate::transition::{Action, ActionKind, TransitionSystem};

/// The mapping from actions to the classes of a classifier.
#[derive(Debug, Clone)]
pub struct Classes {
    by_code: Vec<u16>,
    n: usize,
    /// Whether classes are distinct and in the order of the actions.
    in_order: bool,
    /// The class of an idle step.
    idle: Option<u16>,
    /// The action kind of each class.
    kinds: Vec<ActionKind>,
}

/// Marks an action without a class.
const NO_CLASS: u16 = u16::MAX;

/// The largest number of actions that have classes, with one more for idle steps.
pub const MAX_ACTIONS: usize = NO_CLASS as usize - 1;

impl Classes {
    /// The classes of an inventory: the position of each action.
    pub fn of<A: Action>(inventory: &[A]) -> Self {
        let size = inventory.iter().map(|action| action.code() as usize + 1).max().unwrap_or(0);
        let mut by_code = vec![NO_CLASS; size];
        for (action, class) in inventory.iter().zip(0..) {
            by_code[action.code() as usize] = class;
        }
        let in_order = inventory.windows(2).all(|pair| pair[0] < pair[1]);
        let kinds = inventory.iter().map(|action| action.kind()).collect();
        Self { by_code, n: inventory.len(), in_order, idle: None, kinds }
    }

    /// Adds a class for idle steps.
    #[must_use]
    pub fn with_idle(mut self) -> Self {
        self.idle = Some(self.n as u16);
        self.kinds.push(ActionKind::Finish);
        self.n += 1;
        self
    }

    /// The action kind of each class; [`ActionKind::Finish`] for idle steps and groups.
    pub fn kinds(&self) -> &[ActionKind] {
        &self.kinds
    }

    /// The class of an idle step, if there is one.
    pub fn idle(&self) -> Option<u16> {
        self.idle
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// The class of an action.
    pub fn class<A: Action>(&self, action: A) -> Option<u16> {
        self.class_of_code(action.code())
    }

    /// The class of the action with a code.
    pub fn class_of_code(&self, code: u32) -> Option<u16> {
        self.by_code.get(code as usize).copied().filter(|&class| class != NO_CLASS)
    }

    /// The position of the action of a class among `actions`, which must be sorted.
    fn find<A: Action>(&self, class: u16, actions: &[A]) -> Option<usize> {
        let class_of = |action: &A| self.by_code.get(action.code() as usize).copied();
        let found = actions.binary_search_by_key(&Some(class), class_of).ok();
        found.filter(|_| self.in_order)
    }

    /// Writes the score of each action into `out`; minus infinity for one without a class.
    pub fn pick<A: Action>(&self, actions: &[A], scores: &[f32], out: &mut Vec<f32>) {
        out.clear();
        out.extend(actions.iter().map(|&action| {
            let class = self.by_code.get(action.code() as usize).copied().unwrap_or(NO_CLASS);
            scores.get(usize::from(class)).copied().unwrap_or(f32::NEG_INFINITY)
        }));
    }
}

/// Feature extraction and a classifier.
#[derive(Debug, Clone)]
pub struct Factored<C = Box<dyn Classifier>> {
    extractor: Extractor,
    classes: Classes,
    classifier: C,
}

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub struct FactoredScratch {
    places: extract::Scratch,
    row: Row,
    classifier: classifier::Scratch,
    cache: ScoreCache,
}

impl FactoredScratch {
    /// The row that was extracted last.
    pub(super) fn row(&self) -> RowRef<'_> {
        self.row.borrow()
    }

    /// The scratch memory of the classifier after its last call.
    pub(super) fn classifier(&self) -> &classifier::Scratch {
        &self.classifier
    }
}

impl<C: Classifier> Factored<C> {
    /// A scorer that applies the classifier to the extractor's rows.
    pub fn new(extractor: Extractor, classes: Classes, classifier: C) -> Self {
        Self { extractor, classes, classifier }
    }

    /// The classifier.
    pub fn classifier(&self) -> &C {
        &self.classifier
    }

    pub(super) fn classifier_mut(&mut self) -> &mut C {
        &mut self.classifier
    }

    /// The classes of the actions.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The extractor.
    pub fn extractor(&self) -> &Extractor {
        &self.extractor
    }

    /// Extracts the row of a configuration.
    pub(super) fn fill_row<S: TransitionSystem>(
        &self,
        at: Configuration<'_, S>,
        scratch: &mut FactoredScratch,
    ) {
        let view = at.system.view(at.state);
        self.extractor.extract(at.sentence, &view, &mut scratch.places, &mut scratch.row);
    }

    /// The scores of all classes for the last row.
    fn score_row<'a>(&self, scratch: &'a mut FactoredScratch) -> &'a [f32] {
        let FactoredScratch { row, classifier, cache, .. } = scratch;
        let fill = |scores: &mut [f32]| self.classifier.scores(row.borrow(), classifier, scores);
        cache.scores(row, self.classifier.n_classes(), fill)
    }
}

impl<S: TransitionSystem, C: Classifier> Scorer<S> for Factored<C> {
    fn begin(&self, _at: Configuration<'_, S>, _scratch: &mut Scratch) -> Memory {
        Memory::None
    }

    fn cache_scores(&self, scratch: &mut Scratch) {
        scratch.factored.cache.begin();
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        _memory: &Memory,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let scratch = &mut scratch.factored;
        self.fill_row(at, scratch);
        self.classes.pick(actions, self.score_row(scratch), out);
    }

    fn best(
        &self,
        at: Configuration<'_, S>,
        _memory: &Memory,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) -> Option<(usize, f32)> {
        let scratch = &mut scratch.factored;
        self.fill_row(at, scratch);
        let mut at = None;
        let mut accept = |class| {
            at = self.classes.find(class, actions);
            at.is_some()
        };
        let best = self.classifier.best(scratch.row.borrow(), &mut accept, &mut scratch.classifier);
        if let (Some((_, score)), Some(at)) = (best, at) {
            return Some((at, score));
        }
        self.classes.pick(actions, self.score_row(scratch), out);
        let best = first_best(out);
        Some((best, *out.get(best)?))
    }

    fn idle(&self, at: Configuration<'_, S>, _memory: &Memory, scratch: &mut Scratch) -> f32 {
        let Some(idle) = self.classes.idle() else { return 0.0 };
        let scratch = &mut scratch.factored;
        self.fill_row(at, scratch);
        self.score_row(scratch)[usize::from(idle)]
    }

    fn evidence(
        &self,
        at: Configuration<'_, S>,
        actions: [S::Action; 2],
        scratch: &mut Scratch,
    ) -> Option<(Evidence, Row)> {
        let [own, rival] = actions.map(|action| self.classes.class(action));
        let scratch = &mut scratch.factored;
        self.fill_row(at, scratch);
        let FactoredScratch { row, classifier, .. } = scratch;
        let evidence = self.classifier.evidence(row.borrow(), [own?, rival?], classifier);
        Some((evidence, row.clone()))
    }

    fn scale(&self) -> ScoreScale {
        self.classifier.scale()
    }
}
