//! The network in training: a batch of sentences is encoded together, each is parsed, and the gradients of all
//! decisions go back together.

use super::{POSITIONS, Positions, SYMBOLS, best_tag};
use crate::classifier::ScoreScale;
use crate::neural::kernel;
use crate::neural::layers::Affine;
use crate::neural::{Gradients, Param, Params};
use crate::scorer::neural::encoder::training::EncoderBatch;
use crate::scorer::neural::{Dropout, TrainingSentence, write_choices};
use crate::scorer::{Configuration, Lesson, Memory, OnlineLearner, Scorer, Scratch};
use crate::symbols::{FIRST, UNKNOWN};
use crate::transition::TransitionSystem;

/// What the network computes for a batch.
#[derive(Debug)]
pub struct PositionsBatch {
    network: Positions,
    encoder: EncoderBatch,
    layer: Affine,
    /// By row of the batch and position, the contributions to the hidden layer.
    contributions: Vec<f32>,
    d_contributions: Vec<f32>,
    d_states: Vec<f32>,
    tagging: Option<Tagging>,
}

impl PositionsBatch {
    /// A network in training.
    pub fn new(network: Positions) -> Self {
        let encoder = EncoderBatch::new(network.encoder.clone());
        let layer = Affine::new(network.weights);
        let [contributions, d_contributions, d_states] = [const { Vec::new() }; 3];
        let tagging = network.tags.map(Tagging::new);
        Self { network, encoder, layer, contributions, d_contributions, d_states, tagging }
    }

    /// Encodes sentences and replaces unknown tags by predicted ones; without dropout, there is none for any of the
    /// sentences.
    pub fn encode(
        &mut self,
        params: &Params,
        sentences: &mut [TrainingSentence<'_>],
        dropouts: &mut [Dropout],
    ) {
        let seen: Vec<_> = sentences.iter().map(|sentence| &*sentence.seen).collect();
        self.encoder.encode(params, &seen, dropouts);
        self.layer.forward(params, self.encoder.states(), &mut self.contributions);
        if let Some(tagging) = &mut self.tagging {
            tagging.predict(params, &self.encoder, sentences);
        }
    }

    /// Adds the gradients of decisions on the sentences that were encoded, and of hidden tags; returns the loss of
    /// these.
    pub fn backward<'a>(
        &mut self,
        params: &Params,
        decisions: impl Iterator<Item = &'a Decisions>,
        gradients: &mut Gradients,
    ) -> f64 {
        let Self { network, encoder, layer, contributions, d_contributions, d_states, tagging } =
            self;
        d_contributions.clear();
        d_contributions.resize(contributions.len(), 0.0);
        decisions.for_each(|decisions| decisions.backward(network, d_contributions, gradients));
        layer.backward(params, encoder.states(), d_contributions, d_states, gradients);
        let loss = tagging
            .as_mut()
            .map_or(0.0, |tagging| tagging.backward(params, encoder.states(), d_states, gradients));
        encoder.backward(params, d_states, gradients);
        loss
    }
}

/// The prediction of tags for a batch.
#[derive(Debug)]
struct Tagging {
    layer: Affine,
    bias: Param,
    /// By row of the batch, the scores of all tags.
    scores: Vec<f32>,
    /// The rows with hidden tags, and these tags.
    hidden: Vec<(usize, u32)>,
    d_scores: Vec<f32>,
    d_states: Vec<f32>,
}

impl Tagging {
    fn new((weights, bias): (Param, Param)) -> Self {
        let [scores, d_scores, d_states] = [const { Vec::new() }; 3];
        Self { layer: Affine::new(weights), bias, scores, hidden: Vec::new(), d_scores, d_states }
    }

