//! Lists of trees and paths of treebanks, as arguments.

use std::ffi::CString;
use std::path::PathBuf;

use pyo3::exceptions::{PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use pyo3::types::PyString;
use srparse::{Preset, ReadOptions, Tree, Treebank, TreebankProfile};

use crate::errors::exception;
use crate::evaluation::own_threads;
use crate::tree::PyTree;
use crate::work::work;

const FORM: &str = "give a path, a list of paths, or a list of trees";

/// A treebank: the path of a file, folder or pattern, several of them, or trees. `None` in a list of trees stands
/// for a sentence without a parse.
pub(crate) fn treebank(given: &Bound<'_, PyAny>) -> PyResult<Treebank> {
    if let Some(path) = path(given) {
        return read(given.py(), vec![path], ReadOptions::default());
    }
    let items = given.try_iter().map_err(|_| unknown(given))?;
    let (mut trees, mut paths) = (Vec::new(), Vec::new());
    for item in items {
        let item = item?;
        if let Ok(tree) = item.cast::<PyTree>() {
            trees.push(tree.get().own().into_owned());
        } else if item.is_none() {
            trees.push(Tree::default());
        } else {
            paths.push(path(&item).ok_or_else(|| unknown(&item))?);
        }
    }
    match (paths.is_empty(), trees.is_empty()) {
        (true, _) => Ok(trees.into()),
        (false, true) => read(given.py(), paths, ReadOptions::default()),
        (false, false) => Err(PyTypeError::new_err(format!("paths and trees in one list: {FORM}"))),
    }
}

/// Reads the trees of a treebank: a file (`.gz` too), a folder or a pattern, in Penn brackets, NEGRA export, TIGER-XML,
/// Alpino XML or GENIA XML.
///
/// Raises OSError when there is no such file, ValueError when a tree is malformed, with file, line and column.
/// With `skip_bad=True`, malformed trees are left out, and a warning says how many and what is wrong with the first
/// ones. `treebank` is a treebank profile, such as "keyaki", or its file: it removes what is no word, tag or label, as
/// `srparse tree --treebank` does.
#[pyfunction]
#[pyo3(signature = (path, *, skip_bad=false, treebank=None))]
pub(crate) fn read_trees(
    py: Python<'_>,
    path: PathBuf,
    skip_bad: bool,
    treebank: Option<&str>,
) -> PyResult<Vec<PyTree>> {
    let options = ReadOptions { skip_bad_trees: skip_bad, ..ReadOptions::default() };
    let profile = treebank.map(TreebankProfile::load).transpose().map_err(exception)?;
    let preset = Preset::load_for("fast", profile.as_ref(), &[]).map_err(exception)?;
    let trees = read(py, vec![path], options)?;
    let trees = match profile {
        None => trees.trees,
        Some(_) => {
            let strip = move || trees.stripped(&preset.clean).into_owned().trees;
            work(py, usize::MAX, move || own_threads(0)?.run(strip))?.map_err(exception)?
        }
    };
    Ok(trees.into_iter().map(PyTree::from).collect())
}

fn read(py: Python<'_>, paths: Vec<PathBuf>, options: ReadOptions) -> PyResult<Treebank> {
    let read = work(py, usize::MAX, move || Treebank::read(&paths, &options))?;
    let (treebank, report) = read.map_err(exception)?;
    if report.skipped > 0 {
        warn(py, &report.to_string())?;
    }
    report.left_out.iter().try_for_each(|reason| warn(py, reason))?;
    Ok(treebank)
}

/// Warns the caller.
fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = CString::new(text.replace('\0', "\u{fffd}"))?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 2)
}

fn path(item: &Bound<'_, PyAny>) -> Option<PathBuf> {
    let is_path = item.is_instance_of::<PyString>() || item.hasattr("__fspath__").unwrap_or(false);
    if is_path { item.extract().ok() } else { None }
}

fn unknown(item: &Bound<'_, PyAny>) -> PyErr {
    let shown = item.repr().map(|shown| shown.to_string()).unwrap_or_default();
    PyTypeError::new_err(format!("{shown} is neither a tree nor a path: {FORM}"))
}
