//! Merging parts of other models, which must be the result of the same training: the classifiers of some labels, or
//! networks of an ensemble.

use super::{Trainer, name_of};
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{Model, TrainingSummary, bincode_section};
use crate::preset::{MethodChoice, Preset};
use crate::symbols::Vocabulary;
use crate::transition::TransitionSystem;

/// Checks that the learner has parts that can be trained apart if some are, and that the models to be merged were
/// trained by the same preset on the same trees.
///
/// # Errors
/// With the first difference.
pub(super) fn check(
    trainer: &Trainer<'_>,
    system: &dyn TransitionSystem,
    summary: &TrainingSummary,
    vocabulary: &Vocabulary,
) -> Result<()> {
    let learner = &trainer.preset().learner;
    let has_labels = matches!(learner, MethodChoice::Boosting(_));
    if !trainer.labels.is_empty() && !has_labels {
        let problem = "this learner does not have one classifier per label: use a preset with learner.kind = \
                       \"boosting\"";
        return Err(Error::config("labels", problem));
    }
    if !trainer.merge.is_empty() && !has_labels && learner.models() == 1 {
        let problem = "this learner has no parts to merge: use a preset with learner.kind = \"boosting\", or with \
                       learner.kind = \"neural\" and more than one of learner.models";
        return Err(Error::config("merge", problem));
    }
    for (model, number) in trainer.merge.iter().zip(1..) {
        let same_seed = |other: &Model| other.header.seed == model.header.seed;
        if !has_labels && trainer.merge[..number - 1].iter().any(same_seed) {
            let name = name_of(model, number);
            let problem = format!("{name} has the seed of another one: train each with its own");
            return Err(Error::config("merge", problem));
        }
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
        ("treebank or system", other.system == system.stored()),
        ("template file", other.templates == plan.templates.text()),
        ("head table", other.heads == plan.heads_text()),
        ("preset", same),
        ("treebank", other.training.counts() == summary.counts()),
        ("vocabulary", *own.get::<u8>("vocabulary")? == *model.sections.get::<u8>("vocabulary")?),
    ];
    Ok(checks.into_iter().find(|(_, same)| !same).map(|(what, _)| what))
}
