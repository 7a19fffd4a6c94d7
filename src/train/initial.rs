//! The model that training continues from: what is taken from it, and what must be the same.

use std::slice;
use std::sync::Arc;

use serde_json::Value;

use super::Trainer;
use super::teacher::fingerprint;
use crate::classifier::linear::check_classes;
use crate::encoder::Pretrained;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{Model, vocabulary};
use crate::neural::Quantized;
use crate::parser::stored_preset;
use crate::preset::plan::Plan;
use crate::preset::registry::{Source, SystemBuilder};
use crate::preset::{MethodChoice, Preset};
use crate::scorer::Components;
use crate::scorer::factored::Classes;
use crate::scorer::neural::names::{Renumbering, SymbolNames};
use crate::scorer::neural::{Neural, NeuralParams};
use crate::scorer::perceptron::InitialWeights;
use crate::symbols::{FIRST, Vocabulary};
use crate::transition::TransitionSystem;
use crate::treebank::embeddings::PretrainedEmbeddings;

/// What training takes from its initial model.
pub(super) struct Initial {
    pub(super) model: InitialModel,
    /// Its vocabulary, without words that are known from pretrained embeddings only.
    pub(super) vocabulary: Vocabulary,
    pub(super) embeddings: Option<PretrainedEmbeddings>,
    pub(super) encoder: Option<Arc<Pretrained>>,
}

impl Initial {
    /// Loads what training takes from its initial model, if it has one.
    ///
    /// # Errors
    /// When the model is damaged.
    pub(super) fn load(trainer: &Trainer<'_>) -> Result<Option<Self>> {
        let Some(model) = &trainer.initial else { return Ok(None) };
        let learner = stored_preset(model, &[])?.learner;
        let stored = vocabulary::load(&model.sections)?;
        let (table, encoder) = match &learner {
            MethodChoice::Neural(params) => params.pretrained(&model.sections, &stored)?,
            _ => (None, None),
        };
        let vocabulary = match &table {
            Some(table) => stored.clone().with_first_words(table.trained - FIRST as usize),
            None => stored.clone(),
        };
        let embeddings = table.map(|table| table.embeddings(&stored));
        let parts = InitialModel::new(model, &trainer.plan, learner, stored)?;
        let fingerprint = Some(fingerprint(slice::from_ref(model)));
        let model = InitialModel { fingerprint, ..parts };
        Ok(Some(Self { model, vocabulary, embeddings, encoder }))
    }

    /// The numbers of words and tags, and how many of each `vocabulary` adds to them.
    pub(super) fn added(&self, vocabulary: &Vocabulary) -> String {
        let names = [Vocabulary::words, Vocabulary::tags];
        let [words, tags] = names.map(|names| {
            let before = names(&self.vocabulary).len();
            (before, names(vocabulary).len() - before)
        });
        format!(
            "words of the initial model: {}, new ones: {}; tags: {}, new ones: {}",
            words.0, words.1, tags.0, tags.1
        )
    }
}

/// A model that training continues from.
pub struct InitialModel {
    /// Its transition system.
    pub system: Box<dyn TransitionSystem>,
    /// Its vocabulary.
    pub vocabulary: Vocabulary,
    /// The settings of its learner.
    pub learner: MethodChoice,
    /// Its arrays.
    pub sections: Sections,
    /// A hash of the model, if checkpoints depend on it.
    pub fingerprint: Option<u64>,
}

impl InitialModel {
    /// The parts of a model, whose transition system the plan describes.
    ///
    /// # Errors
    /// When the model is damaged.
    pub(super) fn new(
        model: &Model,
        plan: &Plan,
        learner: MethodChoice,
        vocabulary: Vocabulary,
    ) -> Result<Self> {
        let builder = plan.builder(Source::Tables(&model.header.system), &vocabulary);
        let system = SystemBuilder { heads: None, ..builder }.build()?;
        let sections = model.sections.clone();
        Ok(Self { system, vocabulary, learner, sections, fingerprint: None })
    }

    /// Gives the network of this number, from 1, the parameters of the model, rounded as it has them: of an ensemble
    /// those of the network of this number. Parameters of symbols that the model does not have stay.
    ///
    /// # Errors
    /// When the model is damaged, has no networks, or has networks with other layers.
    pub fn initialize(
        &self,
        number: u32,
        components: Components<'_>,
        network: &mut Neural,
    ) -> Result<()> {
        let Components { system, vocabulary, .. } = components;
        let own = Components { system: &*self.system, vocabulary: &self.vocabulary, ..components };
        let params = network_of(&self.learner)?;
        let (layout, parts) = params.networks(own, &self.sections)?;
        let part = &parts[(number as usize - 1).min(parts.len() - 1)];
        let params = Quantized::load(&layout.params, part)?.dequantize(&layout.params);
        let symbols = Renumbering {
            own: SymbolNames::new(system, vocabulary),
            other: SymbolNames::new(&*self.system, &self.vocabulary),
        };
        network.params.transfer(&params, &symbols)
    }

    /// The weights of a perceptron, for the classes of a system to which training has added actions.
    ///
    /// # Errors
    /// When the model is damaged, or there are too many classes.
    pub fn weights(
        &self,
        system: &dyn TransitionSystem,
        classes: &Classes,
        coarse_to_fine: bool,
    ) -> Result<InitialWeights> {
        check_classes(classes.len())?;
        let rows = &system.actions().rows()[..system.n_actions()];
        let class = |number| rows.iter().position(|own| own.number == number);
        let mut before: Vec<u16> = Vec::new();
        for row in &self.system.actions().rows()[..self.system.n_actions()] {
            let class = class(row.number);
            let class = class.ok_or_else(|| Error::corrupt("an action has another number"))?;
            before.push(class as u16);
        }
        before.extend(classes.idle());
        InitialWeights::load(&self.sections, &before, classes.len(), coarse_to_fine)
    }
}

