//! Runs a model over a stream of sentences: one result per sentence, in order, on any number of threads.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::ops::AddAssign;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use super::options::{EncodingArg, INPUT};
use crate::model::{Model, file};
use crate::tree::Token;
use crate::treebank::conllu;
use crate::treebank::sentences::{InputFormat, Item, Sentences};
use crate::treebank::{Cleaning, Input, expand};

/// The result for one item of the input. `T` is what the command counts.
#[derive(Debug, Default)]
pub(super) struct Rendered<T> {
    /// The output.
    pub(super) bytes: Vec<u8>,
    /// The number of words of the sentence; 0 if the item is not a sentence.
    pub(super) words: usize,
    /// What the command counts.
    pub(super) tally: T,
    /// The lines that the sentence was read from, in CoNLL-U.
    pub(super) source: Option<conllu::Source>,
    /// Why the item could not be read.
    pub(super) problem: Option<String>,
}

/// Processes the sentences of one thread; the result it writes to is empty.
pub(super) type Processor<'a, T> =
    Box<dyn FnMut(Vec<Token>, &mut Rendered<T>) -> io::Result<()> + 'a>;

/// Makes a processor for a thread.
type MakeProcessor<'f, 'a, T> = &'f (dyn Fn() -> Processor<'a, T> + Sync);

/// Options of commands that run a model over sentences.
#[derive(Debug, clap::Args)]
pub(super) struct StreamArgs {
    /// Model file; the embedded English model if omitted.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Number of threads; 0 uses all cores. The output does not depend on it.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Print only errors, no statistics.
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Stop at the first line that cannot be read.
    #[arg(long, help_heading = INPUT)]
    strict: bool,
    #[command(flatten, next_help_heading = INPUT)]
    encoding: EncodingArg,
}

impl StreamArgs {
    /// Loads the model.
    ///
    /// # Errors
    /// When it cannot be loaded.
    pub(super) fn model(&self) -> anyhow::Result<Model> {
        Ok(match &self.model {
            Some(path) => file::read(path)?,
            None => Model::embedded()?,
        })
    }

    /// Returns what messages call the model.
    pub(super) fn model_name(&self) -> String {
        let path = self.model.as_ref();
        path.map_or("the embedded model".to_owned(), |path| path.display().to_string())
    }

