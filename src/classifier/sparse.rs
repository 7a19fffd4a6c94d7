//! Weights of a linear model in training: a table from one-hot ids to sparse rows of classes.
//!
//! Memory is allocated only for what updates touch: an id is added with its first update, a class with its
//! first weight for that id. Averages are exact integers: each weight has the sum of `step × update`, so
//! its average over all steps is `weight − sum ÷ steps`.

use std::ops::Range;

use super::packed::Weights;
use crate::error::{Error, Result};
use crate::memory::Sections;

/// The weight of a class for an id.
#[derive(Debug, Clone, Copy)]
struct Entry {
    class: u32,
    weight: i32,
}

/// A slot of the table: an id, 0 if free; the position of its row among the entries; and the number of its
/// updates, at most `u16::MAX`.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    id: u64,
    row: Row,
}

/// The position of a row among the entries. Its capacity is the next power of two of its length.
#[derive(Debug, Clone, Copy, Default)]
pub struct Row {
    first: u32,
    len: u16,
    updates: u16,
}

impl Row {
    fn range(self) -> Range<usize> {
        self.first as usize..self.first as usize + usize::from(self.len)
    }
}

/// The weights; see the module.
#[derive(Debug, Clone)]
pub struct SparseWeights {
    /// Open addressing with linear probing; the number of slots is a power of two.
    slots: Vec<Slot>,
    n_ids: usize,
    entries: Vec<Entry>,
    /// For each entry the sum of `step × update`.
    delayed: Vec<i64>,
    /// Free rows, left by ids whose rows grew, by the binary logarithm of their capacity.
    free: [Vec<u32>; 17],
    step: i64,
}

impl Default for SparseWeights {
    fn default() -> Self {
        Self {
            slots: vec![Slot::default(); 1 << 16],
            n_ids: 0,
            entries: Vec::new(),
            delayed: Vec::new(),
            free: Default::default(),
            step: 0,
        }
    }
}

impl SparseWeights {
    /// The number of ids with a row.
    pub fn len(&self) -> usize {
        self.n_ids
    }

    /// Writes the rows of the ids that have one into `rows` (emptied first).
    pub fn find(&self, ids: &[u64], rows: &mut Vec<Row>) {
        // Where a search ends cannot be predicted. Touching every first slot beforehand overlaps the cache misses.
        let first = |&id: &u64| self.slots[self.first_slot(id)].id;
        std::hint::black_box(ids.iter().fold(0, |sum, id| sum ^ first(id)));
        rows.clear();
        rows.extend(ids.iter().map(|&id| self.slots[self.slot(id)].row));
    }

    /// Adds the current weights of the rows to `sums`.
    pub fn add(&self, rows: &[Row], sums: &mut [i32]) {
        // Row lengths cannot be predicted. Touching both ends of every row beforehand overlaps the cache misses.
        let class = |at: usize| self.entries.get(at).map_or(0, |entry| entry.class);
        let ends = |row: &Row| class(row.range().start) ^ class(row.range().end);
        std::hint::black_box(rows.iter().fold(0, |sum, row| sum ^ ends(row)));
        for row in rows {
            for entry in &self.entries[row.range()] {
                sums[entry.class as usize] += entry.weight;
            }
        }
    }

    /// Counts one more step of the average.
    pub fn tick(&mut self) {
        self.step += 1;
    }

    /// Adds `change` to the weight of `class` under each id.
    pub fn update(&mut self, ids: &[u64], class: u16, change: i32) {
        for &id in ids {
            let slot = self.slot_or_new(id);
            let updates = &mut self.slots[slot].row.updates;
            *updates = updates.saturating_add(1);
            let entry = self.entry(slot, class);
            self.entries[entry].weight += change;
            self.delayed[entry] += self.step * i64::from(change);
        }
    }

    /// The averaged weights; zero averages are left out.
    pub fn averaged(&self) -> Weights {
        let steps = self.step.max(1) as f64;
        let (mut averaged, mut weights) = (Weights::default(), Vec::new());
        for Slot { id, row } in self.used() {
            weights.clear();
            for at in row.range() {
                let Entry { class, weight } = self.entries[at];
                let average = (f64::from(weight) - self.delayed[at] as f64 / steps) as f32;
                if average != 0.0 {
                    weights.push((class as u16, average));
                }
            }
            weights.sort_unstable_by_key(|&(class, _)| class);
            averaged.push(id, &weights, row.updates);
        }
        averaged
    }

    /// The slots with rows, by id.
    fn used(&self) -> Vec<Slot> {
        let mut used: Vec<Slot> = self.slots.iter().copied().filter(|slot| slot.id != 0).collect();
        used.sort_unstable_by_key(|slot| slot.id);
        used
    }

    /// Stores the weights and their averages, so that training can go on.
    pub fn store(&self, sections: &mut Sections) {
        let used = self.used();
        let entries = used.iter().flat_map(|slot| slot.row.range());
        let entries: Vec<usize> = entries.collect();
        let of = |value: &dyn Fn(usize) -> u32| entries.iter().map(|&at| value(at)).collect();
        let (classes, weights): (Vec<u32>, Vec<u32>) =
            (of(&|at| self.entries[at].class), of(&|at| self.entries[at].weight as u32));
        let delayed: Vec<u64> = entries.iter().map(|&at| self.delayed[at] as u64).collect();
        let rows: Vec<u16> =
            used.iter().flat_map(|slot| [slot.row.len, slot.row.updates]).collect();
        let ids: Vec<u64> = used.iter().map(|slot| slot.id).collect();
        sections.put("ids", ids.into());
        sections.put("rows", rows.into());
        sections.put("classes", classes.into());
        sections.put("weights", weights.into());
        sections.put("delayed", delayed.into());
        sections.put("step", vec![self.step as u64].into());
    }

