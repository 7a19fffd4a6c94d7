//! The network of Dyer et al. (2016, section 3), as Fernández-González and Gómez-Rodríguez (2018, section 5.2) use
//! it: LSTMs over the stack, the buffer and the past actions, constituents composed of their label and children.
//!
//! It knows of a system only what [`View`] shows: what has changed on the stack since the last action is popped and
//! pushed, so the one network serves all systems whose stacks have constituents. What stands on the stack is a word,
//! the vector of a label that has been announced, or a constituent composed by an LSTM that reads its label and its
//! children from both sides.

use serde::{Deserialize, Serialize};

use super::lstm::{Layers, layer};
use super::words::{Fixed, Widths, Words};
use super::{Inventory, Network, Pen, action_row};
use crate::Result;
use crate::neural::params::Builder;
use crate::neural::tape::Function;
use crate::neural::{Lstm, Param, Params, Var};
use crate::scorer::Configuration;
use crate::scorer::factored::Classes;
use crate::transition::{Action, Constituent, Forest, TransitionSystem, View};

/// How large the network is. The defaults are those of the parser that Dyer et al. (2016) published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StackLstmParams {
    /// The numbers of a word's vector.
    #[serde(alias = "word")]
    pub word_dim: u32,
    /// Those of a tag.
    #[serde(alias = "tag")]
    pub tag_dim: u32,
    /// Those of a word's form; 0 for none, as published.
    #[serde(alias = "form")]
    pub form_dim: u32,
    /// Those of an action.
    #[serde(alias = "action")]
    pub action_dim: u32,
    /// Those of what goes into the LSTMs: words, labels, constituents.
    #[serde(alias = "input")]
    pub input_dim: u32,
    /// The cells of a layer, and the hidden units of a decision.
    #[serde(alias = "cells")]
    pub lstm_dim: u32,
    /// The layers.
    pub layers: u32,
    /// Whether a label has a vector for each number of children (Fernández-González and Gómez-Rodríguez 2018,
    /// section 3), up to so many; 0 for one vector.
    #[serde(alias = "children")]
    pub max_arity: u32,
}

impl Default for StackLstmParams {
    fn default() -> Self {
        Self {
            word_dim: 32,
            tag_dim: 12,
            form_dim: 0,
            action_dim: 16,
            input_dim: 128,
            lstm_dim: 128,
            layers: 2,
            max_arity: 0,
        }
    }
}

/// The network.
#[derive(Debug, Clone)]
pub struct StackLstm {
    stack: Layers,
    buffer: Layers,
    history: Layers,
    /// Reads a label and the children, and a label and the children from the last.
    composer: [Lstm; 2],
    composed: (Param, Param),
    word: (Param, Param),
    hidden: (Param, Param),
    out: (Param, Param),
    words: Words,
    /// The vectors of labels: those of announced ones, then of those that constituents are composed with.
    labels: Param,
    n_labels: u32,
    max_arity: u32,
    cells: usize,
    actions: (Classes, Param),
    /// What goes in where nothing is: below the stack, behind the buffer, before the first action.
    nothing: [Param; 3],
}

