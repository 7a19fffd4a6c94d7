//! The network as a scorer: for parsing, and in training.

use super::{StackLstm, StackMemory};
use crate::classifier::ScoreScale;
use crate::neural::{Params, Var};
use crate::scorer::factored::Classes;
use crate::scorer::neural::{NeuralScratch, choices, normalize};
use crate::scorer::{Configuration, Lesson, Memory, OnlineLearner, Scorer, Scratch};
use crate::transition::TransitionSystem;

fn memory(memory: &Memory) -> &StackMemory {
    match memory {
        Memory::StackLstm(memory) => memory,
        Memory::None | Memory::Members(_) => {
            unreachable!("a network receives the memory that it created")
        }
    }
}

impl StackLstm {
    /// Writes the scores of `actions` into `out`; returns the scores of all classes.
    fn score_all<S: TransitionSystem>(
        &self,
        (params, classes): (&Params, &Classes),
        at: Configuration<'_, S>,
        (memory, actions): (&StackMemory, &[S::Action]),
        scratch: &mut NeuralScratch,
        out: &mut Vec<f32>,
    ) -> Var {
        let pass = &mut scratch.pass(params);
        let all = self.scores(at, memory, pass);
        classes.pick(actions, pass.tape.of(all), out);
        all
    }

    fn update<S: TransitionSystem>(
        &self,
        params: &Params,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut Memory,
        scratch: &mut Scratch,
    ) {
        if let Memory::StackLstm(memory) = memory {
            self.advance(after, action, memory, &mut scratch.neural.pass(params));
        }
    }
}

/// The network for parsing.
#[derive(Debug)]
pub struct StackLstmScorer {
    /// The network.
    pub network: Box<StackLstm>,
    /// Its parameters.
    pub params: Params,
    /// The classes of actions.
    pub classes: Classes,
}

impl<S: TransitionSystem> Scorer<S> for StackLstmScorer {
    fn begin(&self, at: Configuration<'_, S>, scratch: &mut Scratch) -> Memory {
        scratch.neural.tape.clear_for_results();
        let pass = &mut scratch.neural.pass(&self.params);
        Memory::StackLstm(Box::new(self.network.begin(at, pass)))
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        memory: &Memory,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let Self { network, params, classes } = self;
        let end = scratch.neural.tape.end();
        let memory = self::memory(memory);
        network.score_all((params, classes), at, (memory, actions), &mut scratch.neural, out);
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
        self.network.update(&self.params, after, action, memory, scratch);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

/// The network in training: the tape records all computations of a sentence, and each decision adds its loss.
#[derive(Debug, Clone, Copy)]
pub struct StackLstmLearner<'a> {
    /// The network.
    pub network: &'a StackLstm,
    /// Its parameters.
    pub params: &'a Params,
    /// The classes of actions.
    pub classes: &'a Classes,
}

impl<S: TransitionSystem> Scorer<S> for StackLstmLearner<'_> {
    fn begin(&self, at: Configuration<'_, S>, scratch: &mut Scratch) -> Memory {
        scratch.neural.tape.clear();
        let pass = &mut scratch.neural.pass(self.params);
        Memory::StackLstm(Box::new(self.network.begin(at, pass)))
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        memory: &Memory,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let Self { network, params, classes } = *self;
        let scratch = &mut scratch.neural;
        let memory = self::memory(memory);
        let all = network.score_all((params, classes), at, (memory, actions), scratch, out);
        scratch.last_scores = Some(all);
    }

    fn advance(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut Memory,
        scratch: &mut Scratch,
    ) {
        self.network.update(self.params, after, action, memory, scratch);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl<S: TransitionSystem> OnlineLearner<S> for StackLstmLearner<'_> {
    /// Adds the cross-entropy loss over the legal actions to the tape.
    fn learn(&mut self, lesson: &Lesson<'_, S>, scratch: &mut Scratch) {
        let scratch = &mut scratch.neural;
        if let Some(scores) = scratch.last_scores
            && choices(self.classes, lesson, &mut scratch.choices)
        {
            scratch.loss += f64::from(scratch.tape.cross_entropy(scores, &scratch.choices));
        }
    }
}
