//! An observer that records milestones and stops training.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use srparse::observer::{Event, Observer};

/// Records milestones; stops training once so many units of work are done.
pub struct Log {
    text: Mutex<String>,
    stop_at: u64,
    stopped: AtomicBool,
}

impl Log {
    /// A log that stops training after `stop_at` units of progress: 0 at once, `u64::MAX` never.
    pub fn stopping_at(stop_at: u64) -> Self {
        Self { text: Mutex::default(), stop_at, stopped: AtomicBool::new(stop_at == 0) }
    }

    /// All milestones, one after the other.
    pub fn text(self) -> String {
        self.text.into_inner().unwrap()
    }
}

impl Observer for Log {
    fn event(&self, event: Event<'_>) {
        match event {
            Event::Milestone(text) => self.text.lock().unwrap().push_str(text),
            Event::Progress { done, .. } if done >= self.stop_at => {
                self.stopped.store(true, Ordering::Relaxed);
            }
            _ => {}
        }
    }

    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
