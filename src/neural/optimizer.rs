//! Optimizers: from gradients to parameter updates.

use serde::{Deserialize, Serialize};

use super::kernel::add_scaled;
use super::params::{CHUNK, Entry, Gradients, Kind, Params};
use crate::memory::{Array, Element, Sections};
use crate::parallel;
use crate::{Error, Result};

/// The optimizer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum OptimizerParams {
    /// Stochastic gradient descent.
    Sgd {
        /// The learning rate.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 100.0))]
        rate: f32,
    },
    /// Adam (Kingma and Ba 2015) with moving averages over about 10 and 1,000 batches; table rows that a
    /// batch did not use are not updated.
    Adam {
        /// The learning rate: approximately the largest change of a parameter in a step.
        #[schemars(extend("exclusiveMinimum" = 0.0), range(max = 100.0))]
        rate: f32,
        /// Weight decay: each step multiplies matrices by 1 - rate · decay (AdamW, Loshchilov and Hutter 2019).
        #[serde(default)]
        #[schemars(range(min = 0.0, max = 1.0))]
        weight_decay: f32,
        /// The number of batches over which the learning rate rises from 0.
        #[serde(default)]
        #[schemars(range(min = 0, max = 1_000_000))]
        warm_up: u32,
    },
}

impl OptimizerParams {
    /// Adam without weight decay and warm-up.
    pub fn adam(rate: f32) -> Self {
        Self::Adam { rate, weight_decay: 0.0, warm_up: 0 }
    }

    /// What the learning rate is multiplied by in a step, counted from 0.
    fn warmth(self, step: u64) -> f32 {
        match self {
            Self::Adam { warm_up, .. } if step < u64::from(warm_up) => {
                (step + 1) as f32 / warm_up as f32
            }
            _ => 1.0,
        }
    }
}

/// The decay of the learning rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Decay {
    /// Inverse decay: in epoch e, counted from 0, the rate is divided by `1 + by · e`.
    Inverse {
        /// The rate of decay: in epoch e, counted from 0, the learning rate is divided by 1 + by · e.
        #[schemars(range(min = 0.0, max = 1e6))]
        by: f32,
    },
    /// Linear decay, batch by batch, to 0 at the end of the last epoch.
    Linear,
}

impl Decay {
    /// The factor of the learning rate in an epoch, counted from 0, of which `share` is done.
    pub fn factor(self, epoch: u32, share: f32, epochs: u32) -> f32 {
        match self {
            Self::Inverse { by } => 1.0 / (1.0 + by * epoch as f32),
            Self::Linear => (1.0 - (epoch as f32 + share) / epochs as f32).max(0.0),
        }
    }
}

/// The exponential moving average of the parameters (Polyak and Juditsky 1992, with decaying weights).
#[derive(Debug, Clone)]
pub struct MovingAverage {
    values: Vec<f32>,
    /// The number of batches over which the average decays.
    over: f32,
    batches: u64,
}

impl MovingAverage {
    /// The average is updated every this many batches; before the first update it is the current
    /// parameters.
    pub const EVERY: u64 = 8;

    /// An average over about `over` future batches, at least twice [`MovingAverage::EVERY`].
    pub fn new(over: f32, network: &Params) -> Self {
        Self { values: network.values().to_vec(), over, batches: 0 }
    }

    /// Updates the average with the parameters after a batch.
    pub fn note(&mut self, network: &Params) {
        self.batches += 1;
        if self.batches < Self::EVERY || self.batches.is_multiple_of(Self::EVERY) {
            let every = Self::EVERY as f32;
            let share = every / self.over.min(self.batches as f32).max(every);
            move_towards(&mut self.values, network.values(), share);
        }
    }

    /// The average as the parameters of a network.
    pub fn of(&self, network: &Params) -> Params {
        network.with(self.values.clone())
    }

    fn store(&self, sections: &mut Sections) {
        sections.put("average.values", self.values.clone().into());
        sections.put("average.batches", vec![self.batches].into());
    }
}

/// Moves values towards others by a share of the difference.
pub(super) fn move_towards(values: &mut [f32], others: &[f32], share: f32) {
    let chunks = values.chunks_mut(CHUNK).zip(others.chunks(CHUNK));
    parallel::for_each(chunks, |(values, others)| {
        for (value, other) in values.iter_mut().zip(others) {
            *value += share * (other - *value);
        }
    });
}

const FIRST_MOMENT: f32 = 0.9;
const SECOND_MOMENT: f32 = 0.999;
const TINY: f32 = 1e-8;