/// Checks that training by a preset can continue from a model that was trained by another preset.
///
/// # Errors
/// With the first setting that differs.
pub(super) fn check(preset: &Preset, stored: &Preset) -> Result<()> {
    if stored.only_tagger {
        let problem = "the model that training continues from has no parser";
        return Err(Error::config("only_tagger", problem));
    }
    if preset.only_tagger {
        let problem =
            "a tagger alone is trained, and only parsers continue from a model: set it to false";
        return Err(Error::config("only_tagger", problem));
    }
    match (&preset.learner, &stored.learner) {
        (MethodChoice::Neural(own), MethodChoice::Neural(other)) => {
            check_networks((preset, own), (stored, other))
        }
        (own, other) => check_perceptrons((preset, own), (stored, other)),
    }
}

/// Checks that a perceptron can continue from a model.
///
/// # Errors
/// With the first setting that differs.
fn check_perceptrons(
    (preset, own): (&Preset, &MethodChoice),
    (stored, other): (&Preset, &MethodChoice),
) -> Result<()> {
    // The tables grow beyond the limit of the model, so another one could not hold either.
    let learner = |learner: &MethodChoice| {
        let settings = json(learner);
        let limit = &settings["prune"]["max_bytes"];
        serde_json::json!({
            "kind": settings["kind"],
            "coarse_to_fine": settings["coarse_to_fine"],
            "prune": { "max_bytes": limit },
        })
    };
    if !matches!(
        other,
        MethodChoice::Neural(_)
            | MethodChoice::OnlinePerceptron(_)
            | MethodChoice::StructuredPerceptron(_)
    ) {
        let problem = "the model that training continues from is no network and no perceptron trained online: give one \
                       whose learner.kind is neural, online-perceptron or structured-perceptron";
        return Err(Error::config("learner.kind", problem));
    }
    let settings = [
        ("learner", [learner(own), learner(other)]),
        ("system", [system(preset), system(stored)]),
        ("features", [json(&preset.features), json(&stored.features)]),
    ];
    same(&settings, IN_MODEL)
}

/// Checks that a network can continue from a model.
///
/// # Errors
/// With the first setting that differs.
fn check_networks(
    (preset, own): (&Preset, &NeuralParams),
    (stored, other): (&Preset, &NeuralParams),
) -> Result<()> {
    if ![1, own.models].contains(&other.models) {
        let problem = format!(
            "{}, but the model that training continues from has {} networks: set it to {}",
            own.models, other.models, other.models
        );
        return Err(Error::config("learner.models", problem));
    }
    let mut embeddings = own.pretrained.clone();
    if own.pretrained.is_empty() == other.pretrained.is_empty() {
        embeddings.clone_from(&other.pretrained);
    }
    let layers = json(&own.network.trained_as(&other.network));
    let settings = [
        ("system", [system(preset), system(stored)]),
        ("learner.network", [layers, json(&other.network)]),
        ("learner.pretrained", [json(&embeddings), json(&other.pretrained)]),
    ];
    same(&settings, IN_MODEL)
}

/// The settings of the transition system, without head rules.
pub(super) fn system(preset: &Preset) -> Value {
    let mut system = json(&preset.system);
    system.as_object_mut().map(|settings| settings.remove("heads"));
    system
}

/// Where a preset has the other settings, and what to do if they differ.
const IN_MODEL: &str = "in the model that training continues from: take the settings of the model";

/// Checks that settings are the same; if not, `advice` says where the other ones are, and what to do.
///
/// # Errors
/// With the first setting that differs.
pub(super) fn same(settings: &[(&str, [Value; 2])], advice: &str) -> Result<()> {
    for (key, [own, other]) in settings {
        if let Some((key, [own, other])) = difference(key, [own, other]) {
            let problem = format!("{}, but {} {advice}", text(own), text(other));
            return Err(Error::config(key, problem));
        }
    }
    Ok(())
}

/// The settings of the networks of a model.
///
/// # Errors
/// When it has none.
pub(super) fn network_of(learner: &MethodChoice) -> Result<&NeuralParams> {
    match learner {
        MethodChoice::Neural(params) => Ok(params),
        _ => Err(Error::config("learner.kind", "the model has no network: give one that has")),
    }
}

pub(super) fn json(settings: &impl serde::Serialize) -> Value {
    serde_json::to_value(settings).unwrap_or_default()
}

/// The first setting that differs, with both values; a kind comes before the settings of the kind.
fn difference<'a>(key: &str, [own, other]: [&'a Value; 2]) -> Option<(String, [&'a Value; 2])> {
    if own == other {
        return None;
    }
    let (Some(of_own), Some(of_other)) = (own.as_object(), other.as_object()) else {
        return Some((key.to_owned(), [own, other]));
    };
    let find = |name: &str| {
        let values = [of_own, of_other].map(|of| of.get(name).unwrap_or(&Value::Null));
        difference(&format!("{key}.{name}"), values)
    };
    find("kind").or_else(|| of_own.keys().chain(of_other.keys()).find_map(|name| find(name)))
}

/// A setting in a message.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "none".to_owned(),
        Value::Object(_) => "given".to_owned(),
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
