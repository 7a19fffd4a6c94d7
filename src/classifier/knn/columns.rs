//! Statistics of the training columns: their values, their weights, and the order of the levels.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{KnnParams, Metric, Weighting};
use crate::classifier::Instances;
use crate::feature::ColumnKind;
use crate::parallel;
use crate::sort::sort_by_key;
use crate::symbols::NOTHING;
use crate::{Error, Result};

/// Maximum number of values of a column that differ in their distances.
const MAX_VALUES: usize = u16::MAX as usize;
/// Number of rows, and of pairs of rows, from which the order of the levels is estimated.
const SAMPLE: usize = 1 << 15;
const PAIRS: usize = 1 << 12;
/// Number of consecutive rows in a stretch of the sample.
const STRETCH: usize = 64;
/// Probabilities are integers in units of 2⁻³⁰.
pub(super) const ONE: u32 = 1 << 30;
/// The largest distance between two rows, up to rounding.
pub(super) const LARGEST: f64 = (1u64 << 31) as f64;

/// How often each value of a column occurs, and with which classes.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// The values in ascending order.
    pub(super) values: Vec<u32>,
    /// The number of instances of each value.
    pub(super) totals: Vec<u32>,
    ends: Vec<u32>,
    classes: Vec<(u16, u32)>,
}

impl Counts {
    /// The counts of every column.
    pub(super) fn of_columns(instances: &Instances) -> Vec<Self> {
        parallel::map_range(instances.columns().len(), |at| Self::of(instances, at))
    }

    fn of(instances: &Instances, column: usize) -> Self {
        let key =
            |at| u64::from(instances.row(at).values[column]) << 16 | u64::from(instances.class(at));
        let mut keys: Vec<u64> = (0..instances.len()).map(key).collect();
        keys.sort_unstable();
        let mut counts = Self::default();
        for same in keys.chunk_by(|a, b| a == b) {
            let (value, class, n) = ((same[0] >> 16) as u32, same[0] as u16, same.len() as u32);
            if counts.values.last() != Some(&value) {
                counts.values.push(value);
                counts.totals.push(0);
                counts.ends.push(counts.classes.len() as u32);
            }
            counts.classes.push((class, n));
            if let (Some(total), Some(end)) = (counts.totals.last_mut(), counts.ends.last_mut()) {
                *total += n;
                *end += 1;
            }
        }
        counts
    }

    /// The classes of a value with their counts, in order of class.
    pub(super) fn classes(&self, value: usize) -> &[(u16, u32)] {
        let first = if value == 0 { 0 } else { self.ends[value - 1] };
        &self.classes[first as usize..self.ends[value] as usize]
    }

    /// The weight of the column, or the weight of each of its values as a binary feature.
    fn weights(&self, params: &KnnParams, kind: ColumnKind, prior: &Prior) -> Vec<f64> {
        if !params.one_hot {
            return vec![self.weight(params.weighting, prior)];
        }
        let weigh = |value: usize| {
            let is_nothing = self.values[value] == NOTHING && kind == ColumnKind::Nominal;
            if is_nothing { 0.0 } else { self.weight_of_value(value, params, prior) }
        };
        (0..self.values.len()).map(weigh).collect()
    }

    /// The weight of the column.
    fn weight(&self, weighting: Weighting, prior: &Prior) -> f64 {
        if weighting == Weighting::None {
            return 1.0;
        }
        let (mut rest, mut split) = (0.0, prior.n.log2());
        for value in 0..self.values.len() {
            let n = f64::from(self.totals[value]);
            rest += n * n.log2();
            rest -= self.classes(value).iter().map(|&(_, n)| n_log_n(f64::from(n))).sum::<f64>();
            split -= n_log_n(n) / prior.n;
        }
        weigh(weighting, prior.entropy - rest / prior.n, split)
    }

    /// The weight of a value as a binary feature, times the distance between having and not having it.
    fn weight_of_value(&self, value: usize, params: &KnnParams, prior: &Prior) -> f64 {
        let n = f64::from(self.totals[value]);
        let others = prior.n - n;
        if others <= 0.0 {
            return 0.0;
        }
        let (mut with, mut without) = (n_log_n(n), n_log_n(others) - prior.sum);
        let (mut difference, mut elsewhere) = (0.0, prior.n);
        for &(class, n_class) in self.classes(value) {
            let (n_class, all) = (f64::from(n_class), prior.classes[usize::from(class)]);
            with -= n_log_n(n_class);
            without -= n_log_n(all - n_class) - n_log_n(all);
            difference += (n_class / n - (all - n_class) / others).abs();
            elsewhere -= all;
        }
        let frequent =
            self.totals[value] >= params.min_frequency && others >= f64::from(params.min_frequency);
        let distance = if params.metric == Metric::Mvdm && frequent {
            (difference + elsewhere / others) / 2.0
        } else {
            1.0
        };
        if params.weighting == Weighting::None {
            return distance;
        }
        let gain = prior.entropy - (with + without) / prior.n;
        let split = prior.n.log2() - (n_log_n(n) + n_log_n(others)) / prior.n;
        weigh(params.weighting, gain, split) * distance
    }
}

