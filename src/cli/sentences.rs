//! The trees that commands search: of treebanks, or of raw text, which is parsed first.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;

use super::inputs::{inputs, note_report};
use super::options::{INPUT, TreebankArgs, Verbosity, note_stdin, threads};
use super::out::{Out, OutArg};
use super::pipe::{Pipe, Processor, Taker};
use super::reading_bar::ReadingBar;
use crate::error::{Error, InputKind};
use crate::model::{Model, embedded};
use crate::parser::Parser;
use crate::text::Layout;
use crate::tree::heads::HeadRules;
use crate::tree::{Token, Tree};
use crate::treebank::sentences::{InputFormat, Sentences};
use crate::treebank::{
    ByteCounter, Cleaning, Input, Item, Missing, Origin, ReadReport, Reason, Trees,
};

/// The options of commands that search trees: where these come from, threads, output and messages.
#[derive(Debug, clap::Args)]
pub(super) struct SentenceArgs {
    /// Number of threads; 0 uses all cores. The output does not depend on it.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    threads: usize,
    #[command(flatten)]
    pub(super) out: OutArg,
    #[command(flatten)]
    pub(super) verbosity: Verbosity,
    /// The files are raw text, which is split into sentences and words, tagged and parsed.
    #[arg(long, help_heading = INPUT)]
    text: bool,
    /// Model for --text: a file, or the name of a model, see `srparse models`.
    #[arg(long, value_name = "NAME|FILE", default_value = embedded::DEFAULT, requires = "text", help_heading = INPUT)]
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
struct Unprocessed {
    file: Arc<str>,
    number: u64,
    content: Content,
}

enum Content {
    /// A file begins.
    Nothing,
    Tree(Tree),
    Tokens(Vec<Token>, Box<Origin>),
}

impl Unprocessed {
    fn words(&self) -> usize {
        match &self.content {
            Content::Nothing => 0,
            Content::Tree(tree) => tree.tokens().len(),
            Content::Tokens(tokens, _) => tokens.len(),
        }
    }
}

/// Processes the sentences of one thread; a tree without nodes, with the number 0, begins each file.
pub(super) type SentenceProcessor<'a, R> = Processor<'a, crate::Result<Sentence>, R>;

/// Reads one file after the other.
struct Reader<'r> {
    inputs: std::vec::IntoIter<Input>,
    /// Opens a file.
    open: &'r (dyn Fn(Input) -> Contents<'r> + Sync),
    file: Option<(Arc<str>, u64, Contents<'r>)>,
    bar: ReadingBar,
}

/// The sentences of one file.
type Contents<'r> = Box<dyn Iterator<Item = crate::Result<Content>> + Send + 'r>;

impl Iterator for Reader<'_> {
    type Item = crate::Result<Unprocessed>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((file, number, contents)) = &mut self.file else {
                let input = self.inputs.next()?;
                // A name with a tab or a line feed would be several columns or lines.
                let file: Arc<str> = input.name().replace(char::is_control, "\u{fffd}").into();
                let begin =
                    Unprocessed { file: Arc::clone(&file), number: 0, content: Content::Nothing };
                self.file = Some((file, 0, (self.open)(input)));
                return Some(Ok(begin));
            };
            let Some(content) = contents.next() else {
                self.file = None;
                continue;
            };
            self.bar.add(1);
            *number += 1;
            let (file, number) = (Arc::clone(file), *number);
            return Some(content.map(|content| Unprocessed { file, number, content }));
        }
    }
}

impl SentenceArgs {
    fn cleaning(&self) -> anyhow::Result<Option<Cleaning>> {
        let is_asked = self.clean || !self.set.is_empty() || self.treebank.profile.is_given();
        is_asked.then(|| self.treebank.profile.cleaning(&self.set)).transpose()
    }

    /// The head rules of the treebank, or of the model for raw text, if there are any.
    ///
    /// # Errors
    /// When they cannot be read.
    pub(super) fn heads(&self) -> anyhow::Result<Option<HeadRules>> {
        if self.text {
            return Ok(model_heads(&Model::open(&self.model)?)?);
        }
        let name = self.treebank.profile.heads()?;
        Ok(name.map(|name| HeadRules::load(&name)).transpose()?)
    }

    /// Processes all sentences of the files in order.
    ///
    /// # Errors
    /// When the model or an input cannot be read, or a result cannot be written.
    pub(super) fn run<'a, R: Send + 'a>(
        &self,
        files: &[PathBuf],
        make: &'a (dyn Fn() -> SentenceProcessor<'a, R> + Sync),
        results: (&mut Out, Taker<'_, R>),
    ) -> anyhow::Result<()> {
        self.process(files, make, results).map_err(advised)
    }

