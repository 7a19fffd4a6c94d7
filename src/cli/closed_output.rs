//! A standard output that was closed before the program began.
//!
//! The standard library opens `/dev/null` in its place, so that no other file gets its number, and what is written there
//! is lost without an error. Whether it was closed is only known before that.

use std::sync::atomic::{AtomicBool, Ordering};

static WAS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether standard output was closed when the program began; not known on every system.
pub(super) fn was_closed() -> bool {
    WAS_CLOSED.load(Ordering::Relaxed)
}

#[cfg(target_os = "linux")]
extern "C" fn look() {
    // SAFETY: reads the flags of a descriptor and touches no memory.
    #[allow(unsafe_code)]
    let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
    WAS_CLOSED.store(flags == -1, Ordering::Relaxed);
}

/// What the loader calls before `main`, and before the standard library prepares the descriptors.
// SAFETY: the section is a list of functions with this signature; `look` needs nothing that is set up later.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;
