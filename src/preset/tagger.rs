//! Taggers as presets name them, and their part in training and loading.

use serde::{Deserialize, Serialize};

use super::Preset;
use super::fit::{TreeSet, Watch};
use super::learner::{LearnerChoice, Parts, default_of};
use super::load::stored_preset;
use super::plan::Plan;
use crate::classifier::{Fit, Learner, Setting};
use crate::error::{Error, Result};
use crate::feature::{Column, Indicators};
use crate::memory::Sections;
use crate::model::{Header, Model, TaggerSummary, TaggingScores, TrainingSummary};
use crate::observer::{Event, Part};
use crate::tagger::jackknife::{PARTS, jackknife};
use crate::tagger::perceptron::{PerceptronTagger, PerceptronTaggerParams};
use crate::tagger::two_pass::{self, TwoPassTagger};
use crate::tagger::{Accuracy, Tagger, TaggerWorker};
use crate::tree::{Token, Tree};
use crate::treebank::sentences::TRACE;

/// Where the sections of a tagger stand in a model.
const PART: &str = "tagger";

/// A tagger and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TaggerChoice {
    /// Averaged perceptron, greedy from left to right.
    Perceptron(PerceptronTaggerParams),
    /// Two passes (Wang, Sagae and Mitamura 2006).
    #[serde(alias = "two-pass-svm")]
    TwoPass(TwoPassChoice),
}

impl Default for TaggerChoice {
    fn default() -> Self {
        Self::Perceptron(PerceptronTaggerParams::default())
    }
}

/// The settings of the tagger in two passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwoPassChoice {
    /// In how many parts the first pass tags the sentences that the second learns from.
    #[serde(default = "default_parts")]
    pub jackknife: u32,
    /// Learns each pass.
    pub learner: Box<LearnerChoice>,
}

fn default_parts() -> u32 {
    5
}

impl TwoPassChoice {
    /// The settings, explained.
    pub const SETTINGS: &[Setting] = &[
        Setting {
            key: "jackknife",
            range: "2 to 100 (default 5)",
            help: "in how many parts the first pass tags the sentences that the second learns from",
        },
        Setting {
            key: "learner",
            range: "a learner with its settings",
            help: "learns each of the two passes",
        },
    ];

    fn make(&self, columns: &[Column], n_tags: usize) -> Result<Box<dyn Learner>> {
        self.learner.learner(&Parts {
            columns: columns.to_vec(),
            indicators: Indicators::of_columns(columns),
            shifts: vec![false; n_tags],
        })
    }
}

impl TaggerChoice {
    /// Every kind of tagger with its settings.
    pub const ALL: &[(&str, &[Setting])] =
        &[("perceptron", PerceptronTaggerParams::SETTINGS), ("two-pass", TwoPassChoice::SETTINGS)];

    /// The default of a setting, as written in a preset; none if it must be given.
    pub fn default_of(kind: &str, key: &str) -> Option<String> {
        default_of::<Self>(kind, key)
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// Naming the key and the fix.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Perceptron(params) => params.check().map_err(|error| under("tagger", error)),
            Self::TwoPass(choice) => {
                check_parts("tagger.jackknife", choice.jackknife)?;
                let checked = choice.learner.check_inner(&two_pass::columns(true));
                checked.map_err(|error| under("tagger.learner", error))
            }
        }
    }

    /// Fits a tagger.
    ///
    /// # Errors
    /// When there are no words, or the learner refuses the data.
    pub fn fit(&self, sentences: &[&[Token]], fit: &Fit<'_>) -> Result<Box<dyn Tagger>> {
        Ok(match self {
            Self::Perceptron(params) => Box::new(params.fit(sentences, fit)?),
            Self::TwoPass(choice) => {
                let make = |columns: &[Column], n_tags| choice.make(columns, n_tags);
                Box::new(TwoPassTagger::fit(sentences, &make, choice.jackknife, fit)?)
            }
        })
    }

    fn load(&self, sections: &Sections) -> Result<Box<dyn Tagger>> {
        Ok(match self {
            Self::Perceptron(_) => Box::new(PerceptronTagger::load(sections)?),
            Self::TwoPass(choice) => {
                let make = |columns: &[Column], n_tags| choice.make(columns, n_tags);
                Box::new(TwoPassTagger::load(sections, &make)?)
            }
        })
    }
}

