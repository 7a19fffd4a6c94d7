//! Training a model by a preset: cleaning, tagging, replay, and the preset's training method.

use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use compact_str::CompactString;
use rustc_hash::FxHasher;

use super::initial::{self, Initial};
use super::replay::{MAX_UNFIT, none_left, replay, usable};
use super::session::{Checkpoints, DevSet, Session, SilverTrees, words};
use super::tagging::Tagging;
use super::{Trained, merge, teacher, train};
use crate::encoder::Pretrained;
use crate::error::{Error, Result};
use crate::feature::Templates;
use crate::model::{Header, Model, file, vocabulary};
use crate::observer::{Event, Observer, Silent};
use crate::parser::stored_preset;
use crate::preset::plan::Plan;
use crate::preset::registry::Source;
use crate::preset::{About, MethodChoice, Preset, TaggerChoice};
use crate::scorer::Components;
use crate::scorer::factored::MAX_ACTIONS;
use crate::symbols::{UNKNOWN, Vocabulary};
use crate::text::{Segmenter, Tokenization};
use crate::transition::{Action, TransitionSystem};
use crate::tree::{Token, Tree, remove_tags};
use crate::treebank::Treebank;
use crate::treebank::embeddings::PretrainedEmbeddings;

/// Trains models.
///
/// ```
/// # fn main() -> srparse::Result<()> {
/// use srparse::{Preset, Trainer, Treebank};
///
/// let train = Treebank::open("data/sample/train.mrg")?;
/// let preset = Preset::load("fast", &["epochs=1".to_owned()])?;
/// let model = Trainer::with_preset(preset)?.seed(1).train(&train, &Treebank::default())?;
/// assert_eq!(model.header.training.trees, train.trees.len() as u64);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Trainer<'a> {
    pub(super) plan: Plan,
    pub(super) seed: u64,
    pub(super) observer: &'a dyn Observer,
    checkpoint: Option<PathBuf>,
    pub(super) labels: Vec<String>,
    pub(super) merge: Vec<Model>,
    pub(super) teachers: Vec<Model>,
    pub(super) initial: Option<Model>,
    silver: Option<(&'a Treebank, f64)>,
}

impl<'a> Trainer<'a> {
    /// A trainer by a built-in preset or a preset file.
    ///
    /// # Errors
    /// As [`Preset::load`] and [`Trainer::with_preset`].
    pub fn new(preset: &str) -> Result<Self> {
        Self::with_preset(Preset::load(preset, &[])?)
    }

    /// A trainer by a preset.
    ///
    /// # Errors
    /// When a file that it names cannot be read, or its parts do not fit together.
    pub fn with_preset(preset: Preset) -> Result<Self> {
        Ok(Self::of_plan(Plan::new(preset)?))
    }

    /// The preset of a model, to continue from it: the number of epochs of networks, which was chosen for other trees,
    /// depends on the number of trees again.
    ///
    /// # Errors
    /// When the model is damaged.
    pub fn preset_to_continue(model: &Model) -> Result<Preset> {
        let mut preset = stored_preset(model, &[])?;
        preset.learner.forget_epochs();
        Ok(preset)
    }

    /// A trainer by a preset that continues from a model: networks and perceptrons begin with the parameters of the model,
    /// rounded as it stores them, and know its words, tags, labels and actions besides those of the training trees. A pretrained
    /// encoder, pretrained embeddings and a tagger are those of the model, and so are head rules, templates, licence and sources
    /// unless the preset names others.
    ///
    /// # Errors
    /// As [`Trainer::with_preset`], and when the model has another learner, other layers, or other features.
    pub fn continuing(model: Model, mut preset: Preset) -> Result<Self> {
        let stored = stored_preset(&model, &[])?;
        initial::check(&preset, &stored)?;
        if model.header.tagger.is_some() && preset.tagger != TaggerChoice::None {
            preset.tagger.clone_from(&stored.tagger);
        }
        if preset.about == About::default() {
            preset.about.clone_from(&stored.about);
        }
        let files = |preset: &Preset| (preset.system.clone(), preset.features.clone());
        let plan = if files(&preset) == files(&stored) {
            Plan::stored(preset, &model.header.templates, &model.header.heads)?
        } else {
            Plan::new(preset)?
        };
        Ok(Self { initial: Some(model), ..Self::of_plan(plan) })
    }

