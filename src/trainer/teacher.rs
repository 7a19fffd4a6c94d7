//! Loading the models that a network learns from.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::Trainer;
use crate::classifier::ScoreScale;
use crate::error::{Error, Result};
use crate::memory::Array;
use crate::model::{Model, bincode_section};
use crate::oracle::Supervised;
use crate::parser::stored_preset;
use crate::preset::plan::Plan;
use crate::preset::{MethodChoice, registry};
use crate::scorer::Scorer;
use crate::symbols::Vocabulary;
use crate::train::Components;
use crate::train::teacher::Teacher;
use crate::treebank::Cleaning;

/// The teacher of a training run, made of its models; `None` without any.
///
/// # Errors
/// When the learner takes no teacher, or the models cannot be one.
pub(super) fn load<S: Supervised>(trainer: &Trainer<'_>, system: &S) -> Result<Option<Teacher<S>>> {
    let Some(first) = trainer.teachers.first() else { return Ok(None) };
    let MethodChoice::Neural(params) = &trainer.preset().learner else {
        return Err(unsuitable(
            "only networks learn from the probabilities of other models: use a preset with \
             learner.kind = \"neural\"",
        ));
    };
    let mut hasher = FxHasher::default();
    let vocabulary: Vocabulary = bincode_section::get(&first.sections, "vocabulary")?;
    let words = |model: &Model| -> Result<Array<u8>> { model.sections.get("vocabulary") };
    let mut scorers = Vec::new();
    for (model, number) in trainer.teachers.iter().zip(1..) {
        if *words(model)? != *words(first)? {
            return Err(unsuitable(&format!(
                "model {number} has another vocabulary than the first: train both on the same trees"
            )));
        }
        scorers.push(scorer(trainer, model, system, &vocabulary)?);
        model.to_bytes().hash(&mut hasher);
    }
    Ok(Some(Teacher::new(scorers, vocabulary, params.teacher_weight, hasher.finish())))
}

/// The scorer of a model, for a system that must be its own.
fn scorer<S: Supervised>(
    trainer: &Trainer<'_>,
    model: &Model,
    system: &S,
    vocabulary: &Vocabulary,
) -> Result<Box<dyn Scorer<S>>> {
    let plan =
        Plan::stored(stored_preset(model, &[])?, &model.header.templates, &model.header.heads)?;
    let clean = &plan.preset.clean;
    let unknown_below = clean.unknown_below;
    let differences = [
        ("transition system, labels or limits", model.header.system == registry::stored(system)),
        ("head table", model.header.heads == trainer.plan.heads_text()),
        ("cleaning", *clean == Cleaning { unknown_below, ..trainer.preset().clean.clone() }),
    ];
    if let Some((what, _)) = differences.into_iter().find(|(_, same)| !same) {
        return Err(unsuitable(&format!(
            "the model has another {what}: train it on the same trees, with the same [system] and [clean]"
        )));
    }
    let components = Components { system, templates: &plan.templates, vocabulary };
    let method = registry::training_method(&plan.preset.learner, components)?;
    let scorer = method.load(components, &model.sections)?;
    if scorer.scale() != ScoreScale::LogProb {
        return Err(unsuitable(
            "the scores of the model are not probabilities: use a network, or maximum entropy",
        ));
    }
    Ok(scorer)
}

fn unsuitable(problem: &str) -> Error {
    Error::config("teacher", problem)
}
