//! A linear model with coarse-to-fine decisions: first the kind of action, then the action of that kind.
//!
//! Most decisions end with the first step. It has so few weights (one for each kind) that they are stored
//! in the hash table itself: looking up a feature costs one cache miss, whether or not it is there. The
//! score of a class is that of its kind minus the lead of the best class of the kind in the second step. So
//! the best class overall is the best class of the best kind, and the scores of the other kinds are known
//! without their second step.
//!
//! The table has buckets of 64 bytes with eight slots: the fingerprints of the ids (their low halves, 0 if
//! free), then for each slot one byte per kind, the weight in units of the scale plus 128. An id is in its
//! home bucket or nowhere, so that a lookup has no branch. If more than eight ids belong to a bucket, which
//! is rare, the weakest are dropped. A row has the same size however many of its weights are 0, so pruning
//! drops whole rows but no single weights.

use super::linear::{Pruning, WeightTables, Weights};
use super::packed::{Lookup, home};
use super::{Classifier, Evidence, Scratch, first_best};
use crate::feature::template::DecisionStep;
use crate::feature::{Indicators, RowRef, Templates};
use crate::memory::{Array, Sections};
use crate::sort::stable_sort_by;
use crate::{Error, Result};

/// Maximum number of kinds.
pub const KINDS: usize = 4;
/// Number of 32-bit words in a bucket.
const BUCKET: usize = 16;
/// Number of slots in a bucket.
const IDS: usize = 8;
/// Average number of ids in a bucket.
const FILL: f64 = 4.5;
/// The encoding of weight 0, for each kind.
const ZERO: i32 = 128;
/// The largest weight, in units.
const MOST_UNITS: f32 = 127.0;
/// Number of bytes whose sum fits into 16 bits.
const CHUNK: usize = 256;
/// A mask for every other byte.
const BYTES: u32 = 0x00ff_00ff;

/// An id of a bucket.
#[derive(Debug, Clone)]
struct Slot {
    fingerprint: u32,
    weights: [f32; KINDS],
}

impl Slot {
    /// The largest absolute weight.
    fn strength(&self) -> f32 {
        self.weights.iter().fold(0f32, |most, weight| most.max(weight.abs()))
    }
}

/// The weight of each kind.
fn of_kinds(row: &[(u16, f32)]) -> [f32; KINDS] {
    let mut weights = [0.0; KINDS];
    for &(kind, weight) in row.iter().filter(|&&(kind, _)| usize::from(kind) < KINDS) {
        weights[usize::from(kind)] = weight;
    }
    weights
}

/// The packed weights of the first step.
#[derive(Debug, Clone)]
pub struct CoarseTable {
    buckets: Array<u32>,
    /// The value of one unit of weight.
    scale: f32,
}

impl CoarseTable {
    /// Packs the weights that remain after pruning, in at most `pruning.max_bytes`; the classes are kinds.
    pub fn pack(weights: &Weights, pruning: &Pruning) -> Self {
        let kept = weights.strongest(pruning, |_| 4.0 * BUCKET as f64 / FILL);
        let n_buckets = (kept.len() as f64 / FILL) as usize + 1;
        let mut filled: Vec<Vec<Slot>> = vec![Vec::new(); n_buckets];
        for at in kept {
            let (id, row) = weights.get(at);
            filled[home(id, n_buckets)]
                .push(Slot { fingerprint: id as u32, weights: of_kinds(row) });
        }
        Self::write(filled, weights.largest() / MOST_UNITS)
    }

    /// The table with the weights added that remain after pruning, in which the limit on bytes does not count; the weakest
    /// ids of a bucket without room for all are dropped.
    #[must_use]
    pub fn plus(&self, weights: &Weights, pruning: &Pruning) -> Self {
        let mut filled = self.slots();
        let unlimited = Pruning { max_bytes: 0, ..*pruning };
        for at in weights.strongest(&unlimited, |_| 0.0) {
            let (id, row) = weights.get(at);
            let (fingerprint, weights) = (id as u32, of_kinds(row));
            let bucket = home(id, filled.len());
            match filled[bucket].iter_mut().find(|slot| slot.fingerprint == fingerprint) {
                Some(slot) => (0..KINDS).for_each(|kind| slot.weights[kind] += weights[kind]),
                None => filled[bucket].push(Slot { fingerprint, weights }),
            }
        }
        let largest = filled.iter().flatten().fold(0f32, |most, slot| most.max(slot.strength()));
        Self::write(filled, largest / MOST_UNITS)
    }

