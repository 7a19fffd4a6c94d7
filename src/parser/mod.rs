//! Parsers and taggers that own their models.

mod worker;

pub use worker::{NbestRequest, Parse, Worker};

use std::path::Path;
use std::sync::OnceLock;

use compact_str::CompactString;

use crate::decode::Search;
use crate::error::{Error, Result};
use crate::memory::Sections;
use crate::model::{Model, TAGGER_PART, vocabulary};
use crate::parallel;
use crate::preset::Preset;
use crate::preset::plan::Plan;
use crate::preset::registry::{Source, load_scorer};
use crate::scorer::{Components, Scorer};
use crate::symbols::Vocabulary;
use crate::tagger::{self, TaggerWorker};
use crate::text::{Segmenter, TextSettings, Tokenization, Tokenizer};
use crate::transition::TransitionSystem;
use crate::tree::Token;

/// The number of threads for a batch of sentences; 0 for one per core. Results do not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads(pub usize);

impl Threads {
    /// Runs work, such as training, on so many threads that are started for it and ended after it; 0 for the
    /// threads that the process shares.
    ///
    /// # Errors
    /// When the threads cannot be started.
    pub fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> Result<T> {
        parallel::with_threads(self.0, work)
    }
}

/// A parser, with the tagger of its model if there is one. It can be shared between threads.
///
/// ```
/// # #[cfg(feature = "english")]
/// # fn main() -> srparse::Result<()> {
/// use srparse::{Parser, Token};
///
/// let parser = Parser::embedded()?;
/// let tokens = ["The", "dog", "barks", "."].map(Token::untagged);
/// println!("{}", parser.parse(&tokens)?.tree);
/// # Ok(())
/// # }
/// # #[cfg(not(feature = "english"))]
/// # fn main() {}
/// ```
pub struct Parser {
    pub(crate) plan: Plan,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) system: Box<dyn TransitionSystem>,
    pub(crate) scorer: Box<dyn Scorer>,
    tokenizer: Tokenizer,
    /// The stored tagger of the model.
    tagger_sections: Option<Sections>,
    /// The tagger, loaded when it is first needed.
    tagger: OnceLock<Box<dyn tagger::Tagger>>,
}

