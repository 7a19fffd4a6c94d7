//! Sentences through a command as through a pipe: one result for each item, in order, on any number of
//! threads.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::ops::AddAssign;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};

use crate::model::{Model, file};
use crate::treebank::sentences::{InputFormat, Item, Sentences};
use crate::treebank::{Encoding, Input, expand};

/// What a thread made of an item. `T` is what the command counts besides.
#[derive(Debug, Default)]
pub(super) struct Made<T> {
    /// What is written.
    pub(super) bytes: Vec<u8>,
    /// The words of the sentence; 0 for what is none.
    pub(super) words: usize,
    /// What the command counts.
    pub(super) tally: T,
    /// Why the item did not read.
    pub(super) problem: Option<String>,
}

/// Makes results in one thread: writes one for the item into what it is given, which is empty.
pub(super) type Maker<'a, T> = Box<dyn FnMut(Item, &mut Made<T>) -> io::Result<()> + 'a>;

/// The arguments of commands that run a model over sentences. Their places in the help leave room for
/// those that a command has besides.
#[derive(Debug, clap::Args)]
pub(super) struct StreamArgs {
    /// The model file; without one, the embedded English model.
    #[arg(long, value_name = "FILE", display_order = 0)]
    model: Option<PathBuf>,
    /// Threads; 0 for one on each core. The output is the same for any number.
    #[arg(
        short = 'j',
        long = "threads",
        value_name = "N",
        default_value_t = 1,
        display_order = 10
    )]
    threads: usize,
    /// Stop at the first line that does not read.
    #[arg(long, display_order = 11)]
    strict: bool,
    /// Encoding of the input: utf-8, gb18030 or latin-1.
    #[arg(long, value_name = "NAME", default_value = "utf-8", display_order = 13)]
    encoding: Encoding,
}

impl StreamArgs {
    /// The model.
    ///
    /// # Errors
    /// When it is refused.
    pub(super) fn model(&self) -> anyhow::Result<Model> {
        Ok(match &self.model {
            Some(path) => file::read(path)?,
            None => Model::embedded()?,
        })
    }

    /// What messages call the model.
    pub(super) fn model_name(&self) -> String {
        let path = self.model.as_ref();
        path.map_or("the embedded model".to_owned(), |path| path.display().to_string())
    }
}

/// What went through a stream.
#[derive(Debug, Default)]
pub(super) struct Totals<T> {
    /// Blank lines and the like.
    pub(super) blank: u64,
    /// Sentences.
    pub(super) sentences: u64,
    /// Their words.
    pub(super) words: u64,
    /// Items that did not read.
    pub(super) unreadable: u64,
    /// What the command counts.
    pub(super) tally: T,
}

/// Makes a result of every item of the files, or of standard input if there are none, and writes it to
/// standard output. `maker` is called once in each thread.
///
/// # Errors
/// When an input cannot be opened or read, or standard output cannot be written.
pub(super) fn run<'a, T>(
    files: &[PathBuf],
    format: InputFormat,
    args: &StreamArgs,
    maker: &(dyn Fn() -> Maker<'a, T> + Sync),
) -> anyhow::Result<Totals<T>>
where
    T: Default + Send + AddAssign,
{
    let inputs = if files.is_empty() { vec![Input::Stdin] } else { expand(files)? };
    let is_file = |input: &Input| matches!(input, Input::File(path) if path.is_file());
    let mut output = Output {
        each_at_once: !inputs.iter().all(is_file),
        strict: args.strict,
        out: BufWriter::with_capacity(1 << 16, io::stdout().lock()),
        totals: Totals::default(),
    };
    let sentences = Sentences::new(inputs, format, args.encoding);
    let threads = match args.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    if threads == 1 {
        one_thread(maker, sentences, &mut output)?;
    } else {
        many_threads(maker, sentences, &mut output, threads)?;
    }
    output.out.flush()?;
    Ok(output.totals)
}

/// Writes results in order and counts them.
struct Output<T> {
    out: BufWriter<io::StdoutLock<'static>>,
    /// Whether somebody may be waiting for each result.
    each_at_once: bool,
    strict: bool,
    totals: Totals<T>,
}

impl<T: Default + AddAssign> Output<T> {
    /// Writes one result; false when nothing more is wanted.
    fn write(&mut self, made: &mut Made<T>) -> io::Result<bool> {
        let totals = &mut self.totals;
        if let Some(problem) = &made.problem {
            totals.unreadable += 1;
            eprintln!("{problem}");
            if self.strict {
                return Ok(false);
            }
        }
        totals.blank += u64::from(made.words == 0 && made.problem.is_none());
        totals.sentences += u64::from(made.words > 0);
        totals.words += made.words as u64;
        totals.tally += std::mem::take(&mut made.tally);
        self.out.write_all(&made.bytes)?;
        Ok(true)
    }
}

/// Makes and writes one result after the other.
fn one_thread<'a, T: Default + AddAssign>(
    maker: &(dyn Fn() -> Maker<'a, T> + Sync),
    sentences: Sentences,
    output: &mut Output<T>,
) -> anyhow::Result<()> {
    let mut make = maker();
    let mut made = Made::default();
    for item in sentences {
        made.bytes.clear();
        (made.words, made.problem) = (0, None);
        make(item?, &mut made)?;
        if !output.write(&mut made)? {
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

/// One thread reads, some make results, this one writes in order. Nothing waits for a batch to fill, so
/// a partner at the other end of a pipe gets each result as soon as it is there.
fn many_threads<'a, T: Default + Send + AddAssign>(
    maker: &(dyn Fn() -> Maker<'a, T> + Sync),
    sentences: Sentences,
    output: &mut Output<T>,
    threads: usize,
) -> anyhow::Result<()> {
    let (items_in, items_out) = sync_channel::<Numbered<Item>>(WAITING);
    let (made_in, made_out) = sync_channel::<Numbered<Made<T>>>(WAITING);
    let items_out = Mutex::new(items_out);
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
            scope.spawn(move || make_items(maker(), items, &made));
        }
        drop(made_in);
        let written = write_in_order(made_out, output);
        if !matches!(written, Ok(true)) {
            // The reader may be waiting for input that never comes, with the other threads waiting for
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

fn make_items<T: Default>(
    mut make: Maker<'_, T>,
    items: &Mutex<Receiver<Numbered<Item>>>,
    made_in: &SyncSender<Numbered<Made<T>>>,
) {
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
            let _ = make(item, &mut made);
            if made_in.send((number, made)).is_err() {
                return;
            }
        }
    }
}

/// Writes results in the order of their numbers; false when nothing more is wanted.
#[expect(
    clippy::needless_pass_by_value,
    reason = "dropping the receiver tells the other threads to end"
)]
fn write_in_order<T: Default + AddAssign>(
    made_out: Receiver<Numbered<Made<T>>>,
    output: &mut Output<T>,
) -> io::Result<bool> {
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
        while let Some(mut made) = waiting.remove(&next) {
            next += 1;
            if !output.write(&mut made)? {
                return Ok(false);
            }
        }
    }
}