    /// The ids of each bucket.
    fn slots(&self) -> Vec<Vec<Slot>> {
        let slots = |bucket: &[u32; BUCKET]| {
            let used = (0..IDS).filter(|slot| bucket[*slot] != 0);
            let slot = |slot: usize| {
                let bytes = bucket[IDS + slot].to_le_bytes();
                let weights = bytes.map(|byte| (i32::from(byte) - ZERO) as f32 * self.scale);
                Slot { fingerprint: bucket[slot], weights }
            };
            used.map(slot).collect()
        };
        self.buckets.as_chunks::<BUCKET>().0.iter().map(slots).collect()
    }

    fn write(filled: Vec<Vec<Slot>>, scale: f32) -> Self {
        let units = |weight: f32| (weight / scale.max(f32::MIN_POSITIVE)).round() as i32 + ZERO;
        let mut buckets = Vec::with_capacity(BUCKET * filled.len());
        for mut slots in filled {
            stable_sort_by(&mut slots, |a, b| b.strength().total_cmp(&a.strength()));
            let mut bucket = [0; BUCKET];
            for (at, slot) in slots.iter().take(IDS).enumerate() {
                bucket[at] = slot.fingerprint;
                let bytes = slot.weights.map(|weight| units(weight) as u8);
                bucket[IDS + at] = u32::from_le_bytes(bytes);
            }
            buckets.extend(bucket);
        }
        Self { buckets: buckets.into(), scale }
    }

    /// The sum of the weights of each kind.
    pub fn sums(&self, ids: &[u64]) -> [f32; KINDS] {
        let buckets = self.buckets.as_chunks::<BUCKET>().0;
        let mut sums = [0i32; KINDS];
        for ids in ids.chunks(CHUNK) {
            // Touching every bucket beforehand overlaps the cache misses.
            let first = |id: u64| buckets[home(id, buckets.len())][0];
            std::hint::black_box(ids.iter().fold(0, |sum, &id| sum ^ first(id)));
            // For each slot, the sums of two kinds at a time, and how often an id was found there.
            let (mut even, mut odd, mut found) = ([0u32; IDS], [0u32; IDS], [0u32; IDS]);
            for &id in ids {
                let (fingerprints, weights) = buckets[home(id, buckets.len())].split_at(IDS);
                for slot in 0..IDS {
                    let same = if fingerprints[slot] == id as u32 { u32::MAX } else { 0 };
                    let bytes = weights[slot] & same;
                    even[slot] += bytes & BYTES;
                    odd[slot] += bytes >> 8 & BYTES;
                    found[slot] += same & 1;
                }
            }
            // Without this the compiler adds one number at a time instead of eight.
            let (even, odd, found) = std::hint::black_box((even, odd, found));
            let zero = ZERO * found.iter().sum::<u32>() as i32;
            for (kind, sum) in sums.iter_mut().enumerate() {
                let pairs = if kind % 2 == 0 { &even } else { &odd };
                let half = |pair: u32| (pair >> (16 * (kind / 2)) & 0xffff) as i32;
                *sum += pairs.iter().map(|&pair| half(pair)).sum::<i32>() - zero;
            }
        }
        sums.map(|sum| sum as f32 * self.scale)
    }

    /// The size of the table in bytes.
    pub fn bytes(&self) -> u64 {
        4 * self.buckets.len() as u64
    }

    fn store(&self, sections: &mut Sections) {
        sections.put("kinds.buckets", self.buckets.clone());
        sections.put("kinds.scale", vec![self.scale].into());
    }

