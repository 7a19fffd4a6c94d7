//! Loading the models that a network learns from.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Trainer;
use crate::classifier::ScoreScale;
use crate::error::{Error, Result};
use crate::memory::Array;
use crate::model::{Header, Model, vocabulary};
use crate::parser::stored_preset;
use crate::preset::plan::Plan;
use crate::preset::{MethodChoice, registry};
use crate::symbols::Vocabulary;
use crate::train::Components;
use crate::train::teacher::Teacher;
use crate::transition::TransitionSystem;
use crate::treebank::Cleaning;

/// The teacher of a training run, made of its models; `None` without any.
///
/// # Errors
/// When the learner takes no teacher, or the models cannot be one.
pub(super) fn load(
    trainer: &Trainer<'_>,
    system: &dyn TransitionSystem,
) -> Result<Option<Teacher>> {
    if trainer.teachers.is_empty() {
        return Ok(None);
    }
    let (vocabulary, weight) = check(trainer)?;
    let mut scorers = Vec::new();
    for (model, number) in trainer.teachers.iter().zip(1..) {
        let plan = plan(trainer, (model, number), &system.stored())?;
        let components = Components { system, templates: &plan.templates, vocabulary: &vocabulary };
        let method = registry::training_method(&plan.preset.learner, components)?;
        let scorer = method.load(components, &model.sections)?;
        check_scale(number, scorer.scale())?;
        scorers.push(scorer);
    }
    Ok(Some(Teacher::new(scorers, vocabulary, weight, fingerprint(&trainer.teachers))))
}

/// Checks that the learner takes a teacher, and that all models have the same vocabulary; returns this, and the weight
/// of the teacher.
fn check(trainer: &Trainer<'_>) -> Result<(Vocabulary, f32)> {
    let MethodChoice::Neural(params) = &trainer.preset().learner else {
        let problem = "only networks learn from the probabilities of other models: use a preset with \
                       learner.kind = \"neural\"";
        return Err(Error::config("teacher", problem));
    };
    let words = |model: &Model| -> Result<Array<u8>> { model.sections.get("vocabulary") };
    let first = &trainer.teachers[0];
    for (model, number) in trainer.teachers.iter().zip(1..) {
        if stored_preset(model, &[])?.only_tagger {
            return Err(unsuitable(number, "has a tagger but no parser: use that of a parser"));
        }
        if *words(model)? != *words(first)? {
            let problem = "has another vocabulary than the first: train both on the same trees";
            return Err(unsuitable(number, problem));
        }
    }
    Ok((vocabulary::load(&first.sections)?, params.teacher_weight))
}

/// The plan of a model, which must have this system, and the head table and cleaning of the run.
fn plan(
    trainer: &Trainer<'_>,
    (model, number): (&Model, usize),
    system: &serde_json::Value,
) -> Result<Plan> {
    let Header { system: other, templates, heads, .. } = &model.header;
    let plan = Plan::stored(stored_preset(model, &[])?, templates, heads)?;
    let clean = &plan.preset.clean;
    let unknown_below = clean.unknown_below;
    let differences = [
        ("transition system, labels or limits", other == system),
        ("head table", heads == trainer.plan.heads_text()),
        ("cleaning", *clean == Cleaning { unknown_below, ..trainer.preset().clean.clone() }),
    ];
    match differences.into_iter().find(|(_, same)| !same) {
        None => Ok(plan),
        Some((what, _)) => Err(unsuitable(
            number,
            &format!(
                "has another {what}: train it on the same trees, with the same [system] and [clean]"
            ),
        )),
    }
}

fn check_scale(number: usize, scale: ScoreScale) -> Result<()> {
    if scale == ScoreScale::LogProb {
        return Ok(());
    }
    Err(unsuitable(
        number,
        "has scores that are not probabilities: use a network, or maximum entropy",
    ))
}

/// A hash of models.
pub(super) fn fingerprint(models: &[Model]) -> u64 {
    let mut hasher = FxHasher::default();
    models.iter().for_each(|model| model.to_bytes().hash(&mut hasher));
    hasher.finish()
}

fn unsuitable(number: usize, problem: &str) -> Error {
    Error::config("teacher", format!("model {number} {problem}"))
}
