//! Runs a model over a stream of sentences: one result per sentence, in order, on any number of threads.

use std::io::{self, Write};
use std::ops::AddAssign;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::inputs::inputs_as_named;
use super::notes::{Notes, grouped};
use super::options::{EncodingArg, INPUT, Verbosity, note_terminal, threads};
use super::out::{Out, OutArg};
use super::pipe::{self, Pipe};
use super::reading_bar::ReadingBar;
use super::resume::{self, Causes, Done};
use super::untokenized::UntokenizedCheck;
use crate::error::{InputKind, Place, counted};
use crate::model::{Model, embedded};
use crate::tree::Token;
use crate::treebank::sentences::{InputFormat, Sentences};
use crate::treebank::{ByteCounter, Input, Item, Missing, Origin, Reason};

/// The result for one item of the input. `T` is what the command counts.
#[derive(Debug, Default)]
pub(super) struct Rendered<T> {
    /// The output.
    pub(super) bytes: Vec<u8>,
    /// The counts of the command.
    pub(super) tally: T,
    /// A note about the sentence.
    pub(super) note: Option<&'static str>,
    /// Why there is no result.
    problem: Option<String>,
}

/// Processes the sentences of one thread; the result that it writes to is empty.
pub(super) type Processor<'a, T> =
    Box<dyn FnMut(Vec<Token>, &Origin, &mut Rendered<T>) -> io::Result<()> + 'a>;

/// Called with each sentence before it is processed, in order; returns a note to print, if any.
pub(super) type Inspect<'f> = &'f mut (dyn FnMut(&[Token]) -> Option<String> + Send);

/// Prints what was done.
pub(super) type Report<'f, T> = &'f (dyn Fn(&Totals<T>) + Sync);

/// The work of a command on its input.
pub(super) struct Work<'f, 'a, T> {
    /// The name of the command.
    pub(super) command: &'static str,
    /// The files to read; standard input if there are none.
    pub(super) files: &'f [PathBuf],
    pub(super) format: InputFormat,
    /// Tells the reader of the sentences what the model needs of them.
    pub(super) prepare: &'f (dyn Fn(Sentences) -> Sentences + Sync),
    /// The text before and after the results.
    pub(super) frame: [Vec<u8>; 2],
    /// Returns what is written for a sentence without words to parse.
    pub(super) missing: &'f (dyn Fn(&Missing) -> Vec<u8> + Sync),
    /// Creates a processor; called once in each thread.
    pub(super) make: &'f (dyn Fn() -> Processor<'a, T> + Sync),
    /// Called when the command stops early.
    pub(super) report: Report<'f, T>,
    /// With `--resume`, what the output depends on besides the input.
    pub(super) resume: Option<Causes>,
}

/// Options of commands that run a model over sentences.
#[derive(Debug, clap::Args)]
pub(super) struct StreamArgs {
    /// Model file, or the name of a model: `english` (the most accurate), `english-small` (five times as fast),
    /// `english-fast` (27 times as fast, and less accurate), or one that `srparse models` lists.
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

    /// The conditions of the output.
    pub(super) fn causes(&self, model: &Model) -> [(&'static str, String); 3] {
        let model = format!("{}, check sum {:08x}", self.model_name(), model.checksum());
        let (encoding, strict) = (self.encoding.encoding.to_string(), self.strict.to_string());
        [("model", model), ("--encoding", encoding), ("--strict", strict)]
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
            let read = sentences + blank;
            say!("read {}, skipped {unreadable}", counted(read, "tree"));
        }
    }
}

/// Counts over a whole stream.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Totals<T> {
    /// Blank lines, and sentences and trees without words.
    pub(super) blank: u64,
    /// Sentences.
    pub(super) sentences: u64,
    /// Words in the sentences.
    pub(super) words: u64,
    /// Items that could not be read.
    pub(super) unreadable: u64,
    /// The counts of the command.
    pub(super) tally: T,
}

