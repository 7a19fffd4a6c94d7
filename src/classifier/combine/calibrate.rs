//! Calibration: scores become probabilities, so that they can be compared between configurations and added
//! along a derivation.
//!
//! For each class, an increasing function from score to probability is fitted to instances that the
//! classifier was not trained on: a sigmoid (Platt 1999, by the method of Lin, Lin and Weng 2007) or a step
//! function (isotonic regression by pooling adjacent violators; Zadrozny and Elkan 2002). The probabilities
//! of all classes are then normalized.

use serde::{Deserialize, Serialize};

use super::{CHUNK, fit_part, hold_out, stored};
use crate::classifier::{Classifier, Evidence, Fit, Instances, Learner, ScoreScale, Scratch};
use crate::feature::RowRef;
use crate::memory::{Array, Sections};
use crate::parallel;
use crate::sort::sort_by;
use crate::{Error, Result};

/// How scores become probabilities.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// A sigmoid of two parameters.
    #[default]
    Platt,
    /// A step function.
    Isotonic,
}

const INNER: &str = "calibrated";

/// Probabilities are at least this far from 0 and 1.
const LEAST: f64 = 1e-6;

/// Fits a classifier and calibrates it.
pub struct Calibrate {
    /// Fits the classifier, to the first sentences only: fitted again to all of them, it would have scores
    /// on another scale.
    pub learner: Box<dyn Learner>,
    /// How scores become probabilities.
    pub method: Method,
    /// The fraction of the instances that calibrate, the last ones; between 0 and 1.
    pub share: f64,
}

impl Learner for Calibrate {
    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }

    fn takes_trees(&self) -> bool {
        self.learner.takes_trees()
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        let (first, last) = hold_out(instances, self.share);
        let inner = fit_part(&*self.learner, &first, fit, INNER, 0.0..1.0)?;
        let scores = all_scores(&*inner, &last);
        let n = instances.n_classes();
        let curve = |class: usize| -> Vec<[f32; 2]> {
            let scored: Vec<(f32, bool)> = (0..last.len())
                .map(|at| (scores[at * n + class], usize::from(last.class(at)) == class))
                .filter(|(score, _)| score.is_finite())
                .collect();
            match self.method {
                Method::Platt => platt(&scored),
                Method::Isotonic => isotonic(scored),
            }
        };
        let curves = parallel::map_range(n, curve);
        Ok(Box::new(Calibrated { inner, method: self.method, curves }))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        let inner = self.learner.load(&sections.part(INNER))?;
        let (lengths, points): (Array<u32>, Array<f32>) =
            (sections.get("curves.lengths")?, sections.get("curves.points")?);
        let mut rest = points.as_chunks::<2>().0;
        let mut curves = Vec::with_capacity(lengths.len());
        for &length in &*lengths {
            let (curve, after) = rest
                .split_at_checked(length as usize)
                .ok_or_else(|| Error::Corrupt("the calibration curves are truncated".to_owned()))?;
            curves.push(curve.to_vec());
            rest = after;
        }
        if curves.len() != inner.n_classes() {
            return Err(Error::Corrupt(
                "the number of calibration curves is not the number of classes".to_owned(),
            ));
        }
        Ok(Box::new(Calibrated { inner, method: self.method, curves }))
    }
}

/// The scores of all instances, one row for each.
fn all_scores(classifier: &dyn Classifier, instances: &Instances) -> Vec<f32> {
    let n = classifier.n_classes();
    let mut scores = vec![0.0; n * instances.len()];
    let chunks = scores.chunks_mut(n.max(1) * CHUNK).zip((0..).step_by(CHUNK));
    parallel::for_each(chunks, |(scores, first)| {
        let mut scratch = Scratch::default();
        for (out, at) in scores.chunks_mut(n).zip(first..) {
            classifier.scores(instances.row(at), &mut scratch, out);
        }
    });
    scores
}

