//! The extension module of the Python package `srparse`, over the public part of the library.
//!
//! Long work runs without the interpreter lock; the calling thread looks for Ctrl-C meanwhile. Every call has threads
//! of its own, so that nothing is lost when a process forks.

mod batch;
mod command;
mod errors;
mod evaluation;
mod find;
mod parser;
mod sentence;
mod training;
mod tree;
mod trees;
mod work;

use pyo3::prelude::*;

#[pymodule(gil_used = false)]
mod _srparse {
    #[pymodule_export]
    use crate::batch::PyParses;
    #[pymodule_export]
    use crate::command::run;
    #[pymodule_export]
    use crate::evaluation::{PyComparison, PyScores, compare, evaluate};
    #[pymodule_export]
    use crate::find::PyMatch;
    #[pymodule_export]
    use crate::parser::{PyParser, installed_model, load, load_with, use_models};
    #[pymodule_export]
    use crate::sentence::split_text;
    #[pymodule_export]
    use crate::training::train;
    #[pymodule_export]
    use crate::tree::PyTree;
    #[pymodule_export]
    use crate::trees::read_trees;

    #[pymodule_export]
    #[allow(non_upper_case_globals)] // a name of Python
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    const EMBEDDED_MODELS: [&str; 3] = srparse::model::embedded::NAMES;
}
