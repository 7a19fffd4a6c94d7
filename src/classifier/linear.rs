//! A linear model over indicators, packed for speed ([`super::packed`]).

use std::ops::Range;

use super::packed::LANES;
pub use super::packed::{MAX_CLASSES, Pruning, Tables, Weights};
use super::{Classifier, Instances, ScoreKind, Scratch};
use crate::feature::{Indicators, RowRef};
use crate::memory::Sections;
use crate::{Error, Result};

/// A packed linear model over indicators.
#[derive(Debug, Clone)]
pub struct LinearModel {
    indicators: Indicators,
    tables: Tables,
    stages: Stages,
}

impl LinearModel {
    /// The model of a template file's indicators and packed weights.
    pub fn new(indicators: Indicators, tables: Tables) -> Self {
        Self { indicators, tables, stages: Stages::default() }
    }

    /// The model with these stages.
    #[must_use]
    pub fn with_stages(self, stages: Stages) -> Self {
        Self { stages, ..self }
    }

    /// The model as stored.
    ///
    /// # Errors
    /// When a section is missing, or is not of a linear model.
    pub fn load(indicators: Indicators, sections: &Sections) -> Result<Self> {
        let stages = Stages::load(sections, indicators.len())?;
        Ok(Self { indicators, tables: Tables::load(sections)?, stages })
    }

    /// The packed weights.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// Stages that end after so many templates, with margins that were enough for the instances: of those
    /// that a stage decides it decides at most the share `wrong` otherwise than all templates do.
    ///
    /// # Errors
    /// When a stage does not end within the templates.
    pub fn stages(&self, ends: &[u32], wrong: f64, instances: &Instances) -> Result<Stages> {
        Stages::check_ends(ends, self.indicators.len())?;
        let mut scratch = Scratch::default();
        let mut leads: Vec<Vec<(i32, bool)>> = vec![Vec::new(); ends.len()];
        for at in 0..instances.len() {
            let mut firsts = Vec::with_capacity(ends.len());
            let mut from = 0;
            self.begin(&mut scratch);
            for &end in ends {
                self.add(from..end as usize, instances.row(at), &mut scratch);
                firsts.push(lead(&scratch.sums[..self.n_classes()], &self.tables.offsets));
                from = end as usize;
            }
            self.add(from..self.indicators.len(), instances.row(at), &mut scratch);
            let (best, _) = lead(&scratch.sums[..self.n_classes()], &self.tables.offsets);
            for (leads, (first, lead)) in leads.iter_mut().zip(firsts) {
                leads.push((lead, first != best));
            }
        }
        let margins = leads.into_iter().map(|leads| enough(leads, wrong)).collect();
        Ok(Stages { ends: ends.to_vec(), margins })
    }

    fn begin(&self, scratch: &mut Scratch) {
        scratch.sums.clear();
        scratch.sums.resize(self.n_classes().next_multiple_of(LANES), 0);
    }

    /// Adds what some of the templates say.
    fn add(&self, templates: Range<usize>, row: RowRef<'_>, scratch: &mut Scratch) {
        let Scratch { ids, places, long, sums, .. } = scratch;
        ids.clear();
        self.indicators.append_some(templates, row, ids);
        self.tables.find(ids, places);
        self.tables.add(places, long, sums);
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
        self.begin(scratch);
        self.add(0..self.indicators.len(), row, scratch);
        let sums = scratch.sums.iter().zip(&*self.tables.offsets);
        for (out, (&sum, &offset)) in out.iter_mut().zip(sums) {
            *out = f32::from(sum) * self.tables.scale + offset;
        }
        if self.tables.kind == ScoreKind::LogProb {
            log_softmax(out);
        }
    }

