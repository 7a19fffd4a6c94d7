//! `srparse parse`: tagged sentences in, trees out, one for each, in order.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::time::Instant;

use anyhow::Context;
use clap::ValueEnum;

use crate::decode::{Parse, Parser, Worker};
use crate::model::{Model, file};
use crate::preset::load::load;
use crate::tree::dependencies::dependencies;
use crate::treebank::sentences::{InputFormat, Item, Sentences};
use crate::treebank::{Encoding, Input, conllu, expand, json, penn};

/// Parse tagged sentences.
///
/// Sentences come one a line from files or standard input; each gives one tree on standard output. Words
/// and tags come back unchanged and in order. A blank line gives a blank line. A line that does not read
/// gives (()), a message, and exit status 2 in the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  echo 'The/DT dog/NN barks/VBZ ./.' | srparse parse
  srparse parse --output conllu data/sample/sentences.txt
  srparse parse --input penn -j 2 data/sample/dev.mrg")]
pub struct ParseArgs {
    /// Files to parse (.gz too); standard input if none.
    files: Vec<PathBuf>,
    /// The model file; without one, the embedded English model.
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// How sentences are written: tagged (word/TAG), underscore (word_TAG), conllu, or penn (words and
    /// tags of trees).
    #[arg(long, value_name = "FORMAT", default_value = "tagged")]
    input: InputFormat,
    /// How trees are written.
    #[arg(long, value_name = "FORMAT", default_value = "brackets")]
    output: OutputFormat,
    /// Threads; 0 for one on each core. The output is the same for any number.
    #[arg(short = 'j', long = "threads", value_name = "N", default_value_t = 1)]
    threads: usize,
    /// Stop at the first line that does not read.
    #[arg(long)]
    strict: bool,
    /// Change a setting of the search, such as search.illegal=fail; may be given again.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Encoding of the input: utf-8, gb18030 or latin-1.
    #[arg(long, value_name = "NAME", default_value = "utf-8")]
    encoding: Encoding,
    /// Say nothing but errors.
    #[arg(short, long)]
    quiet: bool,
}

/// How trees are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// One line of brackets a tree.
    Brackets,
    /// Indented brackets over several lines.
    Pretty,
    /// CoNLL-U: words, tags and dependencies.
    Conllu,
    /// A JSON object a line: tree, spans, heads, score, completeness.
    Json,
}

/// Runs the command.
///
/// # Errors
/// When the model is refused or an input cannot be read.
pub fn run(args: &ParseArgs) -> anyhow::Result<ExitCode> {
    let model = match &args.model {
        Some(path) => file::read(path)?,
        None => Model::embedded()?,
    };
    let name =
        args.model.as_ref().map_or("the embedded model".into(), |path| path.to_string_lossy());
    let parser = load(&model, &args.set).with_context(|| name.into_owned())?;
    let inputs = if args.files.is_empty() { vec![Input::Stdin] } else { expand(&args.files)? };
    let is_file = |input: &Input| matches!(input, Input::File(path) if path.is_file());
    let each_at_once = !inputs.iter().all(is_file);
    let sentences = Sentences::new(inputs, args.input, args.encoding);
    let start = Instant::now();
    let mut output = Output::new(args, each_at_once);
    let threads = match args.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    if threads == 1 {
        one_thread(&*parser, sentences, &mut output)?;
    } else {
        many_threads(&*parser, sentences, &mut output, threads)?;
    }
    output.out.flush()?;
    Ok(output.finish(start))
}

/// What a thread made of an item.
#[derive(Debug, Default)]
struct Made {
    bytes: Vec<u8>,
    words: usize,
    partial: bool,
    problem: Option<String>,
}

/// Writes results in order and counts them.
struct Output {
    out: BufWriter<io::StdoutLock<'static>>,
    /// Whether somebody may be waiting for each tree.
    each_at_once: bool,
    format: OutputFormat,
    strict: bool,
    quiet: bool,
    /// Whether the sentences come from trees, whose reading is always reported.
    from_trees: bool,
    blank: u64,
    sentences: u64,
    words: u64,
    partial: u64,
    unreadable: u64,
}

impl Output {
    fn new(args: &ParseArgs, each_at_once: bool) -> Self {
        let (format, strict, quiet) = (args.output, args.strict, args.quiet);
        let out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
        Self {
            out,
            each_at_once,
            format,
            strict,
            quiet,
            from_trees: args.input == InputFormat::Penn,
            blank: 0,
            sentences: 0,
            words: 0,
            partial: 0,
            unreadable: 0,
        }
    }

    /// Writes one result; false when nothing more is wanted.
    fn write(&mut self, made: &Made) -> io::Result<bool> {
        if let Some(problem) = &made.problem {
            self.unreadable += 1;
            eprintln!("{problem}");
            if self.strict {
                return Ok(false);
            }
        }
        self.blank += u64::from(made.words == 0 && made.problem.is_none());
        self.sentences += u64::from(made.words > 0);
        self.words += made.words as u64;
        self.partial += u64::from(made.partial);
        self.out.write_all(&made.bytes)?;
        Ok(true)
    }

    fn finish(self, start: Instant) -> ExitCode {
        let Self { sentences, words, partial, unreadable, .. } = self;
        if self.from_trees && !self.quiet {
            eprintln!("read {} trees, skipped {unreadable}", sentences + self.blank);
        }
        if !self.quiet && (io::stderr().is_terminal() || partial + unreadable > 0) {
            let seconds = start.elapsed().as_secs_f64();
            let rate = sentences as f64 / seconds.max(1e-9);
            eprintln!(
                "parsed {sentences} sentences ({words} words) in {seconds:.2} s, {rate:.0} a second; \
                 {partial} partial, {unreadable} unreadable"
            );
        }
        if unreadable > 0 { ExitCode::from(2) } else { ExitCode::SUCCESS }
    }
}

