//! The trees that commands search: of treebanks, or of raw text, which is parsed first.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::in_order::{self, Sink, Work};
use super::options::{INPUT, TreebankArgs, Verbosity, note_stdin};
use super::reading_bar::ReadingBar;
use crate::error::{Error, Place};
use crate::model::{Model, embedded};
use crate::parser::Parser;
use crate::text::Layout;
use crate::tree::{Token, Tree};
use crate::treebank::sentences::{InputFormat, Sentences};
use crate::treebank::{ByteCounter, Cleaning, Item, Origin, Trees, expand};

/// Where the trees come from.
#[derive(Debug, clap::Args)]
pub(super) struct SentenceArgs {
    /// The files are raw text, which is split into sentences and words, tagged and parsed.
    #[arg(long, help_heading = INPUT)]
    text: bool,
    /// Model for --text: a file, or the name of an embedded model.
    #[arg(long, value_name = "NAME|FILE", default_value = embedded::DEFAULT, help_heading = INPUT)]
    model: PathBuf,
    /// Clean the trees first, as `srparse tree` does, without traces and function tags; so do --treebank and --set.
    #[arg(long, conflicts_with = "text", help_heading = INPUT)]
    clean: bool,
    /// Change a step of the cleaning, such as clean.functions=keep; may be repeated.
    #[arg(long, value_name = "KEY=VALUE", num_args = 1, conflicts_with = "text", help_heading = INPUT)]
    set: Vec<String>,
    #[command(flatten)]
    treebank: TreebankArgs,
}

/// A tree and where it is from.
pub(super) struct Sentence {
    /// The name of its file.
    pub(super) file: Arc<str>,
    /// Its number in the file, from 1.
    pub(super) number: u64,
    pub(super) tree: Tree,
    /// The original text, for raw text.
    pub(super) layout: Option<Layout>,
}

/// A sentence as it is read.
pub(super) struct Unprocessed {
    file: Arc<str>,
    number: u64,
    content: Content,
}

enum Content {
    Tree(Tree),
    Tokens(Vec<Token>, Box<Origin>),
}

impl Unprocessed {
    fn words(&self) -> usize {
        match &self.content {
            Content::Tree(tree) => tree.tokens().len(),
            Content::Tokens(tokens, _) => tokens.len(),
        }
    }
}

/// Processes the sentences of one thread; the result is that of an earlier sentence, or the default.
pub(super) type SentenceProcessor<'a, R> = Box<dyn FnMut(crate::Result<Sentence>, &mut R) + 'a>;

/// Numbers the sentences of each file.
#[derive(Default)]
struct Numbers {
    file: Option<Arc<str>>,
    number: u64,
}

impl Numbers {
    /// The next sentence of the file with this name.
    fn next(&mut self, name: &str, content: Content) -> Unprocessed {
        let file = self.file.take().filter(|file| &**file == name);
        self.number = if file.is_some() { self.number + 1 } else { 1 };
        let file = file.unwrap_or_else(|| name.into());
        self.file = Some(Arc::clone(&file));
        Unprocessed { file, number: self.number, content }
    }
}

impl SentenceArgs {
    fn cleaning(&self) -> anyhow::Result<Option<Cleaning>> {
        let is_asked = self.clean || !self.set.is_empty() || self.treebank.profile.is_given();
        is_asked.then(|| self.treebank.profile.cleaning(&self.set)).transpose()
    }