    /// Prints how many trees were read if the input was a treebank.
    pub(super) fn report_trees<T>(&self, format: InputFormat, totals: &Totals<T>) {
        if format == InputFormat::Penn && !self.quiet {
            let Totals { blank, sentences, unreadable, .. } = totals;
            eprintln!("read {} trees, skipped {unreadable}", sentences + blank);
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

impl<T> Totals<T> {
    /// Returns the exit status: 2 if an item could not be read.
    pub(super) fn exit_code(&self) -> ExitCode {
        if self.unreadable > 0 { ExitCode::from(2) } else { ExitCode::SUCCESS }
    }
}

/// Processes every item of the files, or of standard input if there are none, and writes the results to
/// standard output. Trees are stripped by the cleaning of the model. An item that cannot be read gives `unreadable`. `make` is called once in each thread.
///
/// # Errors
/// When an input cannot be opened or read, or standard output cannot be written.
pub(super) fn run<'a, T>(
    files: &[PathBuf],
    format: InputFormat,
    cleaning: &Cleaning,
    args: &StreamArgs,
    unreadable: &[u8],
    make: MakeProcessor<'_, 'a, T>,
) -> anyhow::Result<Totals<T>>
where
    T: Default + Send + AddAssign,
{
    let inputs = if files.is_empty() { vec![Input::Stdin] } else { expand(files)? };
    let is_file = |input: &Input| matches!(input, Input::File(path) if path.is_file());
    let work = &Work { make, unreadable };
    let mut output = OrderedWriter {
        flush_each: !inputs.iter().all(is_file),
        strict: args.strict,
        out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        totals: Totals::default(),
    };
    let sentences = Sentences::new(inputs, format, args.encoding.encoding);
    let sentences = sentences.strip_trees(cleaning.clone());
    let threads = match args.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    if threads == 1 {
        one_thread(work, sentences, &mut output)?;
    } else {
        many_threads(work, sentences, &mut output, threads)?;
    }
    output.out.flush()?;
    Ok(output.totals)
}

/// What is done with each item.
struct Work<'f, 'a, T> {
    make: MakeProcessor<'f, 'a, T>,
    unreadable: &'f [u8],
}

impl<T> Work<'_, '_, T> {
    /// Renders one item into an empty result.
    fn process(
        &self,
        processor: &mut Processor<'_, T>,
        item: Item,
        result: &mut Rendered<T>,
    ) -> io::Result<()> {
        result.source = None;
        match item {
            Item::Blank => result.bytes.push(b'\n'),
            Item::Bad { at, problem } => {
                result.problem = Some(format!("{at}: {problem}"));
                result.bytes.extend_from_slice(self.unreadable);
            }
            Item::Conllu(tokens, source) => {
                (result.words, result.source) = (tokens.len(), Some(source));
                processor(tokens, result)?;
            }
            Item::Sentence(tokens) => {
                result.words = tokens.len();
                processor(tokens, result)?;
            }
        }
        Ok(())
    }
}

/// Writes results in order and counts them.
struct OrderedWriter<T> {
    out: BufWriter<io::StdoutLock<'static>>,
    /// Whether each result is flushed: the input may come from a program that waits for it.
    flush_each: bool,
    strict: bool,
    totals: Totals<T>,
}

impl<T: Default + AddAssign> OrderedWriter<T> {
    /// Writes one result; returns false if the command should stop.
    fn write(&mut self, result: &mut Rendered<T>) -> io::Result<bool> {
        let totals = &mut self.totals;
        if let Some(problem) = &result.problem {
            totals.unreadable += 1;
            eprintln!("{problem}");
            if self.strict {
                return Ok(false);
            }
        }
        totals.blank += u64::from(result.words == 0 && result.problem.is_none());
        totals.sentences += u64::from(result.words > 0);
        totals.words += result.words as u64;
        totals.tally += std::mem::take(&mut result.tally);
        self.out.write_all(&result.bytes)?;
        Ok(true)
    }
}

/// Processes and writes one item after the other.
fn one_thread<T: Default + AddAssign>(
    work: &Work<'_, '_, T>,
    sentences: Sentences,
    output: &mut OrderedWriter<T>,
) -> anyhow::Result<()> {
    let mut processor = (work.make)();
    let mut result = Rendered::default();
    for item in sentences {
        result.bytes.clear();
        (result.words, result.problem) = (0, None);
        work.process(&mut processor, item?, &mut result)?;
        if !output.write(&mut result)? {
            break;
        }
        if output.flush_each {
            output.out.flush()?;
        }
    }
    Ok(())
}

/// The capacity of the queues between threads, and how many items a thread takes at a time.
const QUEUE: usize = 1024;
const BATCH: usize = 32;

type Numbered<T> = (u64, T);

/// One thread reads, several process, and this one writes in order. Nothing waits for a batch to fill, so
/// a program at the other end of a pipe gets each result as soon as it is there.
fn many_threads<T: Default + Send + AddAssign>(
    work: &Work<'_, '_, T>,
    sentences: Sentences,
    output: &mut OrderedWriter<T>,
    threads: usize,
) -> anyhow::Result<()> {
    let (items_in, items_out) = sync_channel::<Numbered<Item>>(QUEUE);
    let (results_in, results_out) = sync_channel::<Numbered<Rendered<T>>>(QUEUE);
    let items_out = Mutex::new(items_out);
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || -> crate::Result<()> {
            for (item, number) in sentences.zip(0..) {
                // The receiver is gone if the command stops early.
                if items_in.send((number, item?)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        for _ in 0..threads {
            let (items, results) = (&items_out, results_in.clone());
            scope.spawn(move || process_items(work, items, &results));
        }
        drop(results_in);
        let written = write_in_order(results_out, output);
        if !matches!(written, Ok(true)) {
            // The reader may be blocked on input that never comes, and the other threads wait for it;
            // nothing they hold is needed, so the program ends here.
            let ended = written.and_then(|_| output.out.flush());
            std::process::exit(match ended {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
                Err(error) => {
                    eprintln!("error: standard output: {error}");
                    2
                }
                Ok(()) => 2,
            });
        }
        reader.join().map_err(|_| anyhow::anyhow!("the reading thread failed"))??;
        Ok(())
    })
}

fn process_items<T: Default>(
    work: &Work<'_, '_, T>,
    items: &Mutex<Receiver<Numbered<Item>>>,
    results: &SyncSender<Numbered<Rendered<T>>>,
) {
    let mut processor = (work.make)();
    let mut taken = Vec::with_capacity(BATCH);
    loop {
        {
            let Ok(items) = items.lock() else { return };
            let Ok(first) = items.recv() else { return };
            taken.push(first);
            taken.extend(items.try_iter().take(BATCH - 1));
        }
        for (number, item) in taken.drain(..) {
            let mut result = Rendered::default();
            // Writing to memory does not fail.
            let _ = work.process(&mut processor, item, &mut result);
            if results.send((number, result)).is_err() {
                return;
            }
        }
    }
}

/// Writes results in the order of their numbers; returns false if the command should stop.
#[expect(
    clippy::needless_pass_by_value,
    reason = "dropping the receiver makes the other threads end"
)]
fn write_in_order<T: Default + AddAssign>(
    results: Receiver<Numbered<Rendered<T>>>,
    output: &mut OrderedWriter<T>,
) -> io::Result<bool> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        let (number, result) = match results.try_recv() {
            Ok(received) => received,
            Err(TryRecvError::Empty) => {
                output.out.flush()?;
                match results.recv() {
                    Ok(received) => received,
                    Err(_) => return Ok(true),
                }
            }
            Err(TryRecvError::Disconnected) => return Ok(true),
        };
        waiting.insert(number, result);
        while let Some(mut result) = waiting.remove(&next) {
            next += 1;
            if !output.write(&mut result)? {
                return Ok(false);
            }
        }
    }
}
