//! Errors of the library as exceptions of Python, with the same words.

use std::io::ErrorKind;

use pyo3::PyErr;
use pyo3::exceptions::{
    PyFileNotFoundError, PyIsADirectoryError, PyOSError, PyPermissionError, PyRuntimeError,
    PyValueError,
};
use srparse::Error;

/// `OSError` or one of its kinds for files, `RuntimeError` for training without a result, else `ValueError`.
pub(crate) fn exception(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Io { cause, .. } => match cause.kind() {
            ErrorKind::NotFound => PyFileNotFoundError::new_err(text),
            ErrorKind::PermissionDenied => PyPermissionError::new_err(text),
            ErrorKind::IsADirectory => PyIsADirectoryError::new_err(text),
            _ => PyOSError::new_err(text),
        },
        Error::Stopped => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}
