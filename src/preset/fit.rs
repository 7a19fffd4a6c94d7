//! Training by a plan: from trees to a model.

use std::hash::{Hash, Hasher};
use std::path::Path;

use compact_str::CompactString;
use rustc_hash::FxHasher;

use super::Preset;
use super::checkpoint::Folder;
use super::learner::LearnerChoice;
use super::load::pipeline;
use super::plan::Plan;
use super::registry::{Source, SystemVisitor, stored, with_system};
use super::tagger::{Tagging, words};
use crate::classifier::boosting::BoostingParams;
use crate::classifier::{Checkpoint, Classifier, Fit, Learner};
use crate::decode::{Parser, parser::Pipeline};
use crate::error::{Error, Result};
use crate::eval::{Params, evaluate};
use crate::feature::Extractor;
use crate::memory::Sections;
use crate::model::{DevScores, Header, Model, TrainingSummary, bincode_section, file};
use crate::observer::{EpochScores, Event, Observer};
use crate::oracle::Supervised;
use crate::oracle::replay::{Replay, check_replay};
use crate::parallel;
use crate::scorer::Scorer;
use crate::scorer::factored::{Classes, Factored};
use crate::scorer::neural::Neural;
use crate::symbols::{UNKNOWN, Vocabulary};
use crate::train::online::EpochReport;
use crate::train::{Example, batch};
use crate::tree::heads::Uncovered;
use crate::tree::{Token, Tree};
use crate::treebank::embeddings::PretrainedEmbeddings;
use crate::treebank::sentences::TRACE;

/// Trees as read, with the names of their files.
#[derive(Debug, Clone, Default)]
pub struct TreeSet {
    /// File names, without folders.
    pub files: Vec<String>,
    /// The trees.
    pub trees: Vec<Tree>,
}

/// The scores of an epoch, as it is reported.
pub(super) fn epoch_scores(
    report: EpochReport,
    model: u32,
    dev: Option<&DevScores>,
) -> EpochScores {
    let EpochReport { epoch, decisions, mistakes, .. } = report;
    let accuracy = 100.0 * (1.0 - mistakes as f64 / decisions.max(1) as f64);
    EpochScores { model, epoch, accuracy, f1: dev.map(|dev| dev.f1) }
}

/// How the caller takes part in training.
pub struct Watch<'a> {
    /// Receives events, and may stop training.
    pub observer: &'a dyn Observer,
    /// A folder for finished parts of learners that have parts, and for the state of networks after each
    /// epoch: a later run with the same data, settings and seed resumes from there.
    pub checkpoint: Option<&'a Path>,
    /// Which labels are trained, where each is by itself; all if there are none.
    pub labels: &'a [String],
    /// Models of other labels, trained by the same command: their part is taken from them.
    pub merge: &'a [Model],
}

impl<'a> Watch<'a> {
    /// Observes without stopping or storing anything.
    pub fn new(observer: &'a dyn Observer) -> Self {
        Self { observer, checkpoint: None, labels: &[], merge: &[] }
    }
}

/// The share of training trees that may be unfit before training refuses to start.
const MAX_UNFIT: f64 = 0.1;
/// How many unfit trees are named.
const NAMED_UNFIT: usize = 3;

