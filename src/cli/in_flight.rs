//! A bound on what is in memory between the reader and the output of a command.

use std::sync::{Condvar, Mutex, PoisonError};

/// How many items may be between the reader and the output.
const QUEUE: usize = 1024;
/// How many words may be between the reader and the output: items of any length take bounded memory.
const WORDS_IN_FLIGHT: usize = 100_000;

/// Keeps the reader from being far ahead of the output. An item is let in when there is room or nothing else.
#[derive(Default)]
pub(super) struct InFlight {
    /// Items and words.
    now: Mutex<(usize, usize)>,
    changed: Condvar,
}

impl InFlight {
    /// Waits until there is room for an item of so many words.
    pub(super) fn enter(&self, words: usize) {
        let is_full = |&mut (items, all): &mut (usize, usize)| {
            items > 0 && (items >= QUEUE || all + words > WORDS_IN_FLIGHT)
        };
        let now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.changed.wait_while(now, is_full);
        let mut now = now.unwrap_or_else(PoisonError::into_inner);
        *now = (now.0 + 1, now.1 + words);
    }

    /// Makes room, after an item has been written.
    pub(super) fn leave(&self, words: usize) {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        *now = (now.0 - 1, now.1 - words);
        self.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn long_items_wait_for_each_other_and_a_longer_one_goes_alone() {
        let (in_flight, entered) = (InFlight::default(), AtomicUsize::new(0));
        let lengths = [WORDS_IN_FLIGHT / 2, WORDS_IN_FLIGHT / 2, 1, 3 * WORDS_IN_FLIGHT, 0];
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for words in lengths {
                    in_flight.enter(words);
                    entered.fetch_add(1, Ordering::SeqCst);
                }
            });
            for (written, most) in [2, 3, 3, 4, 5].into_iter().enumerate() {
                while entered.load(Ordering::SeqCst) <= written {
                    std::thread::yield_now();
                }
                assert!(entered.load(Ordering::SeqCst) <= most, "{written} written");
                in_flight.leave(lengths[written]);
            }
        });
        assert_eq!(*in_flight.now.lock().unwrap(), (0, 0));
    }
}
