//! Decisions on the sentences of a batch: each sums up rows of a shared matrix, which the tape of the batch computes,
//! and rows of tables, rectifies the sum, and scores classes. Threads record their decisions by themselves; all go back
//! together.

use crate::neural::kernel;
use crate::neural::params::{Gradients, Param, Params};

/// The weights of decisions that use `T` tables.
#[derive(Debug, Clone, Copy)]
pub struct DecisionLayer<const T: usize> {
    /// Added to the hidden layer.
    pub bias: Param,
    /// Each decision adds a row of each.
    pub tables: [Param; T],
    /// Hidden units × classes.
    pub out: Param,
    /// Added to the scores of the classes.
    pub out_bias: Param,
}

impl<const T: usize> DecisionLayer<T> {
    fn width(&self) -> usize {
        self.bias.len()
    }
}

/// Decisions that use `M` rows of the shared matrix and `T` tables, with the gradients of their losses.
#[derive(Debug)]
pub struct Decisions<const M: usize, const T: usize> {
    /// For each decision the rows of the shared matrix, and those of the tables.
    rows: Vec<([u32; M], [u32; T])>,
    /// The hidden layers, after dropout.
    hidden: Vec<f32>,
    /// The gradients of the sums that became the hidden layers.
    d_sums: Vec<f32>,
    d_scores: Vec<f32>,
    /// The scores of the last decision.
    scores: Vec<f32>,
    /// What dropout multiplied the hidden units of the last decision by.
    factors: Vec<f32>,
    /// How many decisions have a loss; another one may have been scored.
    learned: usize,
}

impl<const M: usize, const T: usize> Default for Decisions<M, T> {
    fn default() -> Self {
        let [hidden, d_sums, d_scores, scores, factors] = [const { Vec::new() }; 5];
        Self { rows: Vec::new(), hidden, d_sums, d_scores, scores, factors, learned: 0 }
    }
}

impl<const M: usize, const T: usize> Decisions<M, T> {
    /// Forgets all decisions.
    pub fn clear(&mut self) {
        self.learned = 0;
        self.d_sums.clear();
        self.d_scores.clear();
    }

    /// Scores all classes for a decision that adds up these rows of the shared matrix and of the tables. `dropout` writes
    /// a factor for each hidden unit.
    pub fn score(
        &mut self,
        params: &Params,
        layer: &DecisionLayer<T>,
        shared: &[f32],
        (places, entries): ([u32; M], [u32; T]),
        dropout: Option<impl FnOnce(&mut [f32])>,
    ) -> &[f32] {
        let width = layer.width();
        self.rows.truncate(self.learned);
        self.rows.push((places, entries));
        self.hidden.resize((self.learned + 1) * width, 0.0);
        let hidden = &mut self.hidden[self.learned * width..];
        let of_shared = places.map(|row| &shared[row as usize * width..][..width]);
        let mut of_tables = [params.of(layer.bias); T];
        for ((row, &entry), table) in of_tables.iter_mut().zip(&entries).zip(layer.tables) {
            *row = params.row(table, entry);
        }
        kernel::sum_rectified(&[&of_shared, &of_tables, &[params.of(layer.bias)]], hidden);
        if let Some(dropout) = dropout {
            self.factors.resize(width, 0.0);
            dropout(&mut self.factors);
            hidden.iter_mut().zip(&self.factors).for_each(|(unit, factor)| *unit *= factor);
        }
        self.scores.clear();
        self.scores.extend_from_slice(params.of(layer.out_bias));
        kernel::add_products(1, hidden, params.of(layer.out), &mut self.scores);
        &self.scores
    }

    /// The scores of the last decision.
    pub fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// Adds the cross-entropy loss of the last decision, given its choices as in [`kernel::cross_entropy`]; returns it.
    /// `scale` is what dropout multiplied by the units that it did not drop.
    pub fn learn(
        &mut self,
        params: &Params,
        layer: &DecisionLayer<T>,
        choices: &[(u32, f32)],
        scale: f32,
    ) -> f32 {
        let (width, classes) = (layer.width(), self.scores.len());
        self.d_scores.resize((self.learned + 1) * classes, 0.0);
        let d_scores = &mut self.d_scores[self.learned * classes..];
        let loss = kernel::cross_entropy(&self.scores, choices, d_scores);
        self.d_sums.resize((self.learned + 1) * width, 0.0);
        let d_sum = &mut self.d_sums[self.learned * width..];
        kernel::add_back_products(1, d_scores, params.of(layer.out), d_sum);
        // A unit is 0 if the sum was negative, or if dropout chose it.
        for (d_sum, &hidden) in d_sum.iter_mut().zip(&self.hidden[self.learned * width..]) {
            *d_sum *= if hidden > 0.0 { scale } else { 0.0 };
        }
        self.learned += 1;
        loss
    }

    /// Adds the gradients of the weights, and those of the shared matrix.
    pub fn backward(
        &self,
        layer: &DecisionLayer<T>,
        d_shared: &mut [f32],
        gradients: &mut Gradients,
    ) {
        let (width, n) = (layer.width(), self.learned);
        if n == 0 {
            return;
        }
        let hidden = &self.hidden[..n * width];
        kernel::add_weight_gradient(n, hidden, &self.d_scores, gradients.of_mut(layer.out));
        let classes = self.d_scores.len() / n;
        for d_scores in self.d_scores.chunks_exact(classes) {
            kernel::add_scaled(1.0, d_scores, gradients.of_mut(layer.out_bias));
        }
        for ((places, entries), d_sum) in self.rows.iter().zip(self.d_sums.chunks_exact(width)) {
            kernel::add_scaled(1.0, d_sum, gradients.of_mut(layer.bias));
            for &row in places {
                let d_row = &mut d_shared[row as usize * width..][..width];
                kernel::add_scaled(1.0, d_sum, d_row);
            }
            for (&entry, table) in entries.iter().zip(layer.tables) {
                gradients.add_to_row(table, entry, 1.0, d_sum);
            }
        }
    }
}