/// An error about a key of a learner as one of what the learner is a part of.
fn under(part: &str, error: Error) -> Error {
    match error {
        Error::Config { key, problem } => match key.strip_prefix("learner.") {
            Some(rest) => Error::config(format!("{part}.{rest}"), problem),
            None => Error::Config { key, problem },
        },
        other => other,
    }
}

fn check_parts(key: &str, parts: u32) -> Result<()> {
    if PARTS.contains(&parts) {
        return Ok(());
    }
    let (fewest, most) = (PARTS.start, PARTS.end - 1);
    Err(Error::config(key, format!("{parts} parts: give {fewest} to {most}")))
}

/// Checks what a preset says about tagging.
///
/// # Errors
/// Naming the key and the fix.
pub(super) fn check(preset: &Preset) -> Result<()> {
    let lacks = |key: &str| {
        let problem =
            "needs a tagger: give the preset a table `[tagger]` with `kind = \"perceptron\"`";
        Err(Error::config(key, problem))
    };
    match (&preset.tagger, preset.jackknife) {
        (None, 1..) => lacks("jackknife"),
        (None, 0) if preset.only_tagger => lacks("only_tagger"),
        (None, 0) => Ok(()),
        (Some(choice), 0) => choice.check(),
        (Some(_), _) if preset.only_tagger => {
            let problem =
                "is for the tags that a parser learns from: leave it out for a tagger alone";
            Err(Error::config("jackknife", problem))
        }
        (Some(choice), parts) => {
            check_parts("jackknife", parts)?;
            choice.check()
        }
    }
}

/// The tagger inside a model, if there is one.
///
/// # Errors
/// When the parts of the model do not fit together.
pub fn load_tagger(model: &Model) -> Result<Option<Box<dyn Tagger>>> {
    let preset = stored_preset(model, &[])?;
    let Some(choice) = &preset.tagger else { return Ok(None) };
    choice.load(&model.sections.part(PART)).map(Some)
}

/// The words of a tree, without traces.
pub(super) fn words(tree: &Tree) -> Vec<Token> {
    tree.tokens().iter().filter(|token| token.tag != TRACE).cloned().collect()
}

/// The tagger's part in a training run.
pub(super) struct Tagging {
    tagger: Box<dyn Tagger>,
    summary: TaggerSummary,
    /// The training trees with predicted tags.
    trees: Option<Vec<Tree>>,
}

impl Tagging {
    /// Trains the tagger, scores it, and tags the training trees if the preset wants that.
    pub(super) fn new(
        choice: &TaggerChoice,
        plan: &Plan,
        train: &TreeSet,
        dev: &TreeSet,
        seed: u64,
        watch: &Watch<'_>,
    ) -> Result<Self> {
        let sentences: Vec<Vec<Token>> = train.trees.iter().map(words).collect();
        let sentences: Vec<&[Token]> = sentences.iter().map(Vec::as_slice).collect();
        let observer = Part { observer: watch.observer, name: "tagger", from: 0.0, to: 1.0 };
        let fit = Fit { seed, observer: &observer, checkpoint: None };
        let tagger = choice.fit(&sentences, &fit)?;
        let mut summary = TaggerSummary {
            tags: tagger.tags().len() as u64,
            words: tagger.lexicon().len() as u64,
            ..TaggerSummary::default()
        };
        if !dev.trees.is_empty() {
            let accuracy = score(&*tagger, dev);
            watch.observer.event(Event::Milestone(&format!("dev tags right: {accuracy}")));
            summary.dev = Some(scores(dev, &accuracy));
        }
        let mut trees = None;
        let parts = plan.preset.jackknife;
        if parts > 0 {
            let fit_part = |others: &[&[Token]], fit: &Fit<'_>| choice.fit(others, fit);
            let (tagged, accuracy) = jackknife(&sentences, parts, &fit, fit_part)?;
            let told = format!("tagged the training trees in {parts} parts; right: {accuracy}");
            watch.observer.event(Event::Milestone(&told));
            summary.jackknifed = Some(scores(train, &accuracy));
            let trees_and_tags = train.trees.iter().zip(tagged);
            trees = Some(trees_and_tags.map(|(tree, tagged)| retagged(tree, tagged)).collect());
        }
        Ok(Self { tagger, summary, trees })
    }

