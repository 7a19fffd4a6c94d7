//! The explicit feature map at parse time: from indicators and pairs of them to rows of weights.
//!
//! The table has buckets of 64 bytes, a cache line each, with eight keys and the places of their weights.
//! Looking up a pair costs one cache miss if it is absent, two if it is present. A key is the low half of a
//! feature's 64-bit hash; another feature matches it with probability of about 2⁻²⁹. The high half
//! determines the bucket where the search begins. Many keys share a row of weights (see [`super::groups`]).
//!
//! Weights are floats truncated to 16 bits (8 bits of precision): their magnitudes differ too much for
//! integers in a common unit. Sums are 32-bit floats, added in a fixed order.

use super::descent::Solution;
use super::groups::{Factors, Feature, Groups};
use super::rows::{BinaryClassifiers, Rows};
use crate::classifier::linear::Pruning;
use crate::classifier::packed::home;
use crate::classifier::{Classifier, Evidence, Scratch};
use crate::feature::{Indicators, RowRef};
use crate::hash::MULTIPLIER;
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// Number of 32-bit words in a bucket: the keys, then the places.
const BUCKET: usize = 16;
/// Number of keys in a bucket.
const KEYS: usize = BUCKET / 2;
/// Average number of keys in a bucket.
const FILL: f64 = 6.0;
/// Marks a dense row of weights, for all classifiers.
const DENSE: u32 = u32::MAX;
/// The place of an empty row. 0 is not a place.
const NO_WEIGHTS: u32 = 1;

