//! The training data of maximum entropy, in a layout for which the likelihood is fast to compute.
//!
//! 1. Indicators are numbered in order of first appearance, so those that occur once are next to those that
//!    they occur with. The weights of an indicator, one for each class seen with it, are contiguous.
//! 2. Instances are divided into blocks, small enough that the score matrix of a block (instances ×
//!    classes) stays in the cache. A block lists its indicators, and for each the instances that have it.
//!    Both passes, from weights to scores and from errors to the gradient, follow this list, so a weight is
//!    fetched once per block rather than once per instance.
//! 3. Blocks are processed in parallel. They add their parts of the gradient as integers, in units of a
//!    power of two chosen so that the sums cannot overflow. Integer sums do not depend on their order, so
//!    the result does not depend on the number of threads, threads do not wait for each other, and one sum
//!    per weight suffices for all threads.

use std::ops::Range;
use std::sync::atomic::{AtomicI64, Ordering};

use rustc_hash::FxHashMap;

use super::MaxentParams;
use crate::classifier::Instances;
use crate::classifier::linear::Weights;
use crate::feature::Indicators;
use crate::parallel;
use crate::sort::sort_by_key;
use crate::{Error, Result};

/// The instances with their indicators and classes; see the module.
#[derive(Debug)]
pub struct Problem {
    /// The one-hot id of each indicator.
    ids: Vec<u64>,
    /// The first weight of each indicator, and the number of weights.
    firsts: Vec<u32>,
    /// The class of each weight.
    classes: Vec<u16>,
    /// The original numbers of the classes that occur, in order.
    names: Vec<u16>,
    seen: Vec<bool>,
    blocks: Vec<Block>,
    n_instances: usize,
    /// 1 ÷ variance of the prior.
    precision: f64,
    /// The number of integer units in a gradient of 1.
    units: f64,
    sums: Vec<AtomicI64>,
}

/// A block of consecutive instances.
#[derive(Debug)]
struct Block {
    /// The correct class of each instance.
    golds: Box<[u16]>,
    /// The indicators that occur in the block, ascending.
    indicators: Box<[u32]>,
    /// The end of each indicator's list of instances.
    ends: Box<[u32]>,
    /// The lists of instances, as positions in the block.
    members: Box<[u16]>,
}

impl Block {
    /// The indicators with their lists of instances.
    fn lists(&self) -> impl Iterator<Item = (u32, &[u16])> {
        let mut first = 0;
        self.indicators.iter().zip(&self.ends).map(move |(&indicator, &end)| {
            let list = &self.members[first as usize..end as usize];
            first = end;
            (indicator, list)
        })
    }
}

impl Problem {
    /// Builds the layout of the instances.
    ///
    /// # Errors
    /// When there are no instances, or more instances, indicators or weights than fit 32 bits.
    pub fn new(
        instances: &Instances,
        indicators: &Indicators,
        params: &MaxentParams,
    ) -> Result<Self> {
        if instances.is_empty() {
            return Err(Error::Unfit(
                "there are no training instances: the training data have no decision with several actions".into(),
            ));
        }
        let mut seen = vec![false; instances.n_classes()];
        for at in 0..instances.len() {
            let seen = seen.get_mut(usize::from(instances.class(at)));
            let problem = || Error::Unfit(format!("instance {at} has a class that does not exist"));
            *seen.ok_or_else(problem)? = true;
        }
        // The classes that occur have numbers of their own.
        let names: Vec<u16> =
            (0..).zip(&seen).filter(|(_, seen)| **seen).map(|(name, _)| name).collect();
        let number = |class| names.partition_point(|&name| name < class) as u16;
        let golds: Vec<u16> = (0..instances.len()).map(|at| number(instances.class(at))).collect();
        let mut lists = Lists::collect(instances, indicators)?;
        if params.cutoff > 1 {
            lists.cut(params.cutoff);
        }
        let (firsts, classes) = lists.classes(&golds, names.len())?;
        let blocks = lists.blocks(&golds, BLOCK_SCORES / names.len());
        // The sum of the errors of a weight is at most the number of instances; the rest is for rounding.
        let unit_bits = 61 - (usize::BITS - golds.len().leading_zeros()) as i32;
        Ok(Self {
            ids: lists.ids,
            firsts,
            sums: classes.iter().map(|_| AtomicI64::new(0)).collect(),
            classes,
            names,
            seen,
            blocks,
            n_instances: golds.len(),
            precision: params.gaussian_prior.recip(),
            units: 2f64.powi(unit_bits),
        })
    }

