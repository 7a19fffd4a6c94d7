//! The distance of the query's value to the values of training rows, column by column.
//!
//! Each thread has [`QueryDistances`]: for every level of the tree, the distance from the query's value to each id.
//! A distance is computed when it is first needed, because most never are, and kept until the query has
//! another value in that column. Consecutive queries of a parse share many values. For columns with few
//! values, all distances are computed when the model is created.

use std::ops::Range;

use super::columns::{Chosen, LARGEST, ONE, difference};
use super::{KnnParams, Metric};
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// Marks a distance that has not been computed.
const UNKNOWN: u32 = u32::MAX;
/// Marks a value that was never seen.
const UNSEEN: u32 = u32::MAX;
/// For columns with at most this many ids all distances are computed.
const SMALL: usize = 256;
/// Number of integers per level in its section.
const LEVEL: usize = 4;

/// The values of all levels.
#[derive(Debug, Clone)]
pub(super) struct Values {
    /// For each level its column, its weight, the end of its values, and the end of its ids.
    levels: Array<u32>,
    /// The values of each level in ascending order.
    values: Array<u32>,
    /// The id of each value.
    ids: Array<u16>,
    /// The weight of each id as a binary feature; empty without one-hot features.
    id_weights: Array<u32>,
    /// The end of each id's distribution; empty without distributions.
    ends: Array<u32>,
    classes: Array<u16>,
    shares: Array<u32>,
    /// One unit of distance as a sum of weights, as the bits of a float.
    unit: Array<u64>,
    n_classes: usize,
    /// The first id of each level, and the number of all ids.
    firsts: Vec<u32>,
    /// The sum of each distribution, which is not exactly 1 because of rounding.
    sums: Vec<u32>,
    /// All distances of the small levels, and their offset for each level.
    squares: Vec<u32>,
    square_of: Vec<Option<usize>>,
}

impl Values {
    /// Stores the values of the levels.
    pub(super) fn new(chosen: &Chosen, params: &KnnParams, n_classes: usize) -> Self {
        let (mut levels, mut values, mut ids) = (Vec::new(), Vec::new(), Vec::new());
        let (mut id_weights, mut ends) = (Vec::new(), Vec::new());
        let (mut classes, mut shares) = (Vec::new(), Vec::new());
        let mut n_ids = 0;
        for level in &chosen.levels {
            values.extend_from_slice(&level.values);
            ids.extend_from_slice(&level.ids);
            id_weights.extend_from_slice(&level.id_weights);
            n_ids += level.n_ids();
            levels.extend([level.column as u32, level.weight, values.len() as u32, n_ids as u32]);
            if with_distributions(params) {
                for distribution in &level.distributions {
                    classes.extend(distribution.iter().map(|&(class, _)| class));
                    shares.extend(distribution.iter().map(|&(_, share)| share));
                    ends.push(classes.len() as u32);
                }
            }
        }
        let mut new = Self {
            levels: levels.into(),
            values: values.into(),
            ids: ids.into(),
            id_weights: id_weights.into(),
            ends: ends.into(),
            classes: classes.into(),
            shares: shares.into(),
            unit: vec![chosen.unit.to_bits()].into(),
            n_classes,
            firsts: Vec::new(),
            sums: Vec::new(),
            squares: Vec::new(),
            square_of: Vec::new(),
        };
        new.derive();
        new
    }

    /// Computes what is not stored.
    fn derive(&mut self) {
        let ends = self.levels.as_chunks::<LEVEL>().0.iter().map(|level| level[3]);
        self.firsts = std::iter::once(0).chain(ends).collect();
        let sum = |id: usize| self.shares[self.distribution(id)].iter().sum();
        self.sums = (0..self.ends.len()).map(sum).collect();
        let mut own = vec![0; self.n_classes];
        for at in 0..self.n_levels() {
            let ids = self.ids_of(at);
            let small = !self.ends.is_empty() && ids.len() <= SMALL;
            self.square_of.push(small.then_some(self.squares.len()));
            for id in ids.clone().filter(|_| small) {
                self.spread(id, &mut own);
                let distances = ids.clone().map(|other| self.distance(at, id, other, &own));
                let distances: Vec<u32> = distances.collect();
                self.squares.extend(distances);
                self.gather(id, &mut own);
            }
        }
    }

