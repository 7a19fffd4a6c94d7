//! Packed tables after further training: other classes, and weights that are added.
//!
//! Of an id, a table has only the bucket and the low half. So the number of buckets stays, and ids that are new fill the
//! free slots.

use super::{
    BUCKET, DENSE, IDS, LONG, LONG_IF_SMALL, OFFSETS, Pruning, WeightTables, Weights, Writer, home,
};
use crate::sort::{sort_by, sort_by_key};

/// The largest average number of ids in a bucket: in fuller tables, searches become long.
const MOST_IDS: usize = 9;

/// A row with the fingerprint of its id.
struct Slot {
    fingerprint: u32,
    row: Vec<(u16, f32)>,
}

impl WeightTables {
    /// The tables for `n_classes` classes, of which `classes` has the one that each class becomes.
    #[must_use]
    pub fn renumbered(&self, classes: &[u16], n_classes: usize) -> Self {
        let mut slots = self.slots();
        for entry in slots.iter_mut().flatten().flat_map(|slot| &mut slot.row) {
            entry.0 = classes[usize::from(entry.0)];
        }
        let mut seen = vec![false; n_classes];
        for (&class, own) in classes.iter().zip(self.seen()) {
            seen[usize::from(class)] = own;
        }
        let writer =
            Writer { scale: self.scale, ..Writer::new(0.0, 1, (n_classes, LONG_IF_SMALL)) };
        self.written(&slots, writer, &seen)
    }

    /// Whether each class was seen in training.
    pub fn seen(&self) -> Vec<bool> {
        self.offsets.iter().map(|&offset| offset == 0.0).collect()
    }

    /// The tables with the weights added that remain after pruning by the largest of them; the limit on bytes does not
    /// count. Of new ids, the weakest are left out if there is no room for them. `seen` and `n_templates` are as for [`Weights::pack`].
    #[must_use]
    pub fn plus(
        &self,
        weights: &Weights,
        pruning: &Pruning,
        seen: &[bool],
        n_templates: usize,
    ) -> Self {
        let mut slots = self.slots();
        let unlimited = Pruning { max_bytes: 0, ..*pruning };
        let least = pruning.min_weight * weights.largest();
        let mut new = Vec::new();
        for at in weights.strongest(&unlimited, |_| 0.0) {
            match position(&slots, weights.ids[at]) {
                Some((bucket, slot)) => add(&mut slots[bucket][slot].row, weights.row(at, least)),
                None => new.push(at),
            }
        }
        sort_by(&mut new, |&a, &b| {
            weights.strength(b).total_cmp(&weights.strength(a)).then(a.cmp(&b))
        });
        let used: usize = slots.iter().map(Vec::len).sum();
        new.truncate((MOST_IDS * slots.len()).saturating_sub(used));
        for at in new {
            let (id, row) = (weights.ids[at], weights.row(at, least).collect());
            let mut bucket = home(id, slots.len());
            while slots[bucket].len() == IDS {
                bucket = if bucket + 1 == slots.len() { 0 } else { bucket + 1 };
            }
            let fingerprint = id as u32;
            // Of two ids with the same fingerprint and bucket, which is extremely rare, the first is kept.
            if slots[bucket].iter().all(|slot| slot.fingerprint != fingerprint) {
                slots[bucket].push(Slot { fingerprint, row });
            }
        }
        let long = if pruning.max_bytes > 0 { LONG_IF_SMALL } else { LONG };
        let entries = slots.iter().flatten().flat_map(|slot| &slot.row);
        let largest = entries.fold(0f32, |largest, entry| largest.max(entry.1.abs()));
        self.written(&slots, Writer::new(largest, n_templates, (seen.len(), long)), seen)
    }

    /// The ids of each bucket.
    fn slots(&self) -> Vec<Vec<Slot>> {
        let slots = |bucket: &[u32; BUCKET]| {
            let used = (0..IDS).filter(|slot| bucket[1 + slot] != 0);
            let slot = |slot: usize| {
                let offset = bucket[OFFSETS + slot / 2] >> (16 * (slot % 2)) & 0xffff;
                let row = self.row(bucket[0].wrapping_add(offset) as usize);
                Slot { fingerprint: bucket[1 + slot], row }
            };
            used.map(slot).collect()
        };
        self.buckets.as_chunks::<BUCKET>().0.iter().map(slots).collect()
    }

    /// The weights of the row at an offset; none where a corrupt file places it.
    fn row(&self, first: usize) -> Vec<(u16, f32)> {
        let n_classes = self.offsets.len();
        let head = self.rows.get(first).copied().unwrap_or(0);
        let length = if head == DENSE { n_classes } else { 2 * usize::from(head) };
        let words = self.rows.get(first + 1..first + 1 + length).unwrap_or_default();
        let weight = |units: u16| f32::from(units as i16) * self.scale;
        if head == DENSE {
            let classes = words.iter().zip(0..).filter(|(units, _)| **units != 0);
            return classes.map(|(&units, class)| (class, weight(units))).collect();
        }
        let entries = words.as_chunks::<2>().0.iter();
        let entries = entries.filter(|[class, _]| usize::from(*class) < n_classes);
        entries.map(|&[class, units]| (class, weight(units))).collect()
    }

