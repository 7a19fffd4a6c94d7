//! The recurrent neural network grammar parser of Dyer et al. (2016, section 3) as used by Fernández-González and
//! Gómez-Rodríguez (2018, section 5.2): stack LSTMs over the stack, the buffer and the past actions, with
//! constituents composed from their label and children.
//!
//! The network sees of a system only its [`View`]: after each action it pops what has left the stack and pushes what
//! is new, so it serves all systems with constituents on their stacks. A stack item is a word, the embedding of an
//! open nonterminal, or the composition of a constituent: a bidirectional LSTM over its label and its children.

pub mod scorer;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::embeddings::{EmbeddingDims, Embeddings, PretrainedTable};
use super::lstm::{LstmLayers, Step, layer};
use super::{ForwardPass, Inventory, action_row};
use crate::Result;
use crate::neural::params::Builder;
use crate::neural::tape::Function;
use crate::neural::{Lstm, Param, Params, Var};
use crate::scorer::Configuration;
use crate::scorer::factored::Classes;
use crate::transition::{Action, Constituent, Forest, TransitionSystem, View};

/// The sizes of the network. The defaults are those of the published parser of Dyer et al. (2016).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct StackLstmParams {
    /// The embedding dimension of words.
    #[schemars(range(min = 1, max = 4096))]
    pub word_dim: u32,
    /// The embedding dimension of tags.
    #[schemars(range(min = 1, max = 4096))]
    pub tag_dim: u32,
    /// The embedding dimension of word forms (affixes and shape); 0 for none, as published.
    #[schemars(range(min = 0, max = 4096))]
    pub form_dim: u32,
    /// The embedding dimension of actions.
    #[schemars(range(min = 1, max = 4096))]
    pub action_dim: u32,
    /// The input dimension of the LSTMs: words, labels, constituents.
    #[schemars(range(min = 1, max = 4096))]
    pub input_dim: u32,
    /// The dimension of an LSTM layer, and of the hidden layer of a decision.
    #[schemars(range(min = 1, max = 4096))]
    pub lstm_dim: u32,
    /// The number of LSTM layers.
    #[schemars(range(min = 1, max = 64))]
    pub layers: u32,
    /// If not 0, a label has an embedding for each number of children up to this one (Fernández-González and
    /// Gómez-Rodríguez 2018, section 3).
    #[schemars(range(min = 0, max = 4096))]
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

/// The network: three stack LSTMs, a composition function, one hidden layer, and a score for each class.
#[derive(Debug, Clone)]
pub struct StackLstm {
    stack: LstmLayers,
    buffer: LstmLayers,
    history: LstmLayers,
    /// The composition LSTMs: label and children first to last, label and children last to first.
    composer: [Lstm; 2],
    composed: (Param, Param),
    word: (Param, Param),
    hidden: (Param, Param),
    out: (Param, Param),
    embeddings: Embeddings,
    /// Label embeddings: of open nonterminals, then of composed constituents for each number of children.
    labels: Param,
    n_labels: u32,
    max_arity: u32,
    lstm_dim: usize,
    actions: (Classes, Param),
    /// Learned inputs for the bottom of the stack, the end of the buffer, and the start of the history.
    padding: [Param; 3],
}

