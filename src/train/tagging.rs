//! The tagger's part in training: it is trained and scored, and tags the training trees if the parser is
//! trained on predicted tags.

use super::Trainer;
use super::session::words;
use crate::classifier::Fit;
use crate::error::Result;
use crate::memory::Sections;
use crate::model::{Header, Model, TAGGER_PART, TaggerSummary, TaggingScores, TrainingSummary};
use crate::observer::Part;
use crate::preset::TaggerChoice;
use crate::tagger::jackknife::jackknife;
use crate::tagger::{Accuracy, Tagger, TaggerWorker};
use crate::tree::{TRACE, Token, Tree, remove_tags};
use crate::treebank::Treebank;

/// A tagger of the parser.
pub(super) struct Tagging {
    tagger: Box<dyn Tagger>,
    summary: TaggerSummary,
    /// The training trees with predicted tags.
    trees: Option<Vec<Tree>>,
}

impl Tagging {
    /// Trains the tagger and scores it; tags the training trees by jackknifing if the preset requires it.
    pub(super) fn new(
        choice: &TaggerChoice,
        trainer: &Trainer<'_>,
        train: &Treebank,
        dev: &Treebank,
    ) -> Result<Self> {
        let sentences: Vec<Vec<Token>> = train.trees.iter().map(words).collect();
        let sentences: Vec<&[Token]> = sentences.iter().map(Vec::as_slice).collect();
        let observer = Part { observer: trainer.observer, name: "tagger", from: 0.0, to: 1.0 };
        let fit = Fit { seed: trainer.seed, observer: &observer, checkpoint: None };
        let tagger = choice.fit(&sentences, &fit)?;
        let mut summary = TaggerSummary {
            tags: tagger.tags().len() as u64,
            words: tagger.lexicon().len() as u64,
            ..TaggerSummary::default()
        };
        if !dev.trees.is_empty() {
            let accuracy = score(&*tagger, dev);
            trainer.log(&format!("dev tagging accuracy: {accuracy}"));
            summary.dev = Some(scores(dev, &accuracy));
        }
        let mut trees = None;
        let parts = trainer.preset().jackknife;
        if parts > 0 {
            let fit_part = |others: &[&[Token]], fit: &Fit<'_>| choice.fit(others, fit);
            let (tagged, accuracy) = jackknife(&sentences, parts, &fit, fit_part)?;
            trainer
                .log(&format!("tagged the training trees in {parts} parts; accuracy: {accuracy}"));
            summary.jackknifed = Some(scores(train, &accuracy));
            let trees_and_tags = train.trees.iter().zip(tagged);
            trees = Some(trees_and_tags.map(|(tree, tagged)| retagged(tree, tagged)).collect());
        }
        Ok(Self { tagger, summary, trees })
    }

    /// The tagger of the model that training continues from, which tags the training trees if the preset requires
    /// predicted tags.
    pub(super) fn of_model(
        choice: &TaggerChoice,
        model: &Model,
        trainer: &Trainer<'_>,
        train: &Treebank,
        dev: &Treebank,
    ) -> Result<Self> {
        let tagger = choice.load(&model.sections.part(TAGGER_PART))?;
        let mut summary = model.header.tagger.clone().unwrap_or_default();
        trainer.log("tagger: that of the model");
        summary.dev = None;
        if !dev.trees.is_empty() {
            summary.dev = Some(scores(dev, &score(&*tagger, dev)));
        }
        let mut tagging = Self { tagger, summary, trees: None };
        if trainer.preset().jackknife > 0 {
            let trees_and_tags = train.trees.iter().zip(tagging.tokens(train));
            tagging.trees =
                Some(trees_and_tags.map(|(tree, tagged)| retagged(tree, tagged)).collect());
        }
        Ok(tagging)
    }

    /// The training trees with predicted tags, if the preset requires them.
    pub(super) fn take_trees(&mut self) -> Option<Vec<Tree>> {
        self.trees.take()
    }

    /// The words of trees with predicted tags.
    pub(super) fn tokens(&self, set: &Treebank) -> Vec<Vec<Token>> {
        let mut worker = TaggerWorker::new(&*self.tagger);
        let tagged = |tree| {
            let mut tokens = words(tree);
            remove_tags(&mut tokens);
            worker.tag(&mut tokens);
            tokens
        };
        set.trees.iter().map(tagged).collect()
    }

    /// Adds the tagger to a model.
    pub(super) fn store(self, model: &mut Model) -> Result<()> {
        let mut sections = Sections::default();
        self.tagger.store(&mut sections)?;
        model.sections.put_part(TAGGER_PART, sections);
        model.header.tagger = Some(self.summary);
        Ok(())
    }

    /// A model of the tagger alone.
    pub(super) fn model(self, trainer: &Trainer<'_>, train: &Treebank) -> Result<Model> {
        let words = train.trees.iter().map(|tree| words(tree).len() as u64).sum();
        let mut model = Model {
            header: Header {
                tool_version: env!("CARGO_PKG_VERSION").to_owned(),
                preset: serde_json::to_value(trainer.preset()).unwrap_or_default(),
                seed: trainer.seed,
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

fn score(tagger: &dyn Tagger, set: &Treebank) -> Accuracy {
    let mut worker = TaggerWorker::new(tagger);
    let mut accuracy = Accuracy::default();
    for tree in &set.trees {
        let gold = words(tree);
        let mut tokens = gold.clone();
        remove_tags(&mut tokens);
        worker.tag(&mut tokens);
        accuracy += Accuracy::of(&gold, &tokens, |word| tagger.lexicon().knows(word));
    }
    accuracy
}

fn scores(set: &Treebank, accuracy: &Accuracy) -> TaggingScores {
    TaggingScores {
        files: set.files.clone(),
        accuracy: accuracy.percent(),
        unseen: accuracy.unseen_percent(),
    }
}
