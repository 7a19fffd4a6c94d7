//! Greedy decoding: one hypothesis, the best action at every step. The time is linear in the number of
//! scored actions; in item systems, which score candidates, that number grows faster than the length of the
//! sentence.

use super::{Cursor, Decoded, Illegal, PathScore, Problem};
use crate::scorer::Scratch;
use crate::transition::{Action, ActionKind, TransitionSystem};

/// The greedy decoder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Greedy {
    /// What happens when the best action is illegal.
    pub illegal: Illegal,
    /// How the score of the parse is computed.
    pub path_score: PathScore,
}

/// Scratch memory of one thread.
#[derive(Debug)]
pub struct GreedyScratch<A> {
    legal: Vec<A>,
    ranked: Vec<A>,
    taken: Vec<A>,
    scores: Vec<f32>,
}

impl<A> Default for GreedyScratch<A> {
    fn default() -> Self {
        Self { legal: Vec::new(), ranked: Vec::new(), taken: Vec::new(), scores: Vec::new() }
    }
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
    pub fn decode<S: TransitionSystem>(
        &self,
        problem: Problem<'_, S>,
        memory: &mut GreedyScratch<S::Action>,
        scratch: &mut Scratch,
    ) -> Decoded<S> {
        let Problem { system, scorer, .. } = problem;
        let GreedyScratch { legal, ranked, taken, scores } = memory;
        let mut cursor = Cursor::start(problem, scratch);
        let mut score = self.path_score.empty();
        taken.clear();
        while !cursor.is_final(problem) {
            cursor.legal(problem, legal);
            let competitors = self.competitors(problem, &cursor, legal);
            let action = if let ([only], Competitors::Legal) = (&legal[..], competitors) {
                *only
            } else {
                match competitors {
                    Competitors::Legal => std::mem::swap(legal, ranked),
                    Competitors::All => system.inventory(&cursor.state, ranked),
                    Competitors::LegalAndFinish => {
                        system.inventory(&cursor.state, ranked);
                        ranked.retain(|a| a.kind() == ActionKind::Finish || legal.contains(a));
                    }
                }
                let at = cursor.at(problem);
                let best = scorer.best(at, &cursor.memory, ranked, scratch, scores);
                let Some((best, step)) = best else { break };
                let action = ranked[best];
                if competitors != Competitors::Legal && !legal.contains(&action) {
                    break;
                }
                score = self.path_score.extend(score, step);
                action
            };
            cursor.take(problem, action, scratch);
            taken.push(action);
        }
        let score = self.path_score.score(score, system.steps(&cursor.state));
        Decoded::new(system, cursor.state, taken.clone(), score)
    }

    /// The actions among which the scorer decides.
    fn competitors<S: TransitionSystem>(
        &self,
        problem: Problem<'_, S>,
        cursor: &Cursor<S>,
        legal: &[S::Action],
    ) -> Competitors {
        let Problem { system, sentence, .. } = problem;
        let may_end = || legal.iter().any(|action| action.kind() == ActionKind::Finish);
        let all_read = || system.view(&cursor.state).buffer as usize >= sentence.tags.len();
        match self.illegal {
            _ if system.is_forced(&cursor.state) => Competitors::Legal,
            Illegal::Fail => Competitors::All,
            Illegal::Reject if all_read() && !may_end() => Competitors::LegalAndFinish,
            Illegal::NextBest | Illegal::Reject => Competitors::Legal,
        }
    }
}