    /// The number of instances.
    pub fn n_instances(&self) -> usize {
        self.n_instances
    }

    /// The number of weights.
    pub fn n_weights(&self) -> usize {
        self.classes.len()
    }

    /// Which classes occur in some instance.
    pub fn seen(&self) -> &[bool] {
        &self.seen
    }

    /// Returns the negative log-likelihood plus the penalty of the prior, and writes the gradient.
    pub fn evaluate(&mut self, weights: &[f64], gradient: &mut [f64]) -> f64 {
        let problem = &*self;
        let likelihoods: Vec<f64> =
            parallel::map_init(&problem.blocks, Scratch::default, |scratch, block| {
                problem.block(block, weights, scratch)
            });
        let (precision, units) = (self.precision, self.units);
        let chunks = self.sums.chunks_mut(CHUNK).zip(weights.chunks(CHUNK));
        let chunks = chunks.zip(gradient.chunks_mut(CHUNK));
        let penalties: Vec<f64> = parallel::map_owned(chunks, |((sums, weights), gradient)| {
            let mut squares = 0.0;
            for ((sum, &weight), gradient) in sums.iter_mut().zip(weights).zip(gradient) {
                *gradient = std::mem::take(sum.get_mut()) as f64 / units + precision * weight;
                squares += weight * weight;
            }
            precision / 2.0 * squares
        });
        penalties.iter().sum::<f64>() - likelihoods.iter().sum::<f64>()
    }

    /// Returns the log-likelihood of a block and adds its errors to the gradient.
    fn block(&self, block: &Block, weights: &[f64], scratch: &mut Scratch) -> f64 {
        let n = self.names.len();
        scratch.scores.clear();
        scratch.scores.resize(block.golds.len() * n, 0.0);
        self.score(block, weights, scratch);
        let rows = scratch.scores.chunks_exact_mut(n).zip(&block.golds);
        let log_likelihood =
            rows.map(|(row, &gold)| scores_to_errors(row, usize::from(gold))).sum();
        self.add_errors(block, scratch);
        log_likelihood
    }

    /// Adds the weights of a block's indicators to the scores of their instances.
    fn score(&self, block: &Block, weights: &[f64], scratch: &mut Scratch) {
        let n = self.names.len();
        let Scratch { scores, wide } = scratch;
        for (indicator, members) in block.lists() {
            let range = self.weights_of(indicator);
            let (classes, weights) = (&self.classes[range.clone()], &weights[range]);
            if is_wide(members.len(), classes.len(), n) {
                wide.clear();
                wide.resize(n, 0.0);
                add_to_classes(wide, classes, weights);
                for &member in members {
                    let row = &mut scores[usize::from(member) * n..][..n];
                    row.iter_mut().zip(&*wide).for_each(|(score, weight)| *score += weight);
                }
            } else {
                for &member in members {
                    add_to_classes(&mut scores[usize::from(member) * n..][..n], classes, weights);
                }
            }
        }
    }

    /// Sums up the errors of the instances of each indicator and adds them to the gradient.
    fn add_errors(&self, block: &Block, scratch: &mut Scratch) {
        let n = self.names.len();
        let Scratch { scores: errors, wide } = scratch;
        for (indicator, members) in block.lists() {
            let range = self.weights_of(indicator);
            let classes = &self.classes[range.clone()];
            wide.clear();
            let is_wide = is_wide(members.len(), classes.len(), n);
            wide.resize(if is_wide { n } else { classes.len() }, 0.0);
            for &member in members {
                let row = &errors[usize::from(member) * n..][..n];
                if is_wide {
                    wide.iter_mut().zip(row).for_each(|(sum, error)| *sum += error);
                } else {
                    wide.iter_mut()
                        .zip(classes)
                        .for_each(|(sum, &class)| *sum += row[usize::from(class)]);
                }
            }
            for ((at, &class), total) in classes.iter().enumerate().zip(&self.sums[range]) {
                let error = wide[if is_wide { usize::from(class) } else { at }];
                total.fetch_add((error * self.units).round_ties_even() as i64, Ordering::Relaxed);
            }
        }
    }