    fn of_plan(plan: Plan) -> Self {
        Self {
            plan,
            seed: 1,
            observer: &Silent,
            checkpoint: None,
            labels: Vec::new(),
            merge: Vec::new(),
            teachers: Vec::new(),
            initial: None,
            silver: None,
        }
    }

    /// Sets the random seed; 1 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets the observer, which receives events and may stop training.
    #[must_use]
    pub fn observe(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// Stores finished parts of learners that have parts, and the state of perceptrons and networks after each epoch, in a
    /// folder: a later run with the same data, settings and seed resumes from there.
    #[must_use]
    pub fn checkpoint(self, folder: &Path) -> Self {
        Self { checkpoint: Some(folder.to_owned()), ..self }
    }

    /// Trains the classifiers of some labels only, for learners that have one for each label.
    #[must_use]
    pub fn labels(self, labels: Vec<String>) -> Self {
        Self { labels, ..self }
    }

    /// Takes over the classifiers of other labels, or the networks of other seeds, from models that were
    /// trained by the same preset on the same trees.
    #[must_use]
    pub fn merge(self, models: Vec<Model>) -> Self {
        Self { merge: models, ..self }
    }

    /// Sets the models whose probabilities of actions, averaged as in an ensemble, a network learns besides the gold
    /// trees, with the weight `learner.teacher_weight`.
    #[must_use]
    pub fn teachers(self, models: Vec<Model>) -> Self {
        Self { teachers: models, ..self }
    }

    /// Adds trees of another parser, each of which an epoch uses with the probability `share`.
    #[must_use]
    pub fn silver(self, trees: &'a Treebank, share: f64) -> Self {
        Self { silver: Some((trees, share)), ..self }
    }

    /// Whether training stores checkpoints ([`Trainer::checkpoint`]).
    pub fn has_checkpoints(&self) -> bool {
        self.plan.has_checkpoints()
    }

    /// The preset.
    pub fn preset(&self) -> &Preset {
        &self.plan.preset
    }

    /// Trains a model. With dev trees the best epoch is selected by their F1.
    ///
    /// # Errors
    /// When the learner does not have the parts that are asked for, no tree is usable, more than a tenth cannot be
    /// rebuilt by the transition system, the learner refuses the data, or training was stopped before anything was
    /// learned ([`Error::Stopped`]).
    pub fn train(&self, train: &Treebank, dev: &Treebank) -> Result<Model> {
        self.check_parts()?;
        let (train, dev) = (self.stripped(train, "training"), self.stripped(dev, "development"));
        let words = train.trees.iter().flat_map(Tree::tokens).map(|token| token.word.as_str());
        let mut trainer = self.clone();
        trainer.plan.preset.text = self.plan.preset.text.resolved(words);
        let mut model = trainer.train_stripped(&train, &dev)?;
        let preset = &trainer.plan.preset;
        if preset.text.tokenization == Tokenization::Learned {
            let tokens: Vec<&[Token]> = train.trees.iter().map(Tree::tokens).collect();
            let segmenter =
                Segmenter::train(&tokens, (preset.text, &preset.clean.attached), self.seed);
            segmenter.store(&mut model.sections);
        }
        Ok(model)
    }

    /// Trains the tagger, if there is one, or takes that of the initial model.
    fn tagging(&self, train: &Treebank, dev: &Treebank) -> Result<Option<Tagging>> {
        let initial = self.initial.as_ref().filter(|model| model.header.tagger.is_some());
        Ok(match (&self.plan.preset.tagger, initial) {
            (TaggerChoice::None, _) => None,
            (choice, Some(model)) => Some(Tagging::of_model(choice, model, self, train, dev)?),
            (choice, None) => Some(Tagging::new(choice, self, train, dev)?),
        })
    }

    fn train_stripped(&self, train: &Treebank, dev: &Treebank) -> Result<Model> {
        let plan = &self.plan;
        let initial = Initial::load(self)?;
        let pretrained = match (&initial, &plan.preset.learner) {
            (Some(initial), _) => initial.embeddings.clone(),
            (None, MethodChoice::Neural(params)) => params.read_pretrained()?,
            _ => None,
        };
        let mut tagging = self.tagging(train, dev)?;
        if plan.preset.only_tagger
            && let Some(tagging) = tagging
        {
            return tagging.model(self, train);
        }
        let predicted = tagging.as_mut().and_then(Tagging::take_trees);
        let dev_tokens = match &tagging {
            _ if plan.preset.learner.predicts_tags() => Some(untagged(dev)),
            tagging => predicted.as_ref().and(tagging.as_ref()).map(|tagging| tagging.tokens(dev)),
        };
        let trees = self.prepare(predicted.as_ref().unwrap_or(&train.trees));
        let (gold, silver) = (usable(&trees), self.silver_trees()?);
        let silver = usable(&silver);
        if gold.is_empty() {
            return Err(none_left("training", &plan.preset));
        }
        let minimum = plan.preset.clean.unknown_below.max(1);
        let all = gold.iter().chain(&silver);
        let known = initial.as_ref().map(|initial| initial.vocabulary.clone());
        let mut vocabulary =
            known.unwrap_or_default().with_sentences(all.map(|tree| tree.tokens()), minimum);
        if let Some(initial) = &initial {
            self.log(&initial.added(&vocabulary));
        }
        let embeddings = pretrained.map(|pretrained| self.add_words(pretrained, &mut vocabulary));
        let encoder = match &initial {
            Some(initial) => initial.encoder.clone(),
            None => self.read_encoder(gold.iter().chain(&silver).copied(), &mut vocabulary)?,
        };
        let run = Run {
            trainer: self,
            files: &train.files,
            dev,
            dev_tokens: dev_tokens.as_deref(),
            trees: &gold,
            silver: &silver,
            vocabulary: &vocabulary,
            embeddings: embeddings.as_ref(),
            encoder: encoder.as_ref(),
            initial: initial.as_ref(),
        };
        let source = match &self.initial {
            Some(model) => Source::Extended(&model.header.system, &gold),
            None => Source::Trees(&gold),
        };
        let system = plan.builder(source, &vocabulary).build()?;
        let mut model = run.train(&*system)?;
        if let Some(tagging) = tagging {
            tagging.store(&mut model)?;
        }
        Ok(model)
    }

    /// The trees of another parser, prepared as those of the treebank.
    ///
    /// # Errors
    /// When there are some, but the learner has no epochs.
    fn silver_trees(&self) -> Result<Vec<Tree>> {
        let Some((silver, _)) = self.silver else { return Ok(Vec::new()) };
        if !self.plan.preset.learner.has_epochs() {
            let problem = "an epoch uses a share of the silver trees, but this learner has no epochs: add them to \
                           the training trees";
            return Err(Error::config("silver", problem));
        }
        let trees = self.prepare(&self.stripped(silver, "silver").trees);
        if usable(&trees).is_empty() {
            return Err(none_left("silver", &self.plan.preset));
        }
        Ok(trees)
    }

    pub(super) fn log(&self, text: &str) {
        self.observer.event(Event::Milestone(text));
    }

    /// Adds the words of pretrained embeddings to the vocabulary; returns them with the number of word ids
    /// before.
    fn add_words(
        &self,
        pretrained: PretrainedEmbeddings,
        vocabulary: &mut Vocabulary,
    ) -> (PretrainedEmbeddings, usize) {
        let trained = vocabulary.sizes().words;
        let is_known = |word: &&CompactString| vocabulary.words().value(word) != UNKNOWN;
        let known = pretrained.words.iter().filter(is_known).count();
        self.log(&format!(
            "{} pretrained embeddings of dimension {}, {known} of them for the {} words of the training trees",
            pretrained.words.len(),
            pretrained.dim,
            vocabulary.words().len()
        ));
        vocabulary.add_words(pretrained.words.iter().map(CompactString::as_str));
        (pretrained, trained)
    }
}

/// The words of trees, without tags.
pub(super) fn untagged(set: &Treebank) -> Vec<Vec<Token>> {
    let mut all: Vec<Vec<Token>> = set.trees.iter().map(words).collect();
    all.iter_mut().for_each(|tokens| remove_tags(tokens));
    all
}

/// A training run, before its transition system is known.
struct Run<'a> {
    trainer: &'a Trainer<'a>,
    files: &'a [String],
    dev: &'a Treebank,
    /// The words of the dev trees with predicted tags, if the parser is trained on predicted tags; without tags, if it
    /// predicts them.
    dev_tokens: Option<&'a [Vec<Token>]>,
    trees: &'a [&'a Tree],
    silver: &'a [&'a Tree],
    vocabulary: &'a Vocabulary,
    embeddings: Option<&'a (PretrainedEmbeddings, usize)>,
    encoder: Option<&'a Arc<Pretrained>>,
    initial: Option<&'a Initial>,
}