    /// With stages: the class that leads by enough at the end of one, or else at the end of all templates,
    /// and its score so far.
    fn best(&self, row: RowRef<'_>, scratch: &mut Scratch) -> Option<(u16, f32)> {
        if self.stages.ends.is_empty() {
            return None;
        }
        self.begin(scratch);
        let mut from = 0;
        let last = (self.indicators.len() as u32, i32::MIN);
        let stages = self.stages.ends.iter().copied().zip(self.stages.margins.iter().copied());
        for (end, margin) in stages.chain([last]) {
            self.add(from..end as usize, row, scratch);
            from = end as usize;
            let (best, lead) = lead(&scratch.sums[..self.n_classes()], &self.tables.offsets);
            if lead >= margin {
                let score = f32::from(scratch.sums[usize::from(best)]) * self.tables.scale;
                return Some((best, score));
            }
        }
        None
    }

    fn store(&self, sections: &mut Sections) {
        self.tables.store(sections);
        self.stages.store(sections);
    }
}

/// The class with the largest sum, the first among equals, and by how much it leads the next one; classes
/// that were never seen do not count.
fn lead(sums: &[i16], offsets: &[f32]) -> (u16, i32) {
    let (mut best, mut first, mut second) = (0, i32::MIN / 2, i32::MIN / 2);
    for (class, (&sum, &offset)) in sums.iter().zip(offsets).enumerate() {
        let sum = if offset < 0.0 { i32::MIN / 2 } else { i32::from(sum) };
        if sum > first {
            (best, second, first) = (class as u16, first, sum);
        } else {
            second = second.max(sum);
        }
    }
    (best, first - second)
}

/// The least margin above which at most a share of the decisions is wrong.
fn enough(mut leads: Vec<(i32, bool)>, share: f64) -> i32 {
    leads.sort_unstable_by_key(|&(lead, _)| std::cmp::Reverse(lead));
    let (mut wrong, mut margin) = (0u64, i32::MAX);
    for (n, group) in leads.chunk_by(|a, b| a.0 == b.0).scan(0u64, |n, group| {
        *n += group.len() as u64;
        Some((*n, group))
    }) {
        wrong += group.iter().filter(|&&(_, wrong)| wrong).count() as u64;
        if wrong as f64 <= share * n as f64 {
            margin = group[0].0;
        }
    }
    margin
}

/// Decisions that are clear when only the first templates have spoken: for each stage the templates it
/// ends after, and the margin by which the best class has to lead then (after Strubell et al. 2015).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stages {
    ends: Vec<u32>,
    margins: Vec<i32>,
}

impl Stages {
    /// Checks that stages end one after the other within so many templates.
    ///
    /// # Errors
    /// Naming the key.
    pub fn check_ends(ends: &[u32], templates: usize) -> Result<()> {
        let rising = ends.windows(2).all(|pair| pair[0] < pair[1]);
        if rising && ends.iter().all(|&end| end > 0 && (end as usize) < templates) {
            return Ok(());
        }
        let problem = format!("give rising numbers from 1 to {}", templates.saturating_sub(1));
        Err(Error::config("learner.stages.after", problem))
    }

    fn store(&self, sections: &mut Sections) {
        if !self.ends.is_empty() {
            let margins = self.margins.iter().map(|&margin| margin as u32);
            let numbers: Vec<u32> = self.ends.iter().copied().chain(margins).collect();
            sections.put("linear.stages", numbers.into());
        }
    }

    fn load(sections: &Sections, templates: usize) -> Result<Self> {
        let Ok(numbers) = sections.get::<u32>("linear.stages") else { return Ok(Self::default()) };
        let (ends, margins) = numbers.split_at(numbers.len() / 2);
        Self::check_ends(ends, templates)?;
        let margins = margins.iter().map(|&margin| margin as i32).collect();
        Ok(Self { ends: ends.to_vec(), margins })
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
                weights.pack(pruning, &[true, true, true, false], ScoreKind::Margin, 2),
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
        let out = scores(&model(&Pruning { min_row: 0.25, min_weight: 0.75, max_bytes: 0 }).0);
        assert_eq!(out[..2], [0.0, 0.0]);
        assert!((out[2] + 2.0).abs() < 1e-3);
        let out = scores(&model(&Pruning { max_bytes: 20, ..Pruning::default() }).0);
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
