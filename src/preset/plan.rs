//! From a preset to a plan: everything checked, everything it names loaded, before work starts.

use std::path::Path;

use super::{LearnerChoice, Preset, SystemChoice};
use crate::classifier::linear::Pruning;
use crate::error::{Error, Result, nearest};
use crate::feature::{ColumnKind, Templates};
use crate::tree::heads::HeadRules;

/// A preset that has been checked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The preset.
    pub preset: Preset,
    /// Its templates.
    pub templates: Templates,
    /// Its head rules, when the system wants heads.
    pub heads: Option<HeadRules>,
}

impl Plan {
    /// Checks a preset and loads the files it names.
    ///
    /// # Errors
    /// When a file does not read or parts do not fit together; the message names the fix.
    pub fn new(preset: Preset) -> Result<Self> {
        let templates = load_templates(&preset.features.templates)?;
        let heads = match &preset.system {
            SystemChoice::Binary { heads } => Some(HeadRules::load(heads)?),
        };
        let plan = Self { preset, templates, heads };
        plan.check()?;
        Ok(plan)
    }

    /// The plan of a stored model, whose files are inside it.
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn stored(preset: Preset, templates: &str, heads: &str) -> Result<Self> {
        let templates = Templates::parse(templates, "templates")?;
        let heads = if heads.is_empty() { None } else { Some(HeadRules::parse(heads, "heads")?) };
        let plan = Self { preset, templates, heads };
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Result<()> {
        let set =
            self.templates.columns().into_iter().find(|column| column.kind == ColumnKind::Set);
        if let Some(column) = set {
            let problem = format!(
                "`{}` is a set, and linear learners take none: drop that template",
                column.name
            );
            return Err(Error::config("features.templates", problem));
        }
        let at_least_one = |key: &str, value: u32| match value {
            0 => Err(Error::config(key, "must be at least 1")),
            _ => Ok(()),
        };
        let Pruning { min_row, min_weight, .. } = match &self.preset.learner {
            LearnerChoice::Perceptron(params) => params.prune,
            LearnerChoice::OnlinePerceptron(params) => params.prune,
            LearnerChoice::Maxent(params) => params.prune,
        };
        for (key, share) in
            [("learner.prune.min_row", min_row), ("learner.prune.min_weight", min_weight)]
        {
            if !(0.0..=1.0).contains(&share) {
                let problem = format!("{share} is no share: give 0 (drop nothing) to 1");
                return Err(Error::config(key, problem));
            }
        }
        match &self.preset.learner {
            LearnerChoice::Perceptron(params) => at_least_one("learner.epochs", params.epochs),
            LearnerChoice::OnlinePerceptron(params) => {
                let probability = params.exploration.probability;
                if !(0.0..=1.0).contains(&probability) {
                    let problem =
                        format!("{probability} is no probability: give 0 (never) to 1 (always)");
                    return Err(Error::config("learner.exploration.probability", problem));
                }
                at_least_one("learner.epochs", params.epochs)
            }
            LearnerChoice::Maxent(params) => {
                if params.gaussian_prior.is_nan() || params.gaussian_prior <= 0.0 {
                    return Err(Error::config(
                        "learner.gaussian_prior",
                        "must be a variance above 0",
                    ));
                }
                at_least_one("learner.iterations", params.iterations)
            }
        }
    }
}

fn load_templates(name: &str) -> Result<Templates> {
    if let Some(templates) = Templates::named(name) {
        return Ok(templates);
    }
    if Path::new(name).is_file() {
        let text = std::fs::read_to_string(name).map_err(|error| Error::io(name, error))?;
        return Templates::parse(&text, name);
    }
    let known = Templates::names().collect::<Vec<_>>().join(", ");
    let hint = nearest(name, Templates::names())
        .map(|n| format!("did you mean {n}? "))
        .unwrap_or_default();
    let problem = format!("no template file `{name}`: {hint}built in are {known}");
    Err(Error::config("features.templates", problem))
}
