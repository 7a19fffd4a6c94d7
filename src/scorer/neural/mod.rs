//! Scorers that are neural networks.
//!
//! A [`Network`] records its computations on a tape, one for each sentence; [`Neural`] is the scorer of a network
//! with its parameters, and [`NeuralLearner`] that of a network in training. [`Neural::compile`] makes a scorer for
//! parsing alone: networks on positions then compute with 8-bit weights and no tape.
//!
//! - [`network`]: the networks to choose from, behind one type.
//! - [`embeddings`] and [`lstm`]: their components.
//! - [`encoder`]: a bidirectional LSTM over the sentence.
//! - [`positions`]: decisions from a few positions of the encoded sentence, built for speed.
//! - [`stack_lstm`]: decisions from the whole stack, buffer and history, as published.

pub mod embeddings;
pub mod encoder;
pub mod lstm;
pub mod network;
pub mod positions;
pub mod stack_lstm;

pub use embeddings::PretrainedTable;
pub use network::{AnyNetwork, NetworkParams};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use self::positions::compiled::{CompiledPositions, PositionsScratch};
use super::factored::Classes;
use super::{Configuration, Lesson, Memory, OnlineLearner, Scorer, Scratch};
use crate::Result;
use crate::classifier::ScoreScale;
use crate::classifier::linear::log_softmax;
use crate::memory::Sections;
use crate::neural::inference::InstructionSet;
use crate::neural::{OptimizerState, Params, Tape, Var};
use crate::symbols::{Sentence, Vocabulary, VocabularySizes};
use crate::transition::TransitionSystem;

/// Dropout of a network in training: hidden units and words.
#[derive(Debug)]
pub struct Dropout {
    rng: ChaCha8Rng,
    /// The probability that a hidden unit is dropped.
    rate: f32,
}

impl Dropout {
    /// Dropout of hidden units with probability `rate`, in [0, 1), and a seeded generator.
    pub fn new(seed: u64, rate: f32) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), rate }
    }

    /// Returns true with the given probability.
    pub fn happens(&mut self, probability: f32) -> bool {
        self.rng.random::<f32>() < probability
    }
}

/// The context of a forward pass.
pub struct ForwardPass<'a> {
    /// The tape.
    pub tape: &'a mut Tape,
    /// The parameters.
    pub params: &'a Params,
    /// Dropout; none when parsing.
    pub dropout: Option<&'a mut Dropout>,
}

impl ForwardPass<'_> {
    /// Applies inverted dropout: values are set to 0 with probability `rate`, others are divided by 1 − `rate`.
    pub fn dropout(&mut self, x: Var) -> Var {
        match &mut self.dropout {
            Some(dropout) if dropout.rate > 0.0 => {
                let scale = 1.0 / (1.0 - dropout.rate);
                let Dropout { rng, rate } = &mut **dropout;
                let mask =
                    (0..x.len()).map(|_| if rng.random::<f32>() < *rate { 0.0 } else { scale });
                self.tape.scale(x, mask)
            }
            _ => x,
        }
    }
}

/// The symbols that a network has parameters for.
#[derive(Debug, Clone)]
pub struct Inventory {
    /// The numbers of words, tags and parts of word forms.
    pub vocabulary: VocabularySizes,
    /// The number of labels.
    pub labels: usize,
    /// The classes of actions.
    pub classes: Classes,
    /// Pretrained embeddings, if there are any.
    pub pretrained: Option<PretrainedTable>,
}

/// The row of an action in an embedding table: 0 for none, else its class + 1.
fn action_row(classes: &Classes, code: Option<u32>) -> u32 {
    code.and_then(|code| classes.class_of_code(code)).map_or(0, |class| u32::from(class) + 1)
}

/// A network that scores all classes of actions.
pub trait Network<S: TransitionSystem>: Send + Sync {
    /// The memory of a hypothesis: mostly variables on the tape.
    type Memory: Clone + Send;

    /// Encodes the sentence in the initial configuration.
    fn begin(&self, at: Configuration<'_, S>, pass: &mut ForwardPass<'_>) -> Self::Memory;
    /// Updates the memory after an action; `after` is the configuration that it led to.
    fn advance(
        &self,
        _after: Configuration<'_, S>,
        _action: S::Action,
        _memory: &mut Self::Memory,
        _pen: &mut ForwardPass<'_>,
    ) {
    }
    /// The unnormalized scores of all classes.
    fn scores(
        &self,
        at: Configuration<'_, S>,
        memory: &Self::Memory,
        pass: &mut ForwardPass<'_>,
    ) -> Var;
}

/// A network with its parameters.
#[derive(Debug, Clone)]
pub struct Neural {
    /// The network.
    pub network: AnyNetwork,
    /// Its parameters.
    pub params: Params,
    /// The classes of actions.
    pub classes: Classes,
}