    /// Loads a stored table.
    ///
    /// # Errors
    /// When a section is missing, or is not of such a table.
    pub fn load(sections: &Sections) -> Result<Self> {
        let buckets: Array<u32> = sections.get("kinds.buckets")?;
        let scale: Array<f32> = sections.get("kinds.scale")?;
        match scale[..] {
            [scale]
                if scale.is_finite()
                    && !buckets.is_empty()
                    && buckets.len().is_multiple_of(BUCKET) =>
            {
                Ok(Self { buckets, scale })
            }
            _ => Err(Error::Corrupt("the weights of the kinds are corrupted".into())),
        }
    }
}

/// Converts the scores of classes within their kinds to scores that are comparable between kinds; see the
/// module. `kind_of` has the kind of every class.
pub fn rank(kind_of: &[u8], kinds: &[f32; KINDS], scores: &mut [f32]) {
    let mut most = [f32::NEG_INFINITY; KINDS];
    for (&kind, &score) in kind_of.iter().zip(&*scores) {
        let most = &mut most[usize::from(kind) % KINDS];
        *most = most.max(score);
    }
    for (&kind, score) in kind_of.iter().zip(scores) {
        let kind = usize::from(kind) % KINDS;
        if *score > f32::NEG_INFINITY {
            *score += kinds[kind] - most[kind];
        }
    }
}

/// The indicators of each step.
#[derive(Debug, Clone)]
pub struct TwoStepIndicators {
    /// The features that the kind is chosen by.
    pub kind: Indicators,
    /// The features that the action of the kind is chosen by.
    pub action: Indicators,
}

impl TwoStepIndicators {
    /// The indicators of the two steps of a template file.
    pub fn new(templates: &Templates) -> Self {
        Self {
            kind: Indicators::of_step(templates, DecisionStep::Kind),
            action: Indicators::of_step(templates, DecisionStep::Action),
        }
    }
}

/// A packed linear model over indicators with coarse-to-fine decisions.
#[derive(Debug, Clone)]
pub struct CoarseToFine {
    indicators: TwoStepIndicators,
    kinds: CoarseTable,
    classes: WeightTables,
    /// The kind of every class.
    kind_of: Array<u8>,
    members: [Members; KINDS],
}

/// The classes of a kind that were seen in training.
#[derive(Debug, Clone, Copy)]
enum Members {
    None,
    One(u16),
    Several,
}

impl CoarseToFine {
    /// A model with packed weights; `kind_of` has the kind of every class, below [`KINDS`].
    pub fn new(
        indicators: TwoStepIndicators,
        kinds: CoarseTable,
        classes: WeightTables,
        kind_of: Array<u8>,
    ) -> Self {
        let mut members = [Members::None; KINDS];
        for ((&kind, &offset), class) in kind_of.iter().zip(&*classes.offsets).zip(0..) {
            if offset == 0.0 {
                let members = &mut members[usize::from(kind) % KINDS];
                *members = match members {
                    Members::None => Members::One(class),
                    _ => Members::Several,
                };
            }
        }
        Self { indicators, kinds, classes, kind_of, members }
    }

    /// Loads a stored model.
    ///
    /// # Errors
    /// When a section is missing, or is not of such a model.
    pub fn load(indicators: TwoStepIndicators, sections: &Sections) -> Result<Self> {
        let (kinds, classes) = (CoarseTable::load(sections)?, WeightTables::load(sections)?);
        let kind_of: Array<u8> = sections.get("kinds.of")?;
        if kind_of.len() != classes.offsets.len() {
            return Err(Error::Corrupt("the kinds are not those of the classes".into()));
        }
        Ok(Self::new(indicators, kinds, classes, kind_of))
    }

    /// The score of each kind.
    fn first_step(&self, row: RowRef<'_>, lookup: &mut Lookup) -> [f32; KINDS] {
        self.indicators.kind.ids(row, &mut lookup.ids);
        self.kinds.sums(&lookup.ids)
    }

    /// The scores of the classes within their kind.
    fn second_step(&self, row: RowRef<'_>, lookup: &mut Lookup, out: &mut [f32]) {
        self.indicators.action.ids(row, &mut lookup.ids);
        self.classes.scores(lookup, out);
    }
}

