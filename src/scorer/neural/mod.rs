//! Scorers that are neural networks.
//!
//! A [`Network`] writes what it computes on a tape, one for a sentence; [`Neural`] asks it as any scorer is asked.
//!
//! - [`any`]: one type for all networks.
//! - [`words`] and [`lstm`]: what they are made of.
//! - [`encoder`]: words in their sentence, read from both sides.
//! - [`positions`]: a decision by a few words of the sentence, built for speed.
//! - [`stack_lstm`]: a decision by the whole stack, buffer and history, as published.

pub mod any;
pub mod encoder;
pub mod lstm;
pub mod positions;
pub mod stack_lstm;
pub mod words;

pub use any::{AnyNetwork, NetworkParams};
pub use words::Fixed;

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::factored::Classes;
use super::{Configuration, Scorer};
use crate::Result;
use crate::classifier::ScoreScale;
use crate::classifier::linear::log_softmax;
use crate::memory::Sections;
use crate::neural::{OptimizerState, Params, Tape, Var};
use crate::symbols::{Sentence, Vocabulary, VocabularySizes};
use crate::transition::TransitionSystem;

/// What is left out at random while a network learns.
#[derive(Debug)]
pub struct Noise {
    rng: ChaCha8Rng,
    /// The share of the numbers of a layer that is left out.
    dropout: f32,
}

impl Noise {
    /// Noise that a seed decides.
    pub fn new(seed: u64, dropout: f32) -> Self {
        Self { rng: ChaCha8Rng::seed_from_u64(seed), dropout }
    }

    /// Whether something of this probability happens.
    pub fn happens(&mut self, probability: f32) -> bool {
        self.rng.random::<f32>() < probability
    }
}

/// Where a network writes, and what it writes with.
pub struct Pen<'a> {
    /// The tape.
    pub tape: &'a mut Tape,
    /// The parameters.
    pub params: &'a Params,
    /// What is left out; none when parsing.
    pub noise: Option<&'a mut Noise>,
}

impl Pen<'_> {
    /// Leaves numbers out at random and makes the others larger, so that sums stay about the same.
    pub fn drop_out(&mut self, x: Var) -> Var {
        match &mut self.noise {
            Some(noise) if noise.dropout > 0.0 => {
                let kept = 1.0 / (1.0 - noise.dropout);
                let Noise { rng, dropout } = &mut **noise;
                let mask =
                    (0..x.len()).map(|_| if rng.random::<f32>() < *dropout { 0.0 } else { kept });
                self.tape.scale(x, mask)
            }
            _ => x,
        }
    }
}

/// What symbols there are.
#[derive(Debug, Clone)]
pub struct Inventory {
    /// The values of words, tags and parts of words.
    pub vocabulary: VocabularySizes,
    /// Labels.
    pub labels: usize,
    /// The classes of actions. In tables of actions the first row stands for none of them.
    pub classes: Classes,
    /// Vectors of words that were learned elsewhere, if there are any.
    pub fixed: Option<Fixed>,
}

/// The row of an action in a table: 0 for none.
fn action_row(classes: &Classes, code: Option<u32>) -> u32 {
    code.and_then(|code| classes.class_of_code(code)).map_or(0, |class| u32::from(class) + 1)
}

/// A network that scores every class of actions.
pub trait Network<S: TransitionSystem>: Send + Sync {
    /// What travels with a hypothesis: mostly where on the tape something stands.
    type Memory: Clone + Send;

    /// Reads the sentence, in the first state.
    fn begin(&self, at: Configuration<'_, S>, pen: &mut Pen<'_>) -> Self::Memory;
    /// Takes note of an action that has just been applied.
    fn advance(
        &self,
        _after: Configuration<'_, S>,
        _action: S::Action,
        _memory: &mut Self::Memory,
        _pen: &mut Pen<'_>,
    ) {
    }
    /// The scores of all classes.
    fn scores(&self, at: Configuration<'_, S>, memory: &Self::Memory, pen: &mut Pen<'_>) -> Var;
}

/// A network with its parameters.
#[derive(Debug, Clone)]
pub struct Neural<N> {
    /// The network.
    pub network: N,
    /// What it has learned.
    pub params: Params,
    /// The classes of actions.
    pub classes: Classes,
}

impl Neural<AnyNetwork> {
    /// A network for a system and a vocabulary, its first parameters drawn, or, without a seed, left to be loaded.
    ///
    /// # Errors
    /// When it is too large.
    pub fn new<S: TransitionSystem>(
        params: NetworkParams,
        system: &S,
        vocabulary: &Vocabulary,
        fixed: Option<Fixed>,
        seed: Option<u64>,
    ) -> Result<Self> {
        let mut actions = Vec::new();
        system.inventory(&system.start(&Sentence::default()), &mut actions);
        let classes = Classes::of(&actions);
        let inventory = Inventory {
            vocabulary: vocabulary.sizes(),
            labels: system.labels().count(),
            classes: classes.clone(),
            fixed,
        };
        let (network, params) = AnyNetwork::new(params, &inventory, seed)?;
        Ok(Self { network, params, classes })
    }

    /// Adds what a model needs to the sections.
    pub fn store(&self, sections: &mut Sections) {
        self.params.store(sections);
        if let Some(fixed) = self.network.fixed() {
            fixed.store(sections);
        }
    }
}

impl<N: Clone> Neural<N> {
    /// The same network with the mean of its parameters, if one is kept.
    pub fn averaged(&self, course: &OptimizerState) -> Self {
        let params = match &course.average {
            Some(average) => average.of(&self.params),
            None => self.params.clone(),
        };
        Self { params, network: self.network.clone(), classes: self.classes.clone() }
    }
}

impl<S: TransitionSystem, N: Network<S>> Scorer<S> for Neural<N> {
    type Memory = N::Memory;
    type Scratch = Tape;

    fn begin(&self, at: Configuration<'_, S>, tape: &mut Tape) -> N::Memory {
        tape.clear_for_results();
        self.network.begin(at, &mut Pen { tape, params: &self.params, noise: None })
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        memory: &N::Memory,
        actions: &[S::Action],
        tape: &mut Tape,
        out: &mut Vec<f32>,
    ) {
        let pen = &mut Pen { tape, params: &self.params, noise: None };
        let end = pen.tape.end();
        let scores = self.network.scores(at, memory, pen);
        self.classes.pick(actions, tape.of(scores), out);
        tape.forget_after(end);
        // Probabilities among what was asked about.
        log_softmax(out);
        if out.iter().any(|score| score.is_nan()) {
            // Numbers too large to compare, which only a broken model has.
            out.fill(0.0);
        }
    }

    fn advance(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut N::Memory,
        tape: &mut Tape,
    ) {
        let pen = &mut Pen { tape, params: &self.params, noise: None };
        self.network.advance(after, action, memory, pen);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}
