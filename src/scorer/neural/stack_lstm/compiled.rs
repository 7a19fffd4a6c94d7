//! The network for parsing: packed weights, no tape.

use std::sync::Arc;

use bytemuck::Zeroable;

use super::StackLstm;
use super::stack::Stack;
use crate::classifier::ScoreScale;
use crate::neural::inference::{
    Decision, HIDDEN_SCALE, Inputs, InstructionSet, Matrix, PackedLstm, PaddedLayout, Panel, Rows,
    StackedLstm, StackedState, Steps, windows,
};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::{Param, Quantized, RowTables};
use crate::scorer::factored::Classes;
use crate::scorer::neural::lstm::LstmLayers;
use crate::scorer::neural::{action_row, normalize};
use crate::scorer::{Configuration, Memory, Reading, Scorer};
use crate::symbols::Sentence;
use crate::transition::{Action, Forest, View};

/// A packed network with its parameters.
#[derive(Debug)]
pub struct CompiledStackLstm {
    network: StackLstm,
    params: Quantized,
    classes: Classes,
    set: InstructionSet,
    stack: StackedLstm,
    buffer: StackedLstm,
    history: StackedLstm,
    composer: [PackedLstm; 2],
    composed: Matrix,
    word: Matrix,
    hidden: Matrix,
    out: Matrix,
    /// The state of the bottom of the stack, and that before the first action.
    starts: [Arc<StackedState>; 2],
    /// The input at the end of the buffer.
    end: Inputs,
}

/// The memory of a hypothesis.
#[derive(Debug, Clone)]
pub struct StackMemory {
    stack: Stack<Item>,
    /// The state after the last action.
    history: Arc<StackedState>,
}

/// An item of the stack.
#[derive(Debug)]
struct Item {
    /// The vector of a node with a label; those of words are in the scratch memory.
    vector: Option<Inputs>,
    /// The state of the stack LSTM.
    state: StackedState,
}

/// Memory of one thread: what is known of a sentence, and of a step.
#[derive(Debug, Default)]
struct StackLstmScratch {
    /// The vector of each word.
    words: Vec<Inputs>,
    /// The outputs of the buffer LSTM for each position of the buffer, the end included.
    buffer: Steps,
    rows: Rows,
    numbers: Vec<f32>,
    sums: Vec<Lanes>,
    products: Vec<Panel>,
    /// The children to compose, read in both directions.
    constituent: [(Rows, Steps); 2],
    /// Outputs of LSTMs one after the other.
    outputs: Vec<u8>,
    decision: Decision,
}

/// Blocks of numbers, each in lanes of its own.
fn blocks(number: usize, size: u32) -> PaddedLayout {
    PaddedLayout::blocks(number, size as usize, LANES)
}

impl CompiledStackLstm {
    /// Packs a network for an instruction set.
    pub fn new(
        network: StackLstm,
        params: Quantized,
        classes: Classes,
        set: InstructionSet,
    ) -> Self {
        let stacked = |layers: &LstmLayers| {
            let layers = layers.layers();
            StackedLstm::pack(&params, layers, &blocks(1, layers[0].input.rows))
        };
        let affine = |(weights, bias): (Param, Param), inputs: usize| {
            let inputs = blocks(inputs, weights.rows / inputs as u32);
            Matrix::pack(&params, (weights, Some(bias)), &inputs, &blocks(1, weights.columns))
        };
        let (stack, history) = (stacked(&network.stack), stacked(&network.history));
        let composer = network
            .composer
            .map(|lstm| PackedLstm::pack(&params, lstm, &blocks(1, lstm.input.rows)));
        let [bottom, end, start] = network.padding.map(|padding| {
            let mut inputs = Inputs::default();
            let places = (padding.columns as usize).next_multiple_of(LANES);
            inputs.set_numbers(set, params.scales(padding), places);
            inputs
        });
        let starts = [(&stack, bottom), (&history, start)].map(|(lstm, input)| {
            Arc::new(lstm.step(set, input.parts(), &lstm.start(), &mut Vec::new()))
        });
        Self {
            buffer: stacked(&network.buffer),
            composed: affine(network.composed, 2),
            word: affine(network.word, 1),
            hidden: affine(network.hidden, 3),
            out: affine(network.out, 1),
            network,
            params,
            classes,
            set,
            stack,
            history,
            composer,
            starts,
            end,
        }
    }

    /// Computes the vectors of words, and reads the buffer from its end.
    fn encode(&self, sentence: &Sentence, scratch: &mut StackLstmScratch) {
        let StackLstmScratch { words, buffer, rows, numbers, sums, products, .. } = scratch;
        let (n, embeddings) = (sentence.len(), self.network.embeddings());
        numbers.resize(embeddings.dim(), 0.0);
        rows.reset(n, self.word.places());
        for token in 0..n {
            let params = &self.params;
            embeddings.write(sentence, Some(token), params, None, numbers, |_, _, _, _| ());
            rows.set_numbers(self.set, token, numbers);
        }
        words.resize_with(n, Inputs::default);
        let (end, unit) = self.end.parts();
        sums.resize(end.len() / LANES, Lanes::zeroed());
        for window in windows(n) {
            self.word.products(self.set, rows, window.clone(), products);
            let products = products.chunks_exact(self.word.panels());
            for (word, product) in words[window].iter_mut().zip(products) {
                word.set_rectified(self.set, &[product.as_flattened()], sums);
            }
        }
        rows.reset(n + 1, end.len());
        for (row, word) in words.iter().enumerate() {
            let (inputs, unit) = word.parts();
            rows.set(row, 0, inputs, unit);
        }
        rows.set(n, 0, end, unit);
        for (layer, lstm) in self.buffer.layers().iter().enumerate() {
            if layer > 0 {
                rows.reset(n + 1, lstm.outputs());
                (0..=n).for_each(|row| buffer.copy(row, rows, 0));
            }
            lstm.run(self.set, rows, n + 1, true, buffer);
        }
    }