impl StackLstm {
    /// Creates the network and initializes its parameters; see [`super::AnyNetwork::new`].
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
        let [input, lstm_dim, layers] =
            [input_dim, sizes.lstm_dim, sizes.layers].map(|size| size as usize);
        let pretrained = inventory.pretrained.as_ref().map_or(0, PretrainedTable::dim);
        let dims = EmbeddingDims { word, tag, form, ngram: 0, ngram_rows: 0, pretrained };
        let mut own = Builder::new(seed);
        let builder = &mut own;
        let affine = |inputs, outputs, builder: &mut Builder| {
            (builder.matrix(inputs, outputs), builder.vector(outputs, 0.0))
        };
        let stack = LstmLayers::new(input, lstm_dim, layers, builder);
        let buffer = LstmLayers::new(input, lstm_dim, layers, builder);
        let history = LstmLayers::new(action, lstm_dim, layers, builder);
        let composer = [(); 2].map(|()| layer(input, lstm_dim, builder));
        let composed = affine(2 * lstm_dim, input, builder);
        let word = affine(dims.total(), input, builder);
        let hidden = affine(3 * lstm_dim, lstm_dim, builder);
        let out = affine(lstm_dim, inventory.classes.len(), builder);
        let padding = [input, input, action].map(|dim| builder.vector(dim, 0.1));
        let embeddings = Embeddings::new(dims, inventory, builder);
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
            embeddings,
            labels,
            n_labels,
            max_arity: sizes.max_arity,
            lstm_dim,
            actions,
            padding,
        };
        Ok((network, own.finish()?))
    }

    /// The embedding tables.
    pub fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    /// The embedding tables.
    pub fn embeddings_mut(&mut self) -> &mut Embeddings {
        &mut self.embeddings
    }

    fn affine(&self, (weights, bias): (Param, Param), x: Var, pass: &mut ForwardPass<'_>) -> Var {
        pass.tape.affine(pass.params, weights, Some(bias), x)
    }

    /// The row of a label embedding: that of an open nonterminal, or of a constituent with `n_children` children.
    fn label(&self, node: &Constituent, n_children: usize) -> u32 {
        let label = node.label.map_or(0, |label| u32::from(label.0));
        let symbol = 2 * label + u32::from(node.temporary);
        let block = if node.open { 0 } else { 1 + (n_children as u32).min(self.max_arity) };
        block * self.n_labels + symbol
    }

    /// The vector of a stack item, given the items that have left the stack, the topmost first: its children are among
    /// them.
    fn vector(
        &self,
        (forest, id): (&Forest, u32),
        memory: &StackMemory,
        popped: &[Arc<Pushed>],
        pass: &mut ForwardPass<'_>,
    ) -> Var {
        let node = forest.node(id);
        if node.label.is_none() {
            return memory.word(node.start as usize);
        }
        let children = forest.children(id);
        let label = pass.tape.lookup(pass.params, self.labels, self.label(node, children.len()));
        if node.open {
            return label;
        }
        let mut popped = popped.iter().rev();
        let mut rows = vec![label];
        for &child in children {
            let own = popped.find(|item| item.node == child);
            debug_assert!(own.is_some(), "a child that was not on the stack");
            rows.push(match own.map(|item| &item.vector) {
                Some(Vector::OnTape(vector)) => *vector,
                Some(Vector::Apart(numbers)) => pass.tape.constant(numbers),
                None => memory.word(forest.node(child).start as usize),
            });
        }
        // The label is at both ends, so each direction reads it first.
        rows.push(label);
        let rows = pass.tape.join(rows.iter().copied());
        let [forwards, backwards] = self.composer;
        let length = rows.len() - label.len();
        let forwards = pass.tape.sequence(pass.params, forwards, rows.part(0, length), false);
        let backwards =
            pass.tape.sequence(pass.params, backwards, rows.part(label.len(), length), true);
        let last = forwards.part(forwards.len() - self.lstm_dim, self.lstm_dim);
        let both = pass.tape.join([last, backwards.part(0, self.lstm_dim)]);
        let composed = self.affine(self.composed, both, pass);
        pass.tape.apply(Function::Relu, composed)
    }

    /// Pops what has left the stack and pushes what is new.
    fn update_stack(&self, view: &View<'_>, memory: &mut StackMemory, pass: &mut ForwardPass<'_>) {
        // The in-order system removes the first child from the stack when it opens a nonterminal. Here the child
        // stays below the nonterminal (Liu and Zhang 2017, section 3).
        let corner = |id: u32| {
            let first = view.forest.children(id).first();
            first.copied().filter(|_| view.forest.node(id).open)
        };
        let mut items = view.stack.from_top().flat_map(|id| [Some(id), corner(id)]).flatten();
        // An item is built when it is pushed, so numbers grow towards the top, and what is below an item never
        // changes.
        let (mut popped, mut new) = (Vec::new(), Vec::new());
        let mut next = items.next();
        while next != memory.stack.as_ref().map(|top| top.node) {
            match (&memory.stack, next) {
                (Some(top), _) if next.is_none_or(|id| top.node > id) => {
                    let below = top.below.clone();
                    popped.extend(std::mem::replace(&mut memory.stack, below));
                }
                (_, id) => {
                    new.extend(id);
                    next = items.next();
                }
            }
        }
        for &id in new.iter().rev() {
            let vector = self.vector((view.forest, id), memory, &popped, pass);
            let before = memory.stack.as_ref().map_or(&memory.bottom, |top| &top.step);
            let step = self.stack.step(vector, Some(before), pass);
            let is_word = view.forest.node(id).label.is_none();
            let vector = match pass.tape.records() || is_word {
                true => Vector::OnTape(vector),
                false => Vector::Apart(pass.tape.of(vector).into()),
            };
            let below = memory.stack.take();
            memory.stack = Some(Arc::new(Pushed { node: id, vector, step, below }));
        }
    }
}