/// The slope and the offset of the sigmoid, as one point.
///
/// The target of positive instances is a little less than 1, that of the others a little more than 0 (Platt
/// 1999, section 2.2).
fn platt(scored: &[(f32, bool)]) -> Vec<[f32; 2]> {
    let positive = scored.iter().filter(|(_, right)| *right).count() as f64;
    let negative = scored.len() as f64 - positive;
    let (high, low) = ((positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0));
    let (mut slope, mut offset) = (0.0, ((positive + 1.0) / (negative + 1.0)).ln());
    let loss = |slope: f64, offset: f64| -> f64 {
        let each = scored.iter().map(|&(score, right)| {
            let (z, target) = (slope * f64::from(score) + offset, if right { high } else { low });
            // ln(1 + e^z) without overflow
            z.max(0.0) + (-z.abs()).exp().ln_1p() - target * z
        });
        each.sum()
    };
    let mut before = loss(slope, offset);
    for _ in 0..100 {
        let (mut g, mut h) = ([0.0; 2], [1e-12, 0.0, 1e-12]);
        for &(score, right) in scored {
            let score = f64::from(score);
            let p = 1.0 / (1.0 + (-(slope * score + offset)).exp());
            let (error, curvature) = (p - if right { high } else { low }, p * (1.0 - p));
            g = [g[0] + error * score, g[1] + error];
            h = [h[0] + curvature * score * score, h[1] + curvature * score, h[2] + curvature];
        }
        if g[0].abs() < 1e-5 && g[1].abs() < 1e-5 {
            break;
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        let step = [
            -(h[2] * g[0] - h[1] * g[1]) / determinant,
            -(h[0] * g[1] - h[1] * g[0]) / determinant,
        ];
        let downhill = g[0] * step[0] + g[1] * step[1];
        let lengths = (0..30).map(|halvings| 0.5f64.powi(halvings));
        let fits = lengths.map(|by| (by, loss(slope + by * step[0], offset + by * step[1])));
        let Some((by, after)) =
            fits.into_iter().find(|(by, after)| *after < before + 1e-4 * by * downhill)
        else {
            break;
        };
        (slope, offset, before) = (slope + by * step[0], offset + by * step[1], after);
    }
    vec![[slope as f32, offset as f32]]
}

/// The steps, in increasing order: the least score of each and its probability.
fn isotonic(mut scored: Vec<(f32, bool)>) -> Vec<[f32; 2]> {
    sort_by(&mut scored, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // Least score, positive instances, all instances.
    let mut steps: Vec<(f32, f64, f64)> = Vec::new();
    for (score, right) in scored {
        let right = f64::from(u8::from(right));
        match steps.last_mut() {
            Some(last) if last.0 == score => (last.1, last.2) = (last.1 + right, last.2 + 1.0),
            _ => steps.push((score, right, 1.0)),
        }
        while let [.., before, last] = &steps[..] {
            if before.1 * last.2 < last.1 * before.2 {
                break;
            }
            let merged = (before.0, before.1 + last.1, before.2 + last.2);
            steps.truncate(steps.len() - 2);
            steps.push(merged);
        }
    }
    steps.into_iter().map(|(score, right, all)| [score, (right / all) as f32]).collect()
}

/// The classifier that [`Calibrate`] fits.
pub struct Calibrated {
    inner: Box<dyn Classifier>,
    method: Method,
    /// For each class, the function from score to probability.
    curves: Vec<Vec<[f32; 2]>>,
}

impl Calibrated {
    fn probability(&self, class: usize, score: f32) -> f64 {
        let curve = &self.curves[class];
        let probability = match self.method {
            Method::Platt => curve.first().map_or(0.0, |&[slope, offset]| {
                1.0 / (1.0 + (-f64::from(slope) * f64::from(score) - f64::from(offset)).exp())
            }),
            Method::Isotonic => {
                let at = curve.partition_point(|&[least, _]| least <= score);
                at.checked_sub(1).map_or(0.0, |at| f64::from(curve[at][1]))
            }
        };
        probability.clamp(LEAST, 1.0 - LEAST)
    }
}

impl Classifier for Calibrated {
    fn n_classes(&self) -> usize {
        self.curves.len()
    }

    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }

    fn scores(&self, row: RowRef<'_>, scratch: &mut Scratch, out: &mut [f32]) {
        self.inner.scores(row, scratch, out);
        let mut sum = 0.0;
        for (class, score) in out.iter_mut().enumerate() {
            if *score > f32::NEG_INFINITY {
                let probability = self.probability(class, *score);
                sum += probability;
                *score = probability.ln() as f32;
            }
        }
        let log_sum = sum.ln() as f32;
        if log_sum.is_finite() {
            out.iter_mut().for_each(|score| *score -= log_sum);
        }
    }

    fn evidence(&self, row: RowRef<'_>, classes: [u16; 2], scratch: &mut Scratch) -> Evidence {
        self.inner.evidence(row, classes, scratch)
    }

    fn store(&self, sections: &mut Sections) {
        sections.put_part(INNER, stored(&*self.inner));
        let lengths: Vec<u32> = self.curves.iter().map(|curve| curve.len() as u32).collect();
        sections.put("curves.lengths", lengths.into());
        sections.put("curves.points", self.curves.concat().concat().into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_rise_and_pool_what_falls() {
        let scored = vec![(0.0, false), (1.0, true), (2.0, false), (3.0, true), (3.0, true)];
        assert_eq!(isotonic(scored), [[0.0, 0.0], [1.0, 0.5], [3.0, 1.0]]);
    }

    #[test]
    fn the_sigmoid_meets_the_shares_of_two_scores() {
        // At score -1 a tenth is of the class, at score 1 nine tenths.
        let scored: Vec<(f32, bool)> = (0..2000)
            .map(|at| if at % 2 == 0 { (-1.0, at % 20 == 0) } else { (1.0, at % 20 != 1) })
            .collect();
        let [slope, offset] = platt(&scored)[0];
        assert!(offset.abs() < 0.01, "{offset}");
        assert!((slope - 9f32.ln()).abs() < 0.02, "{slope}");
    }
}
