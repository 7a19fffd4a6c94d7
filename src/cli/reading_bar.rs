//! A progress bar for reading input, on a terminal.

use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressFinish, ProgressStyle};

use super::notes::grouped;
use crate::treebank::{ByteCounter, Input};

/// The interval between updates.
const REFRESH: Duration = Duration::from_millis(100);

/// A progress bar that disappears when it is dropped.
pub(super) struct ReadingBar {
    bar: ProgressBar,
    /// The number of bytes read; without it, the position is the number of units.
    bytes: Option<ByteCounter>,
    unit: &'static str,
    count: u64,
    start: Instant,
    drawn: Instant,
}

impl ReadingBar {
    /// A bar for inputs, counted in units such as `sentences`. There is none if `shown` is false, because it
    /// would disturb the output, or without a terminal.
    pub(super) fn of_inputs(
        shown: bool,
        inputs: &[Input],
        bytes: ByteCounter,
        unit: &'static str,
    ) -> Self {
        let size = inputs.iter().map(Input::size).sum();
        Self::new(shown, size, Some(bytes), unit)
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
        let is_shown = shown && io::stderr().is_terminal();
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
        let mut this = Self { bar, bytes, unit, count: 0, start, drawn: start };
        if is_shown {
            this.draw();
        }
        this
    }

    /// Counts units.
    pub(super) fn add(&mut self, n: u64) {
        self.count += n;
        if self.drawn.elapsed() >= REFRESH && !self.bar.is_hidden() {
            self.draw();
        }
    }

    fn draw(&mut self) {
        self.drawn = Instant::now();
        let rate = self.count as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
        let (count, rate) = (grouped(self.count), grouped(rate as u64));
        self.bar.set_message(format!("{count} {}, {rate}/s", self.unit));
        self.bar.set_position(self.bytes.as_ref().map_or(self.count, ByteCounter::bytes));
    }

    /// Runs `print` while the bar is hidden.
    pub(super) fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}