/// Trains a model.
///
/// # Errors
/// When no tree is usable, too many do not fit the system, or the learner refuses the data.
pub fn fit(
    plan: &Plan,
    train: &TreeSet,
    dev: &TreeSet,
    seed: u64,
    watch: &Watch<'_>,
) -> Result<Model> {
    let vectors = match &plan.preset.learner {
        LearnerChoice::Neural(params) => params.read_vectors()?,
        _ => None,
    };
    let mut tagging = match &plan.preset.tagger {
        Some(choice) => Some(Tagging::new(choice, plan, train, dev, seed, watch)?),
        None => None,
    };
    if plan.preset.only_tagger
        && let Some(tagging) = tagging
    {
        return tagging.model(plan, train, seed);
    }
    let is_shared = !watch.labels.is_empty() || !watch.merge.is_empty();
    if is_shared && !plan.preset.learner.takes_candidates() {
        let problem = "this learner does not have one classifier per label: use a preset with learner.kind = \"boosting\"";
        return Err(Error::config("labels, merge", problem));
    }
    let predicted = tagging.as_mut().and_then(Tagging::take_trees);
    let dev_tokens = predicted.as_ref().and(tagging.as_ref()).map(|tagging| tagging.tokens(dev));
    let trees = prepare(plan, predicted.as_ref().unwrap_or(&train.trees), watch);
    let usable: Vec<&Tree> = trees.iter().filter(|tree| !tree.tokens().is_empty()).collect();
    if usable.is_empty() {
        return Err(Error::Unfit("no training tree has any words left after cleaning".into()));
    }
    let minimum = plan.preset.clean.unknown_below.max(1);
    let mut vocabulary = Vocabulary::of(usable.iter().map(|tree| tree.tokens()), minimum);
    let trained = vocabulary.sizes().words;
    if let Some(vectors) = &vectors {
        let known = vectors.words.iter().filter(|word| vocabulary.words().value(word) != UNKNOWN);
        let known = known.count();
        watch.observer.event(Event::Milestone(&format!(
            "{} vectors of {} numbers, {known} of them for the {} words that the training trees have",
            vectors.words.len(),
            vectors.dim,
            vocabulary.words().len()
        )));
        vocabulary.add_words(vectors.words.iter().map(CompactString::as_str));
    }
    let vectors = vectors.map(|vectors| (vectors, trained));
    let known = vocabulary.clone();
    let run =
        Run { plan, train, dev, dev_tokens, trees: &usable, vocabulary, vectors, seed, watch };
    let mut model = with_system(plan.making(Source::Trees(&usable), &known), run)?;
    if let Some(tagging) = tagging {
        tagging.store(&mut model)?;
    }
    Ok(model)
}

/// Cleans the trees and marks heads; trees over the length limit are left out.
fn prepare(plan: &Plan, trees: &[Tree], watch: &Watch<'_>) -> Vec<Tree> {
    let max_words = plan.preset.max_words;
    let short: Vec<&Tree> = trees.iter().filter(|tree| is_short(tree, max_words)).collect();
    if short.len() < trees.len() {
        let left_out = trees.len() - short.len();
        watch.observer.event(Event::Note(&format!(
            "left out {left_out} trees of more than {max_words} words"
        )));
    }
    let marked: Vec<(Tree, Option<Uncovered>)> =
        parallel::map(&short, |tree| plan.cleaned((*tree).clone()));
    let mut uncovered = Uncovered::default();
    let trees = marked.into_iter().map(|(tree, without_rule)| {
        uncovered.merge(&without_rule.unwrap_or_default());
        tree
    });
    let trees = trees.collect();
    if !uncovered.is_empty() {
        let note = format!(
            "no head rule for {uncovered}: taking the outermost child that is not punctuation"
        );
        watch.observer.event(Event::Note(&note));
    }
    trees
}

/// Whether a tree has no more words than a limit, traces not counted; 0 is no limit.
fn is_short(tree: &Tree, max_words: u32) -> bool {
    let words = || tree.tokens().iter().filter(|token| token.tag != TRACE).count();
    max_words == 0 || words() <= max_words as usize
}

/// A training run, waiting for its system.
pub(super) struct Run<'a, 'w> {
    pub(super) plan: &'a Plan,
    train: &'a TreeSet,
    pub(super) dev: &'a TreeSet,
    /// The words of the development trees with predicted tags, if the parser is trained on such.
    dev_tokens: Option<Vec<Vec<Token>>>,
    trees: &'a [&'a Tree],
    pub(super) vocabulary: Vocabulary,
    /// Vectors of words that were learned elsewhere, and how many values of words there were before theirs.
    pub(super) vectors: Option<(PretrainedEmbeddings, usize)>,
    pub(super) seed: u64,
    pub(super) watch: &'a Watch<'w>,
}

/// What training ends with.
pub(super) struct Trained<P = Factored> {
    pub(super) scorer: P,
    pub(super) epoch: u32,
    pub(super) dev: Option<DevScores>,
}

/// What a model stores of it.
struct Stored {
    sections: Sections,
    learner: LearnerChoice,
    epoch: u32,
    dev: Option<DevScores>,
}

impl SystemVisitor for Run<'_, '_> {
    type Output = Model;

