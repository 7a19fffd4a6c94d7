//! The network in training: the tape records all computations of a sentence, and each decision adds its loss.

use super::StackLstm;
use super::stack::Stack;
use crate::classifier::ScoreScale;
use crate::neural::transformer::Activation;
use crate::neural::{ForwardPass, Param, Params, Var};
use crate::scorer::factored::Classes;
use crate::scorer::neural::lstm::LstmState;
use crate::scorer::neural::{TrainingMemory, action_row, write_choices};
use crate::scorer::{Configuration, Lesson, Memory, OnlineLearner, Reading};
use crate::transition::{Action, Forest, View};

/// The memory of a hypothesis.
#[derive(Debug, Clone)]
pub struct RecordedMemory {
    words: Words,
    /// The output of the buffer LSTM for each position of the buffer, the end included: (words + 1) rows of
    /// `lstm_dim` values.
    buffer: Var,
    stack: Stack<Item>,
    /// The step of the bottom of the stack.
    bottom: LstmState,
    /// The step of the last action.
    history: LstmState,
}

/// An item of the stack: its vector, and the step of the stack LSTM.
#[derive(Debug)]
struct Item {
    vector: Var,
    step: LstmState,
}

/// One row of `dim` values for each word.
#[derive(Debug, Clone, Copy)]
struct Words {
    rows: Var,
    dim: usize,
}

impl Words {
    fn of(self, position: u32) -> Var {
        self.rows.part(position as usize * self.dim, self.dim)
    }
}

impl StackLstm {
    fn affine(&self, (weights, bias): (Param, Param), x: Var, pass: &mut ForwardPass<'_>) -> Var {
        pass.tape.affine(pass.params, weights, Some(bias), x)
    }

    /// The vector of a node, given the stack that has its children.
    fn vector(
        &self,
        (forest, id): (&Forest, u32),
        (words, before): (Words, &Stack<Item>),
        pass: &mut ForwardPass<'_>,
    ) -> Var {
        let node = forest.node(id);
        if node.label.is_none() {
            return words.of(node.start);
        }
        let children = forest.children(id);
        let label = pass.tape.lookup(pass.params, self.labels, self.label(node, children.len()));
        if node.open {
            return label;
        }
        // The label is at both ends, so each direction reads it first.
        let mut rows = vec![label];
        let items = before.find(children.iter().rev().copied());
        rows.extend(children.iter().rev().zip(items).map(|(&child, item)| {
            item.map_or_else(|| words.of(forest.node(child).start), |item| item.vector)
        }));
        rows.push(label);
        let rows = pass.tape.join(rows.iter().rev().copied());
        let [forwards, backwards] = self.composer;
        let length = rows.len() - label.len();
        let forwards = pass.tape.sequence(pass.params, forwards, rows.part(0, length), false);
        let backwards =
            pass.tape.sequence(pass.params, backwards, rows.part(label.len(), length), true);
        let last = forwards.part(forwards.len() - self.lstm_dim, self.lstm_dim);
        let both = pass.tape.join([last, backwards.part(0, self.lstm_dim)]);
        let composed = self.affine(self.composed, both, pass);
        pass.tape.apply(Activation::Relu, composed)
    }

    /// Pops what has left the stack and pushes what is new.
    fn update_stack(
        &self,
        view: &View<'_>,
        memory: &mut RecordedMemory,
        pass: &mut ForwardPass<'_>,
    ) {
        let RecordedMemory { words, stack, bottom, .. } = memory;
        stack.update(view, |id, below, before| {
            let vector = self.vector((view.forest, id), (*words, before), pass);
            let last = below.top().map_or(&*bottom, |top| &top.step);
            Item { vector, step: self.stack.step(vector, Some(last), pass) }
        });
    }

    /// Encodes the sentence in the initial configuration.
    fn begin(&self, at: Configuration<'_>, pass: &mut ForwardPass<'_>) -> RecordedMemory {
        let mut parts = Vec::new();
        for token in 0..at.sentence.len() {
            self.embeddings.embed(at.sentence, Some(token), pass, &mut parts);
        }
        let words = pass.tape.join(parts.iter().copied());
        let words = self.affine(self.word, words, pass);
        let rows = pass.tape.apply(Activation::Relu, words);
        let [bottom, end, start] =
            self.padding.map(|padding| pass.tape.lookup(pass.params, padding, 0));
        let buffer = pass.tape.join([rows, end]);
        let mut memory = RecordedMemory {
            words: Words { rows, dim: end.len() },
            buffer: self.buffer.run_backwards(buffer, pass),
            stack: Stack::default(),
            bottom: self.stack.step(bottom, None, pass),
            history: self.history.step(start, None, pass),
        };
        self.update_stack(&at.view(), &mut memory, pass);
        memory
    }

    /// The unnormalized scores of all classes.
    fn scores(
        &self,
        at: Configuration<'_>,
        memory: &RecordedMemory,
        pass: &mut ForwardPass<'_>,
    ) -> Var {
        let stack = memory.stack.top().map_or(&memory.bottom, |top| &top.step);
        let next = (at.state.buffer as usize).min(at.sentence.len());
        let all = pass.tape.join([
            stack.output(),
            memory.history.output(),
            memory.buffer.part(next * self.lstm_dim, self.lstm_dim),
        ]);
        let all = pass.dropout(all);
        let hidden = self.affine(self.hidden, all, pass);
        let hidden = pass.tape.apply(Activation::Relu, hidden);
        self.affine(self.out, hidden, pass)
    }
}

/// The network with its parameters, in training.
pub struct StackLstmLearner<'a> {
    /// The network.
    pub network: &'a StackLstm,
    /// Its parameters.
    pub params: &'a Params,
    /// The classes of actions.
    pub classes: &'a Classes,
    /// The memory of the thread.
    pub memory: &'a mut TrainingMemory,
}

impl Reading for StackLstmLearner<'_> {
    fn begin(&mut self, at: Configuration<'_>) -> Memory {
        self.memory.tape.clear();
        let pass = &mut self.memory.pass(self.params);
        Memory::Recorded(Box::new(self.network.begin(at, pass)))
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let Memory::Recorded(memory) = memory else {
            unreachable!("a network receives the memory that it created")
        };
        let pass = &mut self.memory.pass(self.params);
        let all = self.network.scores(at, memory, pass);
        self.classes.pick(actions, pass.tape.of(all), out);
        self.memory.last_scores = Some(all);
    }

    fn advance(&mut self, after: Configuration<'_>, action: Action, memory: &mut Memory) {
        let Memory::Recorded(memory) = memory else {
            unreachable!("a network receives the memory that it created")
        };
        let pass = &mut self.memory.pass(self.params);
        let (classes, table) = &self.network.actions;
        let action = pass.tape.lookup(pass.params, *table, action_row(classes, Some(action.code)));
        memory.history = self.network.history.step(action, Some(&memory.history), pass);
        self.network.update_stack(&after.view(), memory, pass);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl OnlineLearner for StackLstmLearner<'_> {
    /// Adds the cross-entropy loss over the legal actions to the tape.
    fn learn(&mut self, lesson: &Lesson<'_>) {
        let memory = &mut *self.memory;
        if let Some(scores) = memory.last_scores
            && write_choices(self.classes, lesson, &mut memory.choices)
        {
            memory.loss += f64::from(memory.tape.cross_entropy(scores, &memory.choices));
        }
    }
}
