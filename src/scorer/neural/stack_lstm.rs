//! The network of Dyer et al. (2016, section 3), as Fernández-González and Gómez-Rodríguez (2018, section 5.2) use
//! it: LSTMs over the stack, the buffer and the past actions, constituents composed of their label and children.
//!
//! It knows of a system only what [`View`] shows: what has changed on the stack since the last action is popped and
//! pushed, so the one network serves all systems. What stands on the stack is a word, the vector of a label that
//! has been announced, or a constituent composed by an LSTM that reads its label and its children from both sides.

use serde::{Deserialize, Serialize};

use super::lstm::{Layers, layer};
use super::words::{Fixed, Widths, Words};
use super::{Inventory, Network, Pen};
use crate::neural::params::Builder;
use crate::neural::tape::Function;
use crate::neural::{Cell, Lstm, Param, Params, Var};
use crate::scorer::Situation;
use crate::transition::{Action, Constituent, Forest, TransitionSystem, View};

/// How large the network is. The defaults are those of the parser that Dyer et al. (2016) published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StackLstmParams {
    /// The numbers of a word's vector.
    pub word: u32,
    /// Those of a tag.
    pub tag: u32,
    /// Those of a word's form; 0 for none, as published.
    pub form: u32,
    /// Those of an action.
    pub action: u32,
    /// Those of what goes into the LSTMs: words, labels, constituents.
    pub input: u32,
    /// The cells of a layer, and the hidden units of a decision.
    pub cells: u32,
    /// The layers.
    pub layers: u32,
    /// Whether a label has a vector for each number of children (Fernández-González and Gómez-Rodríguez 2018,
    /// section 3), up to so many; 0 for one vector.
    pub children: u32,
}

impl Default for StackLstmParams {
    fn default() -> Self {
        Self {
            word: 32,
            tag: 12,
            form: 0,
            action: 16,
            input: 128,
            cells: 128,
            layers: 2,
            children: 0,
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
    children: u32,
    cells: usize,
    actions: Param,
    /// What goes in where nothing is: below the stack, behind the buffer, before the first action.
    nothing: [Param; 3],
}

impl StackLstm {
    /// Lays out the network and draws its parameters.
    pub fn new(sizes: StackLstmParams, inventory: &Inventory, seed: u64) -> (Self, Params) {
        let StackLstmParams { word, tag, form, action, input, cells, layers, children } = sizes;
        let [word, tag, form, action] = [word, tag, form, action].map(|size| size as usize);
        let [input, cells, layers] = [input, cells, layers].map(|size| size as usize);
        let fixed = inventory.fixed.as_ref().map_or(0, Fixed::width);
        let widths = Widths { word, tag, form, fixed };
        let builder = &mut Builder::new(seed);
        let affine = |inputs, outputs, builder: &mut Builder| {
            (builder.matrix(inputs, outputs), builder.vector(outputs, 0.0))
        };
        let stack = Layers::new(input, cells, layers, builder);
        let buffer = Layers::new(input, cells, layers, builder);
        let history = Layers::new(action, cells, layers, builder);
        let composer = [(); 2].map(|()| layer(input, cells, builder));
        let composed = affine(2 * cells, input, builder);
        let from_word = affine(widths.all(), input, builder);
        let hidden = affine(3 * cells, cells, builder);
        let out = affine(cells, inventory.actions, builder);
        let nothing = [input, input, action].map(|width| builder.vector(width, 0.1));
        let words = Words::new(widths, inventory, builder);
        let n_labels = 2 * inventory.labels as u32;
        let labels = builder.table((n_labels * (2 + children)) as usize, input);
        let actions = builder.table(inventory.codes, action);
        let params = std::mem::replace(builder, Builder::new(seed)).finish();
        let word = from_word;
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
            children,
            cells,
            actions,
            nothing,
        };
        (network, params)
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
        let kind = if node.open { 0 } else { 1 + (n_children as u32).min(self.children) };
        kind * self.n_labels + symbol
    }

    /// The vector of something on the stack; those of its children are known.
    fn vector(&self, forest: &Forest, id: u32, known: &Vectors, pen: &mut Pen<'_>) -> Var {
        let node = forest.node(id);
        if node.label.is_none() {
            return known.words[node.start as usize];
        }
        let children = forest.children(id);
        let label = pen.tape.lookup(pen.params, self.labels, self.label(node, children.len()));
        if node.open {
            return label;
        }
        let child = |&id: &u32| known.of(forest, id);
        let mut rows = vec![label];
        rows.extend(children.iter().map(child));
        let forwards = pen.tape.join(&rows);
        rows[1..].reverse();
        let backwards = pen.tape.join(&rows);
        let [a, b] = [forwards, backwards];
        let ends = [(self.composer[0], a), (self.composer[1], b)].map(|(lstm, x)| {
            let read = pen.tape.sequence(pen.params, lstm, x, false);
            read.part(read.len() - self.cells, self.cells)
        });
        let both = pen.tape.join(&ends);
        let composed = self.affine(self.composed, both, pen);
        pen.tape.apply(Function::Relu, composed)
    }

    /// Pops what has gone from the stack and pushes what is new.
    fn follow(&self, view: &View<'_>, memory: &mut StackMemory, pen: &mut Pen<'_>) {
        let layers = self.stack.depth();
        let same = memory.stack.iter().zip(view.stack).take_while(|(a, b)| a.0 == **b).count();
        memory.stack.truncate(same);
        for &id in &view.stack[same..] {
            let vector = self.vector(view.forest, id, &memory.vectors, pen);
            memory.vectors.set(id, vector);
            let before = memory.stack.last().map_or(memory.bottom, |&(_, first)| first);
            let first = memory.cells.len();
            self.stack.step(vector, Some(before), &mut memory.cells, pen);
            memory.stack.push((id, first));
        }
        debug_assert!(memory.cells.len().is_multiple_of(layers));
    }
}

/// The vectors of words, and of what has been built.
#[derive(Debug, Clone, Default)]
struct Vectors {
    words: Vec<Var>,
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

