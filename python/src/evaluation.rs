//! Scores of trees, and comparisons of parsers.

use std::thread::available_parallelism;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use srparse::eval::significance::{Comparison, MAX_RESAMPLES, MAX_SHUFFLES, Settings};
use srparse::eval::{BracketFilter, Evaluation, Params};
use srparse::tree::heads::HeadRules;
use srparse::{Error, Threads};

use crate::batch::MAX_THREADS;
use crate::errors::exception;
use crate::trees::treebank;
use crate::work::work;

/// Scores, in percent, as EVALB computes them; see `srparse.evaluate`.
#[pyclass(name = "Scores", module = "srparse", frozen)]
pub(crate) struct PyScores {
    evaluation: Evaluation,
}

/// Scores trees against gold trees, as EVALB does.
///
/// `gold` and `test` are paths or lists of trees; None in a list stands for a sentence without a parse. `params` is
/// "collins", "new", "spmrl" or a .prm file. With head rules in `heads`, such as "collins", attachments are
/// compared too.
///
/// Raises ValueError when there are not as many trees as gold trees.
#[pyfunction]
#[pyo3(signature = (gold, test, *, params="collins", heads=None))]
pub(crate) fn evaluate(
    py: Python<'_>,
    gold: &Bound<'_, PyAny>,
    test: &Bound<'_, PyAny>,
    params: &str,
    heads: Option<&str>,
) -> PyResult<PyScores> {
    let heads = heads.map(HeadRules::load).transpose().map_err(exception)?;
    let mut evaluation = Evaluation::new(Params::load(params).map_err(exception)?, heads);
    let (gold, test) = (treebank(gold)?.trees, treebank(test)?.trees);
    if gold.len() != test.len() {
        return Err(PyValueError::new_err(format!(
            "{} test trees, {} gold trees: give one tree, or None, for each gold tree",
            test.len(),
            gold.len()
        )));
    }
    let evaluation = work(py, usize::MAX, move || {
        for (gold, test) in gold.iter().zip(&test) {
            evaluation.add(gold, test);
        }
        evaluation
    })?;
    Ok(PyScores { evaluation })
}

#[pymethods]
impl PyScores {
    /// Labelled F1 over the sentences that EVALB compares.
    #[getter]
    fn f1(&self) -> f64 {
        self.evaluation.all.f1()
    }

    /// F1 with sentences that EVALB excludes counted as parses without brackets.
    #[getter]
    fn f1_failures_empty(&self) -> f64 {
        self.evaluation.all.f1_failures_empty()
    }

    /// Labelled precision.
    #[getter]
    fn precision(&self) -> f64 {
        self.evaluation.all.precision()
    }

    /// Labelled recall.
    #[getter]
    fn recall(&self) -> f64 {
        self.evaluation.all.recall()
    }

    /// Sentences with exactly the brackets of the gold tree.
    #[getter]
    fn exact(&self) -> f64 {
        self.evaluation.all.exact()
    }

    /// Tagging accuracy.
    #[getter]
    fn tagging(&self) -> f64 {
        self.evaluation.all.tagging()
    }

    /// Sentences that could be compared.
    #[getter]
    fn coverage(&self) -> f64 {
        self.evaluation.all.coverage()
    }

    /// The average number of crossing brackets.
    #[getter]
    fn crossing(&self) -> f64 {
        self.evaluation.all.average_crossing()
    }

    /// Unlabelled attachment score; None without head rules.
    #[getter]
    fn uas(&self) -> Option<f64> {
        self.evaluation.heads.as_ref().map(|_| self.evaluation.all.attachments.uas())
    }

    /// The number of sentences.
    #[getter]
    fn sentences(&self) -> u64 {
        self.evaluation.all.sentences
    }

    /// For each label: precision, recall, F1, and the numbers of gold and test brackets.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let labels = PyDict::new(py);
        for (label, counts) in &self.evaluation.labels {
            let row = PyDict::new(py);
            row.set_item("precision", counts.precision())?;
            row.set_item("recall", counts.recall())?;
            row.set_item("f1", counts.f1())?;
            row.set_item("gold", counts.gold)?;
            row.set_item("test", counts.test)?;
            labels.set_item(label.as_str(), row)?;
        }
        Ok(labels)
    }

    fn __repr__(&self) -> String {
        let all = &self.evaluation.all;
        format!(
            "Scores(f1={:.2}, precision={:.2}, recall={:.2}, exact={:.2}, sentences={})",
            all.f1(),
            all.precision(),
            all.recall(),
            all.exact(),
            all.sentences
        )
    }
}

