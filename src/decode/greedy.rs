//! Greedy decoding: the best action at every step, one path. Time is linear in the number of actions that are
//! asked about: for systems of candidates this grows faster than the sentence.

use super::{Decoded, Decoder, Illegal, PathScore};
use crate::scorer::{Configuration, Scorer};
use crate::symbols::Sentence;
use crate::transition::TransitionSystem;

/// The greedy decoder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Greedy {
    /// What happens when the best action is illegal.
    pub illegal: Illegal,
    /// How the score of the parse is made.
    pub path_score: PathScore,
}

/// The memory of one thread.
#[derive(Debug)]
pub struct GreedyScratch<A, T> {
    actions: Vec<A>,
    ranked: Vec<A>,
    taken: Vec<A>,
    scores: Vec<f32>,
    scorer: T,
}

impl<A, T: Default> Default for GreedyScratch<A, T> {
    fn default() -> Self {
        let (scores, scorer) = (Vec::new(), T::default());
        Self { actions: Vec::new(), ranked: Vec::new(), taken: Vec::new(), scores, scorer }
    }
}

impl<S: TransitionSystem, P: Scorer<S>> Decoder<S, P> for Greedy {
    type Scratch = GreedyScratch<S::Action, P::Scratch>;

    fn decode(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        scratch: &mut Self::Scratch,
    ) -> Decoded<S::State, S::Action> {
        let GreedyScratch { actions, ranked, taken, scores, scorer: scorer_scratch } = scratch;
        let mut state = system.start(sentence);
        let at = Configuration { system, sentence, state: &state };
        let mut memory = scorer.begin(at, scorer_scratch);
        let mut score = self.path_score.empty();
        taken.clear();
        while !system.is_final(&state) {
            system.legal(&state, actions);
            let at = Configuration { system, sentence, state: &state };
            let no_choice = self.illegal == Illegal::NextBest || system.is_forced(&state);
            let action = if let ([only], true) = (&actions[..], no_choice) {
                *only
            } else {
                if self.illegal == Illegal::Fail {
                    system.inventory(&state, ranked);
                } else {
                    std::mem::swap(actions, ranked);
                }
                let best = scorer.best(at, &memory, ranked, scorer_scratch, scores);
                let Some((best, step)) = best else { break };
                let action = ranked[best];
                if self.illegal == Illegal::Fail && !actions.contains(&action) {
                    break;
                }
                score = self.path_score.extend(score, step);
                action
            };
            system.apply(&mut state, action);
            let after = Configuration { system, sentence, state: &state };
            scorer.advance(after, action, &mut memory, scorer_scratch);
            taken.push(action);
        }
        let complete = system.is_complete(&state);
        let score = self.path_score.score(score, system.steps(&state));
        Decoded { state, actions: taken.clone(), score, complete }
    }
}
