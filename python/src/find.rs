//! Tree search.

use std::collections::HashMap;

use pyo3::prelude::*;
use srparse::find::{Pattern, Position, Searcher};
use srparse::tree::heads::HeadRules;

use crate::errors::exception;
use crate::tree::PyTree;
use crate::work::work;

/// A node that a pattern has found: a constituent, a tag or a word.
#[pyclass(name = "Match", module = "srparse", frozen)]
pub(crate) struct PyMatch {
    /// The label: of a constituent, a tag, or a word itself.
    #[pyo3(get)]
    label: String,
    /// The first token of the span.
    #[pyo3(get)]
    start: u32,
    /// One past the last token of the span.
    #[pyo3(get)]
    end: u32,
    /// The constituent; None for a tag or a word.
    #[pyo3(get)]
    tree: Option<Py<PyTree>>,
    /// The nodes that the pattern names, by name, where they were found.
    #[pyo3(get)]
    #[expect(clippy::use_self, reason = "`pyo3(get)` copies the type to where `Self` is another")]
    nodes: HashMap<String, Py<PyMatch>>,
}

#[pymethods]
impl PyMatch {
    fn __repr__(&self) -> String {
        format!("Match({:?}, {}, {})", self.label, self.start, self.end)
    }
}

/// The matches of a pattern in a tree.
pub(crate) fn find(
    py: Python<'_>,
    tree: &PyTree,
    pattern: &str,
    once: bool,
    heads: Option<&str>,
) -> PyResult<Vec<PyMatch>> {
    let pattern = Pattern::parse(pattern).map_err(exception)?;
    let heads = heads.map(HeadRules::load).transpose().map_err(exception)?;
    let own = tree.own().into_owned();
    // Patterns often look at all pairs of nodes.
    let cost = own.tokens().len().saturating_pow(2);
    let (own, found) = work(py, cost, move || {
        let mut searcher = Searcher::new(&pattern).once(once);
        if let Some(heads) = &heads {
            searcher = searcher.with_heads(heads);
        }
        let found = searcher.find(&own);
        (own, found)
    })?;
    let node = |position: Position, nodes| -> PyResult<PyMatch> {
        let (start, end) = position.span(&own);
        let start_of_tree = tree.start();
        Ok(PyMatch {
            label: position.label(&own).to_owned(),
            start: start_of_tree + start,
            end: start_of_tree + end,
            tree: match position {
                Position::Node(id) => Some(Py::new(py, tree.below(id))?),
                Position::Tag(_) | Position::Word(_) => None,
            },
            nodes,
        })
    };
    found
        .map_err(exception)?
        .into_iter()
        .map(|one| {
            let named = one.nodes.into_iter().map(|(name, position)| -> PyResult<_> {
                Ok((name, Py::new(py, node(position, HashMap::new())?)?))
            });
            node(one.position, named.collect::<PyResult<_>>()?)
        })
        .collect()
}