impl Run<'_> {
    fn components<'a>(&'a self, system: &'a dyn TransitionSystem) -> Components<'a> {
        let templates: &Templates = &self.trainer.plan.templates;
        Components { system, templates, vocabulary: self.vocabulary }
    }

    fn train(&self, system: &dyn TransitionSystem) -> Result<Model> {
        let trainer = self.trainer;
        let Preset { clean, search, max_words, .. } = &trainer.plan.preset;
        let replay = |trees, most| replay(system, self.vocabulary, trees, most, trainer.observer);
        let mut replayed = replay(("training", self.trees), MAX_UNFIT)?;
        let (gold, mut share) = (replayed.examples.len(), 0.0);
        if let Some((_, of_silver)) = trainer.silver {
            share = of_silver;
            trainer.log("silver trees:");
            // Trees of another parser may have labels that the treebank does not have.
            replayed.append(replay(("silver", self.silver), 1.0)?);
        }
        let mut training = replayed.summary;
        training.files = self.files.to_vec();
        training.before =
            trainer.initial.as_ref().map(|model| Box::new(model.header.training.clone()));
        merge::check(trainer, system, &training, self.vocabulary)?;
        let teacher = teacher::load(trainer, system)?;
        let session = Session {
            components: self.components(system),
            examples: &replayed.examples,
            silver: SilverTrees { gold, share },
            dev: DevSet {
                files: &self.dev.files,
                trees: &self.dev.trees,
                tagged: self.dev_tokens,
                max_words: *max_words,
                cleaning: clean,
                search,
            },
            embeddings: self.embeddings,
            encoder: self.encoder,
            ranks_all_actions: search.illegal.ranks_all_actions(),
            labels: &trainer.labels,
            merge: &trainer.merge,
            teacher: teacher.as_ref(),
            initial: self.initial.map(|initial| &initial.model),
            seed: trainer.seed,
            observer: trainer.observer,
            checkpoints: self.checkpoints(system),
        };
        let n_actions = system.n_actions();
        if n_actions > MAX_ACTIONS {
            let problem = format!(
                "{n_actions} actions, but at most {MAX_ACTIONS} are supported: use fewer labels, or another system"
            );
            return Err(Error::config("system", problem));
        }
        let trained = train(&trainer.plan.preset.learner, &session)?;
        training.epoch = trained.epoch;
        training.labels.clone_from(&trained.labels);
        self.model(system, training, trained)
    }

    /// Where checkpoints are stored: parts of a fit depend on the learner, the features, the system and the
    /// seed.
    fn checkpoints(&self, system: &dyn TransitionSystem) -> Option<Checkpoints<'_>> {
        let (trainer, plan) = (self.trainer, &self.trainer.plan);
        let folder = trainer.checkpoint.as_deref()?;
        let learner = plan.preset.learner.uncalibrated();
        let settings = (learner, &plan.preset.features, system.stored());
        let settings = serde_json::to_string(&settings).unwrap_or_default();
        let texts = (plan.templates.text(), plan.heads_text());
        let version = (env!("CARGO_PKG_VERSION"), file::FORMAT_VERSION);
        let mut hasher = FxHasher::default();
        (settings, texts, trainer.seed, version).hash(&mut hasher);
        Some(Checkpoints { folder, fingerprint: hasher.finish() })
    }

    fn model(
        &self,
        system: &dyn TransitionSystem,
        training: crate::model::TrainingSummary,
        trained: Trained,
    ) -> Result<Model> {
        let plan = &self.trainer.plan;
        let mut preset = plan.preset.clone();
        if let (MethodChoice::Boosting(params), Some(threshold)) =
            (&mut preset.learner, trained.threshold)
        {
            params.threshold = threshold;
        }
        preset.learner.forget_folder();
        let n_actions = system.n_actions() as u32;
        let mut model = Model {
            header: Header {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                preset: serde_json::to_value(&preset).unwrap_or_default(),
                seed: self.trainer.seed,
                system: system.stored(),
                actions: match n_actions {
                    0 => system.labels().names().map(str::to_owned).collect(),
                    all => (0..all).map(|code| system.name(Action::new(code))).collect(),
                },
                templates: plan.templates.text().to_owned(),
                heads: plan.heads_text().to_owned(),
                training,
                dev: trained.dev,
                tagger: None,
            },
            ..Model::default()
        };
        vocabulary::store(self.vocabulary, &mut model.sections)?;
        model.sections.0.extend(trained.sections.0);
        Ok(model)
    }
}
