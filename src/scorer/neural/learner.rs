//! Networks in training, behind one type.

use super::positions::training::{PositionsBatch, PositionsLearner};
use super::stack_lstm::training::StackLstmLearner;
use super::{AnyNetwork, Neural, TrainingMemory, TrainingSentence};
use crate::neural::{Dropout, Gradients};
use crate::scorer::OnlineLearner;

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
    ) -> Box<dyn OnlineLearner + 'a> {
        let params = &network.params;
        match (self, &network.network) {
            (Self::Positions(batch), _) => {
                Box::new(PositionsLearner { batch, params, sentence, memory })
            }
            (Self::StackLstm, AnyNetwork::StackLstm(own)) => {
                let classes = &network.classes;
                Box::new(StackLstmLearner { network: own, params, classes, memory })
            }
            _ => unreachable!("a batch is that of its network"),
        }
    }

    /// Ends a sentence: goes back, unless all sentences of the batch do so together.
    pub fn end_sentence(&self, network: &Neural, memory: &mut TrainingMemory) {
        if matches!(self, Self::StackLstm) {
            memory.tape.begin_backward();
            memory.tape.backward(&network.params, &mut memory.gradients);
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