    /// Writes rows, without the weights that round to 0 units.
    fn written(&self, slots: &[Vec<Slot>], mut writer: Writer, seen: &[bool]) -> Self {
        let least = writer.scale / 2.0;
        for bucket in slots {
            writer.bucket(bucket.iter().map(|Slot { fingerprint, row }| {
                (*fingerprint, row.iter().copied().filter(move |entry| entry.1.abs() >= least))
            }));
        }
        writer.tables(seen, self.kind)
    }
}

/// The bucket and slot of an id, if it has a row.
fn position(slots: &[Vec<Slot>], id: u64) -> Option<(usize, usize)> {
    let first = home(id, slots.len());
    for at in (first..slots.len()).chain(0..first) {
        let slot = slots[at].iter().position(|slot| slot.fingerprint == id as u32);
        match slot {
            Some(slot) => return Some((at, slot)),
            None if slots[at].len() < IDS => return None,
            None => {}
        }
    }
    None
}

/// Adds the weights of a row to those of another.
fn add(row: &mut Vec<(u16, f32)>, other: impl Iterator<Item = (u16, f32)>) {
    for (class, weight) in other {
        match row.iter_mut().find(|entry| entry.0 == class) {
            Some(entry) => entry.1 += weight,
            None => row.push((class, weight)),
        }
    }
    sort_by_key(row, |entry| entry.0);
}

#[cfg(test)]
mod tests {
    use super::super::{LANES, Lookup};
    use super::*;
    use crate::classifier::ScoreScale;

    const CLASSES: usize = 40;

    fn weights(n_ids: u64, seed: u64) -> Weights {
        let spread = |at: u64| (at ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut ids: Vec<u64> = (1..=n_ids).map(spread).collect();
        ids.sort_unstable();
        let mut weights = Weights::default();
        for id in ids {
            let n = if id % 5 == 0 { 30 } else { 1 + id % 3 };
            let row: Vec<(u16, f32)> =
                (0..n as u16).map(|at| (at, (id % 63) as f32 - 31.5)).collect();
            weights.push(id, &row, 1);
        }
        weights
    }

    fn pack(weights: &Weights) -> WeightTables {
        weights.pack(&Pruning::default(), &[true; CLASSES], ScoreScale::Margin, 8)
    }

    fn scores(tables: &WeightTables, id: u64) -> Vec<f32> {
        let mut lookup = Lookup { ids: vec![id], ..Lookup::default() };
        let mut scores = vec![0.0; tables.offsets.len()];
        tables.add_scores(&mut lookup, &mut scores);
        scores
    }

    #[test]
    fn added_weights_are_those_of_both() {
        let (base, added) = (weights(3_000, 0), weights(500, 2));
        let sum = pack(&base).plus(&added, &Pruning::default(), &[true; CLASSES], 8);
        let expected = base.plus(&added);
        for at in 0..expected.len() {
            let (id, row) = expected.get(at);
            let found = scores(&sum, id);
            for (class, found) in found.into_iter().enumerate() {
                let weight = row.iter().find(|entry| usize::from(entry.0) == class);
                let weight = weight.map_or(0.0, |entry| entry.1);
                assert!((found - weight).abs() < 0.05, "{id} {class}: {found}, not {weight}");
            }
        }
        assert_eq!(sum.buckets.len(), pack(&base).buckets.len());
    }

    #[test]
    fn a_table_without_room_drops_the_weakest_new_ids() {
        let (base, mut added) = (weights(700, 0), Weights::default());
        for (at, id) in (0u16..).zip(weights(2_000, 1 << 20).ids) {
            added.push(id, &[(0, 1.0 + f32::from(at))], 1);
        }
        let sum = pack(&base).plus(&added, &Pruning::default(), &[true; CLASSES], 8);
        let slots = sum.slots();
        let is_there = |id: u64| position(&slots, id).is_some();
        assert!((0..base.len()).all(|at| is_there(base.get(at).0)));
        let there: Vec<bool> = (0..added.len()).map(|at| is_there(added.get(at).0)).collect();
        let n = there.iter().filter(|there| **there).count();
        assert!(n > 100 && n < 500, "{n}");
        assert!(there[there.len() - n..].iter().all(|there| *there));
    }

    #[test]
    fn classes_get_other_numbers() {
        let base = pack(&weights(1_000, 0));
        let n = CLASSES + LANES;
        let classes: Vec<u16> = (0..CLASSES as u16).map(|class| n as u16 - 1 - class).collect();
        let other = base.renumbered(&classes, n);
        let weights = weights(1_000, 0);
        for at in 0..weights.len() {
            let id = weights.get(at).0;
            let (own, renumbered) = (scores(&base, id), scores(&other, id));
            for (class, score) in own.into_iter().enumerate() {
                assert!((score - renumbered[n - 1 - class]).abs() < 1e-3);
            }
            assert_eq!(renumbered[0], 0.0);
        }
        assert_eq!(other.seen().iter().filter(|seen| **seen).count(), CLASSES);
    }
}