    fn weights_of(&self, indicator: u32) -> Range<usize> {
        self.firsts[indicator as usize] as usize..self.firsts[indicator as usize + 1] as usize
    }

    /// The weights by id, for packing.
    pub fn weights(&self, weights: &[f64]) -> Weights {
        let mut order: Vec<u32> = (0..self.ids.len() as u32).collect();
        sort_by_key(&mut order, |&indicator| self.ids[indicator as usize]);
        let (mut by_id, mut row) = (Weights::default(), Vec::new());
        for indicator in order {
            let range = self.weights_of(indicator);
            row.clear();
            let classes =
                self.classes[range.clone()].iter().map(|&class| self.names[usize::from(class)]);
            row.extend(classes.zip(weights[range].iter().map(|&weight| weight as f32)));
            row.retain(|&(_, weight)| weight != 0.0);
            by_id.push(self.ids[indicator as usize], &row, u16::MAX);
        }
        by_id
    }
}

/// Scratch memory of one thread.
#[derive(Default)]
struct Scratch {
    /// Instances × classes: scores, then errors.
    scores: Vec<f64>,
    /// The weights, or error sums, of one indicator for all classes.
    wide: Vec<f64>,
}

/// Whether to expand the weights of an indicator to all classes: adding whole rows, which can be
/// vectorized, is faster for several instances and few missing classes.
fn is_wide(n_rows: usize, n_weights: usize, n_classes: usize) -> bool {
    n_rows > 1 && n_weights * 4 >= n_classes
}

fn add_to_classes(row: &mut [f64], classes: &[u16], weights: &[f64]) {
    for (&class, weight) in classes.iter().zip(weights) {
        row[usize::from(class)] += weight;
    }
}

/// Converts the scores of an instance to errors (probability minus target); returns the logarithm of the
/// probability of the correct class.
fn scores_to_errors(row: &mut [f64], gold: usize) -> f64 {
    let max = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let right = row[gold];
    let mut sum = 0.0;
    for score in row.iter_mut() {
        *score = (*score - max).exp();
        sum += *score;
    }
    for score in row.iter_mut() {
        *score /= sum;
    }
    row[gold] -= 1.0;
    right - max - sum.ln()
}

/// Number of scores in a block: 64 Ki numbers of 8 bytes fit into the second-level cache of most machines.
const BLOCK_SCORES: usize = 1 << 16;
/// Number of elements that a thread processes at a time where elements are independent.
const CHUNK: usize = 1 << 14;

/// The indicators of every instance.
#[derive(Default)]
struct Lists {
    /// The one-hot id of each indicator, and its number of instances.
    ids: Vec<u64>,
    counts: Vec<u32>,
    /// The lists of indicators.
    indicators: Vec<u32>,
    ends: Vec<usize>,
}

impl Lists {
    fn collect(instances: &Instances, indicators: &Indicators) -> Result<Self> {
        let mut lists = Self::default();
        let mut numbers: FxHashMap<u64, u32> = FxHashMap::default();
        let mut ids = Vec::new();
        for at in 0..instances.len() {
            indicators.ids(instances.row(at), &mut ids);
            for &id in &ids {
                let number = *numbers.entry(id).or_insert_with(|| {
                    lists.ids.push(id);
                    lists.counts.push(0);
                    lists.ids.len() as u32 - 1
                });
                lists.counts[number as usize] += 1;
                lists.indicators.push(number);
            }
            lists.ends.push(lists.indicators.len());
            if at >= TOO_MANY || lists.ids.len() >= TOO_MANY {
                return Err(too_many("instances or indicators"));
            }
        }
        Ok(lists)
    }