impl StackLstm {
    /// Lays out the network and draws its parameters.
    ///
    /// # Errors
    /// When it is too large.
    pub fn new(
        sizes: StackLstmParams,
        inventory: &Inventory,
        seed: Option<u64>,
    ) -> Result<(Self, Params)> {
        let StackLstmParams { word_dim, tag_dim, form_dim, action_dim, input_dim, .. } = sizes;
        let [word, tag, form, action] =
            [word_dim, tag_dim, form_dim, action_dim].map(|size| size as usize);
        let [input, cells, layers] =
            [input_dim, sizes.lstm_dim, sizes.layers].map(|size| size as usize);
        let fixed = inventory.fixed.as_ref().map_or(0, Fixed::width);
        let widths = Widths { word, tag, form, fixed };
        let mut own = Builder::new(seed);
        let builder = &mut own;
        let affine = |inputs, outputs, builder: &mut Builder| {
            (builder.matrix(inputs, outputs), builder.vector(outputs, 0.0))
        };
        let stack = Layers::new(input, cells, layers, builder);
        let buffer = Layers::new(input, cells, layers, builder);
        let history = Layers::new(action, cells, layers, builder);
        let composer = [(); 2].map(|()| layer(input, cells, builder));
        let composed = affine(2 * cells, input, builder);
        let word = affine(widths.all(), input, builder);
        let hidden = affine(3 * cells, cells, builder);
        let out = affine(cells, inventory.classes.len(), builder);
        let nothing = [input, input, action].map(|width| builder.vector(width, 0.1));
        let words = Words::new(widths, inventory, builder);
        let n_labels = 2 * inventory.labels as u32;
        let labels = builder.table((n_labels * (2 + sizes.max_arity)) as usize, input);
        let actions =
            (inventory.classes.clone(), builder.table(inventory.classes.len() + 1, action));
        let network = Self {
            stack,
            buffer,
            history,
            composer,
            composed,
            word,
            hidden,
            out,
            words,
            labels,
            n_labels,
            max_arity: sizes.max_arity,
            cells,
            actions,
            nothing,
        };
        Ok((network, own.finish()?))
    }

    /// The vectors of words.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// The same, to be set.
    pub fn words_mut(&mut self) -> &mut Words {
        &mut self.words
    }

    fn affine(&self, (weights, bias): (Param, Param), x: Var, pen: &mut Pen<'_>) -> Var {
        pen.tape.affine(pen.params, weights, Some(bias), x)
    }

    /// The row of a label: of an announced one, or of one that has so many children.
    fn label(&self, node: &Constituent, n_children: usize) -> u32 {
        let label = node.label.map_or(0, |label| u32::from(label.0));
        let symbol = 2 * label + u32::from(node.temporary);
        let kind = if node.open { 0 } else { 1 + (n_children as u32).min(self.max_arity) };
        kind * self.n_labels + symbol
    }

    /// The vector of something on the stack; those of its children are known.
    fn vector(&self, forest: &Forest, id: u32, known: &Vectors, pen: &mut Pen<'_>) -> Var {
        let node = forest.node(id);
        if node.label.is_none() {
            return known.word(node.start as usize);
        }
        let children = forest.children(id);
        let label = pen.tape.lookup(pen.params, self.labels, self.label(node, children.len()));
        if node.open {
            return label;
        }
        // The label stands at both ends: each direction reads it first.
        let rows = children.iter().map(|&id| known.of(forest, id));
        let rows = pen.tape.join(std::iter::once(label).chain(rows).chain([label]));
        let [forwards, backwards] = self.composer;
        let length = rows.len() - label.len();
        let forwards = pen.tape.sequence(pen.params, forwards, rows.part(0, length), false);
        let backwards =
            pen.tape.sequence(pen.params, backwards, rows.part(label.len(), length), true);
        let last = forwards.part(forwards.len() - self.cells, self.cells);
        let both = pen.tape.join([last, backwards.part(0, self.cells)]);
        let composed = self.affine(self.composed, both, pen);
        pen.tape.apply(Function::Relu, composed)
    }

    /// Pops what has gone from the stack and pushes what is new.
    fn follow(&self, view: &View<'_>, memory: &mut StackMemory, pen: &mut Pen<'_>) {
        // The in-order system takes the first child off the stack when it announces a constituent; it stays here,
        // below the announced label (Liu and Zhang 2017, section 3).
        let corner = |&id: &u32| {
            let first = view.forest.children(id).first();
            first.copied().filter(|_| view.forest.node(id).open)
        };
        let stack = || view.stack.iter().flat_map(|id| corner(id).into_iter().chain([*id]));
        let same = memory.stack.iter().zip(stack()).take_while(|(a, b)| a.0 == *b).count();
        memory.stack.truncate(same);
        for id in stack().skip(same) {
            let vector = self.vector(view.forest, id, &memory.vectors, pen);
            memory.vectors.set(id, vector);
            let before = memory.stack.last().map_or(memory.bottom, |&(_, step)| step);
            let step = self.stack.step(vector, Some(before), pen);
            memory.stack.push((id, step));
        }
    }
}

