//! A beam decoder: what searches more than one path needs of the seams.

use srparse::decode::{Decoded, Decoder, PathScore};
use srparse::scorer::{Scorer, Situation};
use srparse::symbols::Sentence;
use srparse::transition::TransitionSystem;

/// Keeps the best hypotheses of every step; ends when the best one has ended.
#[derive(Debug, Clone, Copy)]
pub struct Beam {
    pub width: usize,
    pub path_score: PathScore,
}

struct Hypothesis<S: TransitionSystem, P: Scorer<S>> {
    state: S::State,
    memory: P::Memory,
    score: f64,
}

impl<S: TransitionSystem, P: Scorer<S>> Decoder<S, P> for Beam {
    type Scratch = P::Scratch;

    fn decode(
        &self,
        system: &S,
        scorer: &P,
        sentence: &Sentence,
        scratch: &mut P::Scratch,
    ) -> Decoded<S::State> {
        let mut beam: Vec<Hypothesis<S, P>> = vec![Hypothesis {
            state: system.start(sentence),
            memory: scorer.begin(system, sentence),
            score: self.path_score.empty(),
        }];
        let (mut legal, mut scores) = (Vec::new(), Vec::new());
        while !system.is_final(&beam[0].state) {
            // Which hypothesis, which action (none: it has ended), what score.
            let mut candidates: Vec<(usize, Option<S::Action>, f64)> = Vec::new();
            for (at, Hypothesis { state, memory, score }) in beam.iter().enumerate() {
                if system.is_final(state) {
                    candidates.push((at, None, *score));
                    continue;
                }
                system.legal(state, &mut legal);
                let situation = Situation { system, sentence, state };
                scorer.score(situation, memory, &legal, scratch, &mut scores);
                candidates.extend(legal.iter().zip(&scores).map(|(&action, &step)| {
                    (at, Some(action), self.path_score.extend(*score, step))
                }));
            }
            // The sort is stable: ties go to the better hypothesis, then to the action's order.
            candidates.sort_by(|a, b| b.2.total_cmp(&a.2));
            candidates.truncate(self.width);
            beam = candidates
                .into_iter()
                .map(|(at, action, score)| {
                    let mut state = beam[at].state.clone();
                    let mut memory = beam[at].memory.clone();
                    if let Some(action) = action {
                        let situation = Situation { system, sentence, state: &state };
                        scorer.advance(situation, action, &mut memory);
                        system.apply(&mut state, action);
                    }
                    Hypothesis { state, memory, score }
                })
                .collect();
        }
        let Hypothesis { state, score, .. } = beam.swap_remove(0);
        Decoded { state, score, complete: true }
    }
}