    /// Loads weights for `n_classes` classes.
    ///
    /// # Errors
    /// [`Error::Corrupt`] when the sections are not those of such weights.
    pub fn load(sections: &Sections, n_classes: usize) -> Result<Self> {
        let (ids, rows) = (sections.get::<u64>("ids")?, sections.get::<u16>("rows")?);
        let (classes, weights) = (sections.get::<u32>("classes")?, sections.get::<u32>("weights")?);
        let (delayed, step) = (sections.get::<u64>("delayed")?, sections.get::<u64>("step")?);
        let n: usize = rows.chunks(2).map(|row| usize::from(row[0])).sum();
        let fit = rows.len() == 2 * ids.len()
            && [classes.len(), weights.len(), delayed.len()] == [n; 3]
            && !ids.contains(&0)
            && classes.iter().all(|&class| (class as usize) < n_classes);
        let (true, &[step]) = (fit, &*step) else {
            return Err(Error::corrupt("the weights of a perceptron do not fit together"));
        };
        let mut loaded = Self { step: step as i64, ..Self::default() };
        let mut at = 0;
        for (&id, row) in ids.iter().zip(rows.chunks(2)) {
            let slot = loaded.slot_or_new(id);
            for _ in 0..row[0] {
                let entry = loaded.entry(slot, classes[at] as u16);
                loaded.entries[entry].weight = weights[at] as i32;
                loaded.delayed[entry] = delayed[at] as i64;
                at += 1;
            }
            loaded.slots[slot].row.updates = row[1];
        }
        Ok(loaded)
    }

    /// Where the search for an id starts.
    fn first_slot(&self, id: u64) -> usize {
        (id >> 20) as usize & (self.slots.len() - 1)
    }

    /// The slot of an id, or the free one where it belongs.
    fn slot(&self, id: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut at = self.first_slot(id);
        while self.slots[at].id != 0 && self.slots[at].id != id {
            at = (at + 1) & mask;
        }
        at
    }

    fn slot_or_new(&mut self, id: u64) -> usize {
        let at = self.slot(id);
        if self.slots[at].id == id {
            return at;
        }
        if self.n_ids * 3 >= self.slots.len() * 2 {
            self.grow();
            return self.slot_or_new(id);
        }
        self.n_ids += 1;
        self.slots[at].id = id;
        at
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.id != 0) {
            let at = self.slot(slot.id);
            self.slots[at] = slot;
        }
    }

    /// The position of a class's entry in a slot's row, which is added if missing.
    fn entry(&mut self, slot: usize, class: u16) -> usize {
        let Row { first, len, .. } = self.slots[slot].row;
        let (from, to) = (first as usize, first as usize + usize::from(len));
        let class = u32::from(class);
        if let Some(at) = self.entries[from..to].iter().position(|entry| entry.class == class) {
            return from + at;
        }
        let from = if len == 0 || len.is_power_of_two() { self.make_room(slot) } else { from };
        let at = from + usize::from(len);
        self.slots[slot].row.len += 1;
        self.entries[at] = Entry { class, weight: 0 };
        self.delayed[at] = 0;
        at
    }

    /// Moves a full row to a place with twice the capacity; returns its new start.
    fn make_room(&mut self, slot: usize) -> usize {
        let Row { first, len, updates } = self.slots[slot].row;
        let size = if len == 0 { 1 } else { usize::from(len) * 2 };
        let power = size.trailing_zeros() as usize;
        let start = self.free[power].pop().unwrap_or_else(|| {
            let start = self.entries.len();
            self.entries.resize(start + size, Entry { class: 0, weight: 0 });
            self.delayed.resize(start + size, 0);
            start as u32
        });
        let from = first as usize;
        self.entries.copy_within(from..from + usize::from(len), start as usize);
        self.delayed.copy_within(from..from + usize::from(len), start as usize);
        if len > 0 {
            self.free[len.trailing_zeros() as usize].push(first);
        }
        self.slots[slot].row = Row { first: start, len, updates };
        start as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_average_is_that_of_all_steps() {
        let mut weights = SparseWeights::default();
        weights.update(&[7], 3, 1); // there during all four steps
        weights.tick();
        weights.tick();
        weights.update(&[7], 3, 1); // there during the last two
        weights.tick();
        weights.tick();
        let averaged = weights.averaged();
        let mut sections = Sections::default();
        weights.store(&mut sections);
        let mut loaded = SparseWeights::load(&sections, 4).unwrap();
        loaded.update(&[7], 3, 1);
        loaded.tick();
        weights.update(&[7], 3, 1);
        weights.tick();
        assert_eq!(loaded.averaged().get(0), weights.averaged().get(0));
        assert!(SparseWeights::load(&sections, 3).is_err());
        assert_eq!(averaged.len(), 1);
        assert_eq!(averaged.get(0), (7, &[(3, 1.5)][..]));
    }

    #[test]
    fn rows_and_tables_grow_without_losing_anything() {
        let mut weights = SparseWeights::default();
        for id in 1..100_000u64 {
            let id = id.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            weights.update(&[id], (id % 97) as u16, 2);
        }
        for class in 0..300 {
            weights.update(&[1], class, i32::from(class));
        }
        let (mut rows, mut sums) = (Vec::new(), vec![0; 300]);
        weights.find(&[1], &mut rows);
        weights.add(&rows, &mut sums);
        assert_eq!(sums, (0..300).collect::<Vec<i32>>());
    }
}
