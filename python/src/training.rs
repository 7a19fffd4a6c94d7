//! Training, with events and Ctrl-C.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use srparse::observer::EpochScores;
use srparse::{Event, Model, Observer, Preset, Trainer, Treebank, TreebankProfile};

use crate::errors::exception;
use crate::evaluation::own_threads;
use crate::parser::{PyParser, settings_of};
use crate::trees;
use crate::work::panicked;

/// How often the caller looks for Ctrl-C, and how often progress is reported.
const INTERVAL: Duration = Duration::from_millis(50);

/// Trains a parser by a preset, on a treebank; with `dev`, its best epoch is kept.
///
/// `train` and `dev` are paths or lists of trees. `settings` changes the preset as `srparse train --set` does:
/// {"epochs": 3}; `treebank` names a profile, such as "keyaki". `threads` is 0 for one on each core; the model does
/// not depend on it. `checkpoint` is a folder from which a later run resumes.
///
/// `init` is a parser that training continues from, a network or a linear one, with its preset unless `preset` names
/// another; without `init` the preset is "fast". `silver` are trees of another parser, each of which an epoch uses with the
/// probability `silver_share`. `teachers` are parsers whose probabilities of actions a network learns too, by the weight
/// "learner.teacher_weight".
///
/// `on_event` is called with dictionaries, whose "kind" is "note", "milestone", "step", "epoch" or "progress". If it
/// returns False, training stops with the best model so far; if it raises, or with Ctrl-C, there is no model.
///
/// Raises ValueError when a setting or a treebank does not fit, RuntimeError when there is no model yet.
#[pyfunction]
#[pyo3(signature = (preset=None, *, train, dev=None, settings=None, treebank=None, seed=1, threads=1,
                    checkpoint=None, init=None, silver=None, silver_share=0.5, teachers=None, on_event=None))]
