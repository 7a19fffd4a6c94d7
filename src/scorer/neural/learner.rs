//! Networks in training, behind one type.

use super::positions::training::{PositionsBatch, PositionsLearner};
use super::stack_lstm::training::StackLstmLearner;
use super::{AnyNetwork, Neural, TrainingMemory, TrainingSentence};
use crate::classifier::ScoreScale;
use crate::neural::{Dropout, Gradients};
use crate::scorer::{Configuration, Lesson, Memory, OnlineLearner, Reading};
use crate::transition::Action;

/// The computation of a network in training for a batch of sentences.
#[derive(Debug)]
pub enum NeuralBatch {
    /// All sentences are encoded together, and gradients go back together.
    Positions(Box<PositionsBatch>),
    /// Each sentence is recorded on a tape of its own.
    StackLstm,
}

impl NeuralBatch {
    /// The memory for batches of a network.
    pub fn new(network: &AnyNetwork) -> Self {
        match network {
            AnyNetwork::Positions(network) => {
                Self::Positions(Box::new(PositionsBatch::new(network.as_ref().clone())))
            }
            AnyNetwork::StackLstm(_) => Self::StackLstm,
        }
    }

    /// Begins with the sentences of a batch; replaces unknown tags by predicted ones.
    pub fn begin(
        &mut self,
        network: &Neural,
        sentences: &mut [TrainingSentence<'_>],
        dropouts: &mut [Dropout],
    ) {
        if let Self::Positions(batch) = self {
            batch.encode(&network.params, sentences, dropouts);
        }
    }

    /// The learner for a sentence, by its number in the batch, with the memory of a thread.
    pub fn learner<'a>(
        &'a self,
        network: &'a Neural,
        sentence: usize,
        memory: &'a mut TrainingMemory,
    ) -> NeuralLearner<'a> {
        let params = &network.params;
        match (self, &network.network) {
            (Self::Positions(batch), _) => {
                NeuralLearner::Positions(PositionsLearner { batch, params, sentence, memory })
            }
            (Self::StackLstm, AnyNetwork::StackLstm(own)) => {
                let classes = &network.classes;
                NeuralLearner::StackLstm(StackLstmLearner { network: own, params, classes, memory })
            }
            _ => unreachable!("a batch is that of its network"),
        }
    }

    /// Forgets what the memory of a thread holds of the batch before.
    pub fn restart(&self, network: &Neural, memory: &mut TrainingMemory) {
        let TrainingMemory { loss, decisions, gradients, .. } = memory;
        *loss = 0.0;
        match self {
            Self::Positions(_) => decisions.clear(),
            Self::StackLstm => gradients.clear(&network.params),
        }
    }

    /// Adds the gradients of the losses that are in the memories of the threads, and of the tags of the batch; returns
    /// the loss of these.
    pub fn end(
        &mut self,
        network: &Neural,
        memories: &[&TrainingMemory],
        gradients: &mut Gradients,
    ) -> f64 {
        match self {
            Self::Positions(batch) => {
                let decisions = memories.iter().map(|memory| &memory.decisions);
                batch.backward(&network.params, decisions, gradients)
            }
            Self::StackLstm => {
                let parts: Vec<_> = memories.iter().map(|memory| &memory.gradients).collect();
                gradients.add(&parts);
                0.0
            }
        }
    }
}

/// A network in training, on one sentence.
pub enum NeuralLearner<'a> {
    /// As in [`super::positions::training`].
    Positions(PositionsLearner<'a>),
    /// As in [`super::stack_lstm::training`].
    StackLstm(StackLstmLearner<'a>),
}

impl NeuralLearner<'_> {
    /// Ends a sentence: goes back, unless all sentences of the batch do so together.
    pub fn end_sentence(&mut self) {
        if let Self::StackLstm(learner) = self {
            let TrainingMemory { tape, gradients, .. } = &mut *learner.memory;
            tape.begin_backward();
            tape.backward(learner.params, gradients);
        }
    }

    fn any(&mut self) -> &mut dyn OnlineLearner {
        match self {
            Self::Positions(learner) => learner,
            Self::StackLstm(learner) => learner,
        }
    }
}

impl Reading for NeuralLearner<'_> {
    fn begin(&mut self, at: Configuration<'_>) -> Memory {
        self.any().begin(at)
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        self.any().score(at, memory, actions, out);
    }

    fn advance(&mut self, after: Configuration<'_>, action: Action, memory: &mut Memory) {
        self.any().advance(after, action, memory);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl OnlineLearner for NeuralLearner<'_> {
    fn learn(&mut self, lesson: &Lesson<'_>) {
        self.any().learn(lesson);
    }
}
