//! Runs a model over a stream of sentences: one result per sentence, in order, on any number of threads.

use std::io::{self, Write};
use std::ops::AddAssign;
use std::path::PathBuf;
use std::process::ExitCode;

use super::in_order::{self, Sink};
use super::inputs::inputs;
use super::notes::Notes;
use super::options::{EncodingArg, INPUT, Verbosity, note_terminal, threads};
use super::out::{Out, OutArg};
use super::reading_bar::ReadingBar;
use super::untokenized::UntokenizedCheck;
use crate::error::{InputKind, Place};
use crate::model::{Model, embedded};
use crate::text::Tokenizer;
use crate::tree::Token;
use crate::treebank::sentences::{InputFormat, Sentences};
use crate::treebank::{ByteCounter, Cleaning, Input, Item, Origin};

/// The result for one item of the input. `T` is what the command counts.
#[derive(Debug, Default)]
pub(super) struct Rendered<T> {
    /// The output.
    pub(super) bytes: Vec<u8>,
    /// The number of words of the sentence; 0 if the item is not a sentence.
    pub(super) words: usize,
    /// What the command counts.
    pub(super) tally: T,
    /// Why the item could not be read.
    pub(super) problem: Option<String>,
    /// A note about the sentence.
    pub(super) note: Option<&'static str>,
    /// The place where the item began.
    at: Option<Place>,
    /// A note about the input so far.
    input_note: Option<String>,
}

impl<T> Rendered<T> {
    /// Begins the next item.
    fn restart(&mut self, at: Option<Place>, input_note: Option<String>) {
        self.bytes.clear();
        (self.words, self.problem, self.note) = (0, None, None);
        (self.at, self.input_note) = (at, input_note);
    }
}

/// Processes the sentences of one thread; the result that it writes to is empty at first.
pub(super) type Processor<'a, T> =
    Box<dyn FnMut(Vec<Token>, &Origin, &mut Rendered<T>) -> io::Result<()> + 'a>;

/// Called with each sentence before it is processed, in order; returns a note to print, if any.
pub(super) type Inspect<'f> = &'f mut (dyn FnMut(&[Token]) -> Option<String> + Send);

/// The work of a command on its input.
pub(super) struct Work<'f, 'a, T> {
    /// The name of the command.
    pub(super) command: &'static str,
    /// The files to read; standard input if there are none.
    pub(super) files: &'f [PathBuf],
    pub(super) format: InputFormat,
    pub(super) expected: ExpectedInput,
    /// What is written before and after the results.
    pub(super) frame: [Vec<u8>; 2],
    /// What is written for a blank line, a sentence without words, or a tree that cleaning leaves none.
    pub(super) blank: &'f [u8],
    /// What is written for another tree without words.
    pub(super) no_words: &'f [u8],
    /// Returns what is written for an item that cannot be read, given the problem.
    pub(super) unreadable: &'f (dyn Fn(&str) -> Vec<u8> + Sync),
    /// Creates a processor; called once in each thread.
    pub(super) make: &'f (dyn Fn() -> Processor<'a, T> + Sync),
}

/// Options of commands that run a model over sentences.
#[derive(Debug, clap::Args)]
pub(super) struct StreamArgs {
    /// Model file, or the name of an embedded model: `english`, which knows the language best, `english-small`, which
    /// is five times as fast, or `english-fast`, which is twenty times as fast, and less accurate.
    #[arg(long, value_name = "NAME|FILE", default_value = embedded::DEFAULT)]
    model: PathBuf,
    /// Number of threads; 0 uses all cores. The output does not depend on it.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    threads: usize,
    #[command(flatten)]
    out: OutArg,
    #[command(flatten)]
    pub(super) verbosity: Verbosity,
    /// Stop at the first line that cannot be read.
    #[arg(long, help_heading = INPUT)]
    strict: bool,
    /// Exit with status 0 even if lines cannot be read.
    #[arg(long, conflicts_with = "strict", help_heading = INPUT)]
    skip_bad: bool,
    #[command(flatten, next_help_heading = INPUT)]
    encoding: EncodingArg,
}

