//! Parsers, and how they are loaded, stored and pickled.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyTuple};
use srparse::model::embedded;
use srparse::text::sentences;
use srparse::{Model, NbestRequest, Parser};

use crate::batch::{Progress, PyParses, numbered};
use crate::errors::exception;
use crate::sentence;
use crate::tree::{PyTree, token};

/// Where a model comes from, for pickling.
#[derive(Clone)]
enum Origin {
    Embedded(&'static str),
    File(PathBuf),
    Bytes,
}

/// A constituency parser; see `srparse.load`.
///
/// A sentence is raw text, a list of words, or a list of (word, tag). Words without tags are tagged by the tagger of
/// the model. Parsers are shared by threads, and pickled as the path of their model or its bytes.
#[pyclass(name = "Parser", module = "srparse", frozen, weakref)]
pub(crate) struct PyParser {
    parser: Arc<Parser>,
    model: Model,
    origin: Origin,
    settings: Vec<String>,
}

impl PyParser {
    /// The model.
    pub(crate) fn model(&self) -> &Model {
        &self.model
    }

    /// The parser of a model in memory.
    ///
    /// # Errors
    /// When the model holds no parser.
    pub(crate) fn of_model(model: Model) -> PyResult<Self> {
        Self::new(model, Origin::Bytes, Vec::new())
    }

    fn new(model: Model, origin: Origin, settings: Vec<String>) -> PyResult<Self> {
        let parser = Parser::new(&model, &settings).map_err(exception)?;
        Ok(Self { parser: Arc::new(parser), model, origin, settings })
    }
}

/// Loads a parser: a model file, its bytes, or an embedded model of English: "english", the default, or
/// "english-fast", which is four times as fast or more, and less accurate.
///
/// `beam` is the width of a beam search, for models whose scores compare whole parses. `settings` changes what is not
/// trained, as `srparse parse --set` does: {"search.beam": 4}.
///
/// Raises OSError when the file cannot be read, ValueError when it holds no parser or a setting does not fit.
#[pyfunction]
#[pyo3(signature = (model=None, *, beam=None, settings=None))]
pub(crate) fn load(
    model: Option<&Bound<'_, PyAny>>,
    beam: Option<u32>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyParser> {
    let mut all = Vec::new();
    if let Some(width) = beam {
        all.extend(["search.method=beam".to_owned(), format!("search.beam={width}")]);
    }
    all.extend(settings_of(settings)?);
    load_with(model, all)
}

#[pyfunction(name = "_load")]
#[pyo3(signature = (model, settings))]
pub(crate) fn load_with(
    model: Option<&Bound<'_, PyAny>>,
    settings: Vec<String>,
) -> PyResult<PyParser> {
    let (model, origin) = match model {
        None => (Model::embedded(), Origin::Embedded(embedded::DEFAULT)),
        Some(bytes) if bytes.is_instance_of::<PyBytes>() => {
            let bytes = bytes.cast::<PyBytes>()?;
            (Model::from_bytes(bytes.as_bytes(), "the model"), Origin::Bytes)
        }
        Some(path) => {
            let path: PathBuf = path.extract().map_err(|_| {
                let problem =
                    "give the path of a model file, its bytes, or the name of an embedded model";
                PyTypeError::new_err(problem)
            })?;
            let origin = match embedded::NAMES.into_iter().find(|name| path.as_os_str() == *name) {
                Some(name) => Origin::Embedded(name),
                None => Origin::File(std::path::absolute(&path)?),
            };
            (Model::open(&path), origin)
        }
    };
    PyParser::new(model.map_err(exception)?, origin, settings)
}

/// Settings as the `KEY=VALUE` of the library.
///
/// # Errors
/// When a key is not a string.
pub(crate) fn settings_of(settings: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<String>> {
    let mut all = Vec::new();
    for (key, value) in settings.into_iter().flatten() {
        let value = match value.cast::<PyBool>() {
            Ok(value) => value.is_true().to_string(),
            Err(_) => value.str()?.to_string(),
        };
        all.push(format!("{}={value}", key.extract::<String>()?));
    }
    Ok(all)
}

#[pymethods]
impl PyParser {
    /// Parses one sentence.
    ///
    /// Raises ValueError for a text of several sentences, and for words without tags if the model has no tagger.
    fn parse(&self, py: Python<'_>, sentence: &Bound<'_, PyAny>) -> PyResult<PyTree> {
        let tokens = sentence::tokens(sentence, self.parser.preset().text)?;
        py.detach(|| self.parser.parse(&tokens)).map(PyTree::from).map_err(exception)
    }

    /// Parses one sentence; returns `k` different trees: that of `parse`, then the others, best first, from a beam at least
    /// `k` wide and without a threshold. Greedy search finds only one tree.
    fn parse_nbest(
        &self,
        py: Python<'_>,
        sentence: &Bound<'_, PyAny>,
        k: std::num::NonZeroUsize,
    ) -> PyResult<Vec<PyTree>> {
        let tokens = sentence::tokens(sentence, self.parser.preset().text)?;
        let request = NbestRequest { trees: k.get(), constituents: false };
        let parses = py.detach(|| self.parser.worker().parse_nbest(&tokens, request));
        Ok(parses.map_err(exception)?.into_iter().map(PyTree::from).collect())
    }

    /// Splits a text into sentences and parses them; a blank line ends a sentence.
    #[pyo3(signature = (text, threads=1))]
    fn parse_text(&self, py: Python<'_>, text: &str, threads: usize) -> PyResult<Vec<PyTree>> {
        let mut found = sentences(text, self.parser.preset().text).into_iter();
        let source = move |_: Python<'_>| found.next().map(|sentence| Ok(sentence.tokens));
        all(py, PyParses::new(&self.parser, Box::new(source), threads, None)?, 0)
    }

    /// Parses sentences on threads, 0 for one on each core; the trees are in the order of the sentences and do not
    /// depend on the number of threads. Other Python threads run meanwhile.
    ///
    /// With `stream=True`, sentences may be an iterator of any length, and the result is an iterator that reads a
    /// little ahead. `progress` is True for a line on standard error, or called with the number of trees so far and
    /// the number of sentences, or None if that is not known.
    #[pyo3(signature = (sentences, threads=1, *, progress=None, stream=false))]
    fn parse_batch<'py>(
        &self,
        py: Python<'py>,
        sentences: &Bound<'py, PyAny>,
        threads: usize,
        progress: Option<&Bound<'py, PyAny>>,
        stream: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let total = sentences.len().ok();
        let progress = progress.map(|given| progress_of(given, total)).transpose()?.flatten();
        let iterator = sentences.try_iter()?.unbind();
        let (text, mut number) = (self.parser.preset().text, 0);
        let source = move |py: Python<'_>| {
            let next = iterator.bind(py).clone().next()?;
            number += 1;
            let tokens = |item| {
                let tokens = sentence::tokens(&item, text);
                tokens.map_err(|error| numbered(py, &error, number - 1))
            };
            Some(next.and_then(tokens))
        };
        let parses = PyParses::new(&self.parser, Box::new(source), threads, progress)?;
        if stream {
            return Ok(Bound::new(py, parses)?.into_any());
        }
        Ok(all(py, parses, total.unwrap_or_default())?.into_pyobject(py)?.into_any())
    }

    /// Splits a text into sentences, and these into words, as `srparse parse --input text` does with this model.
    ///
    /// A word is (word, start, end): as in a tree, and its characters in the text.
    fn split_text(&self, text: &str) -> Vec<Vec<sentence::PlacedWord>> {
        sentence::placed_words(text, self.parser.preset().text)
    }

    /// The words of one sentence with the tags of the model's tagger.
    fn tag<'py>(
        &self,
        py: Python<'py>,
        sentence: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut tokens = sentence::tokens(sentence, self.parser.preset().text)?;
        py.detach(|| self.parser.worker().tag(&mut tokens)).map_err(exception)?;
        tokens.iter().map(|tagged| token(py, tagged)).collect()
    }

