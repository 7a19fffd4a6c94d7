//! Scorers that are neural networks.
//!
//! [`Neural`] is a network with its parameters. [`Neural::compile`] makes the scorer for parsing; [`NeuralBatch`] computes
//! for a batch of sentences in training, where each sentence has an [`OnlineLearner`](super::OnlineLearner).
//!
//! - [`network`]: the networks to choose from, behind one type; [`learner`]: the same in training.
//! - [`lstm`]: layers of LSTMs.
//! - [`names`]: what rows and columns of parameters stand for, by name.
//! - [`positions`]: decisions from a few positions of the encoded sentence, built for speed. In training, the sentences
//!   of a batch are encoded together; for parsing, weights have 8 bits.
//! - [`stack_lstm`]: decisions from the whole stack, buffer and history, as published. In training, its computations are
//!   recorded on a tape, one for each sentence; for parsing, weights have 8 bits too.
//! - [`ensemble`]: several networks, whose log-probabilities are averaged.

pub mod ensemble;
pub mod learner;
pub mod lstm;
pub mod names;
pub mod network;
pub mod positions;
mod settings;
pub mod stack_lstm;

pub use ensemble::Ensemble;
pub use learner::NeuralBatch;
pub use network::{AnyNetwork, NetworkParams, Neural};
pub use settings::NeuralParams;

use std::borrow::Cow;
use std::sync::Arc;

use self::positions::{POSITIONS, SYMBOLS};
use super::Lesson;
use super::factored::Classes;
use crate::classifier::linear::log_softmax;
use crate::encoder::{Pretrained, PretrainedTable, WordInventory};
use crate::neural::tape::Decisions;
use crate::neural::{Dropout, ForwardPass, Gradients, Params, Tape, Var};
use crate::symbols::{Lists, Sentence, Vocabulary};
use crate::transition::{Action, TransitionSystem};

/// The symbols that a network has parameters for.
#[derive(Debug, Clone)]
pub struct Inventory {
    /// Those of the input.
    pub words: WordInventory,
    /// The number of labels.
    pub labels: usize,
    /// The classes of actions.
    pub classes: Classes,
}

impl Inventory {
    /// The symbols of a system and a vocabulary.
    pub fn new(
        params: &NetworkParams,
        system: &dyn TransitionSystem,
        vocabulary: &Vocabulary,
        pretrained: Option<PretrainedTable>,
        encoder: Option<Arc<Pretrained>>,
    ) -> Self {
        let ngrams = if params.has_ngrams() { vocabulary.ngrams() } else { Lists::default() };
        let (sizes, ngrams) = (vocabulary.sizes(), Arc::new(ngrams));
        let words = WordInventory { sizes, ngrams, pretrained, encoder };
        Self { words, labels: system.labels().len(), classes: Classes::of(system) }
    }
}

/// A sentence to learn from.
#[derive(Debug, Clone)]
pub struct TrainingSentence<'a> {
    /// With gold tags.
    pub gold: &'a Sentence,
    /// As the network sees it: the tags may be hidden.
    pub seen: Cow<'a, Sentence>,
}

/// The row of an action in an embedding table: 0 for none, else its class + 1.
fn action_row(classes: &Classes, code: Option<u32>) -> u32 {
    code.and_then(|code| classes.class(Action::new(code))).map_or(0, |class| u32::from(class) + 1)
}

/// Writes the classes of the legal actions of a lesson with the probabilities to be learned; returns whether there is
/// something to learn: whether the correct action has a class.
fn write_choices(classes: &Classes, lesson: &Lesson<'_>, choices: &mut Vec<(u32, f32)>) -> bool {
    choices.clear();
    let probabilities = (0..).map(|at| lesson.probability(at));
    let classes_of = lesson.actions.iter().map(|&action| classes.class(action).map(u32::from));
    choices
        .extend(classes_of.zip(probabilities).filter_map(|(class, share)| Some((class?, share))));
    classes.class(lesson.actions[lesson.target]).is_some()
}

/// The knowledge of a thread about the sentences of a batch in training.
#[derive(Debug, Default)]
pub struct TrainingMemory {
    /// The computations for the sentence, of a network on the tape.
    tape: Tape,
    /// The gradients of the sentences of a batch, of the same.
    gradients: Gradients,
    /// Dropout; none without.
    pub dropout: Option<Dropout>,
    /// The decisions of a network on positions.
    decisions: Decisions<POSITIONS, SYMBOLS>,
    /// The sum of the losses of all decisions since it was last set to 0.
    pub loss: f64,
    /// The scores of the last decision, for all classes.
    last_scores: Option<Var>,
    /// The classes of its legal actions, with the probabilities to be learned.
    choices: Vec<(u32, f32)>,
}

impl TrainingMemory {
    fn pass<'a>(&'a mut self, params: &'a Params) -> ForwardPass<'a> {
        ForwardPass { tape: &mut self.tape, params, dropout: self.dropout.as_mut() }
    }
}

/// Normalizes scores over the actions that they are given for.
fn normalize(scores: &mut [f32]) {
    log_softmax(scores);
    if scores.iter().any(|score| score.is_nan()) {
        // Overflow, which only the parameters of a corrupt model cause.
        scores.fill(0.0);
    }
}
