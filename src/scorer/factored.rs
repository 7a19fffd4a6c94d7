//! A scorer that extracts features of a configuration and applies a classifier whose classes are actions.

use super::score_cache::ScoreCache;
use super::{Configuration, Memory, Scorer, Scratch};
use crate::classifier::{self, Classifier, Evidence, ScoreScale, first_best};
use crate::feature::{Extractor, Row, RowRef, extract};
use crate::transition::{Action, ActionKind, TransitionSystem};

/// The classes of a classifier: the codes of the actions that are ranked, and perhaps one more for idle steps.
#[derive(Debug, Clone)]
pub struct Classes {
    n_actions: usize,
    has_idle: bool,
    /// The action kind of each class.
    kinds: Vec<ActionKind>,
}

/// The largest number of actions that have classes, with one more for idle steps.
pub const MAX_ACTIONS: usize = u16::MAX as usize - 1;

impl Classes {
    /// The classes of a system.
    pub fn of(system: &dyn TransitionSystem) -> Self {
        let n_actions = system.n_actions();
        let kinds = (0..n_actions as u32).map(|code| system.kind(Action::new(code))).collect();
        Self { n_actions, has_idle: false, kinds }
    }

    /// Adds a class for idle steps.
    #[must_use]
    pub fn with_idle(mut self) -> Self {
        self.has_idle = true;
        self.kinds.push(ActionKind::Finish);
        self
    }

    /// The action kind of each class; [`ActionKind::Finish`] for idle steps.
    pub fn kinds(&self) -> &[ActionKind] {
        &self.kinds
    }

    /// The class of an idle step, if there is one.
    pub fn idle(&self) -> Option<u16> {
        self.has_idle.then_some(self.n_actions as u16)
    }

    /// The number of classes.
    pub fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// The class of an action, if it is ranked.
    pub fn class(&self, action: Action) -> Option<u16> {
        ((action.code as usize) < self.n_actions).then_some(action.code as u16)
    }

    /// The position of the action of a class among `actions`, which must be sorted.
    fn find(class: u16, actions: &[Action]) -> Option<usize> {
        actions.binary_search_by_key(&u32::from(class), |action| action.code).ok()
    }

    /// Writes the score of each action into `out`; minus infinity for one that is not ranked.
    pub fn pick(&self, actions: &[Action], scores: &[f32], out: &mut Vec<f32>) {
        let scores = &scores[..self.n_actions.min(scores.len())];
        let score = |action: &Action| scores.get(action.code as usize).copied();
        out.clear();
        out.extend(actions.iter().map(|action| score(action).unwrap_or(f32::NEG_INFINITY)));
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
    pub(super) fn fill_row(&self, at: Configuration<'_>, scratch: &mut FactoredScratch) {
        self.extractor.extract(at.sentence, &at.view(), &mut scratch.places, &mut scratch.row);
    }

    /// The scores of all classes for the last row.
    fn score_row<'a>(&self, scratch: &'a mut FactoredScratch) -> &'a [f32] {
        let FactoredScratch { row, classifier, cache, .. } = scratch;
        let fill = |scores: &mut [f32]| self.classifier.scores(row.borrow(), classifier, scores);
        cache.scores(row, self.classifier.n_classes(), fill)
    }
}

impl<C: Classifier> Scorer for Factored<C> {
    fn begin(&self, _at: Configuration<'_>, _scratch: &mut Scratch) -> Memory {
        Memory::None
    }

    fn cache_scores(&self, scratch: &mut Scratch) {
        scratch.factored.cache.begin();
    }

    fn score(
        &self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let scratch = &mut scratch.factored;
        self.fill_row(at, scratch);
        self.classes.pick(actions, self.score_row(scratch), out);
    }

    fn best(
        &self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) -> Option<(usize, f32)> {
        let scratch = &mut scratch.factored;
        self.fill_row(at, scratch);
        let mut at = None;
        let mut accept = |class| {
            at = Classes::find(class, actions);
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

    fn idle(&self, at: Configuration<'_>, _memory: &Memory, scratch: &mut Scratch) -> f32 {
        let Some(idle) = self.classes.idle() else { return 0.0 };
        let scratch = &mut scratch.factored;
        self.fill_row(at, scratch);
        self.score_row(scratch)[usize::from(idle)]
    }

    fn evidence(
        &self,
        at: Configuration<'_>,
        actions: [Action; 2],
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