/// An optimizer and its state.
#[derive(Debug, Clone)]
pub struct Optimizer {
    params: OptimizerParams,
    /// The maximum norm of the gradients, which are clipped to it; 0 for no clipping.
    clip: f32,
    steps: u64,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Optimizer {
    /// A new optimizer. Gradients with a norm above `clip`, unless it is 0, are clipped.
    pub fn new(params: OptimizerParams, clip: f32, network: &Params) -> Self {
        let n = match params {
            OptimizerParams::Sgd { .. } => 0,
            OptimizerParams::Adam { .. } => network.values().len(),
        };
        Self { params, clip, steps: 0, first: vec![0.0; n], second: vec![0.0; n] }
    }

    /// Takes a step against the gradients; the learning rate is multiplied by `factor`.
    pub fn step(&mut self, network: &mut Params, gradients: &Gradients, factor: f32) {
        let norm = gradients.norm();
        if !norm.is_finite() {
            return;
        }
        let scale = if self.clip > 0.0 && norm > self.clip { self.clip / norm } else { 1.0 };
        let factor = factor * self.params.warmth(self.steps);
        self.steps += 1;
        match self.params {
            OptimizerParams::Sgd { rate } => descend(network, gradients, -rate * factor * scale),
            OptimizerParams::Adam { rate, weight_decay, .. } => {
                let unbiased = |moment: f32| 1.0 - moment.powf(self.steps as f32);
                let step = rate * factor * unbiased(SECOND_MOMENT).sqrt() / unbiased(FIRST_MOMENT);
                let step = AdamStep { rate: step, scale, decay: rate * factor * weight_decay };
                self.adam(network, gradients, step);
            }
        }
    }

    fn adam(&mut self, network: &mut Params, gradients: &Gradients, step: AdamStep) {
        let n_dense = network.dense();
        let layout = network.layout().to_vec();
        let (first, rows_first) = self.first.split_at_mut(n_dense);
        let (second, rows_second) = self.second.split_at_mut(n_dense);
        let (mut dense, _) = network.split_mut();
        let (mut first, mut second, mut gradient) = (first, second, &gradients.dense[..]);
        let mut parts = Vec::new();
        for entry in layout.iter().take_while(|entry| !matches!(entry.kind, Kind::Table(_))) {
            let n = entry.param.len();
            let own =
                (take(&mut dense, n).chunks_mut(CHUNK)).zip(take(&mut first, n).chunks_mut(CHUNK));
            let own = own.zip(take(&mut second, n).chunks_mut(CHUNK));
            let (of_entry, rest) = gradient.split_at(n);
            gradient = rest;
            let step = step.of(entry);
            parts.extend(own.zip(of_entry.chunks(CHUNK)).map(|part| (step, part)));
        }
        parallel::for_each(parts, |(step, (((values, first), second), gradient))| {
            step.take(values, gradient, first, second);
        });
        for (at, gradient) in gradients.used_rows() {
            let step = step.of(network.table_at(at));
            let row = at - n_dense..at - n_dense + gradient.len();
            let (first, second) = (&mut rows_first[row.clone()], &mut rows_second[row.clone()]);
            let (_, tables) = network.split_mut();
            step.take(&mut tables[row], gradient, first, second);
        }
    }

    fn store(&self, sections: &mut Sections) {
        sections.put("optimizer.first", self.first.clone().into());
        sections.put("optimizer.second", self.second.clone().into());
        sections.put("optimizer.steps", vec![self.steps].into());
    }
}

/// Cuts off the first numbers of a slice.
fn take<'a>(numbers: &mut &'a mut [f32], n: usize) -> &'a mut [f32] {
    let (first, rest) = std::mem::take(numbers).split_at_mut(n);
    *numbers = rest;
    first
}

/// A step of gradient descent; `step` is negative.
fn descend(network: &mut Params, gradients: &Gradients, step: f32) {
    let n_dense = network.dense();
    for entry in network.layout().to_vec() {
        if !matches!(entry.kind, Kind::Table(_)) {
            let gradient = gradients.of(entry.param);
            add_scaled(step * entry.rate, gradient, network.of_mut(entry.param));
        }
    }
    for (at, gradient) in gradients.used_rows() {
        let step = step * network.table_at(at).rate;
        let (_, tables) = network.split_mut();
        add_scaled(step, gradient, &mut tables[at - n_dense..][..gradient.len()]);
    }
}

/// A step of Adam.
#[derive(Debug, Clone, Copy)]
struct AdamStep {
    rate: f32,
    /// What gradients are multiplied by.
    scale: f32,
    /// The share of the values that decays.
    decay: f32,
}