/// Parses one item and writes it as bytes.
fn make(
    worker: &mut dyn Worker,
    item: &Item,
    format: OutputFormat,
    made: &mut Made,
) -> io::Result<()> {
    made.bytes.clear();
    (made.words, made.partial, made.problem) = (0, false, None);
    match item {
        Item::Blank => made.bytes.push(b'\n'),
        Item::Bad { at, problem } => {
            made.problem = Some(format!("{at}: {problem}"));
            made.bytes.extend_from_slice(match format {
                OutputFormat::Brackets | OutputFormat::Pretty => b"(())\n",
                OutputFormat::Conllu => b"# unreadable\n\n",
                OutputFormat::Json => b"{\"tree\":\"(())\",\"complete\":false}\n",
            });
        }
        Item::Sentence(tokens) => {
            let parse = worker.parse(tokens);
            made.words = tokens.len();
            made.partial = !parse.complete;
            write_parse(&parse, format, &mut made.bytes)?;
        }
    }
    Ok(())
}

fn write_parse(parse: &Parse, format: OutputFormat, out: &mut Vec<u8>) -> io::Result<()> {
    let Parse { tree, score, complete } = parse;
    match format {
        OutputFormat::Brackets => penn::write_line(tree, out),
        OutputFormat::Pretty => penn::write_pretty(tree, out),
        OutputFormat::Conllu => {
            let (heads, relations): (Vec<u32>, Vec<_>) = dependencies(tree)
                .into_iter()
                .map(|dependency| (dependency.head, dependency.label))
                .unzip();
            conllu::write_sentence(tree, &heads, &relations, out)
        }
        OutputFormat::Json => {
            let heads: Vec<u32> =
                dependencies(tree).into_iter().map(|dependency| dependency.head).collect();
            json::write_line(
                &json::Parse {
                    tree,
                    heads: Some(&heads),
                    score: Some(*score),
                    complete: *complete,
                },
                out,
            )
        }
    }
}

/// Parses and writes one sentence after the other.
fn one_thread(
    parser: &dyn Parser,
    sentences: Sentences,
    output: &mut Output,
) -> anyhow::Result<()> {
    let mut worker = parser.worker();
    let mut made = Made::default();
    for item in sentences {
        make(&mut *worker, &item?, output.format, &mut made)?;
        if !output.write(&made)? {
            break;
        }
        if output.each_at_once {
            output.out.flush()?;
        }
    }
    Ok(())
}

/// How many items may wait for a thread, and how many a thread takes at a time.
const WAITING: usize = 1024;
const TAKEN: usize = 32;

type Numbered<T> = (u64, T);

/// One thread reads, some parse, this one writes in order. Nothing waits for a batch to fill, so a
/// partner at the other end of a pipe gets each tree as soon as it is there.
fn many_threads(
    parser: &dyn Parser,
    sentences: Sentences,
    output: &mut Output,
    threads: usize,
) -> anyhow::Result<()> {
    let (items_in, items_out) = sync_channel::<Numbered<Item>>(WAITING);
    let (made_in, made_out) = sync_channel::<Numbered<Made>>(WAITING);
    let items_out = Mutex::new(items_out);
    let format = output.format;
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || -> crate::Result<()> {
            for (item, number) in sentences.zip(0..) {
                // The other end is gone when nothing more is wanted.
                if items_in.send((number, item?)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        for _ in 0..threads {
            let (items, made) = (&items_out, made_in.clone());
            scope.spawn(move || parse_items(parser, items, &made, format));
        }
        drop(made_in);
        let written = write_in_order(made_out, output);
        if !matches!(written, Ok(true)) {
            // The reader may be waiting for input that never comes, with the parsing threads waiting for
            // it; nothing they hold is needed, so the program ends here.
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

fn parse_items(
    parser: &dyn Parser,
    items: &Mutex<Receiver<Numbered<Item>>>,
    made_in: &SyncSender<Numbered<Made>>,
    format: OutputFormat,
) {
    let mut worker = parser.worker();
    let mut taken = Vec::with_capacity(TAKEN);
    loop {
        {
            let Ok(items) = items.lock() else { return };
            let Ok(first) = items.recv() else { return };
            taken.push(first);
            taken.extend(items.try_iter().take(TAKEN - 1));
        }
        for (number, item) in taken.drain(..) {
            let mut made = Made::default();
            // Writing to memory does not fail.
            let _ = make(&mut *worker, &item, format, &mut made);
            if made_in.send((number, made)).is_err() {
                return;
            }
        }
    }
}

/// Writes results in the order of their numbers; false when nothing more is wanted.
#[expect(
    clippy::needless_pass_by_value,
    reason = "dropping the receiver tells the parsing threads to end"
)]
fn write_in_order(made_out: Receiver<Numbered<Made>>, output: &mut Output) -> io::Result<bool> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        let (number, made) = match made_out.try_recv() {
            Ok(received) => received,
            Err(TryRecvError::Empty) => {
                output.out.flush()?;
                match made_out.recv() {
                    Ok(received) => received,
                    Err(_) => return Ok(true),
                }
            }
            Err(TryRecvError::Disconnected) => return Ok(true),
        };
        waiting.insert(number, made);
        while let Some(made) = waiting.remove(&next) {
            next += 1;
            if !output.write(&made)? {
                return Ok(false);
            }
        }
    }
}
