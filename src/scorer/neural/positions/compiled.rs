//! The network for parsing: packed weights, no tape.

use bytemuck::Zeroable;

use super::contributions::Contributions;
use super::{POSITIONS, Positions, SYMBOLS, best_tag};
use crate::classifier::ScoreScale;
use crate::encoder::{CompiledEncoder, EncoderScratch};
use crate::neural::inference::{Decision, InstructionSet, Matrix, PaddedLayout, Panel, windows};
use crate::neural::lanes::{LANES, Lanes};
use crate::neural::{Param, Quantized, RowTables};
use crate::scorer::factored::Classes;
use crate::scorer::neural::normalize;
use crate::scorer::{Configuration, Memory, Reading, Scorer};
use crate::symbols::{Sentence, UNKNOWN};
use crate::transition::Action;

/// A packed network with its parameters.
#[derive(Debug)]
pub struct CompiledPositions {
    network: Positions,
    params: Quantized,
    classes: Classes,
    set: InstructionSet,
    encoder: CompiledEncoder,
    /// From a hidden state to its contributions at every position.
    contributions: Matrix,
    bias: Vec<Lanes>,
    /// For each symbol position, the contributions of the symbols.
    symbols: [Vec<Lanes>; SYMBOLS],
    out: Matrix,
    /// From a hidden state to the scores of tags.
    tags: Option<Matrix>,
}

/// The reading of a packed network.
struct PositionsReading<'a> {
    network: &'a CompiledPositions,
    encoder: EncoderScratch,
    contributions: Contributions,
    rows: u32,
    tag_scores: Vec<Panel>,
    decision: Decision,
}

impl CompiledPositions {
    /// Packs a network for an instruction set.
    pub fn new(
        network: Positions,
        params: Quantized,
        classes: Classes,
        set: InstructionSet,
    ) -> Self {
        let encoder = network.encoder.compile(&params);
        let decision = network.decision;
        let blocks = |number, size| PaddedLayout::blocks(number, size, LANES);
        let (hidden, states) = (network.hidden, encoder.places());
        let of = (network.weights, None);
        let contributions = Matrix::pack(&params, of, &states, &blocks(POSITIONS, hidden));
        let scores = blocks(1, decision.out.columns as usize);
        let of = (decision.out, Some(decision.out_bias));
        let out = Matrix::pack(&params, of, &blocks(1, hidden), &scores);
        let tags = network.tags.map(|(weights, bias)| {
            let scores = blocks(1, weights.columns as usize);
            Matrix::pack(&params, (weights, Some(bias)), &states, &scores)
        });
        let mut bias = vec![Lanes::zeroed(); hidden.div_ceil(LANES)];
        bytemuck::cast_slice_mut(&mut bias)[..hidden].copy_from_slice(params.scales(decision.bias));
        let symbols = decision.tables.map(|table| lanes(&params, table));
        Self { network, params, classes, set, encoder, contributions, bias, symbols, out, tags }
    }
}

/// The rows of a table, each in lanes of its own.
fn lanes(params: &Quantized, table: Param) -> Vec<Lanes> {
    let width = (table.columns as usize).div_ceil(LANES);
    let mut lanes = vec![Lanes::zeroed(); table.rows as usize * width];
    for (row, lanes) in lanes.chunks_exact_mut(width).enumerate() {
        params.add_row(table, row as u32, 1.0, bytemuck::cast_slice_mut(lanes));
    }
    lanes
}

impl Scorer for CompiledPositions {
    fn reading(&self) -> Box<dyn Reading + '_> {
        Box::new(PositionsReading {
            network: self,
            encoder: EncoderScratch::default(),
            contributions: Contributions::default(),
            rows: 0,
            tag_scores: Vec::new(),
            decision: Decision::default(),
        })
    }
}

impl PositionsReading<'_> {
    /// Replaces unknown tags by predicted ones; the sentence has been encoded.
    fn predict_tags(&mut self, sentence: &mut Sentence) {
        let Self { network, encoder, tag_scores, .. } = self;
        let Some(tags) = network.tags.as_ref().filter(|_| sentence.tags.contains(&UNKNOWN)) else {
            return;
        };
        for window in windows(encoder.rows.number()) {
            tags.products(network.set, &encoder.rows, window.clone(), tag_scores);
            for (row, scores) in window.zip(tag_scores.chunks_exact(tags.panels())) {
                // The first row is the padding before the sentence.
                let tag = row.checked_sub(1).and_then(|token| sentence.tags.get_mut(token));
                if let Some(tag) = tag.filter(|tag| **tag == UNKNOWN) {
                    let scores: &[f32] = bytemuck::cast_slice(scores);
                    *tag = best_tag(&scores[..network.network.n_tags as usize]);
                }
            }
        }
    }
}

impl Reading for PositionsReading<'_> {
    fn read(&mut self, sentence: &mut Sentence) {
        let CompiledPositions { encoder, set, params, .. } = self.network;
        let rows = encoder.encode(*set, sentence, params, &mut self.encoder);
        self.rows = rows as u32;
        self.predict_tags(sentence);
        self.contributions.start(rows, self.network.contributions.panels());
    }

    fn score(
        &mut self,
        at: Configuration<'_>,
        _memory: &Memory,
        actions: &[Action],
        out: &mut Vec<f32>,
    ) {
        let Self { network, encoder, contributions, rows, decision, .. } = self;
        let (view, width) = (at.view(), network.bias.len());
        let positions = Positions::positions(&view).map(|row| row.min(*rows - 1) as usize);
        contributions.compute(&positions, |window, out| {
            network.contributions.products(network.set, &encoder.rows, window, out);
        });
        let mut parts = [&network.bias[..]; POSITIONS + SYMBOLS + 1];
        for (position, row) in positions.into_iter().enumerate() {
            parts[position] = &contributions.of(row)[position * width..(position + 1) * width];
        }
        let symbols = network.network.symbols(&at.sentence.tags, &view);
        for (slot, (table, symbol)) in network.symbols.iter().zip(symbols).enumerate() {
            let row = (symbol as usize).min(table.len() / width - 1);
            parts[POSITIONS + slot] = &table[row * width..(row + 1) * width];
        }
        let scores = decision.scores(network.set, &parts, &network.out);
        network.classes.pick(actions, &scores[..network.classes.len()], out);
        normalize(out);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}