    /// The vector of a constituent that has been on the stack, or of its first word if it never was.
    fn of(&self, forest: &Forest, id: u32) -> Var {
        let built = self.built.get(id as usize).copied().flatten();
        built.unwrap_or_else(|| self.words[forest.node(id).start as usize])
    }
}

/// What travels with a hypothesis.
#[derive(Debug, Clone, Default)]
pub struct StackMemory {
    vectors: Vectors,
    /// What the LSTM over the buffer says where each word is the next.
    buffer: Vec<Option<Cell>>,
    /// Cells of the LSTMs over the stack and the actions, those of all layers of a step together.
    cells: Vec<Cell>,
    /// What is on the stack, and where its cells begin.
    stack: Vec<(u32, usize)>,
    bottom: usize,
    history: usize,
}

impl<S: TransitionSystem> Network<S> for StackLstm {
    type Memory = StackMemory;

    fn begin(&self, at: Situation<'_, S>, pen: &mut Pen<'_>) -> StackMemory {
        let mut memory = StackMemory::default();
        let mut parts = Vec::new();
        for token in 0..at.sentence.len() {
            parts.clear();
            self.words.read(at.sentence, Some(token), pen, &mut parts);
            let word = pen.tape.join(&parts);
            let word = self.affine(self.word, word, pen);
            memory.vectors.words.push(pen.tape.apply(Function::Relu, word));
        }
        let [bottom, end, start] =
            self.nothing.map(|nothing| pen.tape.lookup(pen.params, nothing, 0));
        let mut cells = Vec::new();
        let mut before = None;
        for word in std::iter::once(&end).chain(memory.vectors.words.iter().rev()) {
            let first = cells.len();
            self.buffer.step(*word, before, &mut cells, pen);
            before = Some(first);
            memory.buffer.push(cells.last().copied());
        }
        memory.buffer.reverse();
        self.stack.step(bottom, None, &mut memory.cells, pen);
        memory.history = memory.cells.len();
        self.history.step(start, None, &mut memory.cells, pen);
        self.follow(&at.system.view(at.state, None), &mut memory, pen);
        memory
    }

    fn advance(
        &self,
        after: Situation<'_, S>,
        action: S::Action,
        memory: &mut StackMemory,
        pen: &mut Pen<'_>,
    ) {
        let action = pen.tape.lookup(pen.params, self.actions, action.code());
        let first = memory.cells.len();
        self.history.step(action, Some(memory.history), &mut memory.cells, pen);
        memory.history = first;
        self.follow(&after.system.view(after.state, None), memory, pen);
    }

    fn scores(&self, at: Situation<'_, S>, memory: &StackMemory, pen: &mut Pen<'_>) -> Var {
        let top = |first: usize, layers: &Layers| memory.cells[first + layers.depth() - 1].output;
        let stack = memory.stack.last().map_or(memory.bottom, |&(_, first)| first);
        let view = at.system.view(at.state, None);
        let next = (view.buffer as usize).min(memory.buffer.len().saturating_sub(1));
        let mut parts = vec![top(stack, &self.stack), top(memory.history, &self.history)];
        parts.extend(memory.buffer.get(next).copied().flatten().map(|cell| cell.output));
        let all = pen.tape.join(&parts);
        let all = pen.drop_out(all);
        let hidden = self.affine(self.hidden, all, pen);
        let hidden = pen.tape.apply(Function::Relu, hidden);
        self.affine(self.out, hidden, pen)
    }
}
