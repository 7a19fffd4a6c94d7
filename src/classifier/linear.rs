//! A linear model, packed for speed: a hash table from one-hot ids to short rows of classes.
//!
//! A slot of the table is four `u32`: the low half of the id, 0 where free, and three entries. An entry
//! is a mark on the last of its row (1 bit), the class (15 bits), and the weight as a 16-bit integer in
//! units of the model's scale. Most rows are that short, so a feature costs one cache miss; a longer
//! row has in its third place, without the mark, where it goes on among the other entries. Sums are
//! integers, so their order changes nothing. Everything is read in place; what a broken file could hold
//! is checked where it is used.

use serde::{Deserialize, Serialize};

use super::{Classifier, ScoreKind, Scratch};
use crate::feature::{Indicators, RowRef};
use crate::memory::{Array, Sections};
use crate::{Error, Result};

/// The last entry of a row.
const LAST: u32 = 1 << 31;
/// The most classes there can be.
pub const MAX_CLASSES: usize = 1 << 15;

/// What to leave out of a packed model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Pruning {
    /// Ids are dropped whose largest weight is below this (0: none).
    pub min_row: f32,
    /// Weights are dropped below this (0: none).
    pub min_weight: f32,
    /// If not 0, the weakest ids are dropped until the tables have at most this many bytes.
    pub max_bytes: u64,
}

impl Default for Pruning {
    fn default() -> Self {
        Self { min_row: 0.0, min_weight: 0.0, max_bytes: 0 }
    }
}

/// The packed tables, as stored.
#[derive(Debug, Clone)]
pub struct Tables {
    /// The slots, four numbers each.
    pub slots: Array<u32>,
    /// The entries of rows that do not fit into their slot, from the third on.
    pub entries: Array<u32>,
    /// What is added to each class: 0, or minus infinity for one that was never seen.
    pub offsets: Array<f32>,
    /// The value of one unit of weight.
    pub scale: f32,
    /// What the scores mean.
    pub kind: ScoreKind,
}

impl Tables {
    /// Reads what [`Classifier::store`] wrote.
    ///
    /// # Errors
    /// When a section is missing, or is not of a linear model.
    pub fn load(sections: &Sections) -> Result<Self> {
        let parameters: Array<f32> = sections.get("linear.parameters")?;
        let tables = Self {
            slots: sections.get("linear.slots")?,
            entries: sections.get("linear.entries")?,
            offsets: sections.get("linear.offsets")?,
            scale: parameters.first().copied().unwrap_or(0.0),
            kind: if parameters.get(1) == Some(&1.0) {
                ScoreKind::LogProb
            } else {
                ScoreKind::Margin
            },
        };
        if tables.slots.is_empty()
            || tables.offsets.len() > MAX_CLASSES
            || !tables.scale.is_finite()
        {
            return Err(Error::Unfit("the weights are not those of a linear model".into()));
        }
        Ok(tables)
    }
}

/// Weights before packing: ids with their classes, in order of id.
#[derive(Debug, Clone, Default)]
pub struct Weights {
    ids: Vec<u64>,
    ends: Vec<u32>,
    weights: Vec<(u16, f32)>,
}

impl Weights {
    /// Adds the weights of an id.
    pub fn push(&mut self, id: u64, row: &[(u16, f32)]) {
        self.ids.push(id);
        self.weights.extend_from_slice(row);
        self.ends.push(self.weights.len() as u32);
    }