fn mix(hash: u64) -> u64 {
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

/// The hash of a pair of ids, the smaller first.
fn pair(a: u64, b: u64) -> u64 {
    mix(a.wrapping_mul(MULTIPLIER).wrapping_add(b))
}

/// The upper half of a float, rounded to the nearest.
fn to_half(weight: f32) -> u16 {
    let bits = weight.to_bits();
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

fn from_half(half: u16) -> f32 {
    f32::from_bits(u32::from(half) << 16)
}

/// Keys and rows of weights.
#[derive(Debug, Clone)]
struct Table {
    buckets: Array<u32>,
    rows: Array<u32>,
}

impl Table {
    /// The place of a key's weights; 0 if the key is absent.
    fn find(&self, hash: u64) -> u32 {
        let buckets = self.buckets.as_chunks::<BUCKET>().0;
        let mut at = home(hash, buckets.len());
        for _ in 0..buckets.len() {
            let Some(bucket) = buckets.get(at) else { return 0 };
            let (keys, places) = bucket.split_at(KEYS);
            let same = |slot: usize| if keys[slot] == hash as u32 { places[slot] } else { 0 };
            let found = (0..KEYS).fold(0, |found, slot| found | same(slot));
            if found != 0 || places[KEYS - 1] == 0 {
                return found;
            }
            at = if at + 1 == buckets.len() { 0 } else { at + 1 };
        }
        0
    }

    /// Adds the weights at the places to the sums.
    fn add(&self, places: &[u32], sums: &mut [f32]) {
        let rows = &*self.rows;
        // Touching every row beforehand overlaps the cache misses.
        let word = |place: u32| rows.get(place as usize).copied().unwrap_or(0);
        std::hint::black_box(places.iter().fold(0, |sum, &place| sum ^ word(place)));
        for &place in places {
            let (head, first) = (word(place), place as usize + 1);
            if head == DENSE {
                let words = rows.get(first..first + sums.len().div_ceil(2)).unwrap_or_default();
                let (pairs, last) = sums.as_chunks_mut::<2>();
                for ([a, b], &word) in pairs.iter_mut().zip(words) {
                    *a += from_half(word as u16);
                    *b += from_half((word >> 16) as u16);
                }
                if let ([last], Some(&word)) = (last, words.last()) {
                    *last += from_half(word as u16);
                }
                continue;
            }
            for &entry in rows.get(first..first + head as usize).unwrap_or_default() {
                if let Some(sum) = sums.get_mut((entry >> 16) as usize) {
                    *sum += from_half(entry as u16);
                }
            }
        }
    }
}

/// Polynomial classifiers of degree 1 or 2 over indicators, with explicit features.
#[derive(Debug, Clone)]
pub struct MapModel {
    indicators: Indicators,
    factors: Factors,
    table: Table,
    /// The constant of each classifier.
    constants: Array<f32>,
    /// The classes of [`BinaryClassifiers`].
    classes: Array<u16>,
    n_classes: usize,
}

/// Scratch memory of one thread.
#[derive(Default)]
struct Memory {
    ids: Vec<u64>,
    /// The offsets of entries found in the table.
    places: Vec<u32>,
    sums: Vec<f32>,
}

impl Classifier for MapModel {
    fn n_classes(&self) -> usize {
        self.n_classes
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let Memory { ids, places, sums } = scratch.of();
        self.indicators.ids(row, ids);
        ids.sort_unstable();
        ids.dedup();
        places.clear();
        // An indicator that was never seen in training is in no pair either.
        ids.retain(|&id| {
            let place = self.table.find(mix(id));
            if place != 0 {
                places.push(place);
            }
            place != 0
        });
        sums.clear();
        sums.resize(2 * self.constants.len(), 0.0);
        let (singles, pairs) = sums.split_at_mut(self.constants.len());
        self.table.add(places, singles);
        if self.factors.pair > 0.0 {
            places.clear();
            for (at, &b) in ids.iter().enumerate() {
                for &a in &ids[..at] {
                    let place = self.table.find(pair(a, b));
                    if place > NO_WEIGHTS {
                        places.push(place);
                    }
                }
            }
            self.table.add(places, pairs);
        }
        for ((single, &pair), &constant) in singles.iter_mut().zip(&*pairs).zip(&*self.constants) {
            *single = constant + self.factors.single * *single + self.factors.pair * pair;
        }
        BinaryClassifiers::scores(&self.classes, singles, out);
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        let known = self.indicators.numbered(row).filter(|&(_, id)| self.table.find(mix(id)) != 0);
        let known: Vec<(u16, u64)> = known.collect();
        let Factors { single, pair: pair_factor } = self.factors;
        let mut weights = Vec::new();
        for (at, &(template, id)) in known.iter().enumerate() {
            weights.push((vec![template], self.weights(mix(id), single, classes)));
            for &(other, other_id) in known[..at].iter().filter(|_| pair_factor > 0.0) {
                let hash = pair(id.min(other_id), id.max(other_id));
                weights.push((vec![other, template], self.weights(hash, pair_factor, classes)));
            }
        }
        Evidence::Weights(weights)
    }

    fn store(&self, sections: &mut Sections) {
        let degree = if self.factors.pair > 0.0 { 2 } else { 1 };
        sections.put("svm.shape", vec![self.n_classes as u32, degree].into());
        sections.put("svm.classes", self.classes.clone());
        sections.put("svm.constants", self.constants.clone());
        sections.put("svm.buckets", self.table.buckets.clone());
        sections.put("svm.weights", self.table.rows.clone());
    }
}

impl MapModel {
    /// The contribution of the feature with a hash to the scores of two classes.
    fn weights(&self, hash: u64, factor: f32, classes: [u16; 2]) -> [f32; 2] {
        let mut margins = vec![0.0; self.constants.len()];
        let place = self.table.find(hash);
        if place > NO_WEIGHTS {
            self.table.add(&[place], &mut margins);
        }
        margins.iter_mut().for_each(|margin| *margin *= factor);
        let mut scores = vec![0.0; self.n_classes];
        BinaryClassifiers::scores(&self.classes, &margins, &mut scores);
        let score = |class: u16| scores.get(usize::from(class)).copied();
        classes.map(|class| score(class).filter(|score| score.is_finite()).unwrap_or(0.0))
    }

    /// Reads what [`Classifier::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of such a model.
    pub fn load(indicators: Indicators, sections: &Sections) -> Result<Self> {
        let broken = || Error::Corrupt("the tables are not those of a polynomial SVM".into());
        let shape: Array<u32> = sections.get("svm.shape")?;
        let &[n_classes, degree] = &*shape else { return Err(broken()) };
        let model = Self {
            indicators,
            factors: Factors::of(degree).ok_or_else(broken)?,
            table: Table {
                buckets: sections.get("svm.buckets")?,
                rows: sections.get("svm.weights")?,
            },
            constants: sections.get("svm.constants")?,
            classes: sections.get("svm.classes")?,
            n_classes: n_classes as usize,
        };
        let classifiers = BinaryClassifiers { classes: model.classes.to_vec() };
        let fits = model.n_classes <= usize::from(u16::MAX)
            && model.classes.iter().all(|&class| usize::from(class) < model.n_classes)
            && model.constants.len() == classifiers.len()
            && model.table.buckets.len().is_multiple_of(BUCKET);
        if fits { Ok(model) } else { Err(broken()) }
    }
}

/// Solved blocks, to be packed into tables.
pub struct Packing<'a> {
    /// The training rows.
    pub rows: &'a Rows,
    /// Their features.
    pub groups: &'a Groups,
    /// The squared factors of the features.
    pub factors: Factors,
    /// The classifiers.
    pub classifiers: &'a BinaryClassifiers,
    /// The weights of all classifiers, block by block.
    pub solutions: &'a [Solution],
}

impl Packing<'_> {
    /// The entries of a place, over all blocks.
    fn entries(&self, place: usize) -> impl Iterator<Item = (u16, f32)> {
        self.solutions.iter().flat_map(move |solution| {
            let first = if place == 0 { 0 } else { solution.ends[place - 1] as usize };
            solution.entries[first..solution.ends[place] as usize].iter().copied()
        })
    }

    /// The largest absolute weight at each place.
    fn strengths(&self) -> Vec<f32> {
        let n_places = self.groups.len() + self.rows.len();
        let largest =
            |place| self.entries(place).fold(0f32, |max, (_, weight)| max.max(weight.abs()));
        (0..n_places).map(largest).collect()
    }

    fn factor(&self, feature: Feature) -> f32 {
        match feature {
            Feature::Single(_) => self.factors.single,
            Feature::Pair(..) => self.factors.pair,
        }
    }

    /// The minimum weight of a feature to keep, and the number of features that are kept.
    fn cut(&self, pruning: &Pruning, strengths: &[f32]) -> (f32, usize) {
        // The number of features of each strength, and the bytes of weights at their places that no
        // stronger feature is sure to need.
        let mut counts = vec![[0u64; 2]; 1 << 15];
        let step = |strength: f32| (strength.to_bits() >> 16) as usize;
        let mut largest = 0f32;
        self.groups.visit(self.rows, |feature, place| {
            let strength = self.factor(feature) * strengths[place];
            if strength > 0.0 {
                largest = largest.max(strength);
                counts[step(strength)][0] += 1;
            }
        });
        for (place, &strength) in
            strengths.iter().enumerate().filter(|(_, strength)| **strength > 0.0)
        {
            let words = 1 + self.entries(place).count().min(self.classifiers.len().div_ceil(2));
            counts[step(self.factors.single * strength)][1] += 4 * words as u64;
        }
        let mut cut = step((pruning.min_row * largest).max(f32::MIN_POSITIVE));
        let key_bytes = 4.0 * BUCKET as f64 / FILL;
        if pruning.max_bytes > 0 {
            let limit = pruning.max_bytes as f64 - self.rows.ids.len() as f64 * key_bytes;
            let mut bytes = 0.0;
            for at in (cut..counts.len()).rev() {
                bytes += counts[at][0] as f64 * key_bytes + counts[at][1] as f64;
                if bytes > limit {
                    cut = at + 1;
                    break;
                }
            }
        }
        // The values after the largest number would be those of negative numbers.
        let cut = cut.min(step(f32::INFINITY));
        let kept = counts.get(cut..).unwrap_or_default().iter().map(|count| count[0]).sum::<u64>();
        (f32::from_bits((cut as u32) << 16), kept as usize)
    }

    /// Packs the weights that remain after pruning. The keys of all indicators are kept, because only pairs
    /// of known indicators are looked up.
    pub fn pack(&self, indicators: &Indicators, n_classes: usize, pruning: &Pruning) -> MapModel {
        let strengths = self.strengths();
        let (cut, kept) = self.cut(pruning, &strengths);
        let min_weight = pruning.min_weight * strengths.iter().copied().fold(0f32, f32::max);
        let n_keys = kept + self.rows.ids.len();
        let mut buckets = vec![[0u32; BUCKET]; (n_keys as f64 / FILL) as usize + 1];
        let mut rows: Vec<u32> = vec![0, 0];
        let mut places = vec![0u32; strengths.len()];
        self.groups.visit(self.rows, |feature, place| {
            let strength = self.factor(feature) * strengths[place];
            let keep = strength > 0.0 && strength >= cut;
            let hash = match feature {
                Feature::Single(a) => mix(self.rows.ids[a as usize]),
                Feature::Pair(..) if !keep => return,
                Feature::Pair(a, b) => {
                    let (a, b) = (self.rows.ids[a as usize], self.rows.ids[b as usize]);
                    pair(a.min(b), a.max(b))
                }
            };
            let at = if !keep {
                NO_WEIGHTS
            } else {
                if places[place] == 0 {
                    places[place] = rows.len() as u32;
                    self.put_row(place, min_weight, &mut rows);
                }
                places[place]
            };
            insert(&mut buckets, hash, at);
        });
        let constant = self.groups.constant as usize;
        let mut constants = vec![0f32; self.classifiers.len()];
        for (classifier, weight) in self.entries(constant) {
            constants[usize::from(classifier)] = weight;
        }
        MapModel {
            indicators: indicators.clone(),
            factors: self.factors,
            table: Table { buckets: buckets.into_flattened().into(), rows: rows.into() },
            constants: constants.into(),
            classes: self.classifiers.classes.clone().into(),
            n_classes,
        }
    }

    fn put_row(&self, place: usize, min_weight: f32, rows: &mut Vec<u32>) {
        let entries = || self.entries(place).filter(move |(_, weight)| weight.abs() >= min_weight);
        let (n, all) = (entries().count(), self.classifiers.len().div_ceil(2));
        if n > all {
            rows.push(DENSE);
            let first = rows.len();
            rows.resize(first + all, 0);
            for (classifier, weight) in entries() {
                let (at, odd) = (usize::from(classifier) / 2, u32::from(classifier) % 2);
                rows[first + at] |= u32::from(to_half(weight)) << (16 * odd);
            }
        } else {
            rows.push(n as u32);
            rows.extend(entries().map(|(classifier, weight)| {
                u32::from(classifier) << 16 | u32::from(to_half(weight))
            }));
        }
    }
}

/// Inserts a key into the first bucket with room, beginning at its home bucket.
fn insert(buckets: &mut [[u32; BUCKET]], hash: u64, place: u32) {
    let mut at = home(hash, buckets.len());
    loop {
        let (keys, places) = buckets[at].split_at_mut(KEYS);
        let free = places.iter().position(|&place| place == 0).unwrap_or(KEYS);
        // Of two features with the same key and bucket, which is extremely rare, the first is kept.
        if keys[..free].contains(&(hash as u32)) {
            return;
        }
        if free < KEYS {
            keys[free] = hash as u32;
            places[free] = place;
            return;
        }
        at = if at + 1 == buckets.len() { 0 } else { at + 1 };
    }
}
