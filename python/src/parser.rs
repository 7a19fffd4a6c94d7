//! Parsers, and how they are loaded, stored and pickled.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyString, PyTuple};
use srparse::model::{embedded, installed};
use srparse::{Model, NbestRequest, Parser};

use crate::batch::{Progress, PyParses, Source};
use crate::errors::exception;
use crate::sentence::{self, Sentence, sentence};
use crate::tree::{PyTree, token};
use crate::work::work;

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

/// Loads a parser: a model file, its bytes, or the name of a model: "english", the default, "english-small", "english-fast",
/// or one that `srparse models` lists.
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
                let problem = "give the path of a model file, its bytes, or the name of a model";
                PyTypeError::new_err(problem)
            })?;
            let origin = match embedded::NAMES.into_iter().find(|name| path.as_os_str() == *name) {
                Some(name) => Origin::Embedded(name),
                None => {
                    let installed = installed::file(&path);
                    Origin::File(std::path::absolute(installed.as_ref().unwrap_or(&path))?)
                }
            };
            (Model::open(&path), origin)
        }
    };
    PyParser::new(model.map_err(exception)?, origin, settings)
}

/// Sets the folder of the package `srparse-models`.
#[pyfunction(name = "_use_models")]
pub(crate) fn use_models(folder: PathBuf) {
    installed::use_package(folder);
}

/// The file of the installed model of a name, unless there is a file of this name.
#[pyfunction(name = "_installed_model")]
pub(crate) fn installed_model(name: &str) -> Option<PathBuf> {
    installed::file(Path::new(name))
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
        let sentence = self::sentence(sentence, &self.parser.tokenizer())?;
        let (n, parser) = (sentence.size(), Arc::clone(&self.parser));
        let Sentence { tokens, offsets } = sentence;
        let parse = work(py, n, move || parser.parse(&tokens))?.map_err(exception)?;
        Ok(PyTree::of_parse(parse, offsets))
    }

    /// Parses one sentence; returns `k` different trees: that of `parse`, then the others, best first, from a beam at least
    /// `k` wide and without a threshold. Greedy search finds only one tree.
    fn parse_nbest(
        &self,
        py: Python<'_>,
        sentence: &Bound<'_, PyAny>,
        k: std::num::NonZeroUsize,
    ) -> PyResult<Vec<PyTree>> {
        let sentence = self::sentence(sentence, &self.parser.tokenizer())?;
        let most = NbestRequest::MAX_TREES;
        if k.get() > most {
            return Err(PyValueError::new_err(format!("{k} trees: give at most {most}")));
        }
        let request = NbestRequest { trees: k.get(), constituents: false };
        let parser = Arc::clone(&self.parser);
        let Sentence { tokens, offsets } = sentence;
        // A wide beam takes long for any sentence.
        let parses = work(py, usize::MAX, move || parser.worker().parse_nbest(&tokens, request))?;
        let parses = parses.map_err(exception)?.into_iter();
        Ok(parses.map(|parse| PyTree::of_parse(parse, offsets.clone())).collect())
    }

    /// Splits a text into sentences and parses them; a blank line ends a sentence.
    #[pyo3(signature = (text, threads=1))]
    fn parse_text(&self, py: Python<'_>, text: String, threads: usize) -> PyResult<Vec<PyTree>> {
        let found = sentence::split(py, text, &self.parser.tokenizer())?;
        all(py, PyParses::new(&self.parser, Source::Split(found.into_iter()), threads, None)?)
    }

    /// Splits texts into sentences and parses them: for each text, in their order, its id and its trees. The ids are
    /// any objects, one for each text; without them the texts are numbered from 0.
    ///
    /// Raises ValueError when there are not as many ids as texts.
    #[pyo3(signature = (texts, ids=None, threads=1))]
    fn parse_texts<'py>(
        &self,
        py: Python<'py>,
        texts: &Bound<'py, PyAny>,
        ids: Option<&Bound<'py, PyAny>>,
        threads: usize,
    ) -> PyResult<Vec<(Bound<'py, PyAny>, Vec<PyTree>)>> {
        if texts.is_instance_of::<PyString>() {
            return Err(PyTypeError::new_err(
                "one text: give a list of texts, or use parse_text()",
            ));
        }
        let mut ids = ids.map(|ids| ids.try_iter()).transpose()?;
        let (mut sentences, mut named) = (Vec::new(), Vec::new());
        for text in texts.try_iter()? {
            let text = text?.extract::<String>()?;
            let id = match &mut ids {
                None => named.len().into_pyobject(py)?.into_any(),
                Some(ids) => ids.next().ok_or_else(|| other_number_of_ids(named.len()))??,
            };
            let found = sentence::split(py, text, &self.parser.tokenizer())?;
            named.push((id, found.len()));
            sentences.extend(found);
        }
        if ids.is_some_and(|mut ids| ids.next().is_some()) {
            return Err(other_number_of_ids(named.len()));
        }
        let source = Source::Split(sentences.into_iter());
        let mut trees = all(py, PyParses::new(&self.parser, source, threads, None)?)?.into_iter();
        Ok(named.into_iter().map(|(id, n)| (id, trees.by_ref().take(n).collect())).collect())
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
        if sentences.is_instance_of::<PyString>() || sentences.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err(
                "one sentence: give a list of sentences, or use parse()",
            ));
        }
        let total = sentences.len().ok();
        let progress = progress.map(|given| progress_of(given, total)).transpose()?.flatten();
        let iterator = sentences.try_iter()?.unbind();
        let source = Source::Given(iterator, 0, self.parser.tokenizer());
        let parses = PyParses::new(&self.parser, source, threads, progress)?;
        if stream {
            return Ok(Bound::new(py, parses)?.into_any());
        }
        Ok(all(py, parses)?.into_pyobject(py)?.into_any())
    }

    /// Splits a text into sentences, and these into words, as `srparse parse --input text` does with this model.
    ///
    /// A word is (word, start, end): as in a tree, and its characters in the text.
    fn split_text(&self, py: Python<'_>, text: String) -> PyResult<Vec<Vec<sentence::PlacedWord>>> {
        sentence::placed_words(py, text, &self.parser.tokenizer())
    }

    /// The words of one sentence with the tags of the model's tagger.
    fn tag<'py>(
        &self,
        py: Python<'py>,
        sentence: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let sentence = self::sentence(sentence, &self.parser.tokenizer())?;
        let (n, parser, mut tokens) = (sentence.size(), Arc::clone(&self.parser), sentence.tokens);
        if sentence.offsets.is_none() {
            srparse::tree::remove_tags(&mut tokens);
        }
        let tagged = work(py, n, move || parser.worker().tag(&mut tokens).map(|()| tokens))?;
        let tokens = tagged.map_err(exception)?;
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

/// The value of `progress`: True, False or a function.
fn progress_of(given: &Bound<'_, PyAny>, total: Option<usize>) -> PyResult<Option<Progress>> {
    let call = given.py().import("srparse._progress")?.call_method1("callback", (given,))?;
    Ok((!call.is_none()).then(|| Progress { call: call.unbind(), total }))
}

fn other_number_of_ids(n_texts: usize) -> PyErr {
    PyValueError::new_err(format!("text {n_texts}: give as many ids as texts"))
}

/// All trees of a batch.
fn all(py: Python<'_>, mut parses: PyParses) -> PyResult<Vec<PyTree>> {
    let mut trees = Vec::new();
    while let Some(tree) = parses.advance(py)? {
        trees.push(tree);
    }
    Ok(trees)
}