/// Scratch memory of one thread.
#[derive(Default)]
struct Memory {
    lookup: Lookup,
    scores: Vec<f32>,
}

impl CoarseToFine {
    /// The best class of a kind.
    fn best_of(&self, kind: usize, row: RowRef<'_>, memory: &mut Memory) -> Option<u16> {
        let Memory { lookup, scores } = memory;
        scores.resize(self.kind_of.len(), 0.0);
        self.second_step(row, lookup, scores);
        let own = (0..scores.len()).filter(|&class| usize::from(self.kind_of[class]) == kind);
        let best = own.reduce(|best, at| if scores[at] > scores[best] { at } else { best });
        best.map(|class| class as u16)
    }
}

impl Classifier for CoarseToFine {
    fn n_classes(&self) -> usize {
        self.kind_of.len()
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let Memory { lookup, .. } = scratch.of();
        let kinds = self.first_step(row, lookup);
        self.second_step(row, lookup, out);
        rank(&self.kind_of, &kinds, out);
    }

    fn best(
        &self,
        row: RowRef<'_>,
        accept: &mut dyn FnMut(u16) -> bool,
        scratch: &mut Scratch,
    ) -> Option<(u16, f32)> {
        let memory: &mut Memory = scratch.of();
        let mut kinds = self.first_step(row, &mut memory.lookup);
        loop {
            let kind = first_best(&kinds);
            let score = kinds[kind];
            let alone = kinds.iter().filter(|&&other| other == score).count() == 1;
            if !alone || score == f32::NEG_INFINITY {
                return None;
            }
            match self.members[kind] {
                Members::Several => {
                    let class = self.best_of(kind, row, memory).filter(|&class| accept(class))?;
                    return Some((class, score));
                }
                Members::One(class) if accept(class) => return Some((class, score)),
                _ => kinds[kind] = f32::NEG_INFINITY,
            }
        }
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        let TwoStepIndicators { kind, action } = &self.indicators;
        let kinds = classes.map(|class| usize::from(self.kind_of[usize::from(class)]) % KINDS);
        let [own, rival] = kinds;
        Evidence::Weights(if own == rival {
            let weights = |(at, id)| (vec![at], self.classes.weights(id, classes));
            action.numbered(row).map(weights).collect()
        } else {
            let sums = kind.numbered(row).map(|(at, id)| (at, self.kinds.sums(&[id])));
            sums.map(|(at, sums)| (vec![at], [sums[own], sums[rival]])).collect()
        })
    }