/// The vectors of words, and of what has been built.
#[derive(Debug, Clone)]
struct Vectors {
    /// A row for each word.
    words: Var,
    width: usize,
    /// By constituent.
    built: Vec<Option<Var>>,
}

impl Vectors {
    fn set(&mut self, id: u32, vector: Var) {
        if self.built.len() <= id as usize {
            self.built.resize(id as usize + 1, None);
        }
        self.built[id as usize] = Some(vector);
    }

    fn word(&self, position: usize) -> Var {
        self.words.part(position * self.width, self.width)
    }

    /// The vector of a word, or of a constituent, which has been on the stack.
    fn of(&self, forest: &Forest, id: u32) -> Var {
        let built = self.built.get(id as usize).copied().flatten();
        debug_assert!(built.is_some(), "a child that has never been on the stack");
        built.unwrap_or_else(|| self.word(forest.node(id).start as usize))
    }
}

/// What travels with a hypothesis; steps are numbers of cells that the tape keeps.
#[derive(Debug, Clone)]
pub struct StackMemory {
    vectors: Vectors,
    /// What the LSTM over the buffer says where each word is the next, and behind the last one.
    buffer: Var,
    /// What is on the stack, each with its step.
    stack: Vec<(u32, u32)>,
    /// The step below the stack.
    bottom: u32,
    /// The step of the last action.
    history: u32,
}

impl<S: TransitionSystem> Network<S> for StackLstm {
    type Memory = StackMemory;

    fn begin(&self, at: Configuration<'_, S>, pen: &mut Pen<'_>) -> StackMemory {
        let mut parts = Vec::new();
        for token in 0..at.sentence.len() {
            self.words.read(at.sentence, Some(token), pen, &mut parts);
        }
        let words = pen.tape.join(parts.iter().copied());
        let words = self.affine(self.word, words, pen);
        let words = pen.tape.apply(Function::Relu, words);
        let [bottom, end, start] =
            self.nothing.map(|nothing| pen.tape.lookup(pen.params, nothing, 0));
        let buffer = pen.tape.join([words, end]);
        let mut memory = StackMemory {
            vectors: Vectors { words, width: end.len(), built: Vec::new() },
            buffer: self.buffer.read_backwards(buffer, pen),
            stack: Vec::new(),
            bottom: self.stack.step(bottom, None, pen),
            history: self.history.step(start, None, pen),
        };
        self.follow(&at.system.view(at.state, None), &mut memory, pen);
        memory
    }

    fn advance(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut StackMemory,
        pen: &mut Pen<'_>,
    ) {
        let (classes, table) = &self.actions;
        let action = pen.tape.lookup(pen.params, *table, action_row(classes, Some(action.code())));
        memory.history = self.history.step(action, Some(memory.history), pen);
        self.follow(&after.system.view(after.state, None), memory, pen);
    }

    fn scores(&self, at: Configuration<'_, S>, memory: &StackMemory, pen: &mut Pen<'_>) -> Var {
        let stack = memory.stack.last().map_or(memory.bottom, |&(_, step)| step);
        let next = (at.system.view(at.state, None).buffer as usize).min(at.sentence.len());
        let parts = [
            self.stack.output(stack, pen),
            self.history.output(memory.history, pen),
            memory.buffer.part(next * self.cells, self.cells),
        ];
        let all = pen.tape.join(parts);
        let all = pen.drop_out(all);
        let hidden = self.affine(self.hidden, all, pen);
        let hidden = pen.tape.apply(Function::Relu, hidden);
        self.affine(self.out, hidden, pen)
    }
}
