//! Mapped model files that are changed while they are in use: one that is cut has pages that cannot be read any more,
//! which is a bus error; one that is overwritten has positions that lead nowhere, which is a panic.

use std::panic;

use crate::model::file;

/// The message in both cases.
const MESSAGE: &str =
    "error: a model file was changed while it was in use: replace it by renaming another file";

/// Ends the program with a message and the status of an error, where it would otherwise be killed or panic.
pub(super) fn explain() {
    let ordinary = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if file::is_mapped_file_changed() {
            say!("{MESSAGE}");
            std::process::exit(2);
        }
        ordinary(panic);
    }));
    explain_bus_errors();
}

#[cfg(unix)]
fn explain_bus_errors() {
    extern "C" fn end(_signal: libc::c_int) {
        // SAFETY: these functions may be called by a handler of signals, and the message lives for ever.
        #[allow(unsafe_code)]
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
            libc::write(libc::STDERR_FILENO, b"\n".as_ptr().cast(), 1);
            libc::_exit(2);
        }
    }
    let end: extern "C" fn(libc::c_int) = end;
    // SAFETY: the handler is a function with the signature that the system calls, and touches no memory of others.
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(libc::SIGBUS, end as *const () as libc::sighandler_t);
    }
}

#[cfg(not(unix))]
fn explain_bus_errors() {}