impl Parser {
    /// Opens a model file.
    ///
    /// # Errors
    /// When it cannot be read, or holds no parser.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(&Model::open(path)?, &[])
    }

    /// The embedded parser of English.
    ///
    /// # Errors
    /// In a build without embedded models.
    pub fn embedded() -> Result<Self> {
        Self::new(&Model::embedded()?, &[])
    }

    /// The parser of a model. `settings` are `KEY=VALUE` strings for settings that do not affect training:
    /// `search.…`, `text.…`, and `learner.threshold` of boosted trees.
    ///
    /// # Errors
    /// When the model holds no parser, its parts do not fit together, or a setting cannot be changed.
    pub fn new(model: &Model, settings: &[String]) -> Result<Self> {
        let preset = stored_preset(model, settings)?;
        if preset.only_tagger {
            let problem = "has a tagger but no parser: use it for tagging (`srparse tag`), or train \
                           a parser";
            return Err(Error::config("model", problem));
        }
        let plan = Plan::stored(preset, &model.header.templates, &model.header.heads)?;
        let labels = &model.header.training.labels;
        if !labels.is_empty() {
            return Err(Error::config(
                "model",
                format!(
                    "was trained only for the labels {}: merge it with the models of the other labels",
                    labels.join(", ")
                ),
            ));
        }
        let vocabulary = vocabulary::load(&model.sections)?;
        let system = plan.builder(Source::Tables(&model.header.system), &vocabulary).build()?;
        let components =
            Components { system: &*system, templates: &plan.templates, vocabulary: &vocabulary };
        let scorer = load_scorer(&plan.preset.learner, components, &model.sections)?;
        let has_tagger = model.header.tagger.is_some();
        let tagger_sections = has_tagger.then(|| model.sections.part(TAGGER_PART));
        let knows = |tag: &str| vocabulary.tags().position(tag).is_some();
        let tokenizer = tokenizer(model, &plan.preset, knows)?;
        let tagger = OnceLock::new();
        Ok(Self { plan, vocabulary, system, scorer, tokenizer, tagger_sections, tagger })
    }

    /// Parses a sentence. Tokens without tags are tagged first, by the tagger of the model.
    ///
    /// # Errors
    /// When tags are missing and the model has no tagger, or a corrupt one.
    pub fn parse(&self, tokens: &[Token]) -> Result<Parse> {
        self.worker().parse(tokens)
    }

    /// Parses sentences; returns the parses in the order of the sentences.
    ///
    /// # Errors
    /// As [`Parser::parse`].
    pub fn parse_batch(&self, sentences: &[Vec<Token>], threads: Threads) -> Result<Vec<Parse>> {
        let parse = |worker: &mut ParserWorker<'_>, tokens: &Vec<Token>| worker.parse(tokens);
        let parse = || parallel::map_init(sentences, || self.worker(), parse);
        let parses = threads.run(parse)?;
        parses.into_iter().collect()
    }

    /// A worker for one thread, whose memory is reused from sentence to sentence.
    pub fn worker(&self) -> ParserWorker<'_> {
        ParserWorker { parser: self, worker: self.untagged_worker(), tagger: None }
    }

    /// A worker that takes tags as they are, or predicts them with the parser.
    pub(crate) fn untagged_worker(&self) -> Worker<'_> {
        let Self { plan, vocabulary, system, scorer, .. } = self;
        let Preset { clean, search, .. } = &plan.preset;
        Worker::new(clean, vocabulary, &**system, scorer.reading(), search)
    }

    /// The preset that the model was trained by.
    pub fn preset(&self) -> &Preset {
        &self.plan.preset
    }

    /// How the model splits raw text.
    pub fn tokenizer(&self) -> Tokenizer {
        self.tokenizer.clone()
    }

    /// Whether the model can tag words: it has a tagger, or the parser predicts tags itself.
    pub fn has_tagger(&self) -> bool {
        self.tagger_sections.is_some() || self.predicts_tags()
    }

    fn predicts_tags(&self) -> bool {
        self.plan.preset.learner.predicts_tags()
    }

    /// Loads the tagger, if it is separate from the parser; else this happens when it is first needed.
    ///
    /// # Errors
    /// When the model cannot tag words, or its tagger is corrupt.
    pub fn load_tagger(&self) -> Result<()> {
        if self.predicts_tags() { Ok(()) } else { self.tagger().map(|_| ()) }
    }

    /// Whether a word was seen in training.
    pub fn knows(&self, word: &str) -> bool {
        self.vocabulary.words().position(word).is_some()
    }

    /// The tagger that is separate from the parser.
    fn tagger(&self) -> Result<&dyn tagger::Tagger> {
        if let Some(tagger) = self.tagger.get() {
            return Ok(&**tagger);
        }
        let sections = self.tagger_sections.as_ref().ok_or_else(no_tagger)?;
        let tagger = self.plan.preset.tagger.load(sections)?;
        Ok(&**self.tagger.get_or_init(|| tagger))
    }

    /// The tags seen in training, in order of first appearance.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = &str> {
        self.vocabulary.tags().names()
    }

    /// The words and tags of a sentence that were not seen in training.
    #[doc(hidden)]
    pub fn unseen(&self, tokens: &[Token]) -> Unseen {
        let mut unseen = Unseen::default();
        for Token { word, tag } in self.plan.preset.clean.apply_tokens(tokens).tokens {
            if word.contains(char::is_alphabetic) {
                unseen.n_words += 1;
                let is_unseen = !self.knows(&word);
                unseen.unseen_words += u64::from(is_unseen);
            }
            if !tag.is_empty() {
                unseen.n_tags += 1;
                let is_unseen = self.vocabulary.tags().position(&tag).is_none();
                unseen.unseen_tags.extend(is_unseen.then_some(tag));
            }
        }
        unseen
    }
}

