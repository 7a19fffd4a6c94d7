//! Standard streams that were closed before the program began.
//!
//! The standard library opens `/dev/null` in their place, so that no other file gets their numbers: what is written there
//! is lost without an error, and what is read is empty. Whether they were closed is only known before that.

use std::sync::atomic::{AtomicBool, Ordering};

static STDIN_WAS_CLOSED: AtomicBool = AtomicBool::new(false);
static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard input was closed when the program began; not known on every system.
pub(super) fn stdin_was_closed() -> bool {
    STDIN_WAS_CLOSED.load(Ordering::Relaxed)
}

/// Whether standard output was closed when the program began; not known on every system.
pub(super) fn stdout_was_closed() -> bool {
    STDOUT_WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
extern "C" fn look() {
    for (stream, was_closed) in
        [(libc::STDIN_FILENO, &STDIN_WAS_CLOSED), (libc::STDOUT_FILENO, &STDOUT_WAS_CLOSED)]
    {
        // SAFETY: reads the flags of a descriptor and touches no memory.
        #[allow(unsafe_code)]
        let flags = unsafe { libc::fcntl(stream, libc::F_GETFD) };
        was_closed.store(flags == -1, Ordering::Relaxed);
    }
}

/// What the loader calls before `main`, and before the standard library prepares the descriptors.
// SAFETY: the section is a list of functions with this signature; `look` needs nothing that is set up later.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