    /// The number of ids.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no id.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    fn row(&self, at: usize) -> &[(u16, f32)] {
        let first = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.weights[first..self.ends[at] as usize]
    }

    /// Packs what pruning leaves. `seen` says which classes occurred in training.
    pub fn pack(&self, pruning: &Pruning, seen: &[bool], kind: ScoreKind) -> Tables {
        let strength =
            |at: usize| self.row(at).iter().fold(0f32, |max, (_, weight)| max.max(weight.abs()));
        let kept_entries = |at: usize| {
            self.row(at).iter().filter(|(_, weight)| weight.abs() >= pruning.min_weight).count()
        };
        let mut kept: Vec<usize> = (0..self.len())
            .filter(|&at| strength(at) >= pruning.min_row && kept_entries(at) > 0)
            .collect();
        if pruning.max_bytes > 0 {
            kept.sort_by(|&a, &b| strength(b).total_cmp(&strength(a)).then(a.cmp(&b)));
            let mut bytes = 0;
            let slot_bytes = (4.0 * SLOT as f64 / FILL).ceil() as u64;
            let fits = kept.iter().take_while(|&&at| {
                let n = kept_entries(at);
                bytes += slot_bytes + if n > IN_SLOT { 4 * (n + 1 - IN_SLOT) as u64 } else { 0 };
                bytes <= pruning.max_bytes
            });
            let n = fits.count();
            kept.truncate(n);
            kept.sort_unstable();
        }
        self.pack_rows(&kept, pruning.min_weight, seen, kind)
    }

    fn pack_rows(&self, kept: &[usize], min_weight: f32, seen: &[bool], kind: ScoreKind) -> Tables {
        let largest = kept
            .iter()
            .flat_map(|&at| self.row(at))
            .fold(0f32, |max, (_, weight)| max.max(weight.abs()));
        let scale = if largest > 0.0 { largest / f32::from(i16::MAX) } else { 1.0 };
        let n_slots = ((kept.len() as f64 / FILL) as usize + 1).max(16);
        let mut slots = vec![0u32; n_slots * SLOT];
        let mut entries = Vec::new();
        for &at in kept {
            let weights = self.row(at).iter().filter(|(_, weight)| weight.abs() >= min_weight);
            let mut row: Vec<u32> = weights
                .map(|&(class, weight)| {
                    let units = (weight / scale).round() as i16;
                    u32::from(class) << 16 | u32::from(units as u16)
                })
                .collect();
            if let Some(last) = row.last_mut() {
                *last |= LAST;
            }
            let mut slot = home(self.ids[at], n_slots);
            while slots[slot * SLOT] != 0 {
                slot = if slot + 1 == n_slots { 0 } else { slot + 1 };
            }
            let slot = &mut slots[slot * SLOT..(slot + 1) * SLOT];
            slot[0] = self.ids[at] as u32;
            if row.len() > IN_SLOT {
                slot[1..IN_SLOT].copy_from_slice(&row[..IN_SLOT - 1]);
                slot[IN_SLOT] = entries.len() as u32;
                entries.extend_from_slice(&row[IN_SLOT - 1..]);
            } else {
                slot[1..=row.len()].copy_from_slice(&row);
            }
        }
        let offsets: Vec<f32> =
            seen.iter().map(|&seen| if seen { 0.0 } else { f32::NEG_INFINITY }).collect();
        Tables {
            slots: slots.into(),
            entries: entries.into(),
            offsets: offsets.into(),
            scale,
            kind,
        }
    }
}

/// The share of slots in use.
const FILL: f64 = 0.75;
/// Numbers in a slot.
const SLOT: usize = 4;
/// Entries that fit into a slot.
const IN_SLOT: usize = 3;

/// The slot where the search for an id begins.
fn home(id: u64, n_slots: usize) -> usize {
    (((id >> 32) * n_slots as u64) >> 32) as usize
}

/// A packed linear model over indicators.
#[derive(Debug, Clone)]
pub struct LinearModel {
    indicators: Indicators,
    tables: Tables,
}

impl LinearModel {
    /// The model of a template file's indicators and packed weights.
    pub fn new(indicators: Indicators, tables: Tables) -> Self {
        Self { indicators, tables }
    }

    /// The packed weights.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The positions of the ids' slots; ids without one are left out.
    fn find(&self, ids: &[u64], places: &mut Vec<u32>) {
        let slots = &*self.tables.slots;
        let n_slots = slots.len() / SLOT;
        places.clear();
        for &id in ids {
            let mut at = home(id, n_slots);
            for _ in 0..n_slots {
                let fingerprint = slots[at * SLOT];
                if fingerprint == id as u32 {
                    places.push(at as u32);
                    break;
                }
                if fingerprint == 0 {
                    break;
                }
                at = if at + 1 == n_slots { 0 } else { at + 1 };
            }
        }
    }