    /// The number of levels, which is the number of columns.
    pub(super) fn n_levels(&self) -> usize {
        self.levels.len() / LEVEL
    }

    /// The number of ids of a level.
    pub(super) fn n_ids(&self, level: usize) -> usize {
        self.ids_of(level).len()
    }

    /// One unit of distance as a sum of weights.
    pub(super) fn unit(&self) -> f64 {
        self.unit.first().map_or(0.0, |&bits| f64::from_bits(bits))
    }

    fn level(&self, at: usize) -> [u32; LEVEL] {
        self.levels.as_chunks::<LEVEL>().0[at]
    }

    /// The positions of a level's ids among all ids.
    fn ids_of(&self, level: usize) -> Range<usize> {
        self.firsts[level] as usize..self.firsts[level + 1] as usize
    }

    /// The position of a value's id, if the value was seen.
    fn find(&self, level: usize, value: u32) -> Option<usize> {
        let first = if level == 0 { 0 } else { self.level(level - 1)[2] as usize };
        let values = &self.values[first..self.level(level)[2] as usize];
        let at = values.binary_search(&value).ok()?;
        Some(self.firsts[level] as usize + usize::from(self.ids[first + at]))
    }

    /// The weight of an id as a binary feature.
    pub(super) fn id_weight(&self, level: usize, id: u16) -> u32 {
        self.id_weights[self.firsts[level] as usize + usize::from(id)]
    }

    /// The column of a level, and the id of a training row there.
    #[cfg(test)]
    pub(super) fn id_of(&self, level: usize, row: &[u32]) -> (usize, u16) {
        let column = self.level(level)[0] as usize;
        let place = self.find(level, row[column]).unwrap();
        (column, (place - self.firsts[level] as usize) as u16)
    }

    fn distribution(&self, id: usize) -> Range<usize> {
        let first = if id == 0 { 0 } else { self.ends[id - 1] };
        first as usize..self.ends[id] as usize
    }

    /// Writes a distribution into a vector over all classes, which is zero elsewhere.
    fn spread(&self, id: usize, out: &mut [u32]) {
        for at in self.distribution(id) {
            out[usize::from(self.classes[at])] = self.shares[at];
        }
    }

    /// Resets the elements of a distribution to 0.
    fn gather(&self, id: usize, out: &mut [u32]) {
        for at in self.distribution(id) {
            out[usize::from(self.classes[at])] = 0;
        }
    }

    /// The distance between two ids of a level; `own` is the distribution of the first.
    fn distance(&self, level: usize, id: usize, other: usize, own: &[u32]) -> u32 {
        if id == other {
            return 0;
        }
        if !self.id_weights.is_empty() {
            return self.id_weights[id] + self.id_weights[other];
        }
        let weight = self.level(level)[1];
        if self.ends.is_empty() {
            return weight;
        }
        let distribution = self.distribution(other);
        if distribution.is_empty() || self.sums[id] == 0 {
            return weight;
        }
        let (classes, shares) = (&self.classes[distribution.clone()], &self.shares[distribution]);
        let pairs = classes.iter().zip(shares);
        let common = pairs.map(|(&class, &share)| share.min(own[usize::from(class)])).sum();
        difference(weight, self.sums[id], self.sums[other], common)
    }

    /// Adds the values to the sections of a model.
    pub(super) fn put(&self, sections: &mut Sections) {
        sections.put("knn.levels", self.levels.clone());
        sections.put("knn.values", self.values.clone());
        sections.put("knn.ids", self.ids.clone());
        sections.put("knn.weights", self.id_weights.clone());
        sections.put("knn.ends", self.ends.clone());
        sections.put("knn.classes", self.classes.clone());
        sections.put("knn.shares", self.shares.clone());
        sections.put("knn.unit", self.unit.clone());
    }

