//! Processes the items of an input on any number of threads, and writes the results in the order of the items.
//!
//! Memory is bounded by what is between the reader and the output ([`InFlight`]): results that wait for the result of a
//! slow item count.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};

use super::in_flight::InFlight;
use super::out::Out;

/// Processes the items of one thread. The result that it writes to is that of an earlier item, or the default.
pub(super) type Processor<'a, I, R> = Box<dyn FnMut(I, &mut R) + 'a>;

/// The work on each item.
pub(super) struct Work<'f, 'a, I, R> {
    /// The number of words of an item.
    pub(super) words: fn(&I) -> usize,
    /// Creates a processor; called once in each thread.
    pub(super) make: &'f (dyn Fn() -> Processor<'a, I, R> + Sync),
}

/// Where the results go.
pub(super) trait Sink<R> {
    /// Writes a result, which it may change; returns false if the command should stop.
    fn write(&mut self, result: &mut R) -> io::Result<bool>;
    /// Whether each result is needed at once, because the input may come from a program that waits for it.
    fn flushes_each(&self) -> bool;
    /// What results are written to.
    fn out(&mut self) -> &mut Out;
}

/// Processes all items.
///
/// # Errors
/// When an item cannot be read, or a result cannot be written.
pub(super) fn run<I: Send, R: Default + Send>(
    work: &Work<'_, '_, I, R>,
    items: &mut (dyn Iterator<Item = crate::Result<I>> + Send),
    sink: &mut dyn Sink<R>,
    threads: usize,
) -> anyhow::Result<()> {
    if threads > 1 {
        return many_threads(work, items, sink, threads);
    }
    let (mut process, mut result) = ((work.make)(), R::default());
    for item in items {
        process(item?, &mut result);
        if !sink.write(&mut result)? {
            break;
        }
        if sink.flushes_each() {
            sink.out().flush()?;
        }
    }
    Ok(())
}

/// The number of items that a thread takes at a time.
const BATCH: usize = 32;

/// An item or its result, with the number and the words of the item.
type Numbered<T> = (u64, usize, T);

/// One thread reads, several process items, and this one writes results in order. No thread waits for a
/// batch to fill up, so a program at the other end of a pipe gets each result as soon as it is available.
fn many_threads<I: Send, R: Default + Send>(
    work: &Work<'_, '_, I, R>,
    items: &mut (dyn Iterator<Item = crate::Result<I>> + Send),
    sink: &mut dyn Sink<R>,
    threads: usize,
) -> anyhow::Result<()> {
    let (items_in, items_out) = channel::<Numbered<I>>();
    let (results_in, results_out) = channel::<Numbered<R>>();
    let (items_out, in_flight) = (Mutex::new(items_out), &InFlight::default());
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || -> crate::Result<()> {
            for (item, number) in items.zip(0..) {
                let item = item?;
                let words = (work.words)(&item);
                in_flight.enter(words);
                // The receiver is gone if the command stops early.
                if items_in.send((number, words, item)).is_err() {
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
        let written = write_in_order(results_out, in_flight, sink);
        if !matches!(written, Ok(true)) {
            // The reader may be blocked on input that never comes, and the other threads wait for it;
            // nothing they hold is needed, so the program ends here.
            let abandoned = sink.out().abandon();
            let ended = written.and(abandoned);
            std::process::exit(match ended {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
                Err(error) => {
                    say!("error: standard output: {error}");
                    2
                }
                Ok(()) => 2,
            });
        }
        reader.join().map_err(|_| anyhow::anyhow!("the reading thread failed"))??;
        Ok(())
    })
}

fn process_items<I, R: Default>(
    work: &Work<'_, '_, I, R>,
    items: &Mutex<Receiver<Numbered<I>>>,
    results: &Sender<Numbered<R>>,
) {
    let mut process = (work.make)();
    let mut taken = Vec::with_capacity(BATCH);
    loop {
        {
            let Ok(items) = items.lock() else { return };
            let Ok(first) = items.recv() else { return };
            taken.push(first);
            taken.extend(items.try_iter().take(BATCH - 1));
        }
        for (number, words, item) in taken.drain(..) {
            let mut result = R::default();
            process(item, &mut result);
            if results.send((number, words, result)).is_err() {
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
fn write_in_order<R>(
    results: Receiver<Numbered<R>>,
    in_flight: &InFlight,
    sink: &mut dyn Sink<R>,
) -> io::Result<bool> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        let (number, words, result) = match results.try_recv() {
            Ok(received) => received,
            Err(TryRecvError::Empty) => {
                sink.out().flush()?;
                match results.recv() {
                    Ok(received) => received,
                    Err(_) => return Ok(true),
                }
            }
            Err(TryRecvError::Disconnected) => return Ok(true),
        };
        waiting.insert(number, (words, result));
        while let Some((words, mut result)) = waiting.remove(&next) {
            next += 1;
            in_flight.leave(words);
            if !sink.write(&mut result)? {
                return Ok(false);
            }
        }
    }
}
