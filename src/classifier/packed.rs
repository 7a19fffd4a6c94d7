//! Packed weights of a linear model: a hash table from one-hot ids to sparse or dense rows of class
//! weights.
//!
//! The table has buckets of 64 bytes, one cache line each, with room for ten ids: the offset of the
//! bucket's rows, ten fingerprints (the low halves of the ids, 0 if free), and for each the relative offset
//! of its row. Looking up an id costs one cache miss if it is absent, two if it is present. The ids that do
//! not fit into a bucket are stored in the next one.
//!
//! Rows consist of `u16`. A sparse row has its number of entries, then the class and the weight of each. A
//! dense row has `DENSE`, then the weights of all classes, which are added with vector instructions.
//! Weights are integers in units of the model's scale, small enough that the sum over all templates fits
//! into 16 bits, so the order of addition does not matter. Everything is read in place, and a corrupt file
//! is detected where its values are used.

mod further;

use serde::{Deserialize, Serialize};

use super::ScoreScale;
use crate::memory::{Array, Sections};
use crate::sort::{sort_by, stable_sort_by_key};
use crate::{Error, Result};

/// Number of 32-bit words in a bucket.
const BUCKET: usize = 16;
/// Number of ids in a bucket.
const IDS: usize = 10;
/// The offsets of the rows in a bucket, two per word, begin at this word.
const OFFSETS: usize = 11;
/// Average number of ids in a bucket.
const FILL: f64 = 7.0;
/// Marks a dense row.
const DENSE: u16 = u16::MAX;
/// The length of a dense row is a multiple of this.
pub const LANES: usize = 32;
/// A row is dense if it has an entry for one class in this many; a smaller value makes tables smaller and
/// slower.
const LONG: usize = 8;
const LONG_IF_SMALL: usize = 2;
/// Maximum number of classes: the rows of a bucket must begin within 16 bits.
pub const MAX_CLASSES: usize = 6_000;

/// Checks that there are not more classes than [`MAX_CLASSES`].
///
/// # Errors
/// [`Error::Config`] if there are.
pub fn check_classes(n: usize) -> Result<()> {
    if n <= MAX_CLASSES {
        return Ok(());
    }
    let problem = format!(
        "{n} actions, but this learner supports {MAX_CLASSES}: use fewer labels (clean.functions=drop), a \
         system with fewer actions, or a network"
    );
    Err(Error::config("learner", problem))
}

/// How a packed model is pruned; with an initial model, how what is added to it is pruned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pruning {
    /// Features whose largest weight is below this fraction of the largest weight of all are dropped.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_row: f32,
    /// Weights below this fraction of the largest weight of all are dropped.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub min_weight: f32,
    /// Features whose weights were updated fewer times than this are dropped. Updates are summed over
    /// several models, up to 65535. For perceptrons only.
    pub min_updates: u16,
    /// The weakest features are dropped until the tables have at most this many bytes; 0 for no limit. With an initial
    /// model there is none: its tables have room for about two sevenths more features.
    #[schemars(range(min = 0, max = 1_000_000_000_000u64))]
    pub max_bytes: u64,
}

impl Pruning {
    /// The same with at most so many bytes, if there is a limit. One byte is the least: 0 stands for no limit.
    #[must_use]
    pub fn limited_to(&self, bytes: u64) -> Self {
        let max_bytes = if self.max_bytes > 0 { bytes.max(1) } else { 0 };
        Self { max_bytes, ..*self }
    }
}

/// Scratch memory of one thread: the ids that are looked up, and what is found.
#[derive(Debug, Default)]
pub struct Lookup {
    /// One-hot ids.
    pub ids: Vec<u64>,
    /// The offsets of their rows.
    places: Vec<u32>,
    /// The offsets of the dense rows among them.
    long: Vec<u32>,
    sums: Vec<i16>,
}