    /// The training trees with predicted tags, if the preset wants such.
    pub(super) fn take_trees(&mut self) -> Option<Vec<Tree>> {
        self.trees.take()
    }

    /// The words of trees with predicted tags.
    pub(super) fn tokens(&self, set: &TreeSet) -> Vec<Vec<Token>> {
        let mut worker = TaggerWorker::new(&*self.tagger);
        let tagged = |tree| {
            let mut tokens = words(tree);
            worker.tag(&mut tokens);
            tokens
        };
        set.trees.iter().map(tagged).collect()
    }

    /// Puts the tagger into a model.
    pub(super) fn store(self, model: &mut Model) -> Result<()> {
        let mut sections = Sections::default();
        self.tagger.store(&mut sections)?;
        model.sections.put_part(PART, sections);
        model.header.tagger = Some(self.summary);
        Ok(())
    }

    /// A model of the tagger alone.
    pub(super) fn model(self, plan: &Plan, train: &TreeSet, seed: u64) -> Result<Model> {
        let words = train.trees.iter().map(|tree| words(tree).len() as u64).sum();
        let mut model = Model {
            header: Header {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                preset: serde_json::to_value(&plan.preset).unwrap_or_default(),
                seed,
                training: TrainingSummary {
                    files: train.files.clone(),
                    trees: train.trees.len() as u64,
                    words,
                    ..TrainingSummary::default()
                },
                ..Header::default()
            },
            ..Model::default()
        };
        self.store(&mut model)?;
        Ok(model)
    }
}

/// The tree with other tags for its words.
fn retagged(tree: &Tree, tagged: Vec<Token>) -> Tree {
    let mut tree = tree.clone();
    let words = tree.tokens_mut().iter_mut().filter(|token| token.tag != TRACE);
    for (token, tagged) in words.zip(tagged) {
        *token = tagged;
    }
    tree
}

fn score(tagger: &dyn Tagger, set: &TreeSet) -> Accuracy {
    let mut worker = TaggerWorker::new(tagger);
    let mut accuracy = Accuracy::default();
    for tree in &set.trees {
        let gold = words(tree);
        let mut tokens = gold.clone();
        worker.tag(&mut tokens);
        accuracy += Accuracy::of(&gold, &tokens, tagger.lexicon());
    }
    accuracy
}

fn scores(set: &TreeSet, accuracy: &Accuracy) -> TaggingScores {
    TaggingScores {
        files: set.files.clone(),
        accuracy: accuracy.percent(),
        unseen: accuracy.unseen_percent(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        let preset = Preset::parse(text, "test", &[]).unwrap();
        Plan::new(preset).unwrap_err().to_string()
    }

    #[test]
    fn settings_that_make_no_sense_are_named() {
        for (text, key) in [
            ("jackknife = 10", "jackknife: needs a tagger"),
            ("only_tagger = true", "only_tagger: needs a tagger"),
            ("jackknife = 1\n[tagger]\nkind = \"perceptron\"", "jackknife: 1 parts: give 2 to 100"),
            (
                "jackknife = 5\nonly_tagger = true\n[tagger]\nkind = \"perceptron\"",
                "jackknife: is for the tags",
            ),
            ("[tagger]\nkind = \"perceptron\"\nepochs = 0", "tagger.epochs: must be"),
            (
                "[tagger]\nkind = \"perceptron\"\nprune = { min_row = 2.0 }",
                "tagger.prune.min_row: 2 is no share",
            ),
            (
                "[tagger]\nkind = \"two-pass\"\nlearner = { kind = \"perceptron\", epochs = 0 }",
                "tagger.learner.epochs: must be",
            ),
            (
                "[tagger]\nkind = \"two-pass-svm\"\nlearner = { kind = \"online-perceptron\" }",
                "tagger.learner.kind: `online-perceptron`",
            ),
        ] {
            let problem = refused(text);
            assert!(problem.starts_with(key), "{text}: {problem}");
        }
    }
}