/// The comparison of two parsers, A and B; see `srparse.compare`.
#[pyclass(name = "Comparison", module = "srparse", frozen)]
pub(crate) struct PyComparison {
    comparison: Comparison,
}

/// Compares two parsers, A and B, on the same gold trees: is one better by more than chance?
///
/// Sentences without a parse count as parses without brackets. The p-value is that of stratified shuffling, the
/// interval that of a paired bootstrap. With `label`, such as "NP", or `children`, "1" to "5" or "6+", only brackets with
/// this label or number of children are compared. The bootstrap has as many samples as there are shuffles, at most 10
/// million.
///
/// Raises ValueError when there are not as many trees as gold trees, when there is no such bracket, or for a number of
/// shuffles below 1 or above a billion.
#[pyfunction]
#[pyo3(signature = (gold, a, b, *, params="collins", label=None, children=None, shuffles=10_000, seed=1))]
#[expect(clippy::too_many_arguments, reason = "they are the named arguments of a Python function")]
pub(crate) fn compare(
    py: Python<'_>,
    gold: &Bound<'_, PyAny>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    params: &str,
    label: Option<&str>,
    children: Option<&str>,
    shuffles: u64,
    seed: u64,
) -> PyResult<PyComparison> {
    let params = Params::load(params).map_err(exception)?;
    let filter = BracketFilter::new(label, children).map_err(exception)?;
    let (gold, a, b) = (treebank(gold)?.trees, treebank(a)?.trees, treebank(b)?.trees);
    if !(1..=MAX_SHUFFLES).contains(&shuffles) {
        let problem = format!("{shuffles} shuffles: give 1 to {MAX_SHUFFLES}");
        return Err(PyValueError::new_err(problem));
    }
    let settings = Settings { shuffles, resamples: shuffles.min(MAX_RESAMPLES), seed };
    let compare = move || srparse::eval::compare(&gold, &a, &b, &params, &filter, &settings);
    let comparison = work(py, usize::MAX, move || own_threads(0)?.run(compare))?;
    let comparison = comparison.and_then(|found| found).map_err(exception)?;
    Ok(PyComparison { comparison })
}

/// Threads of this call alone, 0 for one on each core: those that a process shares are lost when it forks.
///
/// # Errors
/// When they are too many for any machine.
pub(crate) fn own_threads(n_threads: usize) -> srparse::Result<Threads> {
    match n_threads {
        0 => Ok(Threads(available_parallelism().map_or(1, usize::from))),
        n_threads if n_threads <= MAX_THREADS => Ok(Threads(n_threads)),
        n_threads => Err(Error::Config {
            key: "threads".to_owned(),
            problem: format!("{n_threads} is too many: give at most {MAX_THREADS}"),
        }),
    }
}

#[pymethods]
impl PyComparison {
    /// The F1 of A and of B, in percent.
    #[getter]
    fn f1(&self) -> (f64, f64) {
        let [a, b] = self.comparison.scores;
        (a.f1, b.f1)
    }

    /// The F1 of B less that of A, in percentage points.
    #[getter]
    fn difference(&self) -> f64 {
        self.comparison.difference().f1
    }

    /// The probability of such a difference if the parsers do not differ.
    #[getter]
    fn p(&self) -> f64 {
        self.comparison.p.f1
    }

    /// The 95 % confidence interval of the difference.
    #[getter]
    fn interval(&self) -> (f64, f64) {
        self.comparison.f1_interval.into()
    }

    /// The numbers of sentences on which A and on which B is better.
    #[getter]
    fn better(&self) -> (u64, u64) {
        self.comparison.better.into()
    }

    /// The number of sentences.
    #[getter]
    fn sentences(&self) -> u64 {
        self.comparison.sentences
    }

    fn __repr__(&self) -> String {
        let ((a, b), (low, high)) = (self.f1(), self.interval());
        format!(
            "Comparison(f1=({a:.2}, {b:.2}), difference={:+.2}, interval=({low:+.2}, {high:+.2}), p={:.4})",
            self.difference(),
            self.p()
        )
    }
}