    /// The row of a table as inputs.
    fn embedding(&self, table: Param, row: u32, numbers: &mut Vec<f32>) -> Inputs {
        numbers.clear();
        numbers.resize(table.columns as usize, 0.0);
        self.params.add_row(table, row, 1.0, numbers);
        let mut inputs = Inputs::default();
        inputs.set_numbers(self.set, numbers, numbers.len().next_multiple_of(LANES));
        inputs
    }

    /// The vector of a node with a label, given the stack that has its children.
    fn vector(
        &self,
        (forest, id): (&Forest, u32),
        before: &Stack<Item>,
        scratch: &mut StackLstmScratch,
    ) -> Inputs {
        let StackLstmScratch { words, numbers, sums, products, constituent, outputs, .. } = scratch;
        let (node, children) = (forest.node(id), forest.children(id));
        let row = self.network.label(node, children.len());
        let mut vector = self.embedding(self.network.labels, row, numbers);
        if node.open {
            return vector;
        }
        let (label, unit) = vector.parts();
        for (rows, _) in &mut *constituent {
            rows.reset(1 + children.len(), label.len());
            rows.set(0, 0, label, unit);
        }
        let items = before.find(children.iter().rev().copied());
        for ((&child, item), back) in children.iter().rev().zip(items).zip(1..) {
            let vector = item.and_then(|item| item.vector.as_ref());
            let vector = vector.unwrap_or_else(|| &words[forest.node(child).start as usize]);
            let (inputs, unit) = vector.parts();
            constituent[0].0.set(1 + children.len() - back, 0, inputs, unit);
            constituent[1].0.set(back, 0, inputs, unit);
        }
        outputs.clear();
        for (lstm, (rows, steps)) in self.composer.iter().zip(constituent) {
            lstm.run(self.set, rows, 1 + children.len(), false, steps);
            outputs.extend_from_slice(steps.outputs(children.len()));
        }
        self.composed.product(self.set, (outputs, HIDDEN_SCALE), products);
        sums.resize(label.len() / LANES, Lanes::zeroed());
        vector.set_rectified(self.set, &[products.as_flattened()], sums);
        vector
    }

    /// Pops what has left the stack and pushes what is new.
    fn update_stack(
        &self,
        view: &View<'_>,
        stack: &mut Stack<Item>,
        scratch: &mut StackLstmScratch,
    ) {
        stack.update(view, |id, below, before| {
            let node = view.forest.node(id);
            let vector = node.label.map(|_| self.vector((view.forest, id), before, scratch));
            let StackLstmScratch { words, products, .. } = scratch;
            let last = below.top().map_or(&*self.starts[0], |top| &top.state);
            let input = vector.as_ref().unwrap_or_else(|| &words[node.start as usize]);
            let state = self.stack.step(self.set, input.parts(), last, products);
            Item { vector, state }
        });
    }
}

impl Scorer for CompiledStackLstm {
    fn reading(&self) -> Box<dyn Reading + '_> {
        Box::new(StackLstmReading { network: self, scratch: StackLstmScratch::default() })
    }
}

/// The reading of a packed network.
struct StackLstmReading<'a> {
    network: &'a CompiledStackLstm,
    scratch: StackLstmScratch,
}

impl Reading for StackLstmReading<'_> {
    fn read(&mut self, sentence: &mut Sentence) {
        self.network.encode(sentence, &mut self.scratch);
    }

    fn begin(&mut self, at: Configuration<'_>) -> Memory {
        let mut stack = Stack::default();
        self.network.update_stack(&at.view(), &mut stack, &mut self.scratch);
        let history = Arc::clone(&self.network.starts[1]);
        Memory::StackLstm(Box::new(StackMemory { stack, history }))
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let Memory::StackLstm(memory) = memory else {
            unreachable!("a network receives the memory that it created")
        };
        let CompiledStackLstm { set, stack, history, starts, hidden, classes, .. } = self.network;
        let StackLstmScratch { buffer, products, outputs, decision, .. } = &mut self.scratch;
        let top = memory.stack.top().map_or(&*starts[0], |top| &top.state);
        let next = (at.state.buffer as usize).min(at.sentence.len());
        outputs.clear();
        outputs.extend_from_slice(stack.outputs(top));
        outputs.extend_from_slice(history.outputs(&memory.history));
        outputs.extend_from_slice(buffer.outputs(next));
        hidden.product(*set, (outputs, HIDDEN_SCALE), products);
        let scores = decision.scores(*set, &[products.as_flattened()], &self.network.out);
        classes.pick(actions, &scores[..classes.len()], out);
        normalize(out);
    }

    fn advance(&mut self, after: Configuration<'_>, action: Action, memory: &mut Memory) {
        let Memory::StackLstm(memory) = memory else {
            unreachable!("a network receives the memory that it created")
        };
        let Self { network, scratch } = self;
        let (classes, table) = &network.network.actions;
        let row = action_row(classes, Some(action.code));
        let action = network.embedding(*table, row, &mut scratch.numbers);
        let products = &mut scratch.products;
        let history = network.history.step(network.set, action.parts(), &memory.history, products);
        memory.history = Arc::new(history);
        network.update_stack(&after.view(), &mut memory.stack, scratch);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}
