//! Averaging networks that were trained further from the same one: the average is often better than each of them, and
//! as fast and as small as one (Wortsman et al. 2022, "Model soups").

use super::initial::{InitialModel, json, network_of, same, system};
use super::session::DevSet;
use super::trainer::untagged;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{DevScores, Model, TrainingSummary, vocabulary};
use crate::neural::{Params, Quantized};
use crate::parser::{Parser, stored_preset};
use crate::preset::plan::Plan;
use crate::preset::{About, Preset};
use crate::scorer::Components;
use crate::scorer::neural::{Neural, NeuralParams};
use crate::treebank::Treebank;

/// The average of networks, or of ensembles, network by network. The first model gives everything but the parameters:
/// settings, labels, actions, words and tags. What only other models know is left out; for what one of them does not
/// know, the first counts in its place.
pub struct Mean {
    model: Model,
    plan: Plan,
    first: InitialModel,
    /// The networks of the first model.
    begin: Vec<Neural>,
    means: Vec<Params>,
    models: u32,
}

impl Mean {
    /// Begins with the first model.
    ///
    /// # Errors
    /// When it has no network, or is damaged.
    pub fn of(model: Model) -> Result<Self> {
        let (plan, first) = parts(&model)?;
        let params = network_of(&first.learner)?;
        let InitialModel { system, vocabulary, sections, .. } = &first;
        let components = Components { system: &**system, templates: &plan.templates, vocabulary };
        let (empty, networks) = params.networks(components, sections)?;
        if networks.len() != params.models as usize {
            return Err(Error::corrupt("a network of the ensemble is missing"));
        }
        let load = |sections: &Sections| {
            let params = Quantized::load(&empty.params, sections)?.dequantize(&empty.params);
            Ok(Neural { params, ..empty.clone() })
        };
        let begin = networks.iter().map(load).collect::<Result<Vec<_>>>()?;
        let means = begin.iter().map(|network| network.params.clone()).collect();
        Ok(Self { model, plan, first, begin, means, models: 1 })
    }

    /// Adds a model, with the weight of each one before it.
    ///
    /// # Errors
    /// When it has no network, is damaged, or has other layers, pieces of words or another transition system than the
    /// first.
    pub fn add(&mut self, model: &Model) -> Result<()> {
        let (plan, part) = parts(model)?;
        self.check(&plan.preset, &part)?;
        self.check_origin(model)?;
        self.models += 1;
        let InitialModel { system, vocabulary, .. } = &self.first;
        let templates = &self.plan.templates;
        let components = Components { system: &**system, templates, vocabulary };
        for ((begin, mean), number) in self.begin.iter().zip(&mut self.means).zip(1..) {
            let mut network = begin.clone();
            part.initialize(number, components, &mut network)?;
            mean.move_towards(&network.params, 1.0 / self.models as f32);
        }
        self.describe(plan.preset.about, model);
        Ok(())
    }

    /// Checks that a model can be averaged with the first.
    fn check(&self, preset: &Preset, part: &InitialModel) -> Result<()> {
        let (own, its) = (network_of(&self.first.learner)?, network_of(&part.learner)?);
        let layers = json(&its.network.trained_as(&own.network));
        let settings = [
            ("system", [system(preset), system(&self.plan.preset)]),
            ("learner.network", [layers, json(&own.network)]),
            ("learner.models", [json(&its.models), json(&own.models)]),
            ("learner.pretrained", [json(&its.pretrained), json(&own.pretrained)]),
        ];
        let advice = "in the first model: give models that were trained further from the same one";
        same(&settings, advice)?;
        let pieces = |part: &InitialModel| part.vocabulary.pieces().map(|pieces| pieces.to_bytes());
        if pieces(part) != pieces(&self.first) {
            let problem = "its pieces of words are not those of the first model: give models that were trained \
                           further from the same one";
            return Err(Error::config("learner.network.encoder", problem));
        }
        Ok(())
    }

    /// Checks that a model and the first continue from one model, as far as their headers tell: units of unrelated
    /// networks do not correspond.
    fn check_origin(&self, model: &Model) -> Result<()> {
        let same = |own: &TrainingSummary, its: &TrainingSummary| {
            own.files == its.files && own.counts() == its.counts()
        };
        let (own, its) = (&self.model.header, &model.header);
        let mut pairs = own.training.history().enumerate().flat_map(|(step, own)| {
            its.training.history().enumerate().map(move |(other, its)| (step + other, own, its))
        });
        // Networks of the same trees that begin at random differ by their seeds.
        if pairs.any(|(steps, one, other)| same(one, other) && (steps > 0 || own.seed == its.seed))
        {
            return Ok(());
        }
        let problem = "it was not trained further from the same model as the first (`srparse train --init`), and only \
                       such models have a useful average";
        Err(Error::config("models", problem))
    }