    /// Reads what [`Values::put`] wrote.
    pub(super) fn load(params: &KnnParams, n_classes: usize, sections: &Sections) -> Result<Self> {
        let mut new = Self {
            levels: sections.get("knn.levels")?,
            values: sections.get("knn.values")?,
            ids: sections.get("knn.ids")?,
            id_weights: sections.get("knn.weights")?,
            ends: sections.get("knn.ends")?,
            classes: sections.get("knn.classes")?,
            shares: sections.get("knn.shares")?,
            unit: sections.get("knn.unit")?,
            n_classes,
            firsts: Vec::new(),
            sums: Vec::new(),
            squares: Vec::new(),
            square_of: Vec::new(),
        };
        if !new.is_valid(params) {
            let problem = "the values are not those of a memory-based model with these settings";
            return Err(Error::Corrupt(problem.into()));
        }
        new.derive();
        Ok(new)
    }

    /// Whether all offsets are valid and no sum can overflow.
    fn is_valid(&self, params: &KnnParams) -> bool {
        let levels = self.levels.as_chunks::<LEVEL>();
        let (mut n_values, mut n_ids, mut largest) = (0, 0, 0u64);
        for &[_, weight, values_end, ids_end] in levels.0 {
            if values_end < n_values || values_end as usize > self.ids.len() || ids_end < n_ids {
                return false;
            }
            let ids = &self.ids[n_values as usize..values_end as usize];
            let weights = self.id_weights.get(n_ids as usize..ids_end as usize);
            let most = weights.and_then(|weights| weights.iter().max()).map_or(0, |&most| most);
            // Every id has a value, so their number is limited too.
            let few = ids_end - n_ids <= values_end - n_values;
            if !few || ids.iter().any(|&id| u32::from(id) >= ids_end - n_ids) {
                return false;
            }
            largest += u64::from(weight).max(2 * u64::from(most));
            (n_values, n_ids) = (values_end, ids_end);
        }
        let n_ids = n_ids as usize;
        let wanted = |wanted: bool| if wanted { n_ids } else { 0 };
        levels.1.is_empty()
            && n_values as usize == self.ids.len()
            && self.values.len() == self.ids.len()
            && self.id_weights.len() == wanted(params.one_hot)
            && self.ends.len() == wanted(with_distributions(params))
            && largest as f64 <= LARGEST
            && self.unit().is_finite()
            && self.unit() >= 0.0
            && self.distributions_are_whole()
    }

    fn distributions_are_whole(&self) -> bool {
        let within = u64::from(ONE) + self.n_classes as u64;
        let is_distribution = |id: usize| {
            let Range { start, end } = self.distribution(id);
            let (shares, classes) = (self.shares.get(start..end), self.classes.get(start..end));
            let sum = |shares: &[u32]| shares.iter().map(|&share| u64::from(share)).sum::<u64>();
            shares.is_some_and(|shares| sum(shares) <= within)
                && classes.is_some_and(|classes| classes.is_sorted_by(|a, b| a < b))
        };
        self.classes.len() == self.shares.len()
            && self.classes.iter().all(|&class| usize::from(class) < self.n_classes)
            && (0..self.ends.len()).all(is_distribution)
    }
}

/// Whether the settings compare values by their class distributions.
fn with_distributions(params: &KnnParams) -> bool {
    params.metric == Metric::Mvdm && !params.one_hot
}

/// The distances of one query's values, for one thread.
#[derive(Debug, Clone, Default)]
pub(super) struct QueryDistances {
    distances: Vec<u32>,
    levels: Vec<QueryLevel>,
    /// The distribution of the query's value at each level.
    own: Vec<u32>,
}

/// A one-hot feature of the query that rows may share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shared {
    pub(super) level: usize,
    pub(super) id: u16,
    /// The reduction of the distance for rows that share it.
    pub(super) weight: u32,
}

