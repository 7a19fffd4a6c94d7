//! The training loop over a sentence: parse it, learn from every decision.
//!
//! On the gold path the next action is always a correct one. With exploration a wrong prediction is
//! sometimes taken, and the dynamic oracle gives the best actions from there; so the learner sees the
//! configurations that its own mistakes lead to.

use super::EpochReport;
use super::choice::Choice;
use crate::classifier::first_best;
use crate::decode::{Cursor, Problem};
use crate::scorer::perceptron::Exploration;
use crate::scorer::{Configuration, Lesson, OnlineLearner};
use crate::symbols::Sentence;
use crate::transition::{Action, Oracle, TransitionSystem};

/// Parses training sentences; holds memory of one thread.
#[derive(Default)]
pub struct Walk {
    legal: Vec<Action>,
    optimal: Vec<Action>,
    scores: Vec<f32>,
}

impl Walk {
    /// Parses a sentence, lets the learner learn from every decision with more than one legal action, and
    /// counts decisions and mistakes. With exploration the oracle must be a dynamic one. `draw` returns
    /// uniform random numbers from 0 to 1.
    pub fn sentence(
        &mut self,
        (system, sentence): (&dyn TransitionSystem, &Sentence),
        oracle: &dyn Oracle,
        learner: &mut dyn OnlineLearner,
        exploration: Option<Exploration>,
        draw: &mut dyn FnMut() -> f64,
        report: &mut EpochReport,
    ) {
        let Self { legal, optimal, scores } = self;
        let problem = Problem { system, sentence };
        let (mut cursor, mut forest) = Cursor::start(problem, learner);
        while !cursor.is_final() {
            system.legal(&cursor.state, &forest, legal);
            let action = if let [only] = legal[..] {
                only
            } else {
                oracle.optimal(&cursor.state, &forest, optimal);
                let at = Configuration { system, sentence, state: &cursor.state, forest: &forest };
                learner.score(at, &cursor.memory, legal, scores);
                let choice = Choice { legal, scores, optimal };
                match choice.judge() {
                    // The oracle has no answer: continue without an update.
                    None => legal[first_best(scores)],
                    Some(judgement) => {
                        let (predicted, target) = (judgement.predicted, judgement.target);
                        let lesson = Lesson {
                            at,
                            memory: &cursor.memory,
                            actions: legal,
                            scores,
                            predicted,
                            target,
                            taught: &[],
                        };
                        learner.learn(&lesson);
                        report.decisions += 1;
                        report.mistakes += u64::from(!judgement.is_correct());
                        legal[choice.next(judgement, exploration, &mut *draw)]
                    }
                }
            };
            cursor.take(problem, &mut forest, action, learner);
        }
    }
}
