//! Processes the items of an input on any number of threads, and takes the results in the order of the items.
//!
//! Memory is bounded by what is between the reader and the output ([`InFlight`]): results that wait for the result of a
//! slow item count.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Condvar, Mutex, PoisonError};

use super::out::Out;

/// Processes the items of one thread.
pub(super) type Processor<'a, I, R> = Box<dyn FnMut(I) -> R + 'a>;

/// Takes a result, and writes to the output. Returns false if the command should stop.
pub(super) type Taker<'f, R> = &'f mut dyn FnMut(&mut Out, R) -> anyhow::Result<bool>;

/// How the items are processed.
pub(super) struct Pipe<'f, 'a, I, R> {
    /// The number of words of an item.
    pub(super) words: fn(&I) -> usize,
    /// Creates a processor; called once in each thread.
    pub(super) make: &'f (dyn Fn() -> Processor<'a, I, R> + Sync),
    pub(super) threads: usize,
    /// Whether each result is needed at once, because the input may come from a program that waits for it.
    pub(super) flushes_each: bool,
}

impl<I: Send, R: Send> Pipe<'_, '_, I, R> {
    /// Processes all items.
    ///
    /// # Errors
    /// When an item cannot be read, or a result cannot be taken.
    pub(super) fn run(
        &self,
        items: &mut (dyn Iterator<Item = crate::Result<I>> + Send),
        out: &mut Out,
        take: Taker<'_, R>,
    ) -> anyhow::Result<()> {
        if self.threads > 1 {
            return self.many_threads(items, out, take);
        }
        let mut process = (self.make)();
        for item in items {
            if !take(out, process(item?))? {
                end(out, Ok(()));
            }
            if self.flushes_each {
                out.flush()?;
            }
        }
        Ok(())
    }

    /// One thread reads, several process items, and this one takes the results. No thread waits for a batch to fill up, so
    /// a program at the other end of a pipe gets each result as soon as it is available.
    fn many_threads(
        &self,
        items: &mut (dyn Iterator<Item = crate::Result<I>> + Send),
        out: &mut Out,
        take: Taker<'_, R>,
    ) -> anyhow::Result<()> {
        let (items_in, items_out) = channel::<Numbered<I>>();
        let (results_in, results_out) = channel::<Numbered<R>>();
        let (items_out, in_flight) = (Mutex::new(items_out), &InFlight::default());
        std::thread::scope(|scope| {
            let reader = scope.spawn(move || -> crate::Result<()> {
                for (item, number) in items.zip(0..) {
                    let item = item?;
                    let words = (self.words)(&item);
                    in_flight.enter(words);
                    // The receiver is gone if the command stops early.
                    if items_in.send((number, words, item)).is_err() {
                        break;
                    }
                }
                Ok(())
            });
            for _ in 0..self.threads {
                let (items, results) = (&items_out, results_in.clone());
                scope.spawn(move || self.process(items, &results));
            }
            drop(results_in);
            let taken = take_in_order(&results_out, in_flight, out, take);
            if !matches!(taken, Ok(true)) {
                // The reader may be blocked on input that never comes, and the other threads wait for it; nothing they
                // hold is needed.
                end(out, taken.map(|_| ()));
            }
            reader.join().map_err(|_| anyhow::anyhow!("the reading thread failed"))??;
            Ok(())
        })
    }

    /// The work of one thread.
    fn process(&self, items: &Mutex<Receiver<Numbered<I>>>, results: &Sender<Numbered<R>>) {
        let mut process = (self.make)();
        let mut taken = Vec::with_capacity(BATCH);
        loop {
            {
                let Ok(items) = items.lock() else { return };
                let Ok(first) = items.recv() else { return };
                taken.push(first);
                taken.extend(items.try_iter().take(BATCH - 1));
            }
            for (number, words, item) in taken.drain(..) {
                if results.send((number, words, process(item))).is_err() {
                    return;
                }
            }
        }
    }
}

