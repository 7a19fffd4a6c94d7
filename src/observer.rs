//! Observation of long operations, and how they are stopped.
//!
//! An [`Observer`] is shared by reference between all threads. Commands draw progress bars from its events;
//! tests record them.

use serde::{Deserialize, Serialize};

/// Receives the events of training, and may stop it.
pub trait Observer: Sync {
    /// Receives an event. Called from any thread; progress events are frequent.
    fn event(&self, event: Event<'_>);
    /// Whether to stop soon, with the best model so far. Called often.
    fn is_stopped(&self) -> bool {
        false
    }
}

/// Ignores all events and never stops.
#[derive(Debug, Clone, Copy, Default)]
#[doc(hidden)]
pub struct Silent;

impl Observer for Silent {
    fn event(&self, _event: Event<'_>) {}
}

/// An event of training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Event<'a> {
    /// A warning or a remark about the data.
    Note(&'a str),
    /// An intermediate result, for the log.
    Milestone(&'a str),
    /// A step of an operation whose number of steps is not known in advance.
    Step {
        /// The share of the work that is done, from 0 to 1.
        share: f64,
        /// The finished step.
        text: &'a str,
    },
    /// The end of an epoch.
    Epoch(EpochScores),
    /// Progress in an operation with a known number of units.
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
    /// The index of the model, among several trained side by side; from 1.
    pub model: u32,
    /// The epoch, from 1.
    pub epoch: u32,
    /// Training accuracy: the share of decisions predicted correctly, in percent; `None` without decisions.
    pub accuracy: Option<f64>,
    /// F1 on the dev set, in percent; `None` if it was not parsed.
    pub f1: Option<f64>,
}

/// Observes one component of a larger operation: its steps are reported as steps of the whole, and its results with
/// its name.
#[doc(hidden)]
pub struct Part<'a> {
    /// The observer of the whole.
    pub observer: &'a dyn Observer,
    /// The name that texts of steps and milestones are prefixed with.
    pub name: &'a str,
    /// The shares of the whole at which the component begins and ends, from 0 to 1.
    pub from: f64,
    /// See `from`.
    pub to: f64,
}

impl Observer for Part<'_> {
    fn event(&self, event: Event<'_>) {
        let named = |text| format!("{}: {text}", self.name);
        match event {
            Event::Step { share, text } => {
                let share = self.from + share * (self.to - self.from);
                self.observer.event(Event::Step { share, text: &named(text) });
            }
            Event::Milestone(text) => self.observer.event(Event::Milestone(&named(text))),
            other => self.observer.event(other),
        }
    }

    fn is_stopped(&self) -> bool {
        self.observer.is_stopped()
    }
}

/// Forwards requests to stop, and drops events.
#[doc(hidden)]
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
