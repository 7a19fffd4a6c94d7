//! A cache of scores for the duration of a search: hypotheses of a beam often have the same features.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::feature::Row;

/// The number of rows in the cache; a power of two.
const CAPACITY: usize = 256;

/// A direct-mapped cache from feature rows to scores: a row replaces another one with the same hash.
#[derive(Debug, Default)]
pub(super) struct ScoreCache {
    /// The number of the search, from 1; 0 disables the cache.
    search: u32,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Default)]
struct Entry {
    search: u32,
    row: Row,
    scores: Vec<f32>,
}

impl ScoreCache {
    /// Empties and enables the cache.
    pub(super) fn begin(&mut self) {
        self.search += 1;
        self.entries.resize(CAPACITY, Entry::default());
    }

    /// Returns the scores of a row, computed by `fill` unless they are in the cache.
    pub(super) fn scores<'a>(
        &'a mut self,
        row: &Row,
        n_classes: usize,
        fill: impl FnOnce(&mut [f32]),
    ) -> &'a [f32] {
        if self.search == 0 {
            self.entries.resize(1, Entry::default());
            let scores = &mut self.entries[0].scores;
            scores.resize(n_classes, 0.0);
            fill(scores);
            return scores;
        }
        let mut hasher = FxHasher::default();
        (&row.values, &row.members).hash(&mut hasher);
        let entry = &mut self.entries[(hasher.finish() >> 32) as usize % CAPACITY];
        if entry.search != self.search || entry.row != *row {
            entry.search = self.search;
            entry.row.clone_from(row);
            entry.scores.resize(n_classes, 0.0);
            fill(&mut entry.scores);
        }
        &entry.scores
    }
}