/// The words and tags of a sentence that were not seen in training.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unseen {
    /// The number of words with letters.
    pub n_words: u64,
    /// The number of these that were not seen.
    pub unseen_words: u64,
    /// The number of tokens with a tag.
    pub n_tags: u64,
    /// The tags that were not seen, one for each such token.
    pub unseen_tags: Vec<CompactString>,
}

/// Parses sentences one after the other.
pub struct ParserWorker<'a> {
    parser: &'a Parser,
    worker: Worker<'a>,
    tagger: Option<TaggerWorker<'a>>,
}

impl ParserWorker<'_> {
    /// Parses a sentence. Tokens without tags are tagged first, by the tagger of the model.
    ///
    /// # Errors
    /// When tags are missing and the model has no tagger.
    pub fn parse(&mut self, tokens: &[Token]) -> Result<Parse> {
        match self.tagged(tokens)? {
            Some(tagged) => Ok(self.worker.parse(&tagged)),
            None => Ok(self.worker.parse(tokens)),
        }
    }

    /// Parses a sentence; returns different trees, at least one: that of [`ParserWorker::parse`], then the best others,
    /// best first.
    ///
    /// # Errors
    /// As [`ParserWorker::parse`].
    pub fn parse_nbest(&mut self, tokens: &[Token], request: NbestRequest) -> Result<Vec<Parse>> {
        match self.tagged(tokens)? {
            Some(tagged) => Ok(self.worker.parse_nbest(&tagged, request)),
            None => Ok(self.worker.parse_nbest(tokens, request)),
        }
    }

    /// Gives tokens without tags predicted ones.
    ///
    /// # Errors
    /// When the model has no tagger, or a corrupt one.
    pub fn tag(&mut self, tokens: &mut [Token]) -> Result<()> {
        if self.parser.predicts_tags() {
            self.worker.tag(tokens);
            return Ok(());
        }
        let tagger = match &mut self.tagger {
            Some(tagger) => tagger,
            None => self.tagger.insert(TaggerWorker::new(self.parser.tagger()?)),
        };
        tagger.tag(tokens);
        Ok(())
    }

    /// The tokens with the tagger's tags where tags are missing; `None` where none are, or the parser predicts them.
    pub(crate) fn tagged(&mut self, tokens: &[Token]) -> Result<Option<Vec<Token>>> {
        if self.parser.predicts_tags() || tokens.iter().all(|token| !token.tag.is_empty()) {
            return Ok(None);
        }
        let mut tagged = tokens.to_vec();
        self.tag(&mut tagged)?;
        Ok(Some(tagged))
    }
}

fn no_tagger() -> Error {
    let problem = "the model has no tagger: give tagged sentences, or train a model with a tagger";
    Error::config("tagger", problem)
}

/// A part-of-speech tagger. It can be shared between threads.
pub struct Tagger(TaggerKind);

enum TaggerKind {
    Separate(Box<dyn tagger::Tagger>),
    /// The parser predicts tags.
    Parser(Box<Parser>),
}