    /// Removes the indicators with fewer than `cutoff` instances.
    fn cut(&mut self, cutoff: u32) {
        const CUT: u32 = u32::MAX;
        let mut numbers = vec![CUT; self.ids.len()];
        let mut kept = 0;
        for (old, number) in
            numbers.iter_mut().enumerate().filter(|(old, _)| self.counts[*old] >= cutoff)
        {
            *number = kept as u32;
            self.ids[kept] = self.ids[old];
            kept += 1;
        }
        self.ids.truncate(kept);
        self.counts.retain(|&count| count >= cutoff);
        let (mut from, mut to) = (0, 0);
        for end in &mut self.ends {
            for at in from..*end {
                let number = numbers[self.indicators[at] as usize];
                if number != CUT {
                    self.indicators[to] = number;
                    to += 1;
                }
            }
            from = std::mem::replace(end, to);
        }
        self.indicators.truncate(to);
    }

    fn list(&self, at: usize) -> &[u32] {
        let first = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.indicators[first..self.ends[at]]
    }

    /// The classes seen with each indicator, ascending: their offsets, and all of them.
    fn classes(&self, golds: &[u16], n_classes: usize) -> Result<(Vec<u32>, Vec<u16>)> {
        let mut ends: Vec<usize> = Vec::with_capacity(self.ids.len());
        let mut next = 0;
        for &count in &self.counts {
            ends.push(next);
            next += count as usize;
        }
        let mut with_repeats = vec![0u16; next];
        for (at, &gold) in golds.iter().enumerate() {
            for &indicator in self.list(at) {
                let end = &mut ends[indicator as usize];
                with_repeats[*end] = gold;
                *end += 1;
            }
        }
        let (mut firsts, mut classes) = (vec![0], Vec::new());
        let mut seen_with = vec![u32::MAX; n_classes];
        let mut first = 0;
        for (&end, indicator) in ends.iter().zip(0..) {
            let start = classes.len();
            for &class in &with_repeats[first..end] {
                if seen_with[usize::from(class)] != indicator {
                    seen_with[usize::from(class)] = indicator;
                    classes.push(class);
                }
            }
            classes[start..].sort_unstable();
            firsts.push(classes.len() as u32);
            first = end;
            if classes.len() >= TOO_MANY {
                return Err(too_many("weights"));
            }
        }
        Ok((firsts, classes))
    }

    /// Divides the instances into blocks.
    fn blocks(&self, golds: &[u16], size: usize) -> Vec<Block> {
        let size = size.clamp(16, 4096);
        parallel::map_owned(golds.chunks(size).enumerate(), |(block, golds)| {
            let mut pairs: Vec<(u32, u16)> = Vec::new();
            for member in 0..golds.len() {
                pairs.extend(
                    self.list(block * size + member).iter().map(|&number| (number, member as u16)),
                );
            }
            pairs.sort_unstable();
            let lists = || pairs.chunk_by(|a, b| a.0 == b.0);
            let ends = lists().scan(0, |end, list| {
                *end += list.len() as u32;
                Some(*end)
            });
            Block {
                golds: golds.into(),
                indicators: lists().map(|list| list[0].0).collect(),
                ends: ends.collect(),
                members: pairs.iter().map(|&(_, member)| member).collect(),
            }
        })
    }
}

/// Everything numbered in 32 bits must stay below this.
const TOO_MANY: usize = u32::MAX as usize;

fn too_many(what: &str) -> Error {
    Error::config(
        "learner",
        format!("more than {TOO_MANY} {what}: raise `cutoff`, or use fewer trees"),
    )
}

#[cfg(test)]
pub(super) mod checks {
    use super::*;

    impl Problem {
        /// The one-hot id and class of each weight.
        pub(in super::super) fn weight_names(&self) -> Vec<(u64, u16)> {
            let rows =
                (0..self.ids.len() as u32).map(|at| (self.ids[at as usize], self.weights_of(at)));
            rows.flat_map(|(id, range)| {
                range.map(move |at| (id, self.names[usize::from(self.classes[at])]))
            })
            .collect()
        }
    }
}
