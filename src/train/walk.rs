//! The training loop over a sentence: parse it, learn from every decision.
//!
//! On the gold path the next action is always a correct one. With exploration a wrong prediction is
//! sometimes taken, and the dynamic oracle gives the best actions from there; so the learner sees the
//! configurations that its own mistakes lead to.

use super::EpochReport;
use super::choice::{Choice, Exploration};
use crate::classifier::first_best;
use crate::decode::{Cursor, Problem};
use crate::oracle::Guide;
use crate::scorer::{Configuration, Lesson, OnlineLearner, Scratch};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// Parses training sentences; holds the memory of one thread.
pub struct Walk<S: TransitionSystem> {
    legal: Vec<S::Action>,
    optimal: Vec<S::Action>,
    scores: Vec<f32>,
    /// The scratch memory of the learner.
    pub scratch: Scratch,
}

impl<S: TransitionSystem> Default for Walk<S> {
    fn default() -> Self {
        let (legal, optimal, scores) = (Vec::new(), Vec::new(), Vec::new());
        Self { legal, optimal, scores, scratch: Scratch::default() }
    }
}

impl<S: TransitionSystem> Walk<S> {
    /// Parses a sentence, lets the learner learn from every decision with more than one legal action, and
    /// counts decisions and mistakes. With exploration the guide must be a dynamic oracle's. `draw` returns
    /// uniform random numbers from 0 to 1.
    pub fn sentence(
        &mut self,
        (system, sentence): (&S, &Sentence),
        guide: &dyn Guide<S>,
        learner: &mut dyn OnlineLearner<S>,
        exploration: Option<Exploration>,
        draw: &mut dyn FnMut() -> f64,
        report: &mut EpochReport,
    ) {
        let Self { legal, optimal, scores, scratch } = self;
        let problem = Problem { system, sentence, scorer: &*learner };
        let mut cursor = Cursor::start(problem, scratch);
        loop {
            let problem = Problem { system, sentence, scorer: &*learner };
            if cursor.is_final(problem) {
                break;
            }
            cursor.legal(problem, legal);
            let action = if let [only] = legal[..] {
                only
            } else {
                guide.optimal(system, &cursor.state, optimal);
                let at = Configuration { system, sentence, state: &cursor.state };
                learner.score(at, &cursor.memory, legal, scratch, scores);
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
                        learner.learn(&lesson, scratch);
                        report.decisions += 1;
                        report.mistakes += u64::from(!judgement.is_correct());
                        legal[choice.next(judgement, exploration, &mut *draw)]
                    }
                }
            };
            let problem = Problem { system, sentence, scorer: &*learner };
            cursor.take(problem, action, scratch);
        }
    }
}
