//! Maximum entropy: multinomial logistic regression over indicators, with a Gaussian prior.
//!
//! The probability of class *c* is proportional to the exponential of the sum of its weights for the
//! indicators of a row (Berger, Della Pietra and Della Pietra 1996, section 3). The objective is the
//! log-likelihood minus Σ w² ÷ 2σ² (Chen and Rosenfeld 2000), maximized by [`lbfgs`](super::lbfgs) (Malouf
//! 2002 compares it with iterative scaling). Only pairs of an indicator and a class that occur together
//! have a weight, as in Wang, Sagae and Mitamura (2006, section 4), whose settings are the defaults: no
//! cut-off, a prior of variance 2, 300 iterations. A class that was never seen has probability 0 in
//! training too.
//!
//! The time of an iteration and the memory grow with instances × templates; [`problem`] describes how the
//! likelihood is computed.

pub mod problem;

use serde::{Deserialize, Deserializer, Serialize};

use super::lbfgs::Lbfgs;
use super::linear::{LinearModel, Pruning, check_classes};
use super::{Classifier, Fit, Instances, Learner, LearnerParams, Parts, ScoreScale};
use crate::Result;
use crate::feature::Indicators;
use crate::memory::Sections;
use problem::Problem;

/// The settings of maximum entropy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct MaxentParams {
    /// Maximum number of L-BFGS iterations; fitting ends earlier once it has converged.
    #[schemars(range(min = 1, max = 100_000))]
    pub iterations: u32,
    /// The variance σ² of the Gaussian prior of every weight; smaller values keep weights closer to zero,
    /// inf means no prior.
    #[serde(deserialize_with = "infinite_if_null")]
    #[schemars(extend("exclusiveMinimum" = 0.0))]
    pub gaussian_prior: f64,
    /// Fitting has converged when the norm of the gradient is at most this fraction of its initial value.
    #[schemars(extend("exclusiveMaximum" = 1.0), range(min = 0.0))]
    pub tolerance: f64,
    /// Features that occur in fewer instances are left out; 0 and 1 leave out none.
    #[schemars(range(min = 0, max = 1_000_000_000))]
    pub cutoff: u32,
    /// How the packed model is pruned.
    pub prune: Pruning,
}

impl Default for MaxentParams {
    fn default() -> Self {
        Self {
            iterations: 300,
            gaussian_prior: 2.0,
            tolerance: 1e-5,
            cutoff: 0,
            prune: Pruning::default(),
        }
    }
}

/// In JSON, the format of the preset in a model, infinity is written as null.
fn infinite_if_null<'de, D: Deserializer<'de>>(value: D) -> std::result::Result<f64, D::Error> {
    Ok(Option::deserialize(value)?.unwrap_or(f64::INFINITY))
}

/// The number of steps that L-BFGS stores: 3 to 7 are usual, more only cost memory.
const HISTORY: usize = 6;

/// Learns the weights that maximize the penalized likelihood of the training classes.
#[derive(Debug, Clone)]
pub struct Maxent {
    /// The settings.
    pub params: MaxentParams,
    /// The indicators that have weights.
    pub indicators: Indicators,
}

impl LearnerParams for MaxentParams {
    fn learner(&self, parts: &Parts) -> Result<Box<dyn Learner>> {
        Ok(Box::new(Maxent { params: self.clone(), indicators: parts.indicators.clone() }))
    }
}

impl Learner for Maxent {
    fn scale(&self) -> ScoreScale {
        ScoreScale::LogProb
    }

    fn fit(&self, instances: &Instances, fit: &Fit<'_>) -> Result<Box<dyn Classifier>> {
        instances.check_single_values("maximum entropy")?;
        check_classes(instances.n_classes())?;
        let indicators = &self.indicators;
        let mut problem = Problem::new(instances, indicators, &self.params)?;
        fit.unless_stopped()?;
        let weights = self.minimize(&mut problem, fit);
        let tables = problem.weights(&weights).pack(
            &self.params.prune,
            problem.seen(),
            ScoreScale::LogProb,
            indicators.len(),
        );
        Ok(Box::new(LinearModel::new(indicators.clone(), tables)))
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Classifier>> {
        Ok(Box::new(LinearModel::load(self.indicators.clone(), sections)?))
    }
}

impl Maxent {
    fn minimize(&self, problem: &mut Problem, fit: &Fit<'_>) -> Vec<f64> {
        let (iterations, n_instances) = (self.params.iterations, problem.n_instances() as f64);
        let precision = self.params.gaussian_prior.recip();
        let lbfgs = Lbfgs { history: HISTORY, iterations, tolerance: self.params.tolerance };
        let start = vec![0.0; problem.n_weights()];
        let minimum = lbfgs.minimize(
            start,
            |weights, gradient| problem.evaluate(weights, gradient),
            |arrival| {
                let penalty = precision / 2.0 * arrival.point.iter().map(|weight| weight * weight).sum::<f64>();
                let log_likelihood = penalty - arrival.value;
                let each = log_likelihood / n_instances;
                let done = f64::from(arrival.iteration) / f64::from(iterations);
                let iteration = arrival.iteration;
                fit.step(
                    done,
                    &format!("iteration {iteration}: log-likelihood {log_likelihood:.2}, {each:.5} per instance"),
                );
                !fit.is_stopped()
            },
        );
        minimum.point
    }
}

#[cfg(test)]
mod tests;
