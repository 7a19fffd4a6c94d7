//! The inputs of all training methods.

use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use rand::{Rng, RngExt};
use rustc_hash::FxHasher;

use super::checkpoint::{Folder, fingerprint, hash_nodes};
use super::initial::InitialModel;
use super::teacher::Teacher;
use crate::Result;
use crate::classifier::{Checkpoint, Fit};
use crate::decode::Search;
use crate::encoder::Pretrained;
use crate::eval::{Evaluation, Params};
use crate::model::{DevScores, Model};
use crate::observer::{Event, Observer};
use crate::oracle::Example;
use crate::parallel;
use crate::parser::Worker;
use crate::scorer::factored::Classes;
use crate::scorer::perceptron::InitialWeights;
use crate::scorer::{Components, Scorer};
use crate::transition::TransitionSystem;
use crate::tree::{TRACE, Token, Tree};
use crate::treebank::Cleaning;
use crate::treebank::embeddings::PretrainedEmbeddings;

/// The trees of another parser among the training trees: the last ones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SilverTrees {
    /// The number of the trees before them.
    pub gold: usize,
    /// The probability that an epoch uses one of them.
    pub share: f64,
}

/// A training run.
pub struct Session<'a> {
    /// The tables that the scorer is built on.
    pub components: Components<'a>,
    /// The training trees, which the system can rebuild.
    pub examples: &'a [Example],
    /// Which of them are silver trees.
    pub silver: SilverTrees,
    /// The dev set.
    pub dev: DevSet<'a>,
    /// Pretrained embeddings, and the number of word ids before theirs were added.
    pub embeddings: Option<&'a (PretrainedEmbeddings, usize)>,
    /// The pretrained encoder, if there is one.
    pub encoder: Option<&'a Arc<Pretrained>>,
    /// Whether all actions of the inventory compete, legal or not.
    pub ranks_all_actions: bool,
    /// The labels whose classifiers are trained, for learners that have one for each label; all if empty.
    pub labels: &'a [String],
    /// Models that other parts of the same training have made.
    pub merge: &'a [Model],
    /// The model that networks learn from.
    pub teacher: Option<&'a Teacher>,
    /// The model whose parameters training begins with.
    pub initial: Option<&'a InitialModel>,
    /// The seed of everything random.
    pub seed: u64,
    /// Receives events, and may stop training.
    pub observer: &'a dyn Observer,
    /// Where parts are stored, so that training can be resumed.
    pub checkpoints: Option<Checkpoints<'a>>,
}

/// Where checkpoints are stored, and what they depend on.
#[derive(Debug, Clone, Copy)]
pub struct Checkpoints<'a> {
    /// The folder.
    pub folder: &'a Path,
    /// A hash of the settings, the system and the seed.
    pub fingerprint: u64,
}

impl Session<'_> {
    /// Logs a result.
    pub fn log(&self, text: &str) {
        self.observer.event(Event::Milestone(text));
    }

    /// Logs the scores on the dev set, if there are any; `before` stands in front of them.
    pub fn log_dev(&self, before: &str, dev: Option<&DevScores>) {
        if let Some(dev) = dev {
            self.log(&format!("{before}{}", dev_line(dev)));
        }
    }

    /// The needs of a learner besides the instances; finished components are stored in the checkpoint.
    pub fn fit<'f>(&'f self, checkpoint: Option<&'f Folder<'_>>) -> Fit<'f> {
        let checkpoint = checkpoint.map(|folder| folder as &dyn Checkpoint);
        Fit { seed: self.seed, observer: self.observer, checkpoint }
    }

    /// The checkpoint for the parts of this run, if there are checkpoints; `data` hashes what it depends on
    /// besides the settings.
    ///
    /// # Errors
    /// When the folder cannot be created.
    pub fn checkpoint(&self, data: impl FnOnce() -> u64) -> Result<Option<Folder<'_>>> {
        let Some(Checkpoints { folder, fingerprint }) = self.checkpoints else { return Ok(None) };
        let mut hasher = FxHasher::default();
        (fingerprint, data()).hash(&mut hasher);
        Folder::new(folder, hasher.finish(), self.observer).map(Some)
    }

    /// The trees of an epoch, by their numbers in an order: all but some of the silver ones.
    pub fn epoch(&self, order: &[usize], rng: &mut impl Rng) -> Vec<usize> {
        let SilverTrees { gold, share } = self.silver;
        order.iter().copied().filter(|&at| at < gold || rng.random_bool(share)).collect()
    }

    /// The expected number of trees in so many epochs.
    pub fn trees_in(&self, epochs: u64) -> u64 {
        let SilverTrees { gold, share } = self.silver;
        let silver = (self.examples.len() - gold) as f64;
        epochs * gold as u64 + (epochs as f64 * share * silver).round() as u64
    }

    /// The weights that perceptrons of these classes continue from, if there is an initial model.
    ///
    /// # Errors
    /// When the model is damaged, or there are too many classes.
    pub fn initial_weights(
        &self,
        classes: &Classes,
        coarse_to_fine: bool,
    ) -> Result<Option<InitialWeights>> {
        let system = self.components.system;
        self.initial.map(|model| model.weights(system, classes, coarse_to_fine)).transpose()
    }

    /// A hash of the training trees.
    pub fn examples_fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        let SilverTrees { gold, share } = self.silver;
        let silver = (gold < self.examples.len()).then(|| (gold, share.to_bits()));
        (fingerprint(self.examples), silver).hash(&mut hasher);
        hasher.finish()
    }

    /// A hash of the seed and the data that training and the selection of an epoch depend on.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = FxHasher::default();
        let dev = &self.dev;
        let parsing = serde_json::to_string(&(dev.cleaning, dev.max_words, dev.search));
        (parsing.unwrap_or_default(), self.seed, self.examples_fingerprint()).hash(&mut hasher);
        dev.hash_into(&mut hasher);
        self.teacher.map(|teacher| teacher.fingerprint).hash(&mut hasher);
        if let Some((vectors, _)) = self.embeddings {
            (&vectors.words, vectors.dim).hash(&mut hasher);
            vectors.values.iter().for_each(|value| value.to_bits().hash(&mut hasher));
        }
        if let Some(initial) = self.initial {
            initial.fingerprint.hash(&mut hasher);
        }
        if let Some(encoder) = self.encoder {
            encoder.hash_into(&mut hasher);
        }
        hasher.finish()
    }

    /// Parses the dev set and scores it; `None` without one.
    pub fn score_dev(&self, scorer: &dyn Scorer) -> Option<DevScores> {
        self.dev.score(self.components, scorer)
    }
}