/// The packed tables, as stored.
#[derive(Debug, Clone)]
pub struct WeightTables {
    buckets: Array<u32>,
    rows: Array<u16>,
    /// Added to the score of each class: 0, or minus infinity for a class that was never seen.
    pub offsets: Array<f32>,
    /// The value of one unit of weight.
    pub scale: f32,
    /// The meaning of the scores.
    pub kind: ScoreScale,
}

/// The bucket where the search for an id begins.
pub(super) fn home(id: u64, n_buckets: usize) -> usize {
    (((id >> 32) * n_buckets as u64) >> 32) as usize
}

/// Whether a row with this number of entries is dense.
fn is_long(entries: usize, n_classes: usize, long: usize) -> bool {
    entries * long >= n_classes
}

/// The number of 16-bit words of a row.
fn words(entries: usize, n_classes: usize, long: usize) -> usize {
    1 + if is_long(entries, n_classes, long) {
        n_classes.next_multiple_of(LANES)
    } else {
        2 * entries
    }
}

/// One more than the slot of a fingerprint in a bucket, 0 if it is absent; without a branch for each slot.
fn search(bucket: &[u32; BUCKET], fingerprint: u32) -> usize {
    let same = |slot: usize| u32::from(bucket[1 + slot] == fingerprint) << slot;
    let found = (0..IDS).fold(0, |found, slot| found | same(slot));
    if found == 0 { 0 } else { found.trailing_zeros() as usize + 1 }
}

impl WeightTables {
    /// Writes the offsets of the ids' rows into `places` (emptied first); ids without a row are left out.
    fn find(&self, ids: &[u64], places: &mut Vec<u32>) {
        let buckets = self.buckets.as_chunks::<BUCKET>().0;
        places.clear();
        places.resize(ids.len(), 0);
        let mut n = 0;
        let first = |id: u64| buckets[home(id, buckets.len())][0];
        std::hint::black_box(ids.iter().fold(0, |sum, &id| sum ^ first(id)));
        // Whether an id is present cannot be predicted, and a misprediction would stall behind a cache
        // miss. So every id writes an offset, and the next id overwrites it if nothing was found.
        for &id in ids {
            let mut at = home(id, buckets.len());
            let mut slot = search(&buckets[at], id as u32);
            let mut left = buckets.len();
            while slot == 0 && buckets[at][IDS] != 0 && left > 0 {
                at = if at + 1 == buckets.len() { 0 } else { at + 1 };
                slot = search(&buckets[at], id as u32);
                left -= 1;
            }
            let found = usize::from(slot != 0);
            let slot = slot.saturating_sub(1);
            let offset = buckets[at][OFFSETS + slot / 2] >> (16 * (slot % 2)) & 0xffff;
            places[n] = buckets[at][0].wrapping_add(offset);
            n += found;
        }
        places.truncate(n);
    }

    /// The weights of two classes for an id; 0 if it has none.
    pub fn weights(&self, id: u64, classes: [u16; 2]) -> [f32; 2] {
        let mut places = Vec::new();
        self.find(&[id], &mut places);
        let mut sums = vec![0; self.offsets.len().next_multiple_of(LANES)];
        self.add(&places, &mut Vec::new(), &mut sums);
        classes.map(|class| f32::from(sums[usize::from(class)]) * self.scale)
    }

    /// Writes the score of each class for the ids of `lookup` into `out`.
    pub fn scores(&self, lookup: &mut Lookup, out: &mut [f32]) {
        self.sum_all(lookup, out.len());
        for ((out, &sum), &offset) in out.iter_mut().zip(&lookup.sums).zip(&*self.offsets) {
            *out = f32::from(sum) * self.scale + offset;
        }
    }

    /// Adds the score of each class for the ids of `lookup` to `scores`, also of classes that were never seen.
    pub fn add_scores(&self, lookup: &mut Lookup, scores: &mut [f32]) {
        self.sum_all(lookup, scores.len());
        for (score, &sum) in scores.iter_mut().zip(&lookup.sums) {
            *score += f32::from(sum) * self.scale;
        }
    }

