//! Ctrl-C and termination signals: training stops and keeps what it has learned.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;

/// The exit status of a command that was interrupted before it had a result.
pub(super) const INTERRUPTED: u8 = 130;

/// Whether the user asked to stop.
#[derive(Debug, Default)]
pub(super) struct Interrupts {
    is_training: AtomicBool,
    is_stopped: AtomicBool,
}

impl Interrupts {
    /// Handles the signals from now on. The first one ends the program at once unless training has begun; the
    /// second one always does.
    pub(super) fn catch(quiet: bool) -> Arc<Self> {
        let interrupts = Arc::new(Self::default());
        let seen = Arc::clone(&interrupts);
        // Without a handler, the signals simply end the program.
        let _ = ctrlc::set_handler(move || {
            if !seen.is_training.load(Ordering::Relaxed) {
                eprintln!("{}: nothing was written", Error::Stopped);
                exit(INTERRUPTED.into());
            }
            if seen.is_stopped.swap(true, Ordering::Relaxed) {
                exit(INTERRUPTED.into());
            }
            if !quiet {
                eprintln!(
                    "\nstopping: the best model so far will be written (press Ctrl-C again to quit at once)"
                );
            }
        });
        interrupts
    }

    /// Lets the first signal end training rather than the program.
    pub(super) fn training_begins(&self) {
        self.is_training.store(true, Ordering::Relaxed);
    }

    /// Whether training is to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}