/// Ends the program, with any number of threads in the same way: after a result with which the command stops, or a failure.
fn end(out: &mut Out, taken: anyhow::Result<()>) -> ! {
    let abandoned = out.abandon().map_err(anyhow::Error::from);
    let failure = taken.and(abandoned).err();
    std::process::exit(failure.map_or(2, |error| super::status_of(&error)).into())
}

/// The number of items that a thread takes at a time.
const BATCH: usize = 32;

/// An item or its result, with the number and the words of the item.
type Numbered<T> = (u64, usize, T);

/// Takes results in the order of their numbers; returns false if the command should stop.
fn take_in_order<R>(
    results: &Receiver<Numbered<R>>,
    in_flight: &InFlight,
    out: &mut Out,
    take: Taker<'_, R>,
) -> anyhow::Result<bool> {
    let mut waiting = BTreeMap::new();
    let mut next = 0;
    loop {
        let received = match results.try_recv() {
            Ok(received) => Some(received),
            Err(TryRecvError::Disconnected) => None,
            Err(TryRecvError::Empty) => {
                out.flush()?;
                results.recv().ok()
            }
        };
        let Some((number, words, result)) = received else { return Ok(true) };
        waiting.insert(number, (words, result));
        while let Some((words, result)) = waiting.remove(&next) {
            next += 1;
            in_flight.leave(words);
            if !take(out, result)? {
                return Ok(false);
            }
        }
    }
}

/// How many items may be between the reader and the output.
const QUEUE: usize = 1024;
/// How many words may be between the reader and the output: items of any length take bounded memory.
const WORDS_IN_FLIGHT: usize = 100_000;

/// The items between the reader and the output.
#[derive(Debug, Default, PartialEq, Eq)]
struct Load {
    items: usize,
    words: usize,
}

impl Load {
    /// Whether there is room for an item of so many words, or nothing else.
    fn has_room(&self, words: usize) -> bool {
        self.items == 0 || (self.items < QUEUE && self.words + words <= WORDS_IN_FLIGHT)
    }
}

/// Keeps the reader from being far ahead of the output.
#[derive(Default)]
struct InFlight {
    load: Mutex<Load>,
    changed: Condvar,
}

impl InFlight {
    /// Waits until there is room for an item of so many words.
    fn enter(&self, words: usize) {
        let load = self.load.lock().unwrap_or_else(PoisonError::into_inner);
        let load = self.changed.wait_while(load, |load| !load.has_room(words));
        let mut load = load.unwrap_or_else(PoisonError::into_inner);
        *load = Load { items: load.items + 1, words: load.words + words };
    }

    /// Makes room, after an item has been processed.
    fn leave(&self, words: usize) {
        let mut load = self.load.lock().unwrap_or_else(PoisonError::into_inner);
        *load = Load { items: load.items - 1, words: load.words - words };
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_items_wait_for_each_other_and_a_longer_one_goes_alone() {
        let load = |items, words| Load { items, words };
        assert!(load(0, 0).has_room(3 * WORDS_IN_FLIGHT));
        assert!(!load(1, 3 * WORDS_IN_FLIGHT).has_room(0));
        assert!(load(1, WORDS_IN_FLIGHT / 2).has_room(WORDS_IN_FLIGHT / 2));
        assert!(!load(2, WORDS_IN_FLIGHT).has_room(1));
        assert!(load(QUEUE - 1, 0).has_room(0) && !load(QUEUE, 0).has_room(0));
    }

    #[test]
    fn whoever_waits_enters_once_there_is_room() {
        let in_flight = InFlight::default();
        let (entered, news) = channel();
        let lengths = [WORDS_IN_FLIGHT / 2, WORDS_IN_FLIGHT / 2, 1, 3 * WORDS_IN_FLIGHT, 0];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for words in lengths {
                    in_flight.enter(words);
                    entered.send(words).unwrap();
                }
            });
            // Without a wake-up, the next entry would be waited for without end.
            for _ in lengths {
                in_flight.leave(news.recv().unwrap());
            }
        });
        assert_eq!(*in_flight.load.lock().unwrap(), Load::default());
    }
}