fn weigh(weighting: Weighting, gain: f64, split: f64) -> f64 {
    let gain = gain.max(0.0);
    match weighting {
        Weighting::GainRatio if split > 0.0 => gain / split,
        Weighting::GainRatio => 0.0,
        _ => gain,
    }
}

fn n_log_n(n: f64) -> f64 {
    if n > 0.0 { n * n.log2() } else { 0.0 }
}

/// The classes of all instances.
#[derive(Debug, Clone)]
pub(super) struct Prior {
    n: f64,
    classes: Vec<f64>,
    /// Σ n log₂ n over classes.
    sum: f64,
    entropy: f64,
}

impl Prior {
    pub(super) fn of(instances: &Instances) -> Self {
        let classes: Vec<f64> = instances.counts().into_iter().map(f64::from).collect();
        let n = instances.len().max(1) as f64;
        let sum = classes.iter().map(|&n| n_log_n(n)).sum();
        Self { n, sum, entropy: n.log2() - sum / n, classes }
    }
}

/// A column as a level of the tree. Values at the same distance from all others share an id; ids are
/// numbered by decreasing frequency.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    /// The index of the column in a row.
    pub(super) column: usize,
    /// Its weight, in units of distance.
    pub(super) weight: u32,
    /// Its values in ascending order.
    pub(super) values: Vec<u32>,
    /// The id of each value.
    pub(super) ids: Vec<u16>,
    /// The weight of each id as a binary feature; empty without one-hot features.
    pub(super) id_weights: Vec<u32>,
    /// The class distribution of each id, for MVDM; an empty list for an id without one.
    pub(super) distributions: Vec<Vec<(u16, u32)>>,
}

/// The levels of the tree, and the unit of distance.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) levels: Vec<Level>,
    /// One unit of distance as a sum of weights.
    pub(super) unit: f64,
}

/// Weights the columns, numbers their values, and orders them as levels of the tree.
pub(super) fn choose(
    params: &KnnParams,
    instances: &Instances,
    counts: &[Counts],
) -> Result<Chosen> {
    let columns = instances.columns();
    let prior = Prior::of(instances);
    let weigh = |at: usize| counts[at].weights(params, columns[at].kind, &prior);
    let weights: Vec<Vec<f64>> = parallel::map_range(counts.len(), weigh);
    // Two different values differ in two binary features.
    let features = if params.one_hot { 2.0 } else { 1.0 };
    let heaviest = |weights: &Vec<f64>| weights.iter().copied().fold(0.0, f64::max);
    let sum: f64 = weights.iter().map(|weights| features * heaviest(weights)).sum();
    let scale = if sum > 0.0 { LARGEST / sum } else { 0.0 };
    let level = |at: usize| Level::new(at, &counts[at], params, &weights[at], scale);
    let levels: Vec<Level> = parallel::map_range(counts.len(), level);
    if let Some(level) = levels.iter().find(|level| level.n_ids() > MAX_VALUES) {
        let (name, n) = (&columns[level.column].name, level.n_ids());
        let problem = format!(
            "`{name}` has {n} values, and memory-based learning takes at most {MAX_VALUES}: drop it or \
             raise clean.unknown_below"
        );
        return Err(Error::config("features.templates", problem));
    }
    let order = order(&levels, instances);
    let mut levels: Vec<Option<Level>> = levels.into_iter().map(Some).collect();
    let levels = order.into_iter().filter_map(|column| levels[column].take()).collect();
    Ok(Chosen { levels, unit: if scale > 0.0 { 1.0 / scale } else { 0.0 } })
}

impl Level {
    fn new(
        column: usize,
        counts: &Counts,
        params: &KnnParams,
        weights: &[f64],
        scale: f64,
    ) -> Self {
        let units = |weight: f64| (weight * scale) as u32;
        let mvdm = params.metric == Metric::Mvdm && !params.one_hot;
        let mut level = Self {
            column,
            weight: if params.one_hot { 0 } else { units(weights[0]) },
            values: counts.values.clone(),
            ids: vec![0; counts.values.len()],
            ..Self::default()
        };
        let mut by_frequency: Vec<usize> = (0..counts.values.len()).collect();
        sort_by_key(&mut by_frequency, |&value| (std::cmp::Reverse(counts.totals[value]), value));
        let mut known: FxHashMap<Vec<(u16, u32)>, u16> = FxHashMap::default();
        for value in by_frequency {
            let distribution = if mvdm && counts.totals[value] >= params.min_frequency {
                shares(counts.classes(value), counts.totals[value])
            } else {
                Vec::new()
            };
            let next = level.distributions.len();
            level.ids[value] = match known.get(&distribution) {
                Some(&id) if !distribution.is_empty() => id,
                _ => {
                    level.distributions.push(distribution.clone());
                    known.insert(distribution, next as u16);
                    if params.one_hot {
                        level.id_weights.push(units(weights[value]));
                    }
                    next as u16
                }
            };
        }
        level
    }