/// The dev set, by which models are selected.
#[derive(Debug, Clone, Copy)]
pub struct DevSet<'a> {
    /// The names of the files.
    pub files: &'a [String],
    /// The trees, as read.
    pub trees: &'a [Tree],
    /// Their words with predicted tags, if the parser is trained on predicted tags; without tags, if it predicts them.
    pub tagged: Option<&'a [Vec<Token>]>,
    /// Trees with more words are left out; 0 for no limit.
    pub max_words: u32,
    /// How input is cleaned.
    pub cleaning: &'a Cleaning,
    /// How it is parsed.
    pub search: &'a Search,
}

impl DevSet<'_> {
    /// Whether there are no trees.
    pub fn is_empty(&self) -> bool {
        self.trees.is_empty()
    }

    /// Parses the trees and scores them; `None` without any.
    pub(super) fn score(
        &self,
        components: Components<'_>,
        scorer: &dyn Scorer,
    ) -> Option<DevScores> {
        if self.is_empty() {
            return None;
        }
        let Components { system, vocabulary, .. } = components;
        let short: Vec<usize> =
            (0..self.trees.len()).filter(|&at| is_short(&self.trees[at], self.max_words)).collect();
        let worker =
            || Worker::new(self.cleaning, vocabulary, system, scorer.reading(), self.search);
        let parse = |worker: &mut Worker<'_>, &at: &usize| {
            let gold = words(&self.trees[at]);
            let tagged = self.tagged.and_then(|tokens| tokens.get(at));
            let mut tree = worker.parse(tagged.unwrap_or(&gold)).tree;
            // Tags decide what is punctuation, which is not scored: both trees get the same tags.
            tree.tokens_mut().clone_from_slice(&gold);
            tree
        };
        let parsed: Vec<Tree> = parallel::map_init(&short, worker, parse);
        let gold = short.iter().map(|&at| &self.trees[at]);
        let evaluation = Evaluation::of(gold.zip(&parsed), &Params::default());
        let (f1, exact) = (evaluation.all.f1(), evaluation.all.exact());
        Some(DevScores { files: self.files.to_vec(), f1, exact })
    }

    /// Hashes the trees.
    pub fn hash_into(&self, hasher: &mut impl Hasher) {
        for tree in self.trees {
            for token in tree.tokens() {
                (&token.word, &token.tag).hash(hasher);
            }
            hash_nodes(tree, hasher);
        }
    }
}

/// The words of a tree, without traces.
pub fn words(tree: &Tree) -> Vec<Token> {
    tree.tokens().iter().filter(|token| token.tag != TRACE).cloned().collect()
}

/// Whether a tree has at most `max_words` words, without traces; 0 for no limit.
pub fn is_short(tree: &Tree, max_words: u32) -> bool {
    let words = || tree.tokens().iter().filter(|token| token.tag != TRACE).count();
    max_words == 0 || words() <= max_words as usize
}

/// The scores on the dev set, for the log.
pub fn dev_line(dev: &DevScores) -> String {
    format!("dev F1 {:.2}, exact {:.2}", dev.f1, dev.exact)
}

/// Checks that a system supports exploration.
///
/// # Errors
/// When the system has no dynamic oracle.
pub fn check_explores(system: &dyn TransitionSystem) -> Result<()> {
    if system.has_dynamic_oracle() {
        return Ok(());
    }
    let problem = "the system has no dynamic oracle: set learner.exploration.probability=0 and \
                   learner.exploration.margin=0";
    Err(crate::Error::config("learner.exploration.probability", problem))
}
