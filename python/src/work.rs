//! Work of the library without the interpreter lock: Ctrl-C interrupts it, and a panic is an exception.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often a caller that waits looks for Ctrl-C.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);

/// The number of bytes of text from which work on it may take long.
const LONG: usize = 1 << 14;

/// Does work on `n` bytes of text. Long work is done by another thread while this one looks for Ctrl-C, after which
/// nobody waits for it.
///
/// # Errors
/// `KeyboardInterrupt`, and `RuntimeError` after a panic, whose message is on standard error.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    n: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    if n < LONG {
        return without_lock(py, work);
    }
    let work = move || catch_unwind(AssertUnwindSafe(work));
    let (done, mut result) = channel();
    thread::Builder::new().name("srparse".to_owned()).spawn(move || done.send(work()))?;
    loop {
        py.check_signals()?;
        let waiting = &mut result;
        match py.detach(move || waiting.recv_timeout(PATIENCE)) {
            Ok(done) => return done.map_err(|_| panicked()),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
        }
    }
}

/// Does work without the interpreter lock.
///
/// # Errors
/// `RuntimeError` after a panic.
pub(crate) fn without_lock<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work))).map_err(|_| panicked())
}

/// What a panic of the library is in Python; `PanicException` is one that `except Exception` misses.
pub(crate) fn panicked() -> PyErr {
    PyRuntimeError::new_err("the parser panicked; this is a defect: please report it")
}