    /// The number of ids.
    pub(super) fn n_ids(&self) -> usize {
        self.distributions.len()
    }

    /// The id of a value that was seen in training.
    pub(super) fn id(&self, value: u32) -> u16 {
        self.values.binary_search(&value).map_or(0, |at| self.ids[at])
    }

    /// The distance between two ids.
    fn distance(&self, a: u16, b: u16) -> u32 {
        if a == b {
            return 0;
        }
        let (a, b) = (usize::from(a), usize::from(b));
        if !self.id_weights.is_empty() {
            return self.id_weights[a] + self.id_weights[b];
        }
        let (p, q) = (&self.distributions[a], &self.distributions[b]);
        if p.is_empty() || q.is_empty() {
            return self.weight;
        }
        let sum = |p: &[(u16, u32)]| p.iter().map(|&(_, share)| share).sum::<u32>();
        let other = |class| q.iter().find(|&&(other, _)| other == class).map_or(0, |&(_, s)| s);
        let common = p.iter().map(|&(class, share)| share.min(other(class))).sum();
        difference(self.weight, sum(p), sum(q), common)
    }
}

/// The MVDM distance, computed from the sums of two distributions and of what they have in common; this
/// avoids classes that only one of them has.
pub(super) fn difference(weight: u32, sum: u32, other_sum: u32, common: u32) -> u32 {
    ((u64::from(weight) * u64::from(sum + other_sum - 2 * common)) >> 31) as u32
}

fn shares(classes: &[(u16, u32)], total: u32) -> Vec<(u16, u32)> {
    let share = |n: u32| (f64::from(n) / f64::from(total) * f64::from(ONE)).round() as u32;
    classes.iter().map(|&(class, n)| (class, share(n))).collect()
}

/// The order of the levels: the next column is the one with the largest expected contribution to the
/// distance of two random rows, relative to the logarithm of the growth in the number of distinct prefixes.
fn order(levels: &[Level], instances: &Instances) -> Vec<usize> {
    let n = instances.len();
    let mut left: Vec<usize> = (0..levels.len()).collect();
    if n == 0 {
        return left;
    }
    let id = |at: usize, level: &Level| level.id(instances.row(at).values[level.column]);
    let distance = |level: &Level| -> u64 {
        let pair = |at: usize| (at * n / PAIRS, (at * n / PAIRS + (at * 7919 + n / 2) % n) % n);
        (0..PAIRS)
            .map(|at| {
                let (a, b) = pair(at);
                u64::from(level.distance(id(a, level), id(b, level)))
            })
            .sum()
    };
    let gains: Vec<u64> = parallel::map(levels, distance);
    let step = (n / SAMPLE).max(1);
    let sample: Vec<usize> =
        (0..n).filter(|at| (at / STRETCH).is_multiple_of(step)).take(2 * SAMPLE).collect();
    let of_level = |level: &Level| sample.iter().map(|&at| id(at, level)).collect();
    let ids: Vec<Vec<u16>> = parallel::map(levels, of_level);
    let mut beginnings = vec![0u32; sample.len()];
    let (mut n_beginnings, mut order) = (1, Vec::new());
    while !left.is_empty() && n_beginnings < sample.len() / 10 * 9 {
        let grown: Vec<usize> = parallel::map(&left, |&level| {
            let pairs = beginnings.iter().zip(&ids[level]);
            pairs.collect::<FxHashSet<_>>().len()
        });
        let worth = |at: usize| {
            let growth = (grown[at] as f64 / n_beginnings as f64).ln();
            gains[left[at]] as f64 / (growth + 0.02)
        };
        let best =
            (1..left.len()).fold(0, |best, at| if worth(at) > worth(best) { at } else { best });
        n_beginnings = grown[best];
        let level = left.remove(best);
        let mut numbers: FxHashMap<(u32, u16), u32> = FxHashMap::default();
        for (beginning, &id) in beginnings.iter_mut().zip(&ids[level]) {
            let next = numbers.len() as u32;
            *beginning = *numbers.entry((*beginning, id)).or_insert(next);
        }
        order.push(level);
    }
    sort_by_key(&mut left, |&level| (std::cmp::Reverse(gains[level]), level));
    order.extend(left);
    order
}
