//! Ctrl-C and termination signals: training stops and keeps what it has learned.

use std::process::exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

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
        on_signal(move || {
            if !seen.is_training.load(Ordering::Relaxed) {
                say!("{}: nothing was written", Error::Stopped);
                exit(INTERRUPTED.into());
            }
            if seen.is_stopped.swap(true, Ordering::Relaxed) {
                exit(INTERRUPTED.into());
            }
            if !quiet {
                say!(
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

    /// Lets the first signal end the program again.
    pub(super) fn training_ended(&self) {
        self.is_training.store(false, Ordering::Relaxed);
    }

    /// Waits, or until the user asks to stop.
    pub(super) fn wait(&self, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time && !self.is_stopped() {
            std::thread::sleep(Duration::from_millis(50).min(time));
        }
    }

    /// Whether training is to stop.
    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// Handles the signals that end a program, but for those that it was started to ignore, as by `nohup` or as a background
/// job of a script: whoever started it wants it to go on.
pub(super) fn on_signal(handler: impl FnMut() + Send + 'static) {
    #[cfg(unix)]
    let ignored: Vec<libc::c_int> =
        [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().filter(is_ignored).collect();
    // Without a handler, the signals simply end the program.
    let _ = ctrlc::set_handler(handler);
    #[cfg(unix)]
    for signal in ignored {
        // SAFETY: ignoring a signal runs no code.
        #[allow(unsafe_code)]
        unsafe {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
}

#[cfg(unix)]
fn is_ignored(&signal: &libc::c_int) -> bool {
    // SAFETY: all zeros is a valid `sigaction`; a null pointer asks for the present one and changes nothing.
    #[allow(unsafe_code)]
    let handler = unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &raw mut present);
        present.sa_sigaction
    };
    handler == libc::SIG_IGN
}
