//! Merging the classifiers of other models, which must be the result of the same training.

use super::Trainer;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{Model, TrainingSummary, bincode_section};
use crate::preset::{MethodChoice, Preset, registry};
use crate::symbols::Vocabulary;
use crate::transition::TransitionSystem;

/// Checks that the learner has one classifier per label if only some labels are trained or merged, and that
/// the models to be merged were trained by the same preset on the same trees.
///
/// # Errors
/// With the first difference.
pub(super) fn check<S: TransitionSystem>(
    trainer: &Trainer<'_>,
    system: &S,
    summary: &TrainingSummary,
    vocabulary: &Vocabulary,
) -> Result<()> {
    let is_shared = !trainer.labels.is_empty() || !trainer.merge.is_empty();
    if is_shared && !matches!(trainer.preset().learner, MethodChoice::Boosting(_)) {
        let problem = "this learner does not have one classifier per label: use a preset with learner.kind = \
                       \"boosting\"";
        return Err(Error::config("labels, merge", problem));
    }
    for (model, number) in trainer.merge.iter().zip(1..) {
        if let Some(difference) = difference(trainer, model, system, summary, vocabulary)? {
            let problem = format!(
                "model {number} was trained with a different {difference}: train all models by the same \
                 command, except for the labels"
            );
            return Err(Error::config("merge", problem));
        }
    }
    Ok(())
}

/// The first difference between the training of a model and this training.
fn difference<S: TransitionSystem>(
    trainer: &Trainer<'_>,
    model: &Model,
    system: &S,
    summary: &TrainingSummary,
    vocabulary: &Vocabulary,
) -> Result<Option<&'static str>> {
    let (plan, other) = (&trainer.plan, &model.header);
    let counts = |of: &TrainingSummary| (of.trees, of.words, of.decisions);
    let mut own = Sections::default();
    bincode_section::put(&mut own, "vocabulary", vocabulary)?;
    let preset = serde_json::from_value(other.preset.clone());
    let same = preset.is_ok_and(|other: Preset| {
        (&other.learner.uncalibrated(), &other.clean, other.max_words)
            == (&plan.preset.learner.uncalibrated(), &plan.preset.clean, plan.preset.max_words)
    });
    let checks = [
        ("version of the program", other.tool_version == env!("CARGO_PKG_VERSION")),
        ("seed", other.seed == trainer.seed),
        ("treebank or system", other.system == registry::stored(system)),
        ("template file", other.templates == plan.templates.text()),
        ("head table", other.heads == plan.heads_text()),
        ("preset", same),
        ("treebank", counts(&other.training) == counts(summary)),
        ("vocabulary", *own.get::<u8>("vocabulary")? == *model.sections.get::<u8>("vocabulary")?),
    ];
    Ok(checks.into_iter().find(|(_, same)| !same).map(|(what, _)| what))
}
