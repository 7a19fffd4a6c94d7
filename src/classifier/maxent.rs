//! stub
use super::linear::Pruning;
use serde::{Deserialize, Serialize};
/// stub
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MaxentParams {
    /// stub
    pub iterations: u32,
    /// stub
    pub gaussian_prior: f64,
    /// stub
    pub prune: Pruning,
}
impl Default for MaxentParams {
    fn default() -> Self {
        Self { iterations: 300, gaussian_prior: 2.0, prune: Pruning::default() }
    }
}
/// stub
pub struct Maxent {
    /// stub
    pub params: MaxentParams,
    /// stub
    pub templates: crate::feature::Templates,
}
impl super::Learner for Maxent {
    fn fit(
        &self,
        _i: &super::Instances,
        _f: &mut super::Fit<'_>,
    ) -> crate::Result<Box<dyn super::Classifier>> {
        todo!()
    }
}
