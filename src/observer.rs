//! How callers follow long work, and stop it.
//!
//! An [`Observer`] is shared by reference between all threads. Commands draw progress bars from its events;
//! tests record them.

use serde::{Deserialize, Serialize};

/// Receives the events of training, and may stop it.
pub trait Observer: Sync {
    /// Receives an event. Called from any thread; progress is reported often.
    fn event(&self, event: Event<'_>);
    /// Whether to stop soon, with the best model so far. Polled often.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Ignores all events and never stops.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _event: Event<'_>) {}
}

/// What happens during training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A warning or a remark about the data.
    Note(&'a str),
    /// A result worth a line in the log.
    Milestone(&'a str),
    /// A step of work whose length is not known in advance.
    Step {
        /// The share of the work that is done, from 0 to 1.
        share: f64,
        /// What was done.
        text: &'a str,
    },
    /// An epoch ended.
    Epoch(EpochScores),
    /// Progress of countable work.
    Progress {
        /// Units done.
        done: u64,
        /// Units in total.
        total: u64,
        /// The name of the unit, such as `sentences`.
        unit: &'static str,
    },
}

/// The scores of an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EpochScores {
    /// Which of several models trained side by side; from 1.
    pub model: u32,
    /// Which epoch; from 1.
    pub epoch: u32,
    /// Training accuracy: the share of decisions predicted correctly, in percent, if there were decisions.
    pub accuracy: Option<f64>,
    /// F1 on the dev set, in percent, if it was parsed.
    pub f1: Option<f64>,
}

/// Observes one part of a larger piece of work: its steps are reported as steps of the whole.
pub struct Part<'a> {
    /// The observer of the whole.
    pub observer: &'a dyn Observer,
    /// The name that the texts of steps are prefixed with.
    pub name: &'a str,
    /// The shares of the whole at which the part begins and ends, from 0 to 1.
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

impl Observer for Part<'_> {
    fn event(&self, event: Event<'_>) {
        let Event::Step { share, text } = event else { return self.observer.event(event) };
        let share = self.from + share * (self.to - self.from);
        self.observer.event(Event::Step { share, text: &format!("{}: {text}", self.name) });
    }

    fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}

/// Passes on whether to stop, and no events.
pub struct Quiet<'a>(pub &'a dyn Observer);

impl Observer for Quiet<'_> {
    fn event(&self, _event: Event<'_>) {}

    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }
}

/// Records the texts of steps, and stops when a condition holds; for tests.
#[cfg(test)]
pub(crate) struct Recorder<F = fn() -> bool> {
    steps: std::sync::Mutex<Vec<(f64, String)>>,
    stop: F,
}

#[cfg(test)]
impl<F: Fn() -> bool + Sync> Recorder<F> {
    /// A recorder that stops when `stop` returns true.
    pub(crate) fn new(stop: F) -> Self {
        Self { steps: std::sync::Mutex::default(), stop }
    }

    /// The shares and texts of all steps.
    pub(crate) fn steps(self) -> Vec<(f64, String)> {
        self.steps.into_inner().unwrap()
    }
}

#[cfg(test)]
impl<F: Fn() -> bool + Sync> Observer for Recorder<F> {
    fn event(&self, event: Event<'_>) {
        if let Event::Step { share, text } = event {
            self.steps.lock().unwrap().push((share, text.to_owned()));
        }
    }

    fn is_stopped(&self) -> bool {
        (self.stop)()
    }
}