/// The state of a query at one level.
#[derive(Debug, Clone)]
struct QueryLevel {
    value: Option<u32>,
    id: u32,
    /// The ids whose distances have been computed.
    known: Vec<u32>,
}

impl QueryDistances {
    /// Clears everything and allocates space for a model.
    pub(super) fn reset(&mut self, values: &Values) {
        let n_ids = values.firsts.last().map_or(0, |&n| n as usize);
        self.distances.clear();
        self.distances.resize(n_ids, UNKNOWN);
        self.levels.clear();
        self.levels
            .resize(values.n_levels(), QueryLevel { value: None, id: UNSEEN, known: Vec::new() });
        self.own.clear();
        self.own.resize(values.n_levels() * values.n_classes, 0);
    }

    /// Sets the query; returns a lower bound of its distance to every row. An unseen value has the same
    /// distance to all others, so its column need not be searched.
    pub(super) fn set_query(&mut self, values: &Values, row: &[u32]) -> u32 {
        let mut least = 0;
        for at in 0..self.levels.len() {
            let [column, weight, ..] = values.level(at);
            let value = row.get(column as usize).copied().unwrap_or_default();
            if self.levels[at].value != Some(value) {
                self.change(values, at, value);
            }
            if self.levels[at].id == UNSEEN {
                least += weight;
            }
        }
        least
    }

    /// The id of the query's value at a level, if it was seen.
    pub(super) fn id(&self, values: &Values, level: usize) -> Option<u16> {
        let id = self.levels[level].id;
        (id != UNSEEN).then(|| (id - values.firsts[level]) as u16)
    }

    /// Writes the features that a row may share with the query into `shared`; returns the weight of the
    /// query's one-hot features.
    pub(super) fn shared(&self, values: &Values, shared: &mut Vec<Shared>) -> u32 {
        shared.clear();
        let mut own = 0;
        for level in 0..self.levels.len() {
            let Some(id) = self.id(values, level) else { continue };
            let weight = values.id_weight(level, id);
            own += weight;
            if weight > 0 {
                shared.push(Shared { level, id, weight: 2 * weight });
            }
        }
        own
    }

    fn change(&mut self, values: &Values, at: usize, value: u32) {
        let own = &mut self.own[at * values.n_classes..][..values.n_classes];
        let asked = &mut self.levels[at];
        if asked.id != UNSEEN && !values.ends.is_empty() {
            values.gather(asked.id as usize, own);
        }
        let id = values.find(at, value);
        asked.value = Some(value);
        asked.id = id.map_or(UNSEEN, |id| id as u32);
        let ids = values.ids_of(at);
        for known in asked.known.drain(..) {
            self.distances[known as usize] = UNKNOWN;
        }
        match (values.square_of[at], id) {
            (Some(_), None) => self.distances[ids].fill(0),
            (Some(first), Some(id)) => {
                let row = first + (id - ids.start) * ids.len();
                self.distances[ids.clone()].copy_from_slice(&values.squares[row..][..ids.len()]);
            }
            (None, Some(id)) if !values.ends.is_empty() => values.spread(id, own),
            (None, _) => {}
        }
    }

    /// The distance of the query's value to an id of a level.
    #[inline]
    pub(super) fn distance(&mut self, values: &Values, level: usize, id: u16) -> u32 {
        let place = values.firsts[level] as usize + usize::from(id);
        match self.distances[place] {
            UNKNOWN => self.work_out(values, level, place),
            distance => distance,
        }
    }

    #[inline(never)]
    fn work_out(&mut self, values: &Values, level: usize, place: usize) -> u32 {
        let asked = &mut self.levels[level];
        let distance = if asked.id == UNSEEN {
            // The weight of the query's own value is part of the lower bound already.
            values.id_weights.get(place).copied().unwrap_or_default()
        } else {
            let own = &self.own[level * values.n_classes..][..values.n_classes];
            values.distance(level, asked.id as usize, place, own)
        };
        self.distances[place] = distance;
        asked.known.push(place as u32);
        distance
    }
}