    /// Adds the training data, licence and sources of a model to those of the average.
    fn describe(&mut self, about: About, model: &Model) {
        let own = &mut self.plan.preset.about;
        let mut licences: Vec<&str> = own.licence.split("; ").collect();
        licences.extend(about.licence.split("; "));
        let mut all = Vec::new();
        for licence in licences.into_iter().filter(|licence| !licence.is_empty()) {
            if !all.contains(&licence) {
                all.push(licence);
            }
        }
        own.licence = all.join("; ");
        for source in about.sources {
            if !own.sources.contains(&source) {
                own.sources.push(source);
            }
        }
        let mut training = TrainingSummary { before: None, ..model.header.training.clone() };
        let others = std::mem::take(&mut training.mean_with);
        let averaged = &mut self.model.header.training.mean_with;
        averaged.push(training);
        averaged.extend(others);
    }

    /// The average as a model, with its scores on the development trees, if there are any.
    ///
    /// # Errors
    /// When parameters are too large to be averaged, or a tagger is damaged.
    pub fn finish(mut self, dev: &Treebank) -> Result<Model> {
        for (mean, number) in self.means.iter().zip(1..) {
            if mean.is_broken() {
                return Err(Error::corrupt("its weights are not numbers"));
            }
            let mut rounded = Sections::default();
            Quantized::new(mean).store(&mut rounded);
            let part = (self.means.len() > 1).then(|| NeuralParams::part(number) + "/");
            replace(&mut self.model.sections, &part.unwrap_or_default(), rounded)?;
        }
        self.model.path.clear();
        let header = &mut self.model.header;
        header.preset = json(&self.plan.preset);
        env!("CARGO_PKG_VERSION").clone_into(&mut header.tool_version);
        self.model.header.dev = score(&self.model, dev)?;
        Ok(self.model)
    }
}

/// The plan and the parts of a model.
fn parts(model: &Model) -> Result<(Plan, InitialModel)> {
    let preset = stored_preset(model, &[])?;
    if preset.only_tagger {
        return Err(Error::config(
            "only_tagger",
            "the model has no parser: give models with networks",
        ));
    }
    let learner = preset.learner.clone();
    network_of(&learner)?;
    let plan = Plan::stored(preset, &model.header.templates, &model.header.heads)?;
    let part = InitialModel::new(model, &plan, learner, vocabulary::load(&model.sections)?)?;
    Ok((plan, part))
}

/// Replaces the arrays of a component.
///
/// # Errors
/// When the model does not have them.
fn replace(sections: &mut Sections, prefix: &str, new: Sections) -> Result<()> {
    for section in new.0 {
        let name = format!("{prefix}{}", section.name);
        let Some(old) = sections.0.iter_mut().find(|old| old.name == name) else {
            return Err(Error::corrupt("a network is missing"));
        };
        old.bytes = section.bytes;
    }
    Ok(())
}