/// Processes every item of the input and writes the results to standard output, or to the file that is named.
///
/// # Errors
/// When an input cannot be opened or read or is in another format, or the output cannot be written.
pub(super) fn run<T>(
    work: &Work<'_, '_, T>,
    inspect: Inspect<'_>,
    args: &StreamArgs,
) -> anyhow::Result<Totals<T>>
where
    T: Clone + Default + Send + AddAssign + Serialize + DeserializeOwned,
{
    let quiet = args.verbosity.quiet;
    super::mistakes::refuse_sentences(work.files, work.command)?;
    let inputs = match work.files {
        [] => inputs_as_named(&[PathBuf::from("-")], quiet)?,
        files => inputs_as_named(files, quiet)?,
    };
    if inputs.contains(&Input::Stdin) && !quiet {
        note_terminal();
    }
    let is_file = |input: &Input| matches!(input, Input::File(path) if path.is_file());
    let flushes_each = !inputs.iter().all(is_file);
    let (mut out, before) = work.open(&inputs, args)?;
    let counter = ByteCounter::default();
    let size = inputs.iter().map(Input::size).sum();
    let mut items = work.items(inputs, inspect, counter.clone(), args);
    let done = match before {
        Some(done) => items.read_again(done, quiet)?,
        None => {
            out.write_all(&work.frame[0])?;
            Done::default()
        }
    };
    let is_shown = !quiet && !args.out.is_terminal();
    let make = || -> pipe::Processor<'_, NotedItem, (Noted, Rendered<T>)> {
        let mut processor = (work.make)();
        Box::new(move |NotedItem { item, noted }| {
            let rendered = work.render(&mut processor, item, noted.at.as_ref());
            (noted, rendered)
        })
    };
    let words = |item: &NotedItem| item.noted.words;
    let pipe = Pipe { words, make: &make, threads: threads(args.threads, quiet), flushes_each };
    let mut results = Results {
        at_stop: args.strict.then_some(work.report),
        done,
        problems: Notes::new("lines that cannot be read", false),
        notes: Notes::new("partial parses", quiet),
        bar: ReadingBar::of_bytes(is_shown, size, counter, "sentences"),
    };
    let ended = pipe.run(&mut items, &mut out, &mut |out, (noted, rendered)| {
        results.write(noted, rendered, out)
    });
    let Results { done, problems, notes, bar, .. } = results;
    if ended.is_ok() && !(args.strict && done.totals.unreadable > 0) {
        out.write_all(&work.frame[1])?;
        out.finish()?;
    } else {
        out.abandon()?;
    }
    drop(bar);
    problems.end();
    notes.end();
    ended.map_err(advised)?;
    Ok(done.totals)
}

/// The items of the input, with notes.
struct NotedItems<'f> {
    sentences: Sentences,
    inspect: Inspect<'f>,
    check: Option<UntokenizedCheck>,
    /// With `--resume`, a check sum of the items.
    sum: Option<crc32fast::Hasher>,
}

impl NotedItems<'_> {
    /// Reads again what has been done.
    ///
    /// # Errors
    /// When it cannot be read, or is something else.
    fn read_again<T>(&mut self, done: Done<T>, quiet: bool) -> anyhow::Result<Done<T>> {
        let mut sum = None;
        for _ in 0..done.items {
            let Some(item) = self.next().transpose()? else {
                sum = None;
                break;
            };
            sum = item.noted.sum;
        }
        anyhow::ensure!(
            done.items == 0 || sum == Some(done.input),
            "--resume: the input is not what it was: its first {} items differ",
            grouped(done.items)
        );
        if !quiet {
            say!("going on after item {} of the input", grouped(done.items));
        }
        Ok(done)
    }
}

impl Iterator for NotedItems<'_> {
    type Item = crate::Result<NotedItem>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.sentences.next();
        let mut note = match &next {
            Some(Ok(Item::Sentence(tokens, _))) => (self.inspect)(tokens),
            _ => None,
        };
        if let Some(check) = &mut self.check
            && !matches!(next, Some(Err(_)))
            && check.add(next.as_ref().and_then(|item| item.as_ref().ok()))
        {
            let untokenized = "note: the words look as if they were not tokenized: --input text splits raw text into \
                               sentences and words";
            match (&next, &mut note) {
                (None, _) => say!("{untokenized}"),
                (_, Some(note)) => *note = format!("{note}\n{untokenized}"),
                (_, None) => note = Some(untokenized.to_owned()),
            }
        }
        Some(next?.map(|item| {
            let sum = self.sum.as_mut().map(|sum| {
                sum.update(format!("{item:?}").as_bytes());
                sum.clone().finalize()
            });
            let words = if let Item::Sentence(tokens, _) = &item { tokens.len() } else { 0 };
            NotedItem {
                noted: Noted {
                    words,
                    at: self.sentences.place(),
                    note,
                    sum,
                    problem: problem(&item),
                },
                item,
            }
        }))
    }
}

/// An item and what is noted about it.
struct NotedItem {
    item: Item,
    noted: Noted,
}

/// The notes about an item as it is read.
struct Noted {
    /// The number of words of a sentence; 0 for other items.
    words: usize,
    /// The place where it began.
    at: Option<Place>,
    /// Why it cannot be read.
    problem: Option<String>,
    /// A note about the input so far.
    note: Option<String>,
    /// The check sum of the input so far.
    sum: Option<u32>,
}