    /// Whether the model has a tagger.
    #[getter]
    fn has_tagger(&self) -> bool {
        self.parser.has_tagger()
    }

    /// The tags that the parser has seen in training.
    #[getter]
    fn tags(&self) -> Vec<&str> {
        self.parser.tags().collect()
    }

    /// The preset that the model was trained by, as TOML.
    #[getter]
    fn preset(&self) -> String {
        self.parser.preset().to_toml()
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| self.model.save(path)).map_err(exception)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let load = py.import("srparse._srparse")?.getattr("_load")?;
        let settings = self.settings.clone();
        let model = match &self.origin {
            Origin::Embedded(name) => name.into_pyobject(py)?.into_any(),
            Origin::File(path) => path.to_string_lossy().into_owned().into_pyobject(py)?.into_any(),
            Origin::Bytes => self.to_bytes(py).into_any(),
        };
        (load, (model, settings)).into_pyobject(py)
    }

    fn __repr__(&self) -> String {
        match &self.origin {
            Origin::Embedded(name) => format!("<srparse.Parser of {name}>"),
            Origin::File(path) => format!("<srparse.Parser of {}>", path.display()),
            Origin::Bytes => "<srparse.Parser of a model in memory>".to_owned(),
        }
    }
}

/// What `progress` means: True, False or a function.
fn progress_of(given: &Bound<'_, PyAny>, total: Option<usize>) -> PyResult<Option<Progress>> {
    let call = given.py().import("srparse._progress")?.call_method1("callback", (given,))?;
    Ok((!call.is_none()).then(|| Progress { call: call.unbind(), total }))
}

/// All trees of a batch.
fn all(py: Python<'_>, mut parses: PyParses, n_expected: usize) -> PyResult<Vec<PyTree>> {
    let mut trees = Vec::with_capacity(n_expected);
    while let Some(tree) = parses.advance(py)? {
        trees.push(tree);
    }
    Ok(trees)
}