    /// Scores the tags of all words; replaces unknown tags by the best ones.
    fn predict(
        &mut self,
        params: &Params,
        encoder: &EncoderBatch,
        sentences: &mut [TrainingSentence<'_>],
    ) {
        let Self { layer, bias, scores, hidden, .. } = self;
        layer.forward(params, encoder.states(), scores);
        let (n_tags, bias) = (bias.columns as usize, params.of(*bias));
        hidden.clear();
        for (number, sentence) in sentences.iter_mut().enumerate() {
            for (token, &gold) in sentence.gold.tags.iter().enumerate() {
                if sentence.seen.tags[token] != UNKNOWN {
                    continue;
                }
                let row = encoder.row(number, token + 1);
                let scores = &mut scores[row * n_tags..][..n_tags];
                kernel::add_scaled(1.0, bias, scores);
                sentence.seen.to_mut().tags[token] = best_tag(scores);
                hidden.push((row, gold));
            }
        }
    }

    /// Adds the gradients of the cross-entropy loss of hidden tags, also to those of the hidden states; returns the
    /// loss.
    fn backward(
        &mut self,
        params: &Params,
        states: &[f32],
        d_states: &mut [f32],
        gradients: &mut Gradients,
    ) -> f64 {
        let mut loss = 0.0;
        let n_tags = self.bias.columns as usize;
        let mut all: Vec<(u32, f32)> = (FIRST..n_tags as u32).map(|tag| (tag, 0.0)).collect();
        self.d_scores.clear();
        self.d_scores.resize(self.scores.len(), 0.0);
        for &(row, gold) in self.hidden.iter().filter(|(_, gold)| *gold >= FIRST) {
            let row = row * n_tags..(row + 1) * n_tags;
            let d_scores = &mut self.d_scores[row.clone()];
            let gold = (gold - FIRST) as usize;
            all[gold].1 = 1.0;
            loss += f64::from(kernel::cross_entropy(&self.scores[row], &all, d_scores));
            all[gold].1 = 0.0;
            kernel::add_scaled(1.0, d_scores, gradients.of_mut(self.bias));
        }
        let d_scores = &self.d_scores;
        self.layer.backward(params, states, d_scores, &mut self.d_states, gradients);
        kernel::add_scaled(1.0, &self.d_states, d_states);
        loss
    }
}

/// The decisions on sentences of a batch, with the gradients of their losses.
#[derive(Debug, Default)]
pub struct Decisions {
    /// For each decision the blocks of contributions, then the rows of the symbol tables, that it adds up.
    parts: Vec<[u32; POSITIONS + SYMBOLS]>,
    /// The hidden layers, after dropout.
    hidden: Vec<f32>,
    /// The gradients of the sums that became the hidden layers.
    d_sums: Vec<f32>,
    d_scores: Vec<f32>,
    /// The scores of the last decision.
    scores: Vec<f32>,
    factors: Vec<f32>,
    /// How many decisions have a loss; another one may have been scored.
    learned: usize,
}

impl Decisions {
    /// Forgets all decisions.
    pub fn clear(&mut self) {
        self.learned = 0;
        self.d_sums.clear();
        self.d_scores.clear();
    }

    /// Scores all classes for a decision that adds up `parts`.
    fn score(
        &mut self,
        learner: &PositionsLearner<'_>,
        parts: [u32; POSITIONS + SYMBOLS],
        dropout: Option<&mut Dropout>,
    ) {
        let PositionsLearner {
            batch: PositionsBatch { network, contributions, .. }, params, ..
        } = *learner;
        let width = network.hidden;
        self.parts.truncate(self.learned);
        self.parts.push(parts);
        self.hidden.resize((self.learned + 1) * width, 0.0);
        let hidden = &mut self.hidden[self.learned * width..];
        let mut rows = [params.of(network.bias); POSITIONS + SYMBOLS + 1];
        let (positions, symbols) = rows.split_at_mut(POSITIONS);
        for (row, &part) in positions.iter_mut().zip(&parts) {
            *row = &contributions[part as usize * width..][..width];
        }
        for ((row, &part), table) in
            symbols.iter_mut().zip(&parts[POSITIONS..]).zip(network.symbols)
        {
            *row = params.row(table, part);
        }
        kernel::sum_rectified(&rows, hidden);
        if let Some(dropout) = dropout {
            self.factors.resize(width, 0.0);
            dropout.draw(&mut self.factors);
            hidden.iter_mut().zip(&self.factors).for_each(|(unit, factor)| *unit *= factor);
        }
        self.scores.clear();
        self.scores.extend_from_slice(params.of(network.out_bias));
        kernel::add_products(1, hidden, params.of(network.out), &mut self.scores);
    }