/// The vector of a stack item.
#[derive(Debug)]
enum Vector {
    /// That of a word, and any vector if computations are recorded.
    OnTape(Var),
    /// That of a constituent, which goes with the last hypothesis that needs it.
    Apart(Box<[f32]>),
}

/// An item of the stack. Hypotheses share what is below.
#[derive(Debug)]
struct Pushed {
    /// The node of the forest.
    node: u32,
    vector: Vector,
    step: Step,
    below: Option<Arc<Pushed>>,
}

impl Drop for Pushed {
    /// Drops what is below without recursion: a stack may be as high as a sentence is long.
    fn drop(&mut self) {
        let mut below = self.below.take();
        while let Some(mut item) = below.and_then(Arc::into_inner) {
            below = item.below.take();
        }
    }
}

/// The memory of a hypothesis.
#[derive(Debug, Clone)]
pub struct StackMemory {
    /// One row of `dim` values for each word.
    words: Var,
    dim: usize,
    /// The output of the buffer LSTM for each position of the buffer, the end included: (words + 1) rows of
    /// `lstm_dim` values.
    buffer: Var,
    /// The topmost item of the stack.
    stack: Option<Arc<Pushed>>,
    /// The step of the bottom of the stack.
    bottom: Step,
    /// The step of the last action.
    history: Step,
}

impl StackMemory {
    fn word(&self, position: usize) -> Var {
        self.words.part(position * self.dim, self.dim)
    }
}

impl StackLstm {
    /// Encodes the sentence in the initial configuration.
    fn begin<S: TransitionSystem>(
        &self,
        at: Configuration<'_, S>,
        pass: &mut ForwardPass<'_>,
    ) -> StackMemory {
        let mut parts = Vec::new();
        for token in 0..at.sentence.len() {
            self.embeddings.embed(at.sentence, Some(token), pass, &mut parts);
        }
        let words = pass.tape.join(parts.iter().copied());
        let words = self.affine(self.word, words, pass);
        let words = pass.tape.apply(Function::Relu, words);
        let [bottom, end, start] =
            self.padding.map(|padding| pass.tape.lookup(pass.params, padding, 0));
        let buffer = pass.tape.join([words, end]);
        let mut memory = StackMemory {
            words,
            dim: end.len(),
            buffer: self.buffer.run_backwards(buffer, pass),
            stack: None,
            bottom: self.stack.step(bottom, None, pass),
            history: self.history.step(start, None, pass),
        };
        self.update_stack(&at.system.view(at.state), &mut memory, pass);
        memory
    }

    /// Updates the memory after an action; `after` is the configuration that it led to.
    fn advance<S: TransitionSystem>(
        &self,
        after: Configuration<'_, S>,
        action: S::Action,
        memory: &mut StackMemory,
        pass: &mut ForwardPass<'_>,
    ) {
        let (classes, table) = &self.actions;
        let end = pass.tape.end();
        let action =
            pass.tape.lookup(pass.params, *table, action_row(classes, Some(action.code())));
        memory.history = self.history.step(action, Some(&memory.history), pass);
        self.update_stack(&after.system.view(after.state), memory, pass);
        pass.tape.forget_after(end);
    }

    /// The unnormalized scores of all classes.
    fn scores<S: TransitionSystem>(
        &self,
        at: Configuration<'_, S>,
        memory: &StackMemory,
        pass: &mut ForwardPass<'_>,
    ) -> Var {
        let stack = memory.stack.as_ref().map_or(&memory.bottom, |top| &top.step);
        let next = (at.system.view(at.state).buffer as usize).min(at.sentence.len());
        let parts = [
            self.stack.output(stack, pass),
            self.history.output(&memory.history, pass),
            memory.buffer.part(next * self.lstm_dim, self.lstm_dim),
        ];
        let all = pass.tape.join(parts);
        let all = pass.dropout(all);
        let hidden = self.affine(self.hidden, all, pass);
        let hidden = pass.tape.apply(Function::Relu, hidden);
        self.affine(self.out, hidden, pass)
    }
}