    fn visit<S: Supervised>(mut self, system: S) -> Result<Model> {
        let (examples, mut summary) = self.examples(&system)?;
        let mut inventory = Vec::new();
        system.inventory(&system.start(&crate::symbols::Sentence::default()), &mut inventory);
        let classes = Classes::of(&inventory);
        let learner = &self.plan.preset.learner;
        let trained = match learner {
            LearnerChoice::OnlinePerceptron(params) => {
                self.online(&system, &examples, &classes, *params)?.stored(learner, store)
            }
            LearnerChoice::StructuredPerceptron(params) => {
                self.structured(&system, &examples, classes, *params)?.stored(learner, store)
            }
            LearnerChoice::Neural(params) => {
                self.neural(&system, &examples, params)?.stored(learner, Neural::store)
            }
            LearnerChoice::Boosting(params) => {
                let (trained, threshold) = self.boosting(&system, &examples, params, &summary)?;
                summary.labels = self.labels_trained(&system);
                let params = BoostingParams { threshold, ..params.clone() };
                trained.stored(&LearnerChoice::Boosting(params), |scorer, sections| {
                    scorer.classifier().store(sections);
                })
            }
            choice => {
                let learned = choice.learner(&self.plan.parts(&inventory))?;
                self.batch(&system, &examples, classes, &*learned)?.stored(learner, store)
            }
        };
        let preset = Preset { learner: trained.learner, ..self.plan.preset.clone() };
        summary.epoch = trained.epoch;
        let mut model = Model {
            header: Header {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                preset: serde_json::to_value(&preset).unwrap_or_default(),
                seed: self.seed,
                system: stored(&system),
                actions: match &inventory[..] {
                    [] => system.labels().map(str::to_owned).collect(),
                    all => all.iter().map(|&action| system.name(action)).collect(),
                },
                templates: self.plan.templates.text().to_owned(),
                heads: self.plan.heads_text().to_owned(),
                training: summary,
                dev: trained.dev,
                tagger: None,
            },
            ..Model::default()
        };
        bincode_section::put(&mut model.sections, "vocabulary", &self.vocabulary)?;
        model.sections.0.extend(trained.sections.0);
        Ok(model)
    }
}

impl<P> Trained<P> {
    fn stored(self, learner: &LearnerChoice, store: impl FnOnce(&P, &mut Sections)) -> Stored {
        let mut sections = Sections::default();
        store(&self.scorer, &mut sections);
        Stored { sections, learner: learner.clone(), epoch: self.epoch, dev: self.dev }
    }
}

fn store(scorer: &Factored, sections: &mut Sections) {
    scorer.classifier().store(sections);
}

impl Run<'_, '_> {
    pub(super) fn tell(&self, text: &str) {
        self.watch.observer.event(Event::Milestone(text));
    }

    /// Replays every tree and keeps those that come back.
    fn examples<S: Supervised>(&mut self, system: &S) -> Result<(Vec<Example>, TrainingSummary)> {
        let replayed: Vec<Result<_>> = parallel::map(self.trees, |tree| {
            let sentence = self.vocabulary.encode(tree.tokens());
            let n = check_replay(system, &sentence, tree)?;
            let left_out = tree.nodes().len() - system.target(tree).nodes().len();
            Ok((Example { sentence, tree: (*tree).clone() }, n, left_out))
        });
        let mut summary =
            TrainingSummary { files: self.train.files.clone(), ..TrainingSummary::default() };
        let mut examples = Vec::with_capacity(replayed.len());
        let (mut nodes, mut dropped) = (0, 0);
        for (result, number) in replayed.into_iter().zip(1..) {
            match result {
                Ok((example, n, left_out)) => {
                    nodes += example.tree.nodes().len();
                    dropped += left_out;
                    summary.words += example.sentence.len() as u64;
                    summary.decisions += n as u64;
                    examples.push(example);
                }
                Err(error) => summary.skipped.push(format!("tree {number}: {error}")),
            }
        }
        summary.trees = examples.len() as u64;
        let unfit = summary.skipped.len();
        let facts: Vec<String> =
            system.facts().into_iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let (trees, decisions) = (summary.trees, summary.decisions);
        self.tell(&format!(
            "replayed {trees} trees ({decisions} actions), {unfit} did not come back; {}",
            facts.join(", ")
        ));
        if dropped > 0 {
            let share = 100.0 * dropped as f64 / nodes as f64;
            self.tell(&format!(
                "the limits of the system leave out {dropped} of {nodes} nodes ({share:.2} %); their children pass \
                 to their parents"
            ));
        }
        let named: Vec<String> = summary.skipped.iter().take(NAMED_UNFIT).cloned().collect();
        for skipped in &named {
            self.watch.observer.event(Event::Note(skipped));
        }
        if unfit as f64 > MAX_UNFIT * self.trees.len() as f64 {
            let problem = format!(
                "{unfit} of {} trees do not fit the system: {}",
                self.trees.len(),
                named.join("; ")
            );
            return Err(Error::Unfit(problem));
        }
        summary.skipped.truncate(100);
        Ok((examples, summary))
    }