/// The scores of a model on development trees, parsed with tags as in training.
fn score(model: &Model, dev: &Treebank) -> Result<Option<DevScores>> {
    if dev.trees.is_empty() {
        return Ok(None);
    }
    let parser = Parser::new(model, &[])?;
    let preset = parser.preset();
    let dev = dev.stripped(&preset.clean);
    let is_tagged = preset.jackknife > 0;
    let mut tagged = (is_tagged || preset.learner.predicts_tags()).then(|| untagged(&dev));
    if is_tagged {
        let mut worker = parser.worker();
        tagged.iter_mut().flatten().try_for_each(|tokens| worker.tag(tokens))?;
    }
    let set = DevSet {
        files: &dev.files,
        trees: &dev.trees,
        tagged: tagged.as_deref(),
        max_words: preset.max_words,
        cleaning: &preset.clean,
        search: &preset.search,
    };
    let Parser { plan, system, vocabulary, scorer, .. } = &parser;
    let components = Components { system: &**system, templates: &plan.templates, vocabulary };
    Ok(set.score(components, &**scorer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Trainer;

    const SMALL: &str = "learner.network={ kind = \"positions\", untagged = 0.6, hidden_dim = 8, encoder = { word_dim = 8, \
                         lstm_dim = 8 } }";

    fn some(trees: std::ops::Range<usize>) -> Treebank {
        let treebank = Treebank::open("data/sample/train.mrg").unwrap();
        Treebank { trees: treebank.trees[trees].to_vec(), ..treebank }
    }

    fn train(settings: &[&str], seed: u64, trees: std::ops::Range<usize>) -> Model {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        let preset = Preset::load("accurate", &settings).unwrap();
        let trainer = Trainer::with_preset(preset).unwrap();
        trainer.seed(seed).train(&some(trees), &Treebank::default()).unwrap()
    }

    /// Trains so much further that parameters change by more than rounding does.
    fn further(model: &Model, seed: u64, trees: std::ops::Range<usize>) -> Model {
        let fast = ["learner.epochs=20", "learner.optimizer.rate=0.2"].map(str::to_owned);
        let preset = stored_preset(model, &[]).unwrap().changed(None, &fast).unwrap();
        let trainer = Trainer::continuing(model.clone(), preset).unwrap();
        trainer.seed(seed).train(&some(trees), &Treebank::default()).unwrap()
    }

    fn average(models: &[Model]) -> Result<Model> {
        let mut mean = Mean::of(models[0].clone())?;
        models[1..].iter().try_for_each(|model| mean.add(model))?;
        mean.finish(&Treebank::default())
    }

    /// The parameters of the networks.
    fn values(model: &Model) -> Vec<f32> {
        let mean = Mean::of(model.clone()).unwrap();
        mean.means.iter().flat_map(Params::values).copied().collect()
    }

    #[test]
    fn parameters_are_averaged_but_for_rounding() {
        for models in ["learner.models=1", "learner.models=2"] {
            let settings = ["learner.epochs=1", SMALL, models];
            let begin = train(&settings, 1, 0..20);
            let models = [1, 2, 3].map(|seed| further(&begin, seed, 0..20));
            let mean = average(&models).unwrap();
            let [first, second, third] = models.each_ref().map(values);
            let (mut rounding, mut distance) = (0.0, 0.0);
            for (at, mean) in values(&mean).into_iter().enumerate() {
                rounding += ((first[at] + second[at] + third[at]) / 3.0 - mean).abs();
                distance += (first[at] - mean).abs();
            }
            assert!(distance > 10.0 * rounding, "{rounding}, {distance}");
            assert_eq!(mean.header.training.mean_with.len(), 2);
        }
    }

    /// Each model has words that the other does not have; the average has those of the first.
    #[test]
    fn words_are_those_of_the_first() {
        let settings = ["learner.epochs=1", SMALL];
        let begin = train(&settings, 1, 0..20);
        let [one, other] = [20..40, 40..60].map(|trees| further(&begin, 1, trees));
        let mean = average(&[one.clone(), other]).unwrap();
        let [own, averaged] = [&one, &mean].map(|model| vocabulary::load(&model.sections).unwrap());
        assert!(own.words().names().eq(averaged.words().names()));
        assert_ne!(values(&one), values(&mean));
    }

    #[test]
    fn models_that_do_not_fit_are_refused() {
        let network = train(&["learner.epochs=1", SMALL], 1, 0..20);
        let larger = SMALL.replace("hidden_dim = 8", "hidden_dim = 9");
        let larger = train(&["learner.epochs=1", &larger], 1, 0..20);
        let error = average(&[network.clone(), larger]).unwrap_err().to_string();
        let expected = "learner.network.hidden_dim: 9, but 8 in the first model";
        assert!(error.starts_with(expected), "{error}");
        let mut damaged = network.clone();
        damaged.sections.0.retain(|section| section.name != "neural.bytes");
        let error = average(&[network.clone(), damaged]).unwrap_err().to_string();
        assert!(error.contains("section `neural.bytes` is missing"), "{error}");
        average(&[network.clone(), network.clone()]).unwrap();
        for (seed, trees) in [(2, 0..20), (1, 20..40)] {
            let unrelated = train(&["learner.epochs=1", SMALL], seed, trees);
            let error = average(&[network.clone(), unrelated]).unwrap_err().to_string();
            assert!(error.contains("not trained further from the same model"), "{error}");
        }
    }
}
