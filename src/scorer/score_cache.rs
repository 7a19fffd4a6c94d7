//! Scores that are kept for the rest of a search: hypotheses of a beam often look alike to the features.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::feature::Row;

/// How many rows can be kept at a time; a power of two.
const ROOM: usize = 256;

/// Rows and their scores. A row that hashes to the place of another one takes it.
#[derive(Debug, Default)]
pub(super) struct ScoreCache {
    /// Counts searches, from 1; 0 keeps nothing.
    search: u32,
    places: Vec<Place>,
}

#[derive(Debug, Clone, Default)]
struct Place {
    search: u32,
    row: Row,
    scores: Vec<f32>,
}

impl ScoreCache {
    /// Forgets everything, and keeps scores from now on.
    pub(super) fn begin(&mut self) {
        self.search += 1;
        self.places.resize(ROOM, Place::default());
    }

    /// The scores of a row, filled by `fill` if they are not known.
    pub(super) fn scores<'a>(
        &'a mut self,
        row: &Row,
        n_classes: usize,
        fill: impl FnOnce(&mut [f32]),
    ) -> &'a [f32] {
        if self.search == 0 {
            self.places.resize(1, Place::default());
            let scores = &mut self.places[0].scores;
            scores.resize(n_classes, 0.0);
            fill(scores);
            return scores;
        }
        let mut hasher = FxHasher::default();
        (&row.values, &row.members).hash(&mut hasher);
        let place = &mut self.places[(hasher.finish() >> 32) as usize % ROOM];
        if place.search != self.search || place.row != *row {
            place.search = self.search;
            place.row.clone_from(row);
            place.scores.resize(n_classes, 0.0);
            fill(&mut place.scores);
        }
        &place.scores
    }
}
