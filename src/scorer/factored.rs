//! A scorer that extracts features of a configuration and applies a classifier whose classes are actions.

use std::ops::Deref;

use super::score_cache::ScoreCache;
use super::{Components, Configuration, Memory, Reading, Scorer};
use crate::classifier::{self, Classifier, Evidence, ScoreScale, first_best};
use crate::error::{Error, Result};
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

impl Factored {
    /// Combines a stored classifier with the features, after checking that it scores the system's actions.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when it does not.
    pub fn load(
        components: Components<'_>,
        classes: Classes,
        classifier: Box<dyn Classifier>,
    ) -> Result<Box<dyn Scorer>> {
        if classifier.n_classes() != classes.len() {
            let (scored, listed) = (classifier.n_classes(), classes.len());
            let problem = format!("the weights score {scored} actions, the system has {listed}");
            return Err(Error::Corrupt(problem));
        }
        Ok(Box::new(Self::new(Extractor::new(components.templates), classes, classifier)))
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
}

impl<C: Classifier> Scorer for Factored<C> {
    fn reading(&self) -> Box<dyn Reading + '_> {
        Box::new(FactoredReading::new(self))
    }
}

/// The reading of a [`Factored`] scorer, which it borrows: mutably, if the scorer learns.
pub struct FactoredReading<S> {
    scorer: S,
    places: extract::Scratch,
    row: Row,
    classifier: classifier::Scratch,
    cache: ScoreCache,
}

impl<C: Classifier, S: Deref<Target = Factored<C>>> FactoredReading<S> {
    /// A reading with empty memory.
    pub fn new(scorer: S) -> Self {
        let (places, row) = (extract::Scratch::default(), Row::default());
        let (classifier, cache) = (classifier::Scratch::default(), ScoreCache::default());
        Self { scorer, places, row, classifier, cache }
    }

    /// The scorer.
    pub(super) fn scorer(&self) -> &Factored<C> {
        &self.scorer
    }

    /// The scorer, and the scratch memory of its classifier after the last call.
    pub(super) fn parts(&mut self) -> (&mut S, &mut classifier::Scratch) {
        (&mut self.scorer, &mut self.classifier)
    }

    /// Extracts the row of a configuration.
    pub(super) fn fill_row(&mut self, at: Configuration<'_>) -> RowRef<'_> {
        let Self { scorer, places, row, .. } = self;
        scorer.extractor.extract(at.sentence, &at.view(), places, row);
        row.borrow()
    }

    /// The scores of all classes for the last row.
    fn score_row(&mut self) -> (&S, &[f32]) {
        let Self { scorer, row, classifier, cache, .. } = self;
        let own = &scorer.classifier;
        let fill = |scores: &mut [f32]| own.scores(row.borrow(), classifier, scores);
        (scorer, cache.scores(row, own.n_classes(), fill))
    }
}

impl<C: Classifier, S: Deref<Target = Factored<C>> + Send> Reading for FactoredReading<S> {
    fn cache_scores(&mut self) {
        self.cache.begin();
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        self.fill_row(at);
        let (scorer, scores) = self.score_row();
        scorer.classes.pick(actions, scores, out);
    }

    fn best(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) -> Option<(usize, f32)> {
        self.fill_row(at);
        let mut at = None;
        let mut accept = |class| {
            at = Classes::find(class, actions);
            at.is_some()
        };
        let Self { scorer, row, classifier, .. } = self;
        let best = scorer.classifier.best(row.borrow(), &mut accept, classifier);
        if let (Some((_, score)), Some(at)) = (best, at) {
            return Some((at, score));
        }
        let (scorer, scores) = self.score_row();
        scorer.classes.pick(actions, scores, out);
        let best = first_best(out);
        Some((best, *out.get(best)?))
    }

    fn idle(&mut self, at: Configuration<'_>, _memory: &Memory) -> f32 {
        let Some(idle) = self.scorer.classes.idle() else { return 0.0 };
        self.fill_row(at);
        self.score_row().1[usize::from(idle)]
    }

    fn evidence(&mut self, at: Configuration<'_>, actions: [Action; 2]) -> Option<(Evidence, Row)> {
        self.fill_row(at);
        let Self { scorer, row, classifier, .. } = self;
        let [own, rival] = actions.map(|action| scorer.classes.class(action));
        let evidence = scorer.classifier.evidence(row.borrow(), [own?, rival?], classifier);
        Some((evidence, row.clone()))
    }

    fn scale(&self) -> ScoreScale {
        self.scorer.classifier.scale()
    }
}
