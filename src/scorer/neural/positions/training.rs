//! The network in training: a batch of sentences is encoded together, each is parsed, and the gradients of all
//! decisions go back together.

use super::{POSITIONS, Positions, SYMBOLS, best_tag};
use crate::classifier::ScoreScale;
use crate::encoder::Encoded;
use crate::neural::tape::Decisions;
use crate::neural::{Dropout, Gradients, Param, Params, Tape, Var, kernel};
use crate::scorer::neural::{TrainingMemory, TrainingSentence, write_choices};
use crate::scorer::{Configuration, Lesson, Memory, OnlineLearner, Reading};
use crate::symbols::{FIRST, UNKNOWN};
use crate::transition::Action;

/// The outputs of the network for a batch.
#[derive(Debug)]
pub struct PositionsBatch {
    network: Positions,
    tape: Tape,
    encoded: Encoded,
    /// By row of the batch and position, the contributions to the hidden layer.
    contributions: Var,
    /// The loss of hidden tags.
    tag_loss: f64,
}

impl PositionsBatch {
    /// A network in training.
    pub fn new(network: Positions) -> Self {
        let (encoded, contributions) = (Encoded::default(), Var::default());
        Self { network, tape: Tape::default(), encoded, contributions, tag_loss: 0.0 }
    }

    /// Encodes sentences and replaces unknown tags by predicted ones; without dropout, there is none for any of the
    /// sentences.
    pub fn encode(
        &mut self,
        params: &Params,
        sentences: &mut [TrainingSentence<'_>],
        dropouts: &mut [Dropout],
    ) {
        let seen: Vec<_> = sentences.iter().map(|sentence| &*sentence.seen).collect();
        let Self { network, tape, .. } = self;
        tape.clear();
        self.encoded = network.encoder.record(tape, params, &seen, dropouts);
        self.contributions = tape.affine(params, network.weights, None, self.encoded.states);
        self.tag_loss = network.tags.map_or(0.0, |tags| self.predict_tags(params, tags, sentences));
    }

    /// Replaces unknown tags by the best ones, and records the losses of those that are known; returns their sum.
    fn predict_tags(
        &mut self,
        params: &Params,
        (weights, bias): (Param, Param),
        sentences: &mut [TrainingSentence<'_>],
    ) -> f64 {
        let Self { tape, encoded, .. } = self;
        let scores = tape.affine(params, weights, None, encoded.states);
        let (mut hidden, mut of_word) = (Vec::new(), vec![0.0; bias.len()]);
        for (number, sentence) in sentences.iter_mut().enumerate() {
            for (token, &gold) in sentence.gold.tags.iter().enumerate() {
                if sentence.seen.tags[token] != UNKNOWN {
                    continue;
                }
                let row = encoded.row(number, token + 1);
                of_word.copy_from_slice(&tape.of(scores)[row * bias.len()..][..bias.len()]);
                kernel::add_scaled(1.0, params.of(bias), &mut of_word);
                sentence.seen.to_mut().tags[token] = best_tag(&of_word);
                hidden.push((row, gold));
            }
        }
        let known = hidden.into_iter().filter(|(_, gold)| *gold >= FIRST);
        tape.row_losses(params, bias, scores, FIRST, known)
    }

    /// Adds the gradients of decisions on the sentences that were encoded, and of hidden tags; returns the loss of
    /// these.
    pub fn backward<'a>(
        &mut self,
        params: &Params,
        decisions: impl Iterator<Item = &'a Decisions<POSITIONS, SYMBOLS>>,
        gradients: &mut Gradients,
    ) -> f64 {
        let Self { network, tape, contributions, .. } = self;
        tape.begin_backward();
        for decisions in decisions {
            let d_contributions = tape.gradient_mut(*contributions);
            decisions.backward(&network.decision, d_contributions, gradients);
        }
        tape.backward(params, gradients);
        self.tag_loss
    }
}

/// The network in training, on one of the sentences of a batch.
pub struct PositionsLearner<'a> {
    /// The batch, which has been encoded.
    pub batch: &'a PositionsBatch,
    /// The parameters it was encoded with.
    pub params: &'a Params,
    /// The number of the sentence.
    pub sentence: usize,
    /// The memory of the thread.
    pub memory: &'a mut TrainingMemory,
}

impl Reading for PositionsLearner<'_> {
    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let PositionsBatch { network, tape, encoded, contributions, .. } = self.batch;
        let view = at.view();
        let mut rows = Positions::positions(&view);
        for (position, row) in rows.iter_mut().enumerate() {
            let place = (*row as usize).min(at.sentence.len() + 1);
            *row = (encoded.row(self.sentence, place) * POSITIONS + position) as u32;
        }
        let mut entries = network.symbols(&at.sentence.tags, &view);
        for (entry, table) in entries.iter_mut().zip(network.decision.tables) {
            *entry = (*entry).min(table.rows - 1);
        }
        let TrainingMemory { decisions, dropout, .. } = &mut *self.memory;
        let dropout = dropout.as_mut().map(|dropout| |factors: &mut [f32]| dropout.draw(factors));
        let shared = tape.of(*contributions);
        let all = decisions.score(self.params, &network.decision, shared, (rows, entries), dropout);
        network.classes.pick(actions, all, out);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl OnlineLearner for PositionsLearner<'_> {
    /// Notes the cross-entropy loss over the legal actions.
    fn learn(&mut self, lesson: &Lesson<'_>) {
        let memory = &mut *self.memory;
        let scale = memory.dropout.as_ref().map_or(1.0, Dropout::scale);
        if write_choices(&self.batch.network.classes, lesson, &mut memory.choices) {
            let layer = &self.batch.network.decision;
            let loss = memory.decisions.learn(self.params, layer, &memory.choices, scale);
            memory.loss += f64::from(loss);
        }
    }
}
