//! Numbers of matches.

use std::io::{self, Write};

use rustc_hash::FxHashMap;

/// Counts by key.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: FxHashMap<String, u64>,
    /// The keys as they were first seen.
    keys: Vec<String>,
    total: u64,
}

impl Tally {
    /// Adds to the count of a key, which is listed even if it is 0.
    pub(super) fn add(&mut self, key: &str, count: u64) {
        self.total = self.total.saturating_add(count);
        match self.counts.get_mut(key) {
            Some(known) => *known = known.saturating_add(count),
            None => {
                self.counts.insert(key.to_owned(), count);
                self.keys.push(key.to_owned());
            }
        }
    }

    /// The sum of all counts.
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Writes a line for each key: its count, a tab, the key. Keys are in the order of the input, or by falling count and
    /// then in alphabetical order.
    pub(super) fn write(&self, is_in_order: bool, out: &mut impl Write) -> io::Result<()> {
        let mut keys: Vec<&str> = self.keys.iter().map(String::as_str).collect();
        if !is_in_order {
            keys.sort_unstable_by_key(|&key| (u64::MAX - self.counts[key], key));
        }
        keys.into_iter().try_for_each(|key| writeln!(out, "{}\t{key}", self.counts[key]))
    }
}