impl Neural {
    /// Creates a network for a system and a vocabulary, with parameters initialized by the seed or, without
    /// one, to be loaded.
    ///
    /// # Errors
    /// When it is too large.
    pub fn new<S: TransitionSystem>(
        params: NetworkParams,
        system: &S,
        vocabulary: &Vocabulary,
        pretrained: Option<PretrainedTable>,
        seed: Option<u64>,
    ) -> Result<Self> {
        let mut actions = Vec::new();
        system.inventory(&system.start(&Sentence::default()), &mut actions);
        let classes = Classes::of(&actions);
        let inventory = Inventory {
            vocabulary: vocabulary.sizes(),
            labels: system.labels().count(),
            classes: classes.clone(),
            pretrained,
        };
        let (network, params) = AnyNetwork::new(params, &inventory, seed)?;
        Ok(Self { network, params, classes })
    }

    /// Adds the parameters to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        self.params.store(sections);
        if let Some(pretrained) = self.network.pretrained() {
            pretrained.store(sections);
        }
    }

    /// Returns the network with the moving average of its parameters, or a copy if there is no average.
    #[must_use]
    pub fn averaged(&self, state: &OptimizerState) -> Self {
        let params = match &state.average {
            Some(average) => average.of(&self.params),
            None => self.params.clone(),
        };
        Self { params, network: self.network.clone(), classes: self.classes.clone() }
    }

    /// The scorer for parsing: packed for an instruction set where the network allows it, else on the tape.
    pub fn compile<S: TransitionSystem>(self, set: InstructionSet) -> Box<dyn Scorer<S>> {
        match self.network {
            AnyNetwork::Positions(network) => {
                Box::new(CompiledPositions::new(*network, self.params, self.classes, set))
            }
            AnyNetwork::StackLstm(_) => Box::new(self),
        }
    }

    /// Writes the scores of `actions` into `out`; returns the scores of all classes.
    fn score_all<S: TransitionSystem>(
        &self,
        at: Configuration<'_, S>,
        memory: &Memory,
        actions: &[S::Action],
        scratch: &mut NeuralScratch,
        out: &mut Vec<f32>,
    ) -> Var {
        let pass = &mut scratch.pass(&self.params);
        let all = self.network.scores(at, memory, pass);
        self.classes.pick(actions, pass.tape.of(all), out);
        all
    }
}

/// Memory of one thread.
#[derive(Debug, Default)]
pub struct NeuralScratch {
    /// The computations for the sentence.
    pub tape: Tape,
    /// Dropout; none when parsing.
    pub dropout: Option<Dropout>,
    /// Of a compiled network.
    positions: PositionsScratch,
    /// The sum of the losses of all decisions since it was last set to 0.
    pub loss: f64,
    /// The scores of the last decision, for all classes.
    last_scores: Option<Var>,
    /// The classes of its legal actions.
    legal_classes: Vec<u32>,
}

impl NeuralScratch {
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

impl<S: TransitionSystem> Scorer<S> for Neural {
    fn begin(&self, at: Configuration<'_, S>, scratch: &mut Scratch) -> Memory {
        scratch.neural.tape.clear_for_results();
        self.network.begin(at, &mut scratch.neural.pass(&self.params))
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        memory: &Memory,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let end = scratch.neural.tape.end();
        self.score_all(at, memory, actions, &mut scratch.neural, out);
        scratch.neural.tape.forget_after(end);
        normalize(out);
    }

    fn advance(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut Memory,
        scratch: &mut Scratch,
    ) {
        self.network.advance(after, action, memory, &mut scratch.neural.pass(&self.params));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

/// A network in training: the tape records all computations of a sentence, and each decision adds its loss.
#[derive(Debug, Clone, Copy)]
pub struct NeuralLearner<'a>(pub &'a Neural);

impl<S: TransitionSystem> Scorer<S> for NeuralLearner<'_> {
    fn begin(&self, at: Configuration<'_, S>, scratch: &mut Scratch) -> Memory {
        scratch.neural.tape.clear();
        self.0.network.begin(at, &mut scratch.neural.pass(&self.0.params))
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        memory: &Memory,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let all = self.0.score_all(at, memory, actions, &mut scratch.neural, out);
        scratch.neural.last_scores = Some(all);
    }

    fn advance(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut Memory,
        scratch: &mut Scratch,
    ) {
        self.0.network.advance(after, action, memory, &mut scratch.neural.pass(&self.0.params));
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl<S: TransitionSystem> OnlineLearner<S> for NeuralLearner<'_> {
    /// Adds the cross-entropy loss over the legal actions to the tape.
    fn learn(&mut self, lesson: &Lesson<'_, S>, scratch: &mut Scratch) {
        let NeuralScratch { tape, loss, last_scores, legal_classes, .. } = &mut scratch.neural;
        let class = |action| self.0.classes.class(action).map(u32::from);
        legal_classes.clear();
        legal_classes.extend(lesson.actions.iter().filter_map(|&action| class(action)));
        if let (Some(all), Some(target)) = (*last_scores, class(lesson.actions[lesson.target])) {
            *loss += f64::from(tape.cross_entropy(all, legal_classes, target));
        }
    }
}
