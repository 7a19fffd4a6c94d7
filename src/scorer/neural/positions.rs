//! A network for fast CPU parsing: a bidirectional LSTM encodes the sentence once, and each decision looks at the
//! hidden states of a few positions (Cross and Huang 2016).
//!
//! The positions are the first word, last word and head of the topmost complete constituents, the first words of
//! the innermost open ones, and the next word of the buffer. Embeddings of labels and recent actions are added.
//! The product of each hidden state with the weights of each position is computed once per sentence, so a
//! decision only adds up vectors (precomputation as in Chen and Manning 2014).

pub mod compiled;
mod contributions;
pub mod training;

use serde::{Deserialize, Serialize};

use super::names::{ACTIONS, NODES, RECENT};
use super::{Inventory, action_row};
use crate::Result;
use crate::classifier::first_best;
use crate::encoder::{Encoder, EncoderMatrices, EncoderParams, TAGS};
use crate::neural::params::Builder;
use crate::neural::tape::DecisionLayer;
use crate::neural::{Param, Params};
use crate::scorer::factored::Classes;
use crate::symbols::{FIRST, UNKNOWN};
use crate::transition::{Constituent, View};

/// Topmost complete constituents whose first word, last word and head are positions.
const COMPLETE: usize = 3;
/// Topmost complete constituents whose labels are symbols.
const LABELLED: usize = 4;
/// Innermost open constituents whose first words are positions and whose labels are symbols.
const OPEN: usize = 3;
/// Positions of a decision: three for each complete constituent, one for each open one, and the next word.
pub(super) const POSITIONS: usize = 3 * COMPLETE + OPEN + 1;
/// Symbols of a decision: labels of complete constituents, labels of the first and last child of the topmost one,
/// labels of open constituents, the number of children of the innermost open one, and the last two actions.
pub(super) const SYMBOLS: usize = LABELLED + 2 + OPEN + 1 + 2;
/// Larger numbers of children are treated as this one.
const MOST_CHILDREN: u32 = 7;

/// The sizes of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PositionsParams {
    /// Reads the sentence.
    pub encoder: EncoderParams,
    /// The hidden dimension of a decision.
    #[schemars(range(min = 1, max = 4096))]
    pub hidden_dim: u32,
    /// The probability that training hides the tags of a sentence. From such sentences the network learns to
    /// predict tags, so that it needs no tagger; given tags are still used. 0 for a network that predicts none.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub untagged: f32,
}

impl Default for PositionsParams {
    fn default() -> Self {
        Self { encoder: EncoderParams::default(), hidden_dim: 128, untagged: 0.0 }
    }
}

impl PositionsParams {
    /// The multiply-adds for a word without a pretrained embedding: of the encoder, and of the hidden state with the
    /// weights of every position. The scores of tags and the decisions are not counted. `None` for a pretrained encoder,
    /// whose sizes the settings do not have.
    pub fn multiply_adds(&self) -> Option<u64> {
        let EncoderParams::BiLstm(encoder) = &self.encoder else { return None };
        let state = 2 * u64::from(encoder.lstm_dim);
        let positions = POSITIONS as u64 * u64::from(self.hidden_dim);
        Some(encoder.multiply_adds() + state * positions)
    }
}

/// The network: encoder, one hidden layer, and a score for each class.
#[derive(Debug, Clone)]
pub struct Positions {
    encoder: Encoder,
    /// The weights of the hidden layer: hidden state × (position × hidden unit).
    weights: Param,
    /// The tables are the contributions of each symbol position to the hidden layer.
    decision: DecisionLayer<SYMBOLS>,
    /// From the hidden state of a word to the scores of its tags, and their bias.
    tags: Option<(Param, Param)>,
    classes: Classes,
    hidden: usize,
    n_tags: u32,
}

