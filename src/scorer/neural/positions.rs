//! A network built for the speed of a CPU: the sentence is read once, and each decision looks at what was said of
//! a few of its words.
//!
//! Those words are the ends and heads of the constituents built last, the beginnings of the open ones, and the
//! next word; and what stands there is known by label. All that a word may contribute to a decision is computed
//! for all words at once, so that a decision only adds up a few vectors (as Chen and Manning 2014 do for words
//! that are frequent; the words are read as Cross and Huang 2016 do).

use serde::{Deserialize, Serialize};

use super::encoder::{Encoder, EncoderParams, WithoutWords};
use super::words::Words;
use super::{Inventory, Network, Pen, action_row};
use crate::Result;
use crate::neural::params::Builder;
use crate::neural::tape::Function;
use crate::neural::{Param, Params, Var};
use crate::scorer::Configuration;
use crate::scorer::factored::Classes;
use crate::transition::{Constituent, TransitionSystem, View};

/// Constituents whose ends and heads are looked at.
const COMPLETE: usize = 3;
/// Constituents whose labels are looked at.
const LABELLED: usize = 4;
/// Open constituents that are looked at.
const OPEN: usize = 3;
/// How many words are looked at: three of each complete constituent, one of each open one, and the next word.
const PLACES: usize = 3 * COMPLETE + OPEN + 1;
/// How many symbols are looked at: labels, those of the children of the last constituent, the number of
/// children of the innermost open one, and the last two actions.
const SYMBOLS: usize = LABELLED + 2 + OPEN + 1 + 2;
/// The most children of an open constituent that are told apart.
const MOST_CHILDREN: u32 = 7;

/// How large the network is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PositionsParams {
    /// What reads the sentence.
    pub encoder: EncoderParams,
    /// The hidden units of a decision.
    #[serde(alias = "hidden")]
    pub hidden_dim: u32,
}

impl Default for PositionsParams {
    fn default() -> Self {
        Self { encoder: EncoderParams::default(), hidden_dim: 128 }
    }
}

/// The network.
#[derive(Debug, Clone)]
pub struct Positions {
    encoder: Encoder,
    /// What each word would contribute at each of the places.
    places: Param,
    bias: Param,
    out: Param,
    out_bias: Param,
    symbols: [Param; SYMBOLS],
    classes: Classes,
    hidden: usize,
    n_tags: u32,
}

impl Positions {
    /// Lays out the network and draws its parameters.
    ///
    /// # Errors
    /// When it is too large.
    pub fn new(
        sizes: PositionsParams,
        inventory: &Inventory,
        seed: Option<u64>,
    ) -> Result<(Self, Params)> {
        let mut builder = Builder::new(seed);
        let encoder = WithoutWords::new(sizes.encoder, inventory, &mut builder);
        let hidden = sizes.hidden_dim as usize;
        let places = builder.matrix(encoder.width(), PLACES * hidden);
        let bias = builder.vector(hidden, 0.0);
        let out = builder.matrix(hidden, inventory.classes.len());
        let out_bias = builder.vector(inventory.classes.len(), 0.0);
        let encoder = encoder.with_words(inventory, &mut builder);
        let n_tags = inventory.vocabulary.tags as u32;
        let n_symbols = n_tags as usize + 2 * (inventory.labels + 1) + 2;
        let rows = |slot: usize| match slot {
            slot if slot < SYMBOLS - 3 => n_symbols,
            slot if slot == SYMBOLS - 3 => MOST_CHILDREN as usize + 2,
            _ => inventory.classes.len() + 1,
        };
        let mut slot = 0;
        let symbols = [(); SYMBOLS].map(|()| {
            slot += 1;
            builder.table(rows(slot - 1), hidden)
        });
        let classes = inventory.classes.clone();
        let network =
            Self { encoder, places, bias, out, out_bias, symbols, classes, hidden, n_tags };
        Ok((network, builder.finish()?))
    }

    /// The vectors of words.
    pub fn words(&self) -> &Words {
        self.encoder.words()
    }

    /// The same, to be set.
    pub fn words_mut(&mut self) -> &mut Words {
        self.encoder.words_mut()
    }

    /// The number of what stands there: 0 for nothing, then tags, then labels.
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

    /// The rows of the words that are looked at; 0 stands before the sentence.
    fn places(view: &View<'_>) -> [u32; PLACES] {
        let mut places = [0; PLACES];
        let complete = view.complete.iter().rev().map(|&id| view.forest.node(id));
        for (node, places) in complete.zip(places[..3 * COMPLETE].chunks_exact_mut(3)) {
            places.copy_from_slice(&[node.start + 1, node.end, node.head.wrapping_add(1)]);
        }
        let open = view.open.iter().rev().map(|open| view.forest.node(open.node));
        for (node, place) in open.zip(&mut places[3 * COMPLETE..PLACES - 1]) {
            *place = node.start + 1;
        }
        places[PLACES - 1] = view.buffer + 1;
        places
    }

    fn symbols(&self, tags: &[u32], view: &View<'_>) -> [u32; SYMBOLS] {
        let mut symbols = [0; SYMBOLS];
        let node = |id: u32| view.forest.node(id);
        let mut complete = view.complete.iter().rev();
        for symbol in &mut symbols[..LABELLED] {
            *symbol = self.symbol(tags, complete.next().map(|&id| node(id)));
        }
        if let Some(children) = view.complete.last().map(|&id| view.forest.children(id)) {
            symbols[LABELLED] = self.symbol(tags, children.first().map(|&id| node(id)));
            symbols[LABELLED + 1] = self.symbol(tags, children.last().map(|&id| node(id)));
        }
        let mut open = view.open.iter().rev();
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

/// What each word contributes at each of the places, and what stands before the first word and behind the last:
/// (words + 2) rows of PLACES × hidden numbers.
#[derive(Debug, Clone, Copy)]
pub struct Read {
    contributions: Var,
    rows: u32,
}

impl<S: TransitionSystem> Network<S> for Positions {
    type Memory = Read;

    fn begin(&self, at: Configuration<'_, S>, pen: &mut Pen<'_>) -> Read {
        let rows = self.encoder.encode(at.sentence, pen);
        let contributions = pen.tape.affine(pen.params, self.places, None, rows);
        Read { contributions, rows: at.sentence.len() as u32 + 2 }
    }

    fn scores(&self, at: Configuration<'_, S>, memory: &Read, pen: &mut Pen<'_>) -> Var {
        let view = at.system.view(at.state, None);
        let width = PLACES * self.hidden;
        let mut parts = [memory.contributions; PLACES + SYMBOLS + 1];
        for (place, row) in Self::places(&view).into_iter().enumerate() {
            let row = row.min(memory.rows - 1) as usize;
            parts[place] =
                memory.contributions.part(row * width + place * self.hidden, self.hidden);
        }
        let symbols = self.symbols(&at.sentence.tags, &view);
        for (slot, (table, symbol)) in self.symbols.into_iter().zip(symbols).enumerate() {
            parts[PLACES + slot] = pen.tape.lookup(pen.params, table, symbol);
        }
        parts[PLACES + SYMBOLS] = pen.tape.lookup(pen.params, self.bias, 0);
        let sum = pen.tape.sum(&parts);
        let hidden = pen.tape.apply(Function::Relu, sum);
        let hidden = pen.drop_out(hidden);
        pen.tape.affine(pen.params, self.out, Some(self.out_bias), hidden)
    }
}
