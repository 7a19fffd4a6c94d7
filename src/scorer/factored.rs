//! A scorer made of features and a classifier whose classes are the system's actions.

use super::kept::Kept;
use super::{Scorer, Situation};
use crate::classifier::{self, Classifier, ScoreKind, first_best};
use crate::feature::{Extractor, Row, extract};
use crate::symbols::Sentence;
use crate::transition::{Action, TransitionSystem};

/// Which class of a classifier stands for which action.
#[derive(Debug, Clone)]
pub struct Classes {
    by_code: Vec<u16>,
    n: usize,
    /// Whether each action has a class of its own, in their order.
    in_order: bool,
    /// The class of waiting after the end.
    idle: Option<u16>,
}

/// No class.
const NO_CLASS: u16 = u16::MAX;

impl Classes {
    /// The classes of an inventory: positions in its order.
    pub fn of<A: Action>(inventory: &[A]) -> Self {
        let size = inventory.iter().map(|action| action.code() as usize + 1).max().unwrap_or(0);
        let mut by_code = vec![NO_CLASS; size];
        for (action, class) in inventory.iter().zip(0..) {
            by_code[action.code() as usize] = class;
        }
        let in_order = inventory.windows(2).all(|pair| pair[0] < pair[1]);
        Self { by_code, n: inventory.len(), in_order, idle: None }
    }

    /// The same with one more class, for waiting after the end of a derivation.
    #[must_use]
    pub fn with_idle(mut self) -> Self {
        self.idle = Some(self.n as u16);
        self.n += 1;
        self
    }

    /// The class of waiting, if there is one.
    pub fn idle(&self) -> Option<u16> {
        self.idle
    }

    /// Classes that stand for groups of actions: the first stage of a decision taken in two. `class`
    /// gives numbers below `n`, and none for an action that the classifier is not asked about.
    pub fn grouped<A: Action>(inventory: &[A], n: usize, class: impl Fn(A) -> Option<u16>) -> Self {
        let mut classes = Self { n, in_order: false, ..Self::of(inventory) };
        for &action in inventory {
            let class = class(action).filter(|&class| usize::from(class) < n);
            classes.by_code[action.code() as usize] = class.unwrap_or(NO_CLASS);
        }
        classes
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
        self.by_code.get(action.code() as usize).copied().filter(|&class| class != NO_CLASS)
    }

    /// The position of the action of a class among `actions`, which stand in their order.
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

/// Features and a classifier.
#[derive(Debug, Clone)]
pub struct Factored<C = Box<dyn Classifier>> {
    extractor: Extractor,
    classes: Classes,
    classifier: C,
}

/// The memory of one thread.
#[derive(Debug, Default)]
pub struct FactoredScratch {
    places: extract::Scratch,
    row: Row,
    classifier: classifier::Scratch,
    kept: Kept,
}

impl FactoredScratch {
    /// What the classifier was asked with last.
    pub(super) fn classifier(&self) -> &classifier::Scratch {
        &self.classifier
    }
}

impl<C: Classifier> Factored<C> {
    /// A scorer that asks the classifier about the extractor's rows.
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

    /// Extracts the row of a state.
    pub(super) fn fill_row<'a, S: TransitionSystem>(
        &self,
        at: Situation<'_, S>,
        scratch: &'a mut FactoredScratch,
    ) -> &'a Row {
        let view = at.system.view(at.state, None);
        self.extractor.extract(at.sentence, &view, &mut scratch.places, &mut scratch.row);
        &scratch.row
    }

    /// The scores of all classes by the row that has been filled.
    fn score_row<'a>(&self, scratch: &'a mut FactoredScratch) -> &'a [f32] {
        let FactoredScratch { row, classifier, kept, .. } = scratch;
        let fill = |scores: &mut [f32]| self.classifier.scores(row.borrow(), classifier, scores);
        kept.scores(row, self.classifier.n_classes(), fill)
    }
}

impl<S: TransitionSystem, C: Classifier> Scorer<S> for Factored<C> {
    type Memory = ();
    type Scratch = FactoredScratch;

    fn begin(&self, _system: &S, _sentence: &Sentence) {}

    fn keep_scores(&self, scratch: &mut FactoredScratch) {
        scratch.kept.begin();
    }

    fn score(
        &self,
        at: Situation<'_, S>,
        _memory: &(),
        actions: &[S::Action],
        scratch: &mut FactoredScratch,
        out: &mut Vec<f32>,
    ) {
        self.fill_row(at, scratch);
        self.classes.pick(actions, self.score_row(scratch), out);
    }

    fn best(
        &self,
        at: Situation<'_, S>,
        _memory: &(),
        actions: &[S::Action],
        scratch: &mut FactoredScratch,
        out: &mut Vec<f32>,
    ) -> Option<(usize, f32)> {
        self.fill_row(at, scratch);
        let known = self.classifier.best(scratch.row.borrow(), &mut scratch.classifier);
        let found =
            known.and_then(|(class, score)| Some((self.classes.find(class, actions)?, score)));
        // What the classifier likes best of all may not be among the actions.
        found.or_else(|| {
            self.classes.pick(actions, self.score_row(scratch), out);
            let best = first_best(out);
            Some((best, *out.get(best)?))
        })
    }

    fn idle(&self, at: Situation<'_, S>, _memory: &(), scratch: &mut FactoredScratch) -> f32 {
        let Some(idle) = self.classes.idle() else { return 0.0 };
        self.fill_row(at, scratch);
        self.score_row(scratch)[usize::from(idle)]
    }

    fn advance(&self, _at: Situation<'_, S>, _action: S::Action, _memory: &mut ()) {}

    fn kind(&self) -> ScoreKind {
        self.classifier.kind()
    }
}
