//! A linear model over indicators, packed for speed ([`super::packed`]).

use super::packed::Lookup;
pub use super::packed::{Pruning, WeightTables, Weights, check_classes};
use super::{Classifier, Evidence, ScoreScale, Scratch};
use crate::Result;
use crate::feature::{Indicators, RowRef};
use crate::memory::Sections;

/// A packed linear model over indicators.
#[derive(Debug, Clone)]
pub struct LinearModel {
    indicators: Indicators,
    tables: WeightTables,
}

impl LinearModel {
    /// A model with the indicators of a template file and packed weights.
    pub fn new(indicators: Indicators, tables: WeightTables) -> Self {
        Self { indicators, tables }
    }

    /// Loads a stored model.
    ///
    /// # Errors
    /// When a section is missing, or is not of a linear model.
    pub fn load(indicators: Indicators, sections: &Sections) -> Result<Self> {
        Ok(Self::new(indicators, WeightTables::load(sections)?))
    }
}

impl Classifier for LinearModel {
    fn n_classes(&self) -> usize {
        self.tables.offsets.len()
    }

    fn scale(&self) -> ScoreScale {
        self.tables.kind
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        let lookup: &mut Lookup = scratch.of();
        self.indicators.ids(row, &mut lookup.ids);
        self.tables.scores(lookup, out);
        if self.tables.kind == ScoreScale::LogProb {
            log_softmax(out);
        }
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], _scratch: &mut Scratch) -> Evidence {
        let ids = self.indicators.numbered(row);
        let weights = ids.map(|(at, id)| (vec![at], self.tables.weights(id, classes)));
        Evidence::Weights(weights.collect())
    }

    fn store(&self, sections: &mut Sections) {
        self.tables.store(sections);
    }
}

/// Converts scores to natural logarithms of probabilities.
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
        let mut rows = vec![(ids[0], vec![(0, 1.0), (2, -2.0)], 2), (ids[1], vec![(1, 0.25)], 5)];
        rows.sort_by_key(|row| row.0);
        for (id, row, updates) in &rows {
            weights.push(*id, row, *updates);
        }
        (
            LinearModel::new(
                indicators,
                weights.pack(pruning, &[true, true, true, false], ScoreScale::Margin, 2),
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
        let out =
            scores(&model(&Pruning { min_row: 0.25, min_weight: 0.75, ..Pruning::default() }).0);
        assert_eq!(out[..2], [0.0, 0.0]);
        assert!((out[2] + 2.0).abs() < 1e-3);
        let out = scores(&model(&Pruning { max_bytes: 20, ..Pruning::default() }).0);
        assert_eq!(out[1], 0.0);
    }

    #[test]
    fn pruning_drops_rows_that_were_changed_too_seldom() {
        for (min_updates, strong, weak) in [(2, true, true), (3, false, true), (6, false, false)] {
            let out = scores(&model(&Pruning { min_updates, ..Pruning::default() }).0);
            assert_eq!((out[0] > 0.0, out[1] > 0.0), (strong, weak), "{min_updates}");
        }
    }

    #[test]
    fn the_sum_of_two_models_has_the_weights_of_both() {
        let (mut a, mut b, mut sum) = (Weights::default(), Weights::default(), Weights::default());
        a.push(3, &[(0, 1.0), (2, 0.5)], 2);
        a.push(9, &[(1, -1.0)], 7);
        b.push(3, &[(1, 2.0), (2, 0.25)], u16::MAX);
        b.push(5, &[(0, 4.0)], 1);
        sum.push(3, &[(0, 1.0), (1, 2.0), (2, 0.75)], u16::MAX);
        sum.push(5, &[(0, 4.0)], 1);
        sum.push(9, &[(1, -1.0)], 7);
        assert_eq!(format!("{:?}", a.plus(&b)), format!("{sum:?}"));
        assert_eq!(format!("{:?}", b.plus(&a)), format!("{sum:?}"));
    }

    #[test]
    fn the_weights_of_the_evidence_add_up_to_the_scores() {
        let (model, _) = model(&Pruning::default());
        let row = RowRef { values: &[3, 4], members: &[] };
        let scores = scores(&model);
        for classes in [[0, 2], [1, 0]] {
            let Evidence::Weights(weights) = model.evidence(row, classes, &mut Scratch::default())
            else {
                panic!("a linear model has weights");
            };
            assert_eq!(
                weights.iter().flat_map(|weight| weight.0.clone()).collect::<Vec<_>>(),
                [0, 1]
            );
            for (at, class) in classes.into_iter().enumerate() {
                let sum: f32 = weights.iter().map(|weight| weight.1[at]).sum();
                assert!((sum - scores[usize::from(class)]).abs() < 1e-5, "{weights:?}");
            }
        }
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
