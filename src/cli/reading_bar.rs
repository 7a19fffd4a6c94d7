//! A progress bar for reading input on a terminal; in logs, a line a minute.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use super::notes::grouped;
use crate::treebank::{ByteCounter, Input};

/// The interval between updates.
const REFRESH: Duration = Duration::from_millis(100);

/// The interval between lines of a log.
const MINUTE: Duration = Duration::from_secs(60);

/// A progress bar that disappears when it is dropped, or the lines of a log.
pub(super) struct ReadingBar {
    bar: ProgressBar,
    /// Whether standard error is a log.
    is_log: bool,
    /// The number of bytes read; without it, the position is the number of units.
    bytes: Option<ByteCounter>,
    /// How many of them had been read when the bar began.
    read: u64,
    unit: &'static str,
    count: u64,
    start: Instant,
    drawn: Instant,
}

impl ReadingBar {
    /// A bar for inputs, counted in units such as `sentences`. There is neither a bar nor lines if `shown` is false,
    /// because they would disturb the output.
    pub(super) fn of_inputs(
        shown: bool,
        inputs: &[Input],
        bytes: ByteCounter,
        unit: &'static str,
    ) -> Self {
        Self::of_bytes(shown, inputs.iter().map(Input::size).sum(), bytes, unit)
    }

    /// A bar for bytes, of which some may have been read; without a size, its end is not known.
    pub(super) fn of_bytes(
        shown: bool,
        size: Option<u64>,
        bytes: ByteCounter,
        unit: &'static str,
    ) -> Self {
        let read = bytes.bytes();
        let left = size.map(|size| size.saturating_sub(read));
        Self { read, ..Self::new(shown, left, Some(bytes), unit) }
    }

    /// A bar for a known number of units.
    pub(super) fn of_count(shown: bool, n: usize, unit: &'static str) -> Self {
        Self::new(shown, Some(n as u64), None, unit)
    }

    fn new(
        shown: bool,
        length: Option<u64>,
        bytes: Option<ByteCounter>,
        unit: &'static str,
    ) -> Self {
        let is_terminal = io::stderr().is_terminal();
        let (is_shown, is_log) = (shown && is_terminal, shown && !is_terminal);
        let target =
            if is_shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(length, target);
        let bar = bar.with_finish(ProgressFinish::AndClear);
        let template =
            if length.is_some() { "{bar:30} {msg}, {eta} remaining" } else { "{spinner} {msg}" };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let start = Instant::now();
        let mut this = Self { bar, is_log, bytes, read: 0, unit, count: 0, start, drawn: start };
        if is_shown {
            this.draw();
        }
        this
    }

    /// Counts units.
    pub(super) fn add(&mut self, n: u64) {
        self.count += n;
        if self.is_log {
            if self.drawn.elapsed() >= MINUTE {
                self.drawn = Instant::now();
                say!("{}", self.line(self.start.elapsed()));
            }
        } else if self.drawn.elapsed() >= REFRESH && !self.bar.is_hidden() {
            self.draw();
        }
    }

    fn draw(&mut self) {
        self.drawn = Instant::now();
        self.bar.set_message(self.so_far(self.start.elapsed()));
        self.bar.set_position(self.position());
    }

    /// How much has been read, in the units of the length.
    fn position(&self) -> u64 {
        self.bytes.as_ref().map_or(self.count, |bytes| bytes.bytes() - self.read)
    }

    /// `12,000 sentences, 200/s`.
    fn so_far(&self, elapsed: Duration) -> String {
        let rate = self.count as f64 / elapsed.as_secs_f64().max(1e-9);
        format!("{} {}, {}/s", grouped(self.count), self.unit, grouped(rate as u64))
    }

    /// The same with the remaining time, if the length is known.
    fn line(&self, elapsed: Duration) -> String {
        let (position, so_far) = (self.position(), self.so_far(elapsed));
        let Some(length) = self.bar.length().filter(|_| position > 0) else { return so_far };
        let left = length.saturating_sub(position) as f64 / position as f64;
        let minutes = (elapsed.as_secs_f64() * left / 60.0).ceil() as u64;
        format!("{so_far}, about {} min remaining", grouped(minutes))
    }

    /// Runs `print` while the bar is hidden.
    pub(super) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_log_has_the_rate_and_the_remaining_time() {
        let mut bar = ReadingBar::of_count(false, 10_000, "trees");
        bar.add(2_500);
        assert_eq!(bar.line(Duration::from_secs(120)), "2,500 trees, 20/s, about 6 min remaining");
        let mut unknown = ReadingBar::new(false, None, None, "sentences");
        unknown.add(1_200);
        assert_eq!(unknown.line(Duration::from_secs(60)), "1,200 sentences, 20/s");
    }
}