    /// Writes the sums of the weights into `lookup.sums`.
    fn sum_all(&self, lookup: &mut Lookup, n_classes: usize) {
        let mut sums = std::mem::take(&mut lookup.sums);
        sums.clear();
        sums.resize(n_classes.next_multiple_of(LANES), 0);
        self.sum(lookup, &mut sums);
        lookup.sums = sums;
    }

    /// Adds the weights of the ids of `lookup`, in units of the scale, to the sums of the classes, whose number is a
    /// multiple of [`LANES`].
    pub fn sum(&self, lookup: &mut Lookup, sums: &mut [i16]) {
        self.find(&lookup.ids, &mut lookup.places);
        self.add(&lookup.places, &mut lookup.long, sums);
    }

    /// Adds the weights of the rows, in units of the scale, to the sums of the classes. The number of sums
    /// is a multiple of [`LANES`]. `long` is scratch memory.
    fn add(&self, places: &[u32], long: &mut Vec<u32>, sums: &mut [i16]) {
        let rows = &*self.rows;
        // Row lengths cannot be predicted either. Touching every row beforehand overlaps the cache misses.
        let word = |place: u32| rows.get(place as usize).copied().unwrap_or(0);
        std::hint::black_box(places.iter().fold(0, |sum, &place| sum ^ word(place)));
        long.clear();
        for &place in places {
            let (head, first) = (word(place), place as usize + 1);
            if head == DENSE {
                // A row that a corrupt file places too late has no weights.
                if first + sums.len() <= rows.len() {
                    long.push(first as u32);
                }
                continue;
            }
            let entries = rows.get(first..first + 2 * usize::from(head)).unwrap_or_default();
            for &[class, weight] in entries.as_chunks::<2>().0 {
                if let Some(sum) = sums.get_mut(usize::from(class)) {
                    *sum = sum.wrapping_add(weight as i16);
                }
            }
        }
        // All dense rows are added for a few classes at a time, so that the sums stay in registers.
        for (block, sums) in sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
            let mut partial = *sums;
            for &first in long.iter() {
                let first = first as usize + block * LANES;
                if let Some(weights) = rows[first..].first_chunk::<LANES>() {
                    for (sum, &weight) in partial.iter_mut().zip(weights) {
                        *sum = sum.wrapping_add(weight as i16);
                    }
                }
            }
            *sums = partial;
        }
    }

    /// Adds the tables to the sections of a model.
    pub fn store(&self, sections: &mut Sections) {
        let log_prob = if self.kind == ScoreScale::LogProb { 1.0 } else { 0.0 };
        sections.put("linear.buckets", self.buckets.clone());
        sections.put("linear.rows", self.rows.clone());
        sections.put("linear.offsets", self.offsets.clone());
        sections.put("linear.parameters", vec![self.scale, log_prob].into());
    }

    /// Reads what [`WeightTables::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of a linear model.
    pub fn load(sections: &Sections) -> Result<Self> {
        let parameters: Array<f32> = sections.get("linear.parameters")?;
        let tables = Self {
            buckets: sections.get("linear.buckets")?,
            rows: sections.get("linear.rows")?,
            offsets: sections.get("linear.offsets")?,
            scale: parameters.first().copied().unwrap_or(0.0),
            kind: if parameters.get(1) == Some(&1.0) {
                ScoreScale::LogProb
            } else {
                ScoreScale::Margin
            },
        };
        let whole = !tables.buckets.is_empty() && tables.buckets.len().is_multiple_of(BUCKET);
        if !whole || tables.offsets.len() > MAX_CLASSES || !tables.scale.is_finite() {
            return Err(Error::Corrupt("the weights are not those of a linear model".into()));
        }
        Ok(tables)
    }
}

/// Weights before packing: the weights of each id by class, in order of id.
#[derive(Debug, Clone, Default)]
pub struct Weights {
    ids: Vec<u64>,
    ends: Vec<u32>,
    weights: Vec<(u16, f32)>,
    /// The number of updates of each id's weights.
    updates: Vec<u16>,
}