impl StreamArgs {
    /// Loads the model.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub(super) fn model(&self) -> anyhow::Result<Model> {
        Ok(Model::open(&self.model)?)
    }

    /// Returns the name of the model in messages.
    pub(super) fn model_name(&self) -> String {
        self.model.display().to_string()
    }

    /// The check for untokenized words; `None` if nothing is to be printed.
    fn check(&self, format: InputFormat) -> Option<UntokenizedCheck> {
        (format == InputFormat::Tokens && !self.verbosity.quiet).then(UntokenizedCheck::default)
    }

    /// Returns the exit status: 2 if an item could not be read.
    pub(super) fn exit_code<T>(&self, totals: &Totals<T>) -> ExitCode {
        let is_done = totals.unreadable == 0 || self.skip_bad;
        if is_done { ExitCode::SUCCESS } else { ExitCode::from(2) }
    }

    /// Prints how many trees were read if the input was a treebank.
    pub(super) fn report_trees<T>(&self, format: InputFormat, totals: &Totals<T>) {
        if format == InputFormat::Penn && !self.verbosity.quiet {
            let Totals { blank, sentences, unreadable, .. } = totals;
            say!("read {} trees, skipped {unreadable}", sentences + blank);
        }
    }
}

/// Counts over a whole stream.
#[derive(Debug, Default)]
pub(super) struct Totals<T> {
    /// Blank lines, and sentences and trees without words.
    pub(super) blank: u64,
    /// Sentences.
    pub(super) sentences: u64,
    /// Words in the sentences.
    pub(super) words: u64,
    /// Items that could not be read.
    pub(super) unreadable: u64,
    /// What the command counts.
    pub(super) tally: T,
}

/// The requirements of a model on its input.
#[derive(Debug, Clone)]
pub(super) struct ExpectedInput {
    /// How trees are stripped.
    pub(super) clean: Cleaning,
    /// How raw text is split.
    pub(super) tokenizer: Tokenizer,
    /// Whether every word must have a tag, because there is no tagger.
    pub(super) needs_tags: bool,
    /// Whether the command needs the trees of a treebank besides their words.
    pub(super) keeps_trees: bool,
    /// Whether IDs of trees and of CoNLL-U are needed.
    pub(super) keeps_ids: bool,
}

/// Processes every item of the input and writes the results to standard output.
///
/// # Errors
/// When an input cannot be opened or read or is in another format, or standard output cannot be written.
pub(super) fn run<T: Default + Send + AddAssign>(
    work: &Work<'_, '_, T>,
    inspect: Inspect<'_>,
    args: &StreamArgs,
) -> anyhow::Result<Totals<T>> {
    super::mistakes::refuse_sentences(work.files, work.command)?;
    let inputs = if work.files.is_empty() {
        vec![Input::Stdin]
    } else {
        inputs(work.files, args.verbosity.quiet)?
    };
    if inputs.contains(&Input::Stdin) && !args.verbosity.quiet {
        note_terminal();
    }
    let is_file = |input: &Input| matches!(input, Input::File(path) if path.is_file());
    let (counter, is_shown) =
        (ByteCounter::default(), !args.verbosity.quiet && !args.out.is_terminal());
    let bar = ReadingBar::of_inputs(is_shown, &inputs, counter.clone(), "sentences");
    let mut output = OrderedWriter {
        flush_each: !inputs.iter().all(is_file),
        strict: args.strict,
        out: args.out.open(work.files.iter().chain([&args.model]))?,
        totals: Totals::default(),
        problems: Notes::new("lines that cannot be read", false),
        notes: Notes::new("partial parses", args.verbosity.quiet),
        bar,
    };
    let [begin, end] = &work.frame;
    output.out.write_all(begin)?;
    let ExpectedInput { clean, tokenizer, needs_tags, keeps_trees, keeps_ids } =
        work.expected.clone();
    let sentences = Sentences::new(inputs, work.format, args.encoding.encoding)
        .strip_trees(clean)
        .split_by(tokenizer)
        .needing_tags(needs_tags)
        .keeping_trees(keeps_trees)
        .keeping_ids(keeps_ids)
        .counted_by(counter);
    let mut sentences = Noted { sentences, inspect, check: args.check(work.format) };
    let make = || -> in_order::Processor<'_, NotedItem, Rendered<T>> {
        let mut processor = (work.make)();
        Box::new(move |item, result| work.process(&mut processor, item, result))
    };
    let in_order = in_order::Work { words: NotedItem::words, make: &make };
    let threads = threads(args.threads, args.verbosity.quiet);
    let done = in_order::run(&in_order, &mut sentences, &mut output, threads);
    let is_whole = done.is_ok() && !(args.strict && output.totals.unreadable > 0);
    if is_whole {
        output.out.write_all(end)?;
        output.out.finish()?;
    } else {
        output.out.abandon()?;
    }
    drop(output.bar);
    output.problems.end();
    output.notes.end();
    done.map_err(advised)?;
    Ok(output.totals)
}

