//! Merging parts of other models, which must be the result of the same training: the classifiers of some labels, or
//! networks of an ensemble.

use super::{Trainer, name_of};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{Model, TrainingSummary, bincode_section};
use crate::parser::stored_preset;
use crate::preset::{MethodChoice, Preset};
use crate::symbols::Vocabulary;
use crate::transition::TransitionSystem;

impl Trainer<'_> {
    /// Checks, before trees are read, that the learner has the parts that are asked for, and that each model to be
    /// merged has one network, with its own seed.
    ///
    /// # Errors
    /// With the first problem.
    pub(crate) fn check_parts(&self) -> Result<()> {
        let Preset { learner, only_tagger, .. } = self.preset();
        let (labels, merge) = (!self.labels.is_empty(), !self.merge.is_empty());
        let has_labels = matches!(learner, MethodChoice::Boosting(_));
        if *only_tagger && (labels || merge) {
            let problem = "a tagger alone is trained, which has no such parts: omit the option";
            return Err(Error::config(if labels { "labels" } else { "merge" }, problem));
        }
        if labels && !has_labels {
            let problem = "this learner does not have one classifier per label: use a preset with learner.kind = \
                           \"boosting\"";
            return Err(Error::config("labels", problem));
        }
        if merge && !has_labels && learner.models() == 1 {
            let problem = "this learner has no parts to merge: use a preset with learner.kind = \"boosting\", or with \
                           learner.kind = \"neural\" and more than one of learner.models";
            return Err(Error::config("merge", problem));
        }
        for (model, number) in self.merge.iter().zip(1..) {
            let name = || name_of(model, number);
            let networks = stored_preset(model, &[])?.learner.models();
            if networks > 1 {
                let problem = format!(
                    "{} has {networks} networks, and each model must have one: train it with learner.models=1",
                    name()
                );
                return Err(Error::config("merge", problem));
            }
            let same_seed = |other: &Model| other.header.seed == model.header.seed;
            if !has_labels && self.merge[..number - 1].iter().any(same_seed) {
                let problem =
                    format!("{} has the seed of another one: train each with its own", name());
                return Err(Error::config("merge", problem));
            }
        }
        Ok(())
    }
}

/// Checks that the models to be merged were trained by the same preset on the same trees, from a model that was trained on
/// the same trees, if they continue one.
///
/// # Errors
/// With the first difference.
pub(super) fn check(
    trainer: &Trainer<'_>,
    system: &dyn TransitionSystem,
    summary: &TrainingSummary,
    vocabulary: &Vocabulary,
) -> Result<()> {
    for (model, number) in trainer.merge.iter().zip(1..) {
        if let Some(difference) = difference(trainer, model, system, summary, vocabulary)? {
            let problem = format!(
                "{} was trained with a different {difference}: train all models by the same command, except for the \
                 labels of boosted trees and the seeds of networks",
                name_of(model, number)
            );
            return Err(Error::config("merge", problem));
        }
    }
    Ok(())
}

/// The first difference between the training of a model and this training.
fn difference(
    trainer: &Trainer<'_>,
    model: &Model,
    system: &dyn TransitionSystem,
    summary: &TrainingSummary,
    vocabulary: &Vocabulary,
) -> Result<Option<&'static str>> {
    let (plan, other) = (&trainer.plan, &model.header);
    let mut own = Sections::default();
    bincode_section::put(&mut own, "vocabulary", vocabulary)?;
    let preset = serde_json::from_value(other.preset.clone());
    let same = preset.is_ok_and(|other: Preset| {
        (&other.learner.part(), &other.clean, other.max_words)
            == (&plan.preset.learner.part(), &plan.preset.clean, plan.preset.max_words)
    });
    let seeds = 0..u64::from(plan.preset.learner.models());
    let checks = [
        ("version of the program", other.tool_version == env!("CARGO_PKG_VERSION")),
        ("seed", seeds.contains(&other.seed.wrapping_sub(trainer.seed))),
        ("initial model (--init)", other.training.before == summary.before),
        ("treebank or system", other.system == system.stored()),
        ("template file", other.templates == plan.templates.text()),
        ("head table", other.heads == plan.heads_text()),
        ("preset", same),
        ("treebank", other.training.counts() == summary.counts()),
        ("vocabulary", *own.get::<u8>("vocabulary")? == *model.sections.get::<u8>("vocabulary")?),
    ];
    Ok(checks.into_iter().find(|(_, same)| !same).map(|(what, _)| what))
}
