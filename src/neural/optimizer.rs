//! From gradients to better parameters.

use serde::{Deserialize, Serialize};

use super::params::{Gradients, Params};
use crate::{Error, Result};

/// How parameters follow their gradients.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptimizerParams {
    /// Stochastic gradient descent; in epoch e, counted from 0, the rate is `rate / (1 + decay e)`.
    Sgd {
        /// The step for a gradient of 1.
        rate: f32,
        /// By how much it falls.
        decay: f32,
    },
    /// Adam (Kingma and Ba 2015) with means over about 10 and 1,000 batches; rows of tables that a batch did
    /// not use are left alone. The rate falls as above.
    Adam {
        /// The step.
        rate: f32,
        /// By how much it falls.
        decay: f32,
    },
}

impl OptimizerParams {
    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and its range.
    pub fn check(&self) -> Result<()> {
        let (Self::Sgd { rate, decay } | Self::Adam { rate, decay }) = *self;
        if !(rate > 0.0 && rate.is_finite() && decay >= 0.0 && decay.is_finite()) {
            let problem = "give a rate above 0 and a decay of 0 or more";
            return Err(Error::config("learner.optimizer", problem));
        }
        Ok(())
    }
}

const FIRST_MOMENT: f32 = 0.9;
const SECOND_MOMENT: f32 = 0.999;
const TINY: f32 = 1e-8;

/// What an optimiser remembers.
#[derive(Debug, Clone)]
pub struct Optimizer {
    params: OptimizerParams,
    /// Gradients longer than this are shortened to it; 0 for never.
    clip: f32,
    epoch: u32,
    steps: i32,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Optimizer {
    /// An optimiser that has seen nothing. Gradients longer than `clip`, if it is not 0, are shortened to it.
    pub fn new(params: OptimizerParams, clip: f32, network: &Params) -> Self {
        let n = match params {
            OptimizerParams::Sgd { .. } => 0,
            OptimizerParams::Adam { .. } => network.values().len(),
        };
        Self { params, clip, epoch: 0, steps: 0, first: vec![0.0; n], second: vec![0.0; n] }
    }

    /// Counts an epoch.
    pub fn end_epoch(&mut self) {
        self.epoch += 1;
    }

    /// Takes a step against the gradients.
    pub fn step(&mut self, network: &mut Params, gradients: &Gradients) {
        let norm = gradients.norm();
        if !norm.is_finite() {
            return;
        }
        let scale = if self.clip > 0.0 && norm > self.clip { self.clip / norm } else { 1.0 };
        self.steps += 1;
        let n_dense = network.dense();
        let rows = gradients.used.iter().map(|&(at, len, first)| {
            (at as usize, &gradients.rows[first as usize..(first + len) as usize])
        });
        let rows: Vec<(usize, &[f32])> = rows.collect();
        let (dense, tables) = network.split_mut();
        self.change(0, dense, &gradients.dense, scale);
        for (at, gradient) in rows {
            let first = at - n_dense;
            self.change(at, &mut tables[first..first + gradient.len()], gradient, scale);
        }
    }

    /// Changes the values that stand at `at` among all numbers.
    fn change(&mut self, at: usize, values: &mut [f32], gradient: &[f32], scale: f32) {
        match self.params {
            OptimizerParams::Sgd { rate, decay } => {
                let rate = rate / (1.0 + decay * self.epoch as f32);
                for (value, &gradient) in values.iter_mut().zip(gradient) {
                    *value -= rate * scale * gradient;
                }
            }
            OptimizerParams::Adam { rate, decay } => {
                let rate = rate / (1.0 + decay * self.epoch as f32);
                let unbiased = |moment: f32| 1.0 - moment.powi(self.steps);
                let rate = rate * unbiased(SECOND_MOMENT).sqrt() / unbiased(FIRST_MOMENT);
                let range = at..at + values.len();
                let moments = self.first[range.clone()].iter_mut().zip(&mut self.second[range]);
                for ((value, &gradient), (first, second)) in
                    values.iter_mut().zip(gradient).zip(moments)
                {
                    let gradient = gradient * scale;
                    *first = FIRST_MOMENT * *first + (1.0 - FIRST_MOMENT) * gradient;
                    *second = SECOND_MOMENT * *second + (1.0 - SECOND_MOMENT) * gradient * gradient;
                    *value -= rate * *first / (second.sqrt() + TINY);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::params::Builder;
    use crate::neural::tape::Tape;

    /// The least of a bowl is found, by a matrix as by the row of a table, and unused rows stay.
    #[test]
    fn steps_go_downhill() {
        for params in [
            OptimizerParams::Sgd { rate: 0.1, decay: 0.0 },
            OptimizerParams::Adam { rate: 0.02, decay: 0.0 },
        ] {
            let mut builder = Builder::new(3);
            let bias = builder.vector(2, 1.0);
            let table = builder.table(3, 2);
            let mut network = builder.finish();
            let unused = network.row(table, 2).to_vec();
            let mut optimizer = Optimizer::new(params, 0.0, &network);
            let (mut tape, mut gradients) = (Tape::default(), Gradients::default());
            let mut loss = f32::INFINITY;
            for _ in 0..300 {
                tape.clear();
                gradients.clear(&network);
                let row = tape.lookup(&network, table, 1);
                let bias = tape.lookup(&network, bias, 0);
                let scores = tape.sum(&[row, bias]);
                loss = tape.cross_entropy(scores, &[0, 1], 1, 1.0);
                tape.backward(&network, &mut gradients);
                optimizer.step(&mut network, &gradients);
            }
            assert!(loss < 0.05, "{params:?}: {loss}");
            assert_eq!(network.row(table, 2), unused);
        }
    }
}