    fn process<'a, R: Send + 'a>(
        &self,
        files: &[PathBuf],
        make: &'a (dyn Fn() -> SentenceProcessor<'a, R> + Sync),
        (out, take): (&mut Out, Taker<'_, R>),
    ) -> anyhow::Result<()> {
        let quiet = self.verbosity.quiet;
        let threads = threads(self.threads, quiet);
        note_stdin(files, quiet);
        let (inputs, counter) = (inputs(files, quiet)?, ByteCounter::default());
        let unit = if self.text { "sentences" } else { "trees" };
        let is_shown = !self.out.is_terminal() && !quiet;
        let bar = ReadingBar::of_inputs(is_shown, &inputs, counter.clone(), unit);
        let flushes_each = inputs.contains(&Input::Stdin);
        let inputs = inputs.into_iter();
        let options = self.treebank.options();
        if self.text {
            let model = Model::open(&self.model)?;
            let parser = self.parser(&model)?;
            let tokenizer = parser.tokenizer();
            let open = |input| -> Contents<'_> {
                let format = InputFormat::Text;
                let sentences = Sentences::new(vec![input], format, options.encoding);
                let mut sentences =
                    sentences.split_by(tokenizer.clone()).counted_by(counter.clone());
                let (skips_bad, mut report) = (options.skip_bad_trees, ReadReport::of_sentences());
                Box::new(std::iter::from_fn(move || {
                    next_of_text(&mut sentences, skips_bad, &mut report)
                }))
            };
            let make = || parsed(&parser, make());
            let pipe = Pipe { words: Unprocessed::words, make: &make, threads, flushes_each };
            return pipe.run(&mut Reader { inputs, open: &open, file: None, bar }, out, take);
        }
        let cleaning = self.cleaning()?;
        let strip = cleaning.clone().unwrap_or_else(Cleaning::none);
        let open = |input| -> Contents<'_> {
            let mut trees = Trees::new(vec![input], &options).counted_by(counter.clone());
            let strip = &strip;
            Box::new(std::iter::from_fn(move || next_tree(&mut trees, strip)))
        };
        let make = || cleaned(cleaning.as_ref(), make());
        let pipe = Pipe { words: Unprocessed::words, make: &make, threads, flushes_each };
        pipe.run(&mut Reader { inputs, open: &open, file: None, bar }, out, take)
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

/// Says how what is given with `--text` is read, if it is no raw text.
fn advised(error: anyhow::Error) -> anyhow::Error {
    let Some(Error::OtherInput { input, found }) = error.downcast_ref() else {
        return error;
    };
    let advice = match found {
        InputKind::Trees | InputKind::Treebank => "omit --text".to_owned(),
        InputKind::Model => format!("give a model with --model {input}"),
        found => format!("parse it first: srparse parse --input {}", found.format()),
    };
    anyhow::anyhow!("{input}: this looks like {found}: {advice}")
}

/// The head rules of a model, if it has any.
///
/// # Errors
/// When they cannot be read.
pub(super) fn model_heads(model: &Model) -> crate::Result<Option<HeadRules>> {
    let text = &model.header.heads;
    (!text.is_empty()).then(|| HeadRules::parse(text, "heads of the model")).transpose()
}

/// The next sentence of raw text. One that cannot be read is an error, unless it is to be skipped.
fn next_of_text(
    sentences: &mut Sentences,
    skips_bad: bool,
    report: &mut ReadReport,
) -> Option<crate::Result<Content>> {
    loop {
        match sentences.next() {
            Some(Ok(Item::Sentence(tokens, origin))) => {
                report.read += 1;
                return Some(Ok(Content::Tokens(tokens, Box::new(origin))));
            }
            Some(Ok(
                Item::Missing(Missing { reason: Reason::Bad { at, problem }, .. })
                | Item::Stray { at, problem },
            )) => {
                let error = Error::syntax(at, problem);
                if !skips_bad {
                    return Some(Err(error));
                }
                report.skip(&error);
            }
            Some(Ok(Item::Missing(_))) => {}
            Some(Err(error)) => return Some(Err(error)),
            None => {
                note_report(report, true);
                return None;
            }
        }
    }
}

/// The next tree that is not metadata alone.
fn next_tree(trees: &mut Trees, strip: &Cleaning) -> Option<crate::Result<Content>> {
    loop {
        match trees.next() {
            Some(Ok(tree)) => {
                if let Some(tree) = strip.strip(tree) {
                    return Some(Ok(Content::Tree(tree)));
                }
            }
            Some(Err(error)) => return Some(Err(error)),
            None => {
                note_report(trees.report(), true);
                return None;
            }
        }
    }
}

/// A processor that parses first.
fn parsed<'a, R: 'a>(
    parser: &'a Parser,
    mut process: SentenceProcessor<'a, R>,
) -> Processor<'a, Unprocessed, R> {
    let mut worker = parser.worker();
    Box::new(move |Unprocessed { file, number, content }| {
        let sentence = match content {
            Content::Nothing => Ok(Sentence { file, number, tree: Tree::default(), layout: None }),
            Content::Tree(tree) => Ok(Sentence { file, number, tree, layout: None }),
            Content::Tokens(tokens, origin) => worker.parse(&tokens).map(|parse| Sentence {
                file,
                number,
                tree: parse.tree,
                layout: origin.layout().cloned(),
            }),
        };
        process(sentence)
    })
}

/// A processor that cleans first.
fn cleaned<'a, R: 'a>(
    cleaning: Option<&'a Cleaning>,
    mut process: SentenceProcessor<'a, R>,
) -> Processor<'a, Unprocessed, R> {
    Box::new(move |Unprocessed { file, number, content }| {
        let tree = match (content, cleaning) {
            (Content::Tree(tree), Some(cleaning)) => cleaning.apply(tree),
            (Content::Tree(tree), None) => tree,
            _ => Tree::default(),
        };
        process(Ok(Sentence { file, number, tree, layout: None }))
    })
}