impl Tagger {
    /// Opens the tagger in a model file, of a parser or on its own.
    ///
    /// # Errors
    /// When it cannot be read, or holds no tagger.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::new(&Model::open(path)?)
    }

    /// The tagger of a model.
    ///
    /// # Errors
    /// When there is none, or its parts do not match.
    pub fn new(model: &Model) -> Result<Self> {
        let preset = stored_preset(model, &[])?;
        let kind = if model.header.tagger.is_some() {
            TaggerKind::Separate(preset.tagger.load(&model.sections.part(TAGGER_PART))?)
        } else if preset.learner.predicts_tags() {
            TaggerKind::Parser(Box::new(Parser::new(model, &[])?))
        } else {
            let problem = "has no tagger: train one with `srparse train --tagger` and give its \
                           file with --model";
            return Err(Error::config("model", problem));
        };
        Ok(Self(kind))
    }

    /// Tags the words of a sentence.
    pub fn tag<'w>(&self, words: impl IntoIterator<Item = &'w str>) -> Vec<Token> {
        let mut tokens: Vec<Token> = words.into_iter().map(Token::untagged).collect();
        self.worker().tag(&mut tokens);
        tokens
    }

    /// A worker for one thread, whose memory is reused from sentence to sentence.
    #[doc(hidden)]
    pub fn worker(&self) -> TaggingWorker<'_> {
        match &self.0 {
            TaggerKind::Separate(tagger) => TaggingWorker::Separate(TaggerWorker::new(&**tagger)),
            TaggerKind::Parser(parser) => TaggingWorker::Parser(Box::new(parser.untagged_worker())),
        }
    }

    /// Whether a tag was seen in training.
    #[cfg(feature = "cli")]
    pub(crate) fn knows_tag(&self, tag: &str) -> bool {
        let tags = match &self.0 {
            TaggerKind::Separate(tagger) => tagger.tags(),
            TaggerKind::Parser(parser) => parser.vocabulary.tags(),
        };
        tags.position(tag).is_some()
    }

    /// Whether a word was seen in training.
    pub fn knows(&self, word: &str) -> bool {
        match &self.0 {
            TaggerKind::Separate(tagger) => tagger.lexicon().knows(word),
            TaggerKind::Parser(parser) => parser.knows(word),
        }
    }
}

/// Tags sentences in place, one after the other.
pub enum TaggingWorker<'a> {
    /// A tagger that is separate from a parser.
    Separate(TaggerWorker<'a>),
    /// A parser that predicts tags.
    Parser(Box<Worker<'a>>),
}

impl TaggingWorker<'_> {
    /// Gives tokens without tags predicted ones.
    pub fn tag(&mut self, tokens: &mut [Token]) {
        match self {
            Self::Separate(worker) => worker.tag(tokens),
            Self::Parser(worker) => worker.tag(tokens),
        }
    }
}

/// How a model splits raw text, by the settings of a preset; `knows` is whether it knows a tag.
///
/// # Errors
/// When the word boundaries that it has learned are corrupt.
pub(crate) fn tokenizer(
    model: &Model,
    preset: &Preset,
    knows: impl Fn(&str) -> bool,
) -> Result<Tokenizer> {
    let is_learned = preset.text.tokenization == Tokenization::Learned;
    let segmenter = if is_learned { Segmenter::load(&model.sections)? } else { None };
    Ok(Tokenizer::new(preset.text, segmenter).tagging(knows))
}

/// The preset stored in a model, with changes to settings that do not affect training: `search.…`,
/// `text.…`, and `learner.threshold` of boosted trees.
///
/// # Errors
/// When the stored preset is invalid, or a setting cannot be changed after training.
pub fn stored_preset(model: &Model, settings: &[String]) -> Result<Preset> {
    let preset = Preset::of_model(&model.header.preset)
        .map_err(|error| Error::Corrupt(format!("its preset is invalid: {error}")))?;
    if settings.is_empty() {
        return Ok(preset);
    }
    let changed = Preset::parse(&preset.to_toml(), "the model's preset", settings)?;
    let fixed = |preset: &Preset| {
        let learner = preset.learner.uncalibrated();
        let text = TextSettings::default();
        Preset { search: Search::default(), text, learner, ..preset.clone() }
    };
    if fixed(&changed) != fixed(&preset) {
        let problem = "after training, only search.…, text.… and, for boosted trees, learner.threshold can \
                       be changed";
        return Err(Error::config("settings", problem));
    }
    Ok(changed)
}
