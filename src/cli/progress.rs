//! The progress of training: a bar on a terminal, lines in a log, a learning curve in a file.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupts::Interrupts;
use crate::Result;
use crate::observer::{EpochScores, Event, Observer};

/// Without a progress bar, steps are logged at this interval.
const STEP_INTERVAL: Duration = Duration::from_secs(10);

/// Logs the events of training.
pub(super) struct ProgressLog<'a> {
    bar: ProgressBar,
    quiet: bool,
    start: Instant,
    /// When a step was last logged without a bar.
    last_step: Mutex<Instant>,
    curve: Option<Mutex<Curve>>,
    interrupts: &'a Interrupts,
}

impl<'a> ProgressLog<'a> {
    /// Starts the clock; the learning curve is written after every epoch.
    pub(super) fn new(quiet: bool, curve: Option<&Path>, interrupts: &'a Interrupts) -> Self {
        let start = Instant::now();
        let curve = curve.map(Curve::new).map(Mutex::new);
        let last_step = Mutex::new(start);
        Self { bar: progress_bar(quiet), quiet, start, last_step, curve, interrupts }
    }

    /// Removes the bar.
    pub(super) fn finish_bar(&self) {
        self.bar.finish_and_clear();
    }

    /// Writes the learning curve again if that failed.
    ///
    /// # Errors
    /// When it still cannot be written.
    pub(super) fn finish_curve(self) -> Result<()> {
        let Some(curve) = self.curve else { return Ok(()) };
        let curve = curve.into_inner().unwrap_or_else(PoisonError::into_inner);
        if curve.is_written { Ok(()) } else { curve.write() }
    }

    /// Adds an epoch to the learning curve and writes it.
    fn add_to_curve(&self, scores: EpochScores) {
        let Some(curve) = &self.curve else { return };
        let mut curve = curve.lock().unwrap_or_else(PoisonError::into_inner);
        curve.add(scores);
        let written = curve.write();
        let failed_before = !std::mem::replace(&mut curve.is_written, written.is_ok());
        if let Err(error) = written
            && !failed_before
        {
            let note = format!("{error}; training goes on, and the curve is written later");
            self.event(Event::Note(&note));
        }
    }

    fn write(&self, text: &str) {
        if !self.quiet {
            let seconds = self.start.elapsed().as_secs_f64();
            self.bar.suspend(|| say!("[{seconds:>6.1} s] {text}"));
        }
    }

    fn step(&self, share: f64, text: &str) {
        self.bar.set_length(100);
        self.bar.set_message(text.to_owned());
        self.bar.set_position((share * 100.0) as u64);
        let mut last_step = self.last_step.lock().unwrap_or_else(PoisonError::into_inner);
        if self.bar.is_hidden() && last_step.elapsed() >= STEP_INTERVAL {
            *last_step = Instant::now();
            self.write(&format!("{:.0} %: {text}", share * 100.0));
        }
    }
}

impl Observer for ProgressLog<'_> {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Progress { done, total, unit } => {
                self.bar.set_position(done);
                self.bar.set_length(total);
                self.bar.set_message(unit);
                if done == 0 {
                    self.bar.reset_eta();
                }
            }
            Event::Step { share, text } => self.step(share, text),
            Event::Epoch(scores) => {
                self.add_to_curve(scores);
            }
            Event::Milestone(text) => self.write(text),
            Event::Note(text) if !self.quiet => self.bar.suspend(|| say!("note: {text}")),
            Event::Note(_) => {}
        }
    }

    fn is_stopped(&self) -> bool {
        self.interrupts.is_stopped()
    }
}

/// A learning curve as a table that `srparse chart` draws.
struct Curve {
    path: PathBuf,
    /// By model and epoch: models that are trained side by side are not in order.
    scores: BTreeMap<(u32, u32), EpochScores>,
    /// Whether the file has all rows.
    is_written: bool,
}

impl Curve {
    /// A table without rows.
    fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), scores: BTreeMap::new(), is_written: true }
    }

    fn add(&mut self, scores: EpochScores) {
        self.scores.insert((scores.model, scores.epoch), scores);
    }

    fn table(&self) -> String {
        let mut table = "series\tepoch\tpercent\n".to_owned();
        for &EpochScores { model, epoch, accuracy, f1 } in self.scores.values() {
            let model = if model > 1 { format!(", model {model}") } else { String::new() };
            if let Some(accuracy) = accuracy {
                table += &format!("training accuracy{model}\t{epoch}\t{accuracy:.2}\n");
            }
            if let Some(f1) = f1 {
                table += &format!("F1 on the dev set{model}\t{epoch}\t{f1:.2}\n");
            }
        }
        table
    }

    fn write(&self) -> Result<()> {
        crate::output::write(&self.path, |out| out.write_all(self.table().as_bytes()))
    }
}

fn progress_bar(quiet: bool) -> ProgressBar {
    // A bar without a length is empty, one of length 0 is full.
    let bar = ProgressBar::no_length();
    if quiet || !std::io::stderr().is_terminal() {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        return bar;
    }
    let template = "{bar:30} {pos}/{len} {msg}, {per_sec}, {eta} remaining";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_learning_curve_does_not_depend_on_which_model_is_faster() {
        let mut curve = Curve::new(Path::new("curve.tsv"));
        for (model, epoch) in [(2, 1), (1, 1), (2, 2), (1, 2)] {
            curve.add(EpochScores { model, epoch, accuracy: None, f1: Some(80.0) });
        }
        let dev = "F1 on the dev set";
        let rows = [
            format!("{dev}\t1\t80.00"),
            format!("{dev}\t2\t80.00"),
            format!("{dev}, model 2\t1\t80.00"),
            format!("{dev}, model 2\t2\t80.00"),
        ];
        assert_eq!(curve.table().lines().skip(1).collect::<Vec<_>>(), rows);
    }
}