/// The items, each with its place and a note to print.
struct Noted<'f> {
    sentences: Sentences,
    inspect: Inspect<'f>,
    check: Option<UntokenizedCheck>,
}

impl Iterator for Noted<'_> {
    type Item = crate::Result<NotedItem>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.sentences.next();
        let mut input_note = match &next {
            Some(Ok(Item::Sentence(tokens, _))) => (self.inspect)(tokens),
            _ => None,
        };
        if let Some(check) = &mut self.check
            && !matches!(next, Some(Err(_)))
            && check.add(next.as_ref().and_then(|item| item.as_ref().ok()))
        {
            let note = "note: the words look as if they were not tokenized: --input text splits raw text into \
                        sentences and words";
            match (&next, &mut input_note) {
                (None, _) => say!("{note}"),
                (_, Some(input_note)) => *input_note = format!("{input_note}\n{note}"),
                (_, None) => input_note = Some(note.to_owned()),
            }
        }
        Some(next?.map(|item| NotedItem { item, at: self.sentences.place(), input_note }))
    }
}

/// An item, its place, and a note about the input so far.
struct NotedItem {
    item: Item,
    at: Option<Place>,
    input_note: Option<String>,
}

impl NotedItem {
    /// The number of words of a sentence.
    fn words(&self) -> usize {
        match &self.item {
            Item::Sentence(tokens, _) => tokens.len(),
            Item::Blank | Item::NoWords | Item::Bad { .. } | Item::Stray { .. } => 0,
        }
    }
}

/// Names the option that an input in another format needs.
fn advised(error: anyhow::Error) -> anyhow::Error {
    let Some(crate::Error::OtherInput { input, found }) = error.downcast_ref() else {
        return error;
    };
    let advice = match found {
        InputKind::Model => format!("give a model with --model {input}"),
        InputKind::Trees => "add --input penn".to_owned(),
        InputKind::Conllu => "add --input conllu".to_owned(),
        InputKind::Text => "add --input text".to_owned(),
        InputKind::Tokens => "add --input tokens".to_owned(),
    };
    anyhow::anyhow!("{input}: this looks like {found}: {advice}")
}

impl<T> Work<'_, '_, T> {
    /// Processes one item.
    fn process(
        &self,
        processor: &mut Processor<'_, T>,
        NotedItem { item, at, input_note }: NotedItem,
        result: &mut Rendered<T>,
    ) {
        result.restart(at, input_note);
        match item {
            Item::Blank => result.bytes.extend_from_slice(self.blank),
            Item::NoWords => result.bytes.extend_from_slice(self.no_words),
            Item::Bad { at, problem } => {
                let problem = format!("{at}: {problem}");
                result.bytes = (self.unreadable)(&problem);
                result.problem = Some(problem);
            }
            Item::Stray { at, problem } => result.problem = Some(format!("{at}: {problem}")),
            Item::Sentence(tokens, origin) => {
                result.words = tokens.len();
                // Writing to memory does not fail.
                let _ = processor(tokens, &origin, result);
            }
        }
    }
}

/// Writes results in order and counts them.
struct OrderedWriter<T> {
    out: Out,
    flush_each: bool,
    strict: bool,
    totals: Totals<T>,
    problems: Notes,
    notes: Notes,
    bar: ReadingBar,
}

impl<T: Default + AddAssign> Sink<Rendered<T>> for OrderedWriter<T> {
    fn write(&mut self, result: &mut Rendered<T>) -> io::Result<bool> {
        let totals = &mut self.totals;
        if let Some(problem) = &result.problem {
            totals.unreadable += 1;
            self.bar.suspend(|| self.problems.print(problem));
            if self.strict {
                return Ok(false);
            }
        }
        if let (Some(note), Some(at)) = (result.note, &result.at) {
            self.bar.suspend(|| self.notes.print(&format!("note: {at}: {note}")));
        }
        if let Some(input_note) = result.input_note.take() {
            self.bar.suspend(|| say!("{input_note}"));
        }
        totals.blank += u64::from(result.words == 0 && result.problem.is_none());
        totals.sentences += u64::from(result.words > 0);
        totals.words += result.words as u64;
        totals.tally += std::mem::take(&mut result.tally);
        self.bar.add(u64::from(result.words > 0));
        self.out.write_all(&result.bytes)?;
        Ok(true)
    }

    fn flushes_each(&self) -> bool {
        self.flush_each
    }

    fn out(&mut self) -> &mut Out {
        &mut self.out
    }
}