    /// Notes the loss of the last decision and its gradients; returns it. `scale` is that of dropout.
    fn learn(&mut self, learner: &PositionsLearner<'_>, choices: &[(u32, f32)], scale: f32) -> f32 {
        let network = &learner.batch.network;
        let (width, classes) = (network.hidden, self.scores.len());
        self.d_scores.resize((self.learned + 1) * classes, 0.0);
        let d_scores = &mut self.d_scores[self.learned * classes..];
        let loss = kernel::cross_entropy(&self.scores, choices, d_scores);
        self.d_sums.resize((self.learned + 1) * width, 0.0);
        let d_sum = &mut self.d_sums[self.learned * width..];
        kernel::add_back_products(1, d_scores, learner.params.of(network.out), d_sum);
        // A unit is 0 if the sum was negative, or if dropout chose it.
        for (d_sum, &hidden) in d_sum.iter_mut().zip(&self.hidden[self.learned * width..]) {
            *d_sum *= if hidden > 0.0 { scale } else { 0.0 };
        }
        self.learned += 1;
        loss
    }

    /// Adds the gradients of the last layer and of all that was added up.
    fn backward(
        &self,
        network: &Positions,
        d_contributions: &mut [f32],
        gradients: &mut Gradients,
    ) {
        let (width, n) = (network.hidden, self.learned);
        if n == 0 {
            return;
        }
        let hidden = &self.hidden[..n * width];
        kernel::add_weight_gradient(n, hidden, &self.d_scores, gradients.of_mut(network.out));
        let classes = self.d_scores.len() / n;
        for d_scores in self.d_scores.chunks_exact(classes) {
            kernel::add_scaled(1.0, d_scores, gradients.of_mut(network.out_bias));
        }
        for (parts, d_sum) in self.parts.iter().zip(self.d_sums.chunks_exact(width)) {
            kernel::add_scaled(1.0, d_sum, gradients.of_mut(network.bias));
            let (positions, symbols) = parts.split_at(POSITIONS);
            for &block in positions {
                kernel::add_scaled(
                    1.0,
                    d_sum,
                    &mut d_contributions[block as usize * width..][..width],
                );
            }
            for (&row, table) in symbols.iter().zip(network.symbols) {
                gradients.add_to_row(table, row, 1.0, d_sum);
            }
        }
    }
}

/// The network in training, on one of the sentences of a batch.
#[derive(Debug, Clone, Copy)]
pub struct PositionsLearner<'a> {
    /// The batch, which has been encoded.
    pub batch: &'a PositionsBatch,
    /// The parameters it was encoded with.
    pub params: &'a Params,
    /// The number of the sentence.
    pub sentence: usize,
}

impl<S: TransitionSystem> Scorer<S> for PositionsLearner<'_> {
    fn begin(&self, _at: Configuration<'_, S>, _scratch: &mut Scratch) -> Memory {
        Memory::None
    }

    fn score(
        &self,
        at: Configuration<'_, S>,
        _memory: &Memory,
        actions: &[S::Action],
        scratch: &mut Scratch,
        out: &mut Vec<f32>,
    ) {
        let PositionsBatch { network, encoder, .. } = self.batch;
        let view = at.system.view(at.state);
        let mut parts = [0; POSITIONS + SYMBOLS];
        for (position, place) in Positions::positions(&view).into_iter().enumerate() {
            let place = (place as usize).min(at.sentence.len() + 1);
            parts[position] = (encoder.row(self.sentence, place) * POSITIONS + position) as u32;
        }
        let symbols = network.symbols(&at.sentence.tags, &view);
        for ((part, row), table) in parts[POSITIONS..].iter_mut().zip(symbols).zip(network.symbols)
        {
            *part = row.min(table.rows - 1);
        }
        let scratch = &mut scratch.neural;
        scratch.decisions.score(self, parts, scratch.dropout.as_mut());
        network.classes.pick(actions, &scratch.decisions.scores, out);
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }
}

impl<S: TransitionSystem> OnlineLearner<S> for PositionsLearner<'_> {
    /// Notes the cross-entropy loss over the legal actions.
    fn learn(&mut self, lesson: &Lesson<'_, S>, scratch: &mut Scratch) {
        let scratch = &mut scratch.neural;
        let scale = scratch.dropout.as_ref().map_or(1.0, Dropout::scale);
        if write_choices(&self.batch.network.classes, lesson, &mut scratch.choices) {
            let loss = scratch.decisions.learn(self, &scratch.choices, scale);
            scratch.loss += f64::from(loss);
        }
    }
}