    /// Processes all sentences of the files in order; `is_shown` if there may be a progress bar.
    ///
    /// # Errors
    /// When the model or an input cannot be read, or a result cannot be written.
    pub(super) fn run<'a, R: Default + Send + 'a>(
        &self,
        files: &[PathBuf],
        make: &'a (dyn Fn() -> SentenceProcessor<'a, R> + Sync),
        sink: &mut dyn Sink<R>,
        (threads, is_shown, verbosity): (usize, bool, &Verbosity),
    ) -> anyhow::Result<()> {
        note_stdin(files, verbosity.quiet);
        let (inputs, counter) = (expand(files)?, ByteCounter::default());
        let unit = if self.text { "sentences" } else { "trees" };
        let is_shown = is_shown && !verbosity.quiet;
        let mut bar = ReadingBar::of_inputs(is_shown, &inputs, counter.clone(), unit);
        let mut numbers = Numbers::default();
        if self.text {
            let model = Model::open(&self.model)?;
            let parser = self.parser(&model)?;
            let make = || parsed(&parser, make());
            let work = Work { words: Unprocessed::words, make: &make };
            let encoding = self.treebank.options().encoding;
            let mut sentences = Sentences::new(inputs, InputFormat::Text, encoding)
                .split_by(parser.preset().text)
                .counted_by(counter);
            let mut items = std::iter::from_fn(|| {
                bar.add(1);
                next_of_text(&mut sentences, &mut numbers)
            });
            return in_order::run(&work, &mut items, sink, threads);
        }
        let cleaning = self.cleaning()?;
        let make = || cleaned(cleaning.as_ref(), make());
        let work = Work { words: Unprocessed::words, make: &make };
        let mut trees = Trees::new(inputs, &self.treebank.options()).counted_by(counter);
        let strip = cleaning.clone().unwrap_or_else(Cleaning::none);
        let mut items = std::iter::from_fn(|| {
            bar.add(1);
            loop {
                let tree = match trees.next()? {
                    Ok(tree) => strip.strip(tree),
                    Err(error) => return Some(Err(error)),
                };
                let name = trees.place().map(|place| place.path).unwrap_or_default();
                match tree {
                    Some(tree) => return Some(Ok(numbers.next(&name, Content::Tree(tree)))),
                    // Only metadata: no tree for `srparse tree` either.
                    None => continue,
                }
            }
        });
        in_order::run(&work, &mut items, sink, threads)?;
        drop(bar);
        let report = trees.report();
        if report.skipped > 0 {
            say!("{report}");
        }
        Ok(())
    }

    fn parser(&self, model: &Model) -> anyhow::Result<Parser> {
        let name = || self.model.display().to_string();
        let parser = Parser::new(model, &[]).with_context(name)?;
        anyhow::ensure!(
            parser.has_tagger(),
            "{}: --text needs a model with a tagger, and this model has none: train it without `--no-tagger`",
            name()
        );
        parser.load_tagger().with_context(name)?;
        Ok(parser)
    }
}

/// The next sentence of raw text.
fn next_of_text(
    sentences: &mut Sentences,
    numbers: &mut Numbers,
) -> Option<crate::Result<Unprocessed>> {
    loop {
        let item = match sentences.next()? {
            Ok(item) => item,
            Err(error) => return Some(Err(error)),
        };
        match item {
            Item::Sentence(tokens, origin) => {
                let name = sentences.place().map(|place: Place| place.path).unwrap_or_default();
                let name = origin.file().map_or(name, str::to_owned);
                let content = Content::Tokens(tokens, Box::new(origin));
                return Some(Ok(numbers.next(&name, content)));
            }
            Item::Blank | Item::NoWords => {}
            Item::Bad { at, problem } | Item::Stray { at, problem } => {
                return Some(Err(Error::syntax(at, problem)));
            }
        }
    }
}

/// A processor that parses first.
fn parsed<'a, R: 'a>(
    parser: &'a Parser,
    mut process: SentenceProcessor<'a, R>,
) -> in_order::Processor<'a, Unprocessed, R> {
    let mut worker = parser.worker();
    Box::new(move |Unprocessed { file, number, content }, result| {
        let sentence = match content {
            Content::Tree(tree) => Ok(Sentence { file, number, tree, layout: None }),
            Content::Tokens(tokens, origin) => worker.parse(&tokens).map(|parse| Sentence {
                file,
                number,
                tree: parse.tree,
                layout: origin.layout().cloned(),
            }),
        };
        process(sentence, result);
    })
}

/// A processor that cleans first.
fn cleaned<'a, R: 'a>(
    cleaning: Option<&'a Cleaning>,
    mut process: SentenceProcessor<'a, R>,
) -> in_order::Processor<'a, Unprocessed, R> {
    Box::new(move |Unprocessed { file, number, content }, result| {
        let (Content::Tree(tree), layout) = (content, None) else { return };
        let tree = match cleaning {
            Some(cleaning) => cleaning.apply(tree).tree,
            None => tree,
        };
        process(Ok(Sentence { file, number, tree, layout }), result);
    })
}
