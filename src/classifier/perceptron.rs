//! The averaged multiclass perceptron (Collins 2002; Freund and Schapire 1999) over indicators.

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::linear::{LinearModel, Pruning, check_classes};
use super::sparse::SparseWeights;
use super::{Classifier, Fit, Instances, Learner, LearnerParams, Parts, ScoreScale, first_best};
use crate::feature::Indicators;
use crate::memory::Sections;
use crate::{Error, Result};

/// The settings of the perceptron.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PerceptronParams {
    /// Passes over the training instances.
    #[schemars(range(min = 1, max = 100_000))]
    pub epochs: u32,
    /// How the packed model is pruned.
    pub prune: Pruning,
}

impl Default for PerceptronParams {
    fn default() -> Self {
        Self { epochs: 8, prune: Pruning::default() }
    }
}

/// Learns from instances in a new random order in each epoch, with one update per mistake.
#[derive(Debug, Clone)]
pub struct Perceptron {
    /// The settings.
    pub params: PerceptronParams,
    /// The indicators that have weights.
    pub indicators: Indicators,
}

impl LearnerParams for PerceptronParams {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(Perceptron { params: self.clone(), indicators: parts.indicators.clone() }))
    }
}

impl Learner for Perceptron {
    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        instances.check_single_values("a perceptron")?;
        check_classes(instances.n_classes())?;
        if instances.is_empty() {
            return Err(Error::Unfit("the training data has no decision to learn from".into()));
        }
        fit.unless_stopped()?;
        let indicators = &self.indicators;
        let mut weights = SparseWeights::default();
        let mut rng = ChaCha8Rng::seed_from_u64(fit.seed);
        let mut order: Vec<u32> = (0..instances.len() as u32).collect();
        let (mut ids, mut rows) = (Vec::new(), Vec::new());
        let mut sums = vec![0; instances.n_classes()];
        let mut seen = vec![false; instances.n_classes()];
        for epoch in 0..self.params.epochs {
            order.shuffle(&mut rng);
            let mut mistakes = 0u64;
            for &at in &order {
                let class = instances.class(at as usize);
                seen[usize::from(class)] = true;
                indicators.ids(instances.row(at as usize), &mut ids);
                weights.find(&ids, &mut rows);
                sums.fill(0);
                weights.add(&rows, &mut sums);
                let best = first_best(&sums) as u16;
                if best != class {
                    mistakes += 1;
                    weights.update(&ids, class, 1);
                    weights.update(&ids, best, -1);
                }
                weights.tick();
            }
            let done = f64::from(epoch + 1) / f64::from(self.params.epochs);
            let share = 100.0 * (1.0 - mistakes as f64 / instances.len() as f64);
            fit.step(done, &format!("epoch {}: training accuracy {share:.2} %", epoch + 1));
            if fit.is_stopped() {
                break;
            }
        }
        let tables = weights.averaged().pack(
            &self.params.prune,
            &seen,
            ScoreScale::Margin,
            indicators.len(),
        );
        Ok(Box::new(LinearModel::new(indicators.clone(), tables)))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(LinearModel::load(self.indicators.clone(), sections)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::Scratch;
    use crate::feature::{Row, RowRef, Templates};

    #[test]
    fn learns_a_conjunction_by_heart() {
        let templates = Templates::parse("s0.w\ns0.t\ns0.w s0.t", "test").unwrap();
        let mut instances = Instances::new(templates.columns(), 2);
        for (word, tag) in [(2, 2), (2, 3), (3, 2), (3, 3)] {
            instances
                .push(&Row { values: vec![word, tag], members: vec![] }, u16::from(word == tag));
        }
        let learner = Perceptron {
            params: PerceptronParams { epochs: 20, ..Default::default() },
            indicators: Indicators::new(&templates),
        };
        let fit = Fit::quiet(1);
        let model = learner.fit(&instances, &fit).unwrap();
        let mut out = [0.0; 2];
        for (word, tag) in [(2, 2), (2, 3), (3, 2), (3, 3)] {
            model.scores(
                RowRef { values: &[word, tag], members: &[] },
                &mut Scratch::default(),
                &mut out,
            );
            assert_eq!(out[1] > out[0], word == tag, "{word} {tag} {out:?}");
        }
    }
}
