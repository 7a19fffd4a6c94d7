//! Greedy decoding: one hypothesis, the best action at every step. The time is linear in the number of
//! scored actions; in item systems, which score candidates, that number grows faster than the length of the
//! sentence.

use super::{Cursor, Decoded, Illegal, PathScore, Problem};
use crate::scorer::Reading;
use crate::transition::{Action, ActionKind, Forest};

/// The greedy decoder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Greedy {
    /// The rule for an illegal best action.
    pub illegal: Illegal,
    /// How the score of the parse is computed.
    pub path_score: PathScore,
}

/// Scratch memory of one thread.
#[derive(Debug, Default)]
pub struct GreedyScratch {
    legal: Vec<Action>,
    ranked: Vec<Action>,
    taken: Vec<Action>,
    scores: Vec<f32>,
}

/// The actions among which the scorer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Competitors {
    Legal,
    LegalAndFinish,
    All,
}

impl Greedy {
    /// Decodes a sentence.
    pub fn decode(
        &self,
        problem: Problem<'_>,
        scratch: &mut GreedyScratch,
        reading: &mut dyn Reading,
    ) -> Decoded {
        let system = problem.system;
        let GreedyScratch { legal, ranked, taken, scores } = scratch;
        let (mut cursor, mut forest) = Cursor::start(problem, reading);
        let mut score = self.path_score.empty();
        taken.clear();
        while !cursor.is_final() {
            cursor.legal(problem, &forest, legal);
            let competitors = self.competitors(problem, (&cursor, &forest), legal);
            let action = if let ([only], Competitors::Legal) = (&legal[..], competitors) {
                *only
            } else {
                match competitors {
                    Competitors::Legal => std::mem::swap(legal, ranked),
                    Competitors::All => system.inventory(&cursor.state, &forest, ranked),
                    Competitors::LegalAndFinish => {
                        system.inventory(&cursor.state, &forest, ranked);
                        ranked.retain(|action| {
                            let ends = system.kind(*action) == ActionKind::Finish;
                            ends || legal.contains(action)
                        });
                    }
                }
                let at = cursor.at(problem, &forest);
                let best = reading.best(at, &cursor.memory, ranked, scores);
                let Some((best, step)) = best else { break };
                let action = ranked[best];
                if competitors != Competitors::Legal && !legal.contains(&action) {
                    break;
                }
                score = self.path_score.extend(score, step);
                action
            };
            cursor.take(problem, &mut forest, action, reading);
            taken.push(action);
        }
        let score = self.path_score.score(score, cursor.state.steps as usize);
        Decoded::new(system, (cursor.state, forest), taken.clone(), score)
    }

    /// The actions among which the scorer decides.
    fn competitors(
        &self,
        problem: Problem<'_>,
        (cursor, forest): (&Cursor, &Forest),
        legal: &[Action],
    ) -> Competitors {
        let Problem { system, sentence } = problem;
        let may_end = || legal.iter().any(|&action| system.kind(action) == ActionKind::Finish);
        let all_read = || cursor.state.buffer as usize >= sentence.tags.len();
        match self.illegal {
            _ if system.is_forced(&cursor.state, forest) => Competitors::Legal,
            Illegal::Fail => Competitors::All,
            Illegal::Reject if all_read() && !may_end() => Competitors::LegalAndFinish,
            Illegal::NextBest | Illegal::Reject => Competitors::Legal,
        }
    }
}