    fn store(&self, sections: &mut Sections) {
        self.kinds.store(sections);
        self.classes.store(sections);
        sections.put("kinds.of", self.kind_of.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::ScoreScale;

    /// Weights that depend on the id alone.
    fn weights(n_ids: u64, n_classes: u16) -> Weights {
        let spread = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut ids: Vec<u64> = (1..=n_ids).map(spread).collect();
        ids.sort_unstable();
        let mut weights = Weights::default();
        for id in ids {
            let weight = |class: u16| (id >> (8 + class) & 0x1f) as f32 - 15.0;
            let row: Vec<_> = (0..n_classes).map(|class| (class, weight(class))).collect();
            weights.push(id, &row, 1);
        }
        weights
    }

    #[test]
    fn sums_are_those_of_the_ids_that_are_there() {
        let weights = weights(5_000, 3);
        let table = CoarseTable::pack(&weights, &Pruning::default());
        let mut lost = 0;
        for at in 0..weights.len() {
            let (id, row) = weights.get(at);
            let sums = table.sums(&[id, 2]);
            let near = |&(kind, weight): &(u16, f32)| {
                (sums[usize::from(kind)] - weight).abs() < weights.largest() / MOST_UNITS
            };
            lost += usize::from(!row.iter().all(near));
        }
        // Ids of overfull buckets are gone, and no others.
        assert!(lost * 50 < weights.len(), "{lost}");
        // More ids than fit into one sum of bytes.
        let (id, row) = weights.get(0);
        let sum = table.sums(&vec![id; 1_000])[0];
        assert!((sum / 1_000.0 - row[0].1).abs() < weights.largest() / MOST_UNITS, "{sum}");
        assert_eq!(table.sums(&[]), [0.0; KINDS]);
    }

    /// A model of two kinds: class 0 alone, classes 1 to 3 together.
    fn model() -> CoarseToFine {
        let templates = Templates::parse("s0.w\n@action\ns0.t\n@kind\ns1.w", "test").unwrap();
        let indicators = TwoStepIndicators::new(&templates);
        let (mut kinds, mut classes) = (Vec::new(), Vec::new());
        let mut ids = Vec::new();
        for word in 0..40 {
            let row = RowRef { values: &[word, word, word], members: &[] };
            let weight = |seed: u64, at: u32| (seed >> (7 * at) & 0x3f) as f32 - 31.0;
            indicators.kind.ids(row, &mut ids);
            kinds.extend(ids.iter().map(|&id| {
                (id, (0..2).map(|kind| (kind, weight(id, kind.into()))).collect::<Vec<_>>())
            }));
            indicators.action.ids(row, &mut ids);
            classes.extend(ids.iter().map(|&id| {
                (id, (1..4).map(|class| (class, weight(id, class.into()))).collect::<Vec<_>>())
            }));
        }
        let collect = |mut rows: Vec<(u64, Vec<(u16, f32)>)>| {
            rows.sort_by_key(|row| row.0);
            let mut weights = Weights::default();
            rows.iter().for_each(|(id, row)| weights.push(*id, row, 1));
            weights
        };
        let table = CoarseTable::pack(&collect(kinds), &Pruning::default());
        let classes = collect(classes);
        let tables = classes.pack(&Pruning::default(), &[true; 4], ScoreScale::Margin, 3);
        CoarseToFine::new(indicators, table, tables, vec![0, 1, 1, 1].into())
    }

    #[test]
    fn the_best_class_is_that_of_the_best_score() {
        let (model, mut scratch) = (model(), Scratch::default());
        let (mut scores, mut alone) = ([0.0; 4], 0);
        for word in 0..40 {
            for other in 0..40 {
                let values = [word, other, other];
                let row = RowRef { values: &values, members: &[] };
                model.scores(row, &mut scratch, &mut scores);
                let best = model.best(row, &mut |_| true, &mut scratch);
                let Some((class, score)) = best else { continue };
                assert_eq!(usize::from(class), first_best(&scores), "{scores:?}");
                assert!((score - scores[usize::from(class)]).abs() < 1e-3);
                alone += usize::from(class == 0);
                scores[usize::from(class)] = f32::NEG_INFINITY;
                let second = model.best(row, &mut |other| other != class, &mut scratch);
                if let Some((second, _)) = second {
                    assert_eq!(usize::from(second), first_best(&scores), "{scores:?}");
                }
            }
        }
        assert!((100..1_500).contains(&alone), "{alone}");
    }

    #[test]
    fn what_is_stored_scores_the_same_and_what_is_broken_is_refused() {
        let templates = Templates::parse("s0.w\n@action\ns0.t\n@kind\ns1.w", "test").unwrap();
        let (model, mut sections) = (model(), Sections::default());
        model.store(&mut sections);
        let load =
            |sections: &Sections| CoarseToFine::load(TwoStepIndicators::new(&templates), sections);
        let loaded = load(&sections).unwrap();
        let row = RowRef { values: &[3, 4, 5], members: &[] };
        let (mut scores, mut again) = ([0.0; 4], [0.0; 4]);
        model.scores(row, &mut Scratch::default(), &mut scores);
        loaded.scores(row, &mut Scratch::default(), &mut again);
        assert_eq!(scores, again);
        for at in 0..sections.0.len() {
            let mut broken = sections.clone();
            broken.0.remove(at);
            assert!(load(&broken).is_err(), "{}", sections.0[at].name);
        }
        let mut broken = sections.clone();
        broken.0.retain(|section| section.name != "kinds.of");
        broken.put::<u8>("kinds.of", vec![9, 9, 200, 255].into());
        load(&broken).unwrap().scores(row, &mut Scratch::default(), &mut again);
    }
}