impl AdamStep {
    /// The step of a parameter.
    fn of(self, entry: &Entry) -> Self {
        let decay = if entry.kind == Kind::Matrix { self.decay * entry.rate } else { 0.0 };
        Self { rate: self.rate * entry.rate, decay, ..self }
    }

    fn take(self, values: &mut [f32], gradient: &[f32], first: &mut [f32], second: &mut [f32]) {
        let Self { rate, scale, decay } = self;
        if decay > 0.0 {
            values.iter_mut().for_each(|value| *value -= decay * *value);
        }
        for (((value, &gradient), first), second) in
            values.iter_mut().zip(gradient).zip(first).zip(second)
        {
            let gradient = gradient * scale;
            *first = FIRST_MOMENT * *first + (1.0 - FIRST_MOMENT) * gradient;
            *second = SECOND_MOMENT * *second + (1.0 - SECOND_MOMENT) * gradient * gradient;
            *value -= rate * *first / (second.sqrt() + TINY);
        }
    }
}

/// The state of training besides the parameters, with which training can be resumed.
#[derive(Debug, Clone)]
pub struct OptimizerState {
    /// The optimizer.
    pub optimizer: Optimizer,
    /// The moving average of the parameters, if there is one.
    pub average: Option<MovingAverage>,
}

impl OptimizerState {
    /// Adds the state to the sections of a checkpoint.
    pub fn store(&self, sections: &mut Sections) {
        self.optimizer.store(sections);
        if let Some(average) = &self.average {
            average.store(sections);
        }
    }

    /// Reads what [`OptimizerState::store`] wrote into a state of the same layout.
    ///
    /// # Errors
    /// When it is of another layout.
    pub fn load(&mut self, sections: &Sections) -> Result<()> {
        let Self { optimizer, average } = self;
        read(sections, "optimizer.first", &mut optimizer.first)?;
        read(sections, "optimizer.second", &mut optimizer.second)?;
        read(sections, "optimizer.steps", std::slice::from_mut(&mut optimizer.steps))?;
        if let Some(average) = average {
            read(sections, "average.values", &mut average.values)?;
            read(sections, "average.batches", std::slice::from_mut(&mut average.batches))?;
        }
        Ok(())
    }
}

fn read<T: Element>(sections: &Sections, name: &str, into: &mut [T]) -> Result<()> {
    let values: Array<T> = sections.get(name)?;
    if values.len() != into.len() {
        return Err(Error::Corrupt(format!("section `{name}` is not of this network")));
    }
    into.copy_from_slice(&values);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::neural::params::Builder;
    use crate::neural::tape::Tape;

    /// The least of a bowl is found, by a matrix as by the row of a table, and unused rows stay.
    #[test]
    fn steps_go_downhill() {
        for params in [OptimizerParams::Sgd { rate: 0.1 }, OptimizerParams::adam(0.02)] {
            let mut builder = Builder::new(Some(3));
            let bias = builder.vector(2, 1.0);
            let table = builder.table(3, 2);
            let mut network = builder.finish().unwrap();
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
                loss = tape.cross_entropy(scores, &[(0, 0.0), (1, 1.0)]);
                tape.begin_backward();
                tape.backward(&network, &mut gradients);
                optimizer.step(&mut network, &gradients, 1.0);
            }
            assert!(loss < 0.05, "{params:?}: {loss}");
            assert_eq!(network.row(table, 2), unused);
        }
    }

    #[test]
    fn rates_fall() {
        let linear: Vec<f32> =
            [(0, 0.0), (1, 0.5), (3, 1.0)].map(|(e, s)| Decay::Linear.factor(e, s, 4)).to_vec();
        assert_eq!(linear, [1.0, 0.625, 0.0]);
        assert_eq!(Decay::Inverse { by: 0.5 }.factor(2, 0.9, 4), 0.5);
    }

    /// Numbers that swing around a value: their mean is nearer to it.
    #[test]
    fn the_mean_is_of_the_last_batches() {
        let mut builder = Builder::new(Some(1));
        let value = builder.vector(1, 50.0);
        let mut network = builder.finish().unwrap();
        let mut average = MovingAverage::new(64.0, &network);
        for batch in 0..1_000 {
            network.of_mut(value)[0] = if batch / 8 % 2 == 0 { 1.0 } else { 3.0 };
            average.note(&network);
        }
        let mean = average.of(&network).of(value)[0];
        assert!((mean - 2.0).abs() < 0.2, "{mean}");
    }
}