    /// The folder for the parts of a fit of this learner, for this system, to what `data` tells from others.
    pub(super) fn checkpoint<S: Supervised>(
        &self,
        system: &S,
        learner: &LearnerChoice,
        data: impl FnOnce() -> u64,
    ) -> Result<Option<Folder>> {
        let Some(folder) = self.watch.checkpoint else { return Ok(None) };
        let mut hasher = FxHasher::default();
        let settings = (learner, &self.plan.preset.features, stored(system));
        let settings = serde_json::to_string(&settings).unwrap_or_default();
        let texts = (self.plan.templates.text(), self.plan.heads_text());
        let version = (env!("CARGO_PKG_VERSION"), file::FORMAT_VERSION);
        (settings, texts, self.seed, data(), version).hash(&mut hasher);
        Folder::new(folder, hasher.finish()).map(Some)
    }

    fn batch<S: Supervised>(
        &mut self,
        system: &S,
        examples: &[Example],
        classes: Classes,
        learner: &dyn Learner,
    ) -> Result<Trained> {
        let templates = &self.plan.templates;
        let forced = self.plan.preset.search.illegal == crate::decode::Illegal::Fail;
        let instances = batch::collect(system, &Replay, examples, templates, &classes, forced)?;
        self.tell(&format!(
            "{} instances of {} columns",
            instances.len(),
            instances.columns().len()
        ));
        let checkpoint =
            self.checkpoint(system, &self.plan.preset.learner, || instances.fingerprint())?;
        let fit = Fit {
            seed: self.seed,
            observer: self.watch.observer,
            checkpoint: checkpoint.as_ref().map(|folder| folder as &dyn Checkpoint),
        };
        let classifier = learner.fit(&instances, &fit)?;
        let scorer = Factored::new(Extractor::new(templates), classes, classifier);
        let (scorer, dev) = self.score_dev(system, scorer);
        if let Some(dev) = &dev {
            self.tell(&dev_line(dev));
        }
        Ok(Trained { scorer, epoch: 0, dev })
    }

    /// Parses the development trees; gives the scorer back.
    pub(super) fn score_dev<S: Supervised, P: Scorer<S>>(
        &self,
        system: &S,
        scorer: P,
    ) -> (P, Option<DevScores>) {
        if self.dev.trees.is_empty() {
            return (scorer, None);
        }
        let parser = pipeline(self.plan, self.vocabulary.clone(), system, scorer);
        let (max_words, dev_tokens) = (self.plan.preset.max_words, self.dev_tokens.as_deref());
        let all = (0..self.dev.trees.len()).filter(|&at| is_short(&self.dev.trees[at], max_words));
        let (dev, short) = (&self.dev.trees, all.collect::<Vec<_>>());
        let parse = |worker: &mut Box<dyn crate::decode::Worker + '_>, at: usize| {
            let gold = words(&dev[at]);
            let predicted = dev_tokens.and_then(|tokens| tokens.get(at));
            let mut tree = worker.parse(predicted.unwrap_or(&gold)).tree;
            // Tags decide what is punctuation, which is not scored: let it be the same in both trees.
            tree.tokens_mut().clone_from_slice(&gold);
            tree
        };
        let parsed: Vec<Tree> =
            parallel::map_init(&short, || parser.worker(), |worker, &at| parse(worker, at));
        let gold = short.iter().map(|&at| &dev[at]);
        let evaluation = evaluate(gold.zip(&parsed), &Params::default());
        let Pipeline { scorer, .. } = parser;
        let all = &evaluation.all;
        let (f1, exact) = (all.f1(), all.exact());
        (scorer, Some(DevScores { files: self.dev.files.clone(), f1, exact }))
    }
}

pub(super) fn dev_line(dev: &DevScores) -> String {
    format!("dev F1 {:.2}, exact {:.2}", dev.f1, dev.exact)
}