    /// Adds the weights of a slot's row.
    fn add(&self, slot: &[u32], sums: &mut [i32]) {
        let mut add = |entry: u32| {
            if let Some(sum) = sums.get_mut((entry >> 16 & 0x7fff) as usize) {
                *sum += i32::from(entry as u16 as i16);
            }
            entry & LAST != 0
        };
        if add(slot[1]) || add(slot[2]) {
            return;
        }
        if slot[3] & LAST != 0 {
            add(slot[3]);
            return;
        }
        for &entry in self.tables.entries.get(slot[3] as usize..).unwrap_or_default() {
            if add(entry) {
                return;
            }
        }
    }
}

impl Classifier for LinearModel {
    fn n_classes(&self) -> usize {
        self.tables.offsets.len()
    }

    fn kind(&self) -> ScoreKind {
        self.tables.kind
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let Scratch { ids, places, sums } = scratch;
        self.indicators.ids(row, ids);
        self.find(ids, places);
        sums.clear();
        sums.resize(out.len(), 0);
        let slots = &*self.tables.slots;
        for &place in places.iter() {
            self.add(&slots[place as usize * SLOT..(place as usize + 1) * SLOT], sums);
        }
        for ((out, &sum), &offset) in out.iter_mut().zip(sums.iter()).zip(&*self.tables.offsets) {
            *out = sum as f32 * self.tables.scale + offset;
        }
        if self.tables.kind == ScoreKind::LogProb {
            log_softmax(out);
        }
    }

    fn store(&self, sections: &mut Sections) {
        let log_prob = if self.tables.kind == ScoreKind::LogProb { 1.0 } else { 0.0 };
        sections.put("linear.slots", self.tables.slots.clone());
        sections.put("linear.entries", self.tables.entries.clone());
        sections.put("linear.offsets", self.tables.offsets.clone());
        sections.put("linear.parameters", vec![self.tables.scale, log_prob].into());
    }
}

/// Turns scores into natural logarithms of probabilities.
pub fn log_softmax(scores: &mut [f32]) {
    let max = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = scores.iter().map(|&score| (score - max).exp()).sum();
    let log_sum = max + sum.ln();
    for score in scores {
        *score -= log_sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feature::Templates;

    fn model(pruning: &Pruning) -> (LinearModel, Vec<u64>) {
        let indicators = Indicators::new(&Templates::parse("s0.w\ns0.t", "test").unwrap());
        let mut ids = Vec::new();
        indicators.ids(RowRef { values: &[3, 4], members: &[] }, &mut ids);
        let mut weights = Weights::default();
        let mut rows = vec![(ids[0], vec![(0, 1.0), (2, -2.0)]), (ids[1], vec![(1, 0.25)])];
        rows.sort_by_key(|row| row.0);
        for (id, row) in &rows {
            weights.push(*id, row);
        }
        (
            LinearModel::new(
                indicators,
                weights.pack(pruning, &[true, true, true, false], ScoreKind::Margin),
            ),
            ids,
        )
    }

    fn scores(model: &LinearModel) -> Vec<f32> {
        let mut out = vec![0.0; 4];
        model.scores(RowRef { values: &[3, 4], members: &[] }, &mut Scratch::default(), &mut out);
        out
    }

    #[test]
    fn scores_are_the_sums_of_the_rows_and_an_unseen_class_is_out() {
        let out = scores(&model(&Pruning::default()).0);
        for (score, expected) in out.iter().zip([1.0, 0.25, -2.0]) {
            assert!((score - expected).abs() < 1e-3, "{out:?}");
        }
        assert_eq!(out[3], f32::NEG_INFINITY);
    }

    #[test]
    fn pruning_drops_weak_rows_and_weak_weights() {
        let out = scores(&model(&Pruning { min_row: 0.5, min_weight: 1.5, max_bytes: 0 }).0);
        assert_eq!(out[..2], [0.0, 0.0]);
        assert!((out[2] + 2.0).abs() < 1e-3);
        let out = scores(&model(&Pruning { max_bytes: 30, ..Pruning::default() }).0);
        assert_eq!(out[1], 0.0);
    }

    #[test]
    fn log_softmax_gives_probabilities() {
        let mut scores = [1.0, 2.0, f32::NEG_INFINITY];
        log_softmax(&mut scores);
        let sum: f32 = scores.iter().map(|score| score.exp()).sum();
        assert!((sum - 1.0).abs() < 1e-6);
        assert_eq!(scores[2], f32::NEG_INFINITY);
    }
}
