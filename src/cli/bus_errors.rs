//! Bus errors: a mapped model file that is cut while it is in use has pages that cannot be read any more.

/// Ends the program with a message and the status of an error where the system would kill it.
#[cfg(unix)]
pub(super) fn explain() {
    extern "C" fn end(_signal: libc::c_int) {
        const MESSAGE: &[u8] = b"error: a model file was cut while it was in use: replace it by renaming another file\n";
        // SAFETY: both functions may be called by a handler of signals, and the message lives for ever.
        #[allow(unsafe_code)]
        unsafe {
            libc::write(libc::STDERR_FILENO, MESSAGE.as_ptr().cast(), MESSAGE.len());
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
pub(super) fn explain() {}