impl Weights {
    /// Adds the weights of an id, with the number of their updates.
    pub fn push(&mut self, id: u64, row: &[(u16, f32)], updates: u16) {
        self.ids.push(id);
        self.updates.push(updates);
        self.weights.extend_from_slice(row);
        self.ends.push(self.weights.len() as u32);
    }

    /// The sum of two models' weights.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let (mut sum, mut row) = (Self::default(), Vec::new());
        let (mut a, mut b) = (0, 0);
        loop {
            let id = match (self.ids.get(a), other.ids.get(b)) {
                (None, None) => return sum,
                (Some(&id), None) | (None, Some(&id)) => id,
                (Some(&own), Some(&its)) => own.min(its),
            };
            row.clear();
            let mut updates = 0u16;
            for (weights, at) in [(self, &mut a), (other, &mut b)] {
                if weights.ids.get(*at) == Some(&id) {
                    row.extend(weights.row(*at, 0.0));
                    updates = updates.saturating_add(weights.updates[*at]);
                    *at += 1;
                }
            }
            stable_sort_by_key(&mut row, |&(class, _)| class);
            row.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0.0 };
                same
            });
            sum.push(id, &row, updates);
        }
    }

    /// The weights, each multiplied by a factor.
    #[must_use]
    pub fn scaled(mut self, factor: f32) -> Self {
        self.weights.iter_mut().for_each(|(_, weight)| *weight *= factor);
        self
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Packs the weights that remain after pruning. `seen` marks the classes that occurred in training; at
    /// most `n_templates` ids apply to a row.
    pub fn pack(
        &self,
        pruning: &Pruning,
        seen: &[bool],
        kind: ScoreScale,
        n_templates: usize,
    ) -> WeightTables {
        let largest = self.largest();
        let min_weight = pruning.min_weight * largest;
        let long = if pruning.max_bytes > 0 { LONG_IF_SMALL } else { LONG };
        let bytes_of = |entries: usize| {
            4.0 * BUCKET as f64 / FILL + 2.0 * words(entries, seen.len(), LONG_IF_SMALL) as f64
        };
        let kept = self.strongest(pruning, bytes_of);
        let mut writer = Writer::new(largest, n_templates, (seen.len(), long));
        for ids in self.sort_into_buckets(&kept) {
            writer.bucket(ids.iter().map(|&at| (self.ids[at] as u32, self.row(at, min_weight))));
        }
        writer.tables(seen, kind)
    }

    /// An id and its weights.
    pub fn get(&self, at: usize) -> (u64, &[(u16, f32)]) {
        let first = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        (self.ids[at], &self.weights[first..self.ends[at] as usize])
    }

    /// The largest absolute weight.
    pub fn largest(&self) -> f32 {
        self.weights.iter().fold(0f32, |max, (_, weight)| max.max(weight.abs()))
    }

    /// The largest absolute weight of an id.
    pub fn strength(&self, at: usize) -> f32 {
        self.get(at).1.iter().fold(0f32, |max, (_, weight)| max.max(weight.abs()))
    }

    /// The weights of an id that pruning keeps.
    fn row(&self, at: usize, min_weight: f32) -> impl Iterator<Item = (u16, f32)> + Clone {
        let row = self.get(at).1;
        row.iter().copied().filter(move |(_, weight)| weight.abs() >= min_weight)
    }

    /// The positions of the ids that pruning keeps, in order. `bytes_of` returns the size of an id with a
    /// given number of weights.
    pub fn strongest(&self, pruning: &Pruning, bytes_of: impl Fn(usize) -> f64) -> Vec<usize> {
        let largest = self.largest();
        let (min_row, min_weight) = (pruning.min_row * largest, pruning.min_weight * largest);
        let size = |at: usize| self.row(at, min_weight).count();
        let stays = |at: &usize| {
            let often = self.updates[*at] >= pruning.min_updates;
            often && self.strength(*at) >= min_row && size(*at) > 0
        };
        let mut kept: Vec<usize> = (0..self.len()).filter(stays).collect();
        if pruning.max_bytes > 0 {
            let mut ranked: Vec<(f32, usize)> =
                kept.iter().map(|&at| (self.strength(at), at)).collect();
            sort_by(&mut ranked, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let mut bytes = 0;
            let fits = ranked.iter().take_while(|&&(_, at)| {
                bytes += bytes_of(size(at)).ceil() as u64;
                bytes <= pruning.max_bytes
            });
            kept = fits.map(|&(_, at)| at).collect();
            kept.sort_unstable();
        }
        kept
    }

    /// The remaining ids of each bucket; ids that do not fit move on to the next bucket.
    fn sort_into_buckets(&self, kept: &[usize]) -> Vec<Vec<usize>> {
        let n_buckets = (kept.len() as f64 / FILL) as usize + 1;
        let mut buckets: Vec<Vec<usize>> = vec![Vec::new(); n_buckets];
        for &at in kept {
            let mut bucket = home(self.ids[at], n_buckets);
            while buckets[bucket].len() == IDS {
                bucket = if bucket + 1 == n_buckets { 0 } else { bucket + 1 };
            }
            // Of two ids with the same fingerprint and bucket, which is extremely rare, the first is kept.
            let twin = |&other: &usize| self.ids[other] as u32 == self.ids[at] as u32;
            if !buckets[bucket].iter().any(twin) {
                buckets[bucket].push(at);
            }
        }
        buckets
    }
}

/// Writes tables, bucket by bucket.
struct Writer {
    buckets: Vec<u32>,
    rows: Vec<u16>,
    n_classes: usize,
    /// A row is dense if it has an entry for one class in this many.
    long: usize,
    /// The value of one unit of weight.
    scale: f32,
}

impl Writer {
    /// Nothing yet. `largest` is the largest absolute weight; at most `n_templates` ids apply to a row.
    fn new(largest: f32, n_templates: usize, (n_classes, long): (usize, usize)) -> Self {
        let most_units = (i16::MAX as usize / n_templates.max(1)).max(1) as f32;
        let scale = if largest > 0.0 { largest / most_units } else { 1.0 };
        Self { buckets: Vec::new(), rows: Vec::new(), n_classes, long, scale }
    }

    /// Writes a bucket: fingerprints, each with the weights of its row.
    fn bucket<R>(&mut self, slots: impl Iterator<Item = (u32, R)>)
    where
        R: Iterator<Item = (u16, f32)> + Clone,
    {
        let scale = self.scale;
        let units = |weight: f32| (weight / scale).round() as i16 as u16;
        let rows = &mut self.rows;
        let mut bucket = [0u32; BUCKET];
        bucket[0] = rows.len() as u32;
        for (slot, (fingerprint, row)) in slots.enumerate() {
            let offset = rows.len() as u32 - bucket[0];
            bucket[1 + slot] = fingerprint;
            bucket[OFFSETS + slot / 2] |= offset << (16 * (slot % 2));
            let n = row.clone().count();
            if is_long(n, self.n_classes, self.long) {
                rows.push(DENSE);
                let first = rows.len();
                rows.resize(first + self.n_classes.next_multiple_of(LANES), 0);
                row.for_each(|(class, weight)| rows[first + usize::from(class)] = units(weight));
            } else {
                rows.push(n as u16);
                row.for_each(|(class, weight)| rows.extend([class, units(weight)]));
            }
        }
        self.buckets.extend_from_slice(&bucket);
    }

    /// The tables; `seen` marks the classes that occurred in training.
    fn tables(self, seen: &[bool], kind: ScoreScale) -> WeightTables {
        let Self { buckets, rows, scale, .. } = self;
        let offset = |&seen: &bool| if seen { 0.0 } else { f32::NEG_INFINITY };
        let offsets: Vec<f32> = seen.iter().map(offset).collect();
        WeightTables {
            buckets: buckets.into(),
            rows: rows.into(),
            offsets: offsets.into(),
            scale,
            kind,
        }
    }
}