#[expect(clippy::too_many_arguments, reason = "they are the named arguments of a Python function")]
pub(crate) fn train(
    py: Python<'_>,
    preset: Option<&str>,
    train: &Bound<'_, PyAny>,
    dev: Option<&Bound<'_, PyAny>>,
    settings: Option<&Bound<'_, PyDict>>,
    treebank: Option<&str>,
    seed: u64,
    threads: usize,
    checkpoint: Option<PathBuf>,
    init: Option<Py<PyParser>>,
    silver: Option<&Bound<'_, PyAny>>,
    silver_share: f64,
    teachers: Option<Vec<Py<PyParser>>>,
    on_event: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyParser> {
    let profile = treebank.map(TreebankProfile::load).transpose().map_err(exception)?;
    let settings = settings_of(settings)?;
    let init = init.map(|parser| parser.get().model().clone());
    let preset = match (preset, &init) {
        (None, Some(model)) => Trainer::preset_to_continue(model)
            .and_then(|preset| preset.changed(profile.as_ref(), &settings)),
        (name, _) => Preset::load_for(name.unwrap_or("fast"), profile.as_ref(), &settings),
    };
    let preset = preset.map_err(exception)?;
    if preset.only_tagger {
        let problem =
            "the preset trains a tagger alone: choose one of a parser, or use `srparse train`";
        return Err(PyValueError::new_err(problem));
    }
    if !(0.0..=1.0).contains(&silver_share) {
        return Err(PyValueError::new_err("silver_share: expected a number from 0 to 1"));
    }
    let silver = silver.map(trees::treebank).transpose()?;
    let teachers = teachers.unwrap_or_default();
    let teachers = teachers.iter().map(|parser| parser.get().model().clone()).collect();
    let trainer = match init {
        Some(model) => Trainer::continuing(model, preset),
        None => Trainer::with_preset(preset),
    };
    let mut trainer = trainer.map_err(exception)?;
    trainer = trainer.seed(seed).teachers(teachers);
    if let Some(silver) = &silver {
        trainer = trainer.silver(silver, silver_share);
    }
    if let Some(folder) = checkpoint {
        trainer = trainer.checkpoint(&folder);
    }
    let data = Data {
        train: trees::treebank(train)?,
        dev: dev.map(trees::treebank).transpose()?.unwrap_or_default(),
    };
    let on_event = on_event.map(|call| call.clone().unbind());
    let model = run(py, &trainer, &data, threads, on_event.as_ref())?;
    PyParser::of_model(model)
}

struct Data {
    train: Treebank,
    dev: Treebank,
}

/// Trains on threads while the caller reports events and looks for Ctrl-C.
fn run(
    py: Python<'_>,
    trainer: &Trainer<'_>,
    data: &Data,
    n_threads: usize,
    on_event: Option<&Py<PyAny>>,
) -> PyResult<Model> {
    let (events, mut reported) = channel();
    let reporter = Reporter::new(on_event.map(|_| events.clone()));
    let train = || {
        let train = || trainer.clone().observe(&reporter).train(&data.train, &data.dev);
        own_threads(n_threads)?.run(train).and_then(|trained| trained)
    };
    let (trained, followed) = py.detach(|| {
        thread::scope(|scope| {
            let training = scope.spawn(train);
            let is_over = || training.is_finished();
            let followed =
                Python::attach(|py| follow(py, &mut reported, on_event, &reporter, &is_over));
            if followed.is_err() {
                reporter.is_stopped.store(true, Ordering::Relaxed);
            }
            (training.join(), followed)
        })
    });
    followed?;
    let trained = trained.map_err(|_| panicked())?;
    trained.map_err(exception)
}

/// Reports events until training has ended.
///
/// # Errors
/// When Ctrl-C was pressed, or the callback raises.
fn follow(
    py: Python<'_>,
    reported: &mut Receiver<Reported>,
    on_event: Option<&Py<PyAny>>,
    reporter: &Reporter,
    is_over: &dyn Fn() -> bool,
) -> PyResult<()> {
    loop {
        py.check_signals()?;
        // Asked before waiting: what was reported until then is still waiting.
        let ends = is_over();
        match (py.detach(|| next(reported)), on_event) {
            (Some(event), Some(call)) => {
                let answer = call.call1(py, (event.to_dict(py)?,))?;
                if answer.bind(py).cast::<PyBool>().is_ok_and(|answer| !answer.is_true()) {
                    reporter.is_stopped.store(true, Ordering::Relaxed);
                }
            }
            _ if ends => return Ok(()),
            _ => {}
        }
    }
}

/// The next event; `None` if there is none for a while.
fn next(reported: &mut Receiver<Reported>) -> Option<Reported> {
    reported.recv_timeout(INTERVAL).ok()
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An event that outlives its report.
enum Reported {
    Note(String),
    Milestone(String),
    Step(f64, String),
    Epoch(EpochScores),
    Progress(u64, u64, &'static str),
}

impl Reported {
    fn of(event: Event<'_>) -> Self {
        match event {
            Event::Note(text) => Self::Note(text.to_owned()),
            Event::Milestone(text) => Self::Milestone(text.to_owned()),
            Event::Step { share, text } => Self::Step(share, text.to_owned()),
            Event::Epoch(scores) => Self::Epoch(scores),
            Event::Progress { done, total, unit } => Self::Progress(done, total, unit),
        }
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let kind = match self {
            Self::Note(text) | Self::Milestone(text) => {
                dict.set_item("text", text)?;
                if matches!(self, Self::Note(_)) { "note" } else { "milestone" }
            }
            Self::Step(share, text) => {
                dict.set_item("share", share)?;
                dict.set_item("text", text)?;
                "step"
            }
            Self::Epoch(EpochScores { model, epoch, accuracy, f1 }) => {
                dict.set_item("model", model)?;
                dict.set_item("epoch", epoch)?;
                dict.set_item("accuracy", accuracy)?;
                dict.set_item("f1", f1)?;
                "epoch"
            }
            Self::Progress(done, total, unit) => {
                dict.set_item("done", done)?;
                dict.set_item("total", total)?;
                dict.set_item("unit", unit)?;
                "progress"
            }
        };
        dict.set_item("kind", kind)?;
        Ok(dict)
    }
}

/// Passes events from the threads of training to the caller's.
struct Reporter {
    events: Option<Mutex<Sender<Reported>>>,
    /// When progress was last reported.
    last: Mutex<Instant>,
    is_stopped: AtomicBool,
}

impl Reporter {
    fn new(events: Option<Sender<Reported>>) -> Self {
        let (last, is_stopped) = (Mutex::new(Instant::now()), AtomicBool::new(false));
        Self { events: events.map(Mutex::new), last, is_stopped }
    }

    /// Whether progress is due again.
    fn is_due(&self) -> bool {
        let mut last = lock(&self.last);
        let is_due = last.elapsed() >= INTERVAL;
        if is_due {
            *last = Instant::now();
        }
        is_due
    }
}

impl Observer for Reporter {
    fn event(&self, event: Event<'_>) {
        let Some(events) = &self.events else { return };
        if !matches!(event, Event::Progress { .. }) || self.is_due() {
            // The caller may have gone after an error.
            let _ = lock(events).send(Reported::of(event));
        }
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}