impl Positions {
    /// Creates the network and initializes its parameters; see [`super::AnyNetwork::new`].
    ///
    /// # Errors
    /// When it is too large.
    pub fn new(
        sizes: &PositionsParams,
        inventory: &Inventory,
        seed: Option<u64>,
    ) -> Result<(Self, Params)> {
        let mut builder = Builder::new(seed);
        let encoder = EncoderMatrices::new(&sizes.encoder, &inventory.words, &mut builder)?;
        let state = encoder.output_dim();
        let hidden = sizes.hidden_dim as usize;
        let weights = builder.matrix(state, POSITIONS * hidden);
        let bias = builder.vector(hidden, 0.0);
        let (out, out_bias) = builder.scores(ACTIONS, hidden, inventory.classes.len());
        let n_tags = inventory.words.sizes.tags as u32;
        let tags = (sizes.untagged > 0.0).then(|| builder.scores(TAGS, state, n_tags as usize));
        let encoder = encoder.with_tables(&inventory.words, &mut builder);
        let n_symbols = n_tags as usize + 2 * (inventory.labels + 1) + 2;
        let mut slot = 0;
        let symbols = [(); SYMBOLS].map(|()| {
            slot += 1;
            match slot - 1 {
                slot if slot < SYMBOLS - 3 => builder.symbol_table(NODES, n_symbols, hidden),
                slot if slot == SYMBOLS - 3 => builder.table(MOST_CHILDREN as usize + 2, hidden),
                _ => builder.symbol_table(RECENT, inventory.classes.len() + 1, hidden),
            }
        });
        let classes = inventory.classes.clone();
        let decision = DecisionLayer { bias, tables: symbols, out, out_bias };
        let network = Self { encoder, weights, decision, tags, classes, hidden, n_tags };
        let mut params = builder.finish()?;
        if seed.is_some() {
            network.encoder.initialize(&mut params);
        }
        Ok((network, params))
    }

    /// The encoder.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The encoder.
    pub fn encoder_mut(&mut self) -> &mut Encoder {
        &mut self.encoder
    }

    /// The index of a node's tag or label: 0 for no node, then tags, then labels.
    fn symbol(&self, tags: &[u32], node: Option<&Constituent>) -> u32 {
        match node {
            None => 0,
            Some(node) if node.label.is_none() => {
                tags.get(node.start as usize).copied().unwrap_or(0)
            }
            Some(node) => {
                let label = node.label.map_or(0, |label| u32::from(label.0));
                self.n_tags + 2 * label + u32::from(node.temporary)
            }
        }
    }

    /// The hidden states that a decision looks at, as rows; 0 is the padding before the sentence.
    fn positions(view: &View<'_>) -> [u32; POSITIONS] {
        let mut positions = [0; POSITIONS];
        let complete = view.complete.from_top().map(|id| view.forest.node(id));
        for (node, positions) in complete.zip(positions[..3 * COMPLETE].chunks_exact_mut(3)) {
            positions.copy_from_slice(&[node.start + 1, node.end, node.head.wrapping_add(1)]);
        }
        let open = view.open.from_top().map(|open| view.forest.node(open.node));
        for (node, position) in open.zip(&mut positions[3 * COMPLETE..POSITIONS - 1]) {
            *position = node.start + 1;
        }
        positions[POSITIONS - 1] = view.buffer + 1;
        positions
    }

    fn symbols(&self, tags: &[u32], view: &View<'_>) -> [u32; SYMBOLS] {
        let mut symbols = [0; SYMBOLS];
        let node = |id: u32| view.forest.node(id);
        let mut complete = view.complete.from_top();
        for symbol in &mut symbols[..LABELLED] {
            *symbol = self.symbol(tags, complete.next().map(node));
        }
        if let Some(children) = view.complete.last().map(|id| view.forest.children(id)) {
            symbols[LABELLED] = self.symbol(tags, children.first().map(|&id| node(id)));
            symbols[LABELLED + 1] = self.symbol(tags, children.last().map(|&id| node(id)));
        }
        let mut open = view.open.from_top();
        for symbol in &mut symbols[LABELLED + 2..LABELLED + 2 + OPEN] {
            *symbol = self.symbol(tags, open.next().map(|open| node(open.node)));
        }
        if let Some(open) = view.open.last() {
            let children = (view.complete.len() as u32).saturating_sub(open.first);
            symbols[SYMBOLS - 3] = 1 + children.min(MOST_CHILDREN);
        }
        let recent = |code: u32| action_row(&self.classes, code.checked_sub(1));
        symbols[SYMBOLS - 2..].copy_from_slice(&view.recent.map(recent));
        symbols
    }
}

/// The tag with the highest score; the reserved values are none.
fn best_tag(scores: &[f32]) -> u32 {
    let known = scores.get(FIRST as usize..).unwrap_or_default();
    if known.is_empty() { UNKNOWN } else { FIRST + first_best(known) as u32 }
}