/// Why an item cannot be read.
fn problem(item: &Item) -> Option<String> {
    match item {
        Item::Stray { at, problem } => Some(format!("{at}: {problem}")),
        Item::Missing(missing) => missing.problem(),
        Item::Sentence(..) => None,
    }
}

/// Names the option that an input in another format needs.
fn advised(error: anyhow::Error) -> anyhow::Error {
    let Some(crate::Error::OtherInput { input, found }) = error.downcast_ref() else {
        return error;
    };
    let advice = match found {
        InputKind::Model => format!("give a model with --model {input}"),
        found => format!("use --input {}", found.format()),
    };
    anyhow::anyhow!("{input}: this looks like {found}: {advice}")
}

impl<T: Default> Work<'_, '_, T> {
    /// Opens the output; returns also what an earlier run has done.
    fn open(
        &self,
        inputs: &[Input],
        args: &StreamArgs,
    ) -> anyhow::Result<(Out, Option<Done<Totals<T>>>)>
    where
        T: Serialize + DeserializeOwned,
    {
        let read_files = self.files.iter().chain([&args.model]);
        let Some(causes) = &self.resume else { return Ok((args.out.open(read_files)?, None)) };
        let causes = causes.iter().cloned().chain(resume::causes_of(inputs)?).collect();
        args.out.resume(&read_files.collect::<Vec<_>>(), causes)
    }

    /// The items of the input.
    fn items<'f>(
        &self,
        inputs: Vec<Input>,
        inspect: Inspect<'f>,
        counter: ByteCounter,
        args: &StreamArgs,
    ) -> NotedItems<'f> {
        let sentences = Sentences::new(inputs, self.format, args.encoding.encoding);
        let sentences = (self.prepare)(sentences).counted_by(counter);
        let sum = self.resume.is_some().then(crc32fast::Hasher::new);
        NotedItems { sentences, inspect, check: args.check(self.format), sum }
    }

    /// Processes one item, which began at a place.
    fn render(
        &self,
        processor: &mut Processor<'_, T>,
        item: Item,
        at: Option<&Place>,
    ) -> Rendered<T> {
        let mut result = Rendered::default();
        match item {
            Item::Missing(missing) => result.bytes = (self.missing)(&missing),
            Item::Stray { .. } => {}
            Item::Sentence(tokens, origin) => {
                if let Err(error) = processor(tokens, &origin, &mut result) {
                    let at = at.cloned().unwrap_or_else(|| Place::new(Input::Stdin.name(), 0, 0));
                    let reason = Reason::Bad { at, problem: error.to_string() };
                    let missing = Missing { reason, origin };
                    let (bytes, problem) = ((self.missing)(&missing), missing.problem());
                    result = Rendered { bytes, problem, ..Rendered::default() };
                }
            }
        }
        result
    }
}

/// Writes and counts the results.
struct Results<'f, T> {
    /// With `--strict`, called when the command stops.
    at_stop: Option<Report<'f, T>>,
    done: Done<Totals<T>>,
    problems: Notes,
    notes: Notes,
    bar: ReadingBar,
}

impl<T: AddAssign + Serialize> Results<'_, T> {
    /// Writes a result; returns false if the command should stop.
    fn write(&mut self, item: Noted, result: Rendered<T>, out: &mut Out) -> anyhow::Result<bool> {
        let Noted { words, at, problem, note, sum } = item;
        let words = if result.problem.is_some() { 0 } else { words };
        let problem = problem.or(result.problem);
        let totals = &mut self.done.totals;
        if let Some(problem) = &problem {
            totals.unreadable += 1;
            self.bar.suspend(|| self.problems.print(problem));
            if let Some(report) = self.at_stop {
                self.notes.end();
                report(totals);
                return Ok(false);
            }
        }
        if let (Some(note), Some(at)) = (result.note, &at) {
            self.bar.suspend(|| self.notes.print(&format!("note: {at}: {note}")));
        }
        if let Some(note) = note {
            self.bar.suspend(|| say!("{note}"));
        }
        totals.blank += u64::from(words == 0 && problem.is_none());
        totals.sentences += u64::from(words > 0);
        totals.words += words as u64;
        totals.tally += result.tally;
        self.bar.add(u64::from(words > 0));
        out.write_all(&result.bytes)?;
        if let (Some(sum), Out::Part(part)) = (sum, out) {
            (self.done.items, self.done.input) = (self.done.items + 1, sum);
            part.note(&self.done)?;
        }
        Ok(true)
    }
}
