//! A two-stage scorer: first shift, reduce or finish, then which reduction.

use srparse::classifier::linear::log_softmax;
use srparse::classifier::{self, Classifier, ScoreScale};
use srparse::feature::{Extractor, Row, extract};
use srparse::scorer::factored::Classes;
use srparse::scorer::{Configuration, Scorer};
use srparse::transition::{Action, ActionKind, TransitionSystem};

/// A classifier with its classes.
pub struct Stage {
    pub classes: Classes,
    pub classifier: Box<dyn Classifier>,
}

/// The class of an action in the first stage.
pub fn kind_class<A: Action>(action: A) -> Option<u16> {
    Some(match action.kind() {
        ActionKind::Shift => 0,
        ActionKind::Finish => 1,
        _ => 2,
    })
}

impl Stage {
    /// A score for each action; minus infinity for those that the stage knows nothing about.
    fn scores<A: Action>(&self, row: &Row, actions: &[A]) -> Vec<f32> {
        let mut all = vec![0.0; self.classifier.n_classes()];
        self.classifier.scores(row.borrow(), &mut classifier::Scratch::default(), &mut all);
        let mut picked = Vec::new();
        self.classes.pick(actions, &all, &mut picked);
        picked
    }
}

/// log p(kind) + log p(action | kind), both over what is legal.
pub struct TwoStage {
    pub extractor: Extractor,
    pub kinds: Stage,
    pub reductions: Stage,
}

impl<S: TransitionSystem> Scorer<S> for TwoStage {
    type Memory = ();
    type Scratch = (extract::Scratch, Row);

    fn begin(&self, _at: Configuration<'_, S>, _scratch: &mut Self::Scratch) {}

    fn score(
        &self,
        at: Configuration<'_, S>,
        _memory: &(),
        actions: &[S::Action],
        (places, row): &mut Self::Scratch,
        out: &mut Vec<f32>,
    ) {
        self.extractor.extract(at.sentence, &at.system.view(at.state, None), places, row);
        let of_kind = self.kinds.scores(row, actions);
        // One entry for each kind that is legal here.
        let mut kinds: Vec<(Option<u16>, f32)> =
            actions.iter().map(|&action| kind_class(action)).zip(of_kind).collect();
        kinds.dedup_by_key(|kind| kind.0);
        let mut probabilities: Vec<f32> = kinds.iter().map(|kind| kind.1).collect();
        log_softmax(&mut probabilities);
        let mut reductions = self.reductions.scores(row, actions);
        log_softmax(&mut reductions);
        out.clear();
        for (&action, &reduction) in actions.iter().zip(&reductions) {
            let class = kind_class(action);
            let kind = kinds.iter().position(|kind| kind.0 == class).map(|at| probabilities[at]);
            let which = if action.kind() == ActionKind::Reduce { reduction } else { 0.0 };
            let score = kind.unwrap_or(f32::NEG_INFINITY) + which;
            // Where no reduction was ever seen there is no distribution over them.
            out.push(if score.is_nan() { f32::NEG_INFINITY } else { score });
        }
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}
