//! Parsing on threads: results in the order of the sentences, in constant memory, without the interpreter lock.

use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3::{PyTraverseError, PyVisit};
use srparse::text::{TextSentence, Tokenizer};
use srparse::{Parse, Parser, ParserWorker, Token};

use crate::errors::exception;
use crate::evaluation::own_threads;
use crate::sentence::{Offsets, Sentence, sentence};
use crate::tree::PyTree;
use crate::work::{PATIENCE, panicked};

/// How many sentences a thread takes at a time.
const CHUNK: usize = 16;

/// How many chunks there are for each thread, waiting or in work.
const CHUNKS_PER_THREAD: usize = 4;

/// The most threads of a call.
pub(crate) const MAX_THREADS: usize = 1024;

/// Sentences one after the other; asked by the thread that asks for trees.
pub(crate) enum Source {
    /// Sentences of Python, how many have been taken, and how texts are split.
    Given(Py<PyIterator>, usize, Tokenizer),
    /// Sentences of texts.
    Split(std::vec::IntoIter<TextSentence>),
}

impl Source {
    fn next(&mut self, py: Python<'_>) -> Option<PyResult<Sentence>> {
        match self {
            Self::Split(sentences) => sentences.next().map(|next| Ok(next.into())),
            Self::Given(iterator, taken, text) => {
                let item = iterator.bind(py).clone().next()?;
                let number = *taken;
                *taken += 1;
                let numbered = |error| numbered(py, &error, number);
                Some(item.and_then(|item| sentence(&item, text).map_err(numbered)))
            }
        }
    }
}

/// Sentences with the number of their chunk.
type Job = (usize, Vec<Vec<Token>>);

/// The parses of a chunk, or an error; no parses after a panic, whose message is on standard error.
type Outcome = Option<srparse::Result<Vec<Parse>>>;

/// The trees of many sentences, in their order; made by `Parser.parse_batch(…, stream=True)`.
#[pyclass(name = "Parses", module = "srparse")]
pub(crate) struct PyParses {
    source: Option<Source>,
    /// The error of the source, raised after the trees before it.
    failure: Option<PyErr>,
    threads: Threads,
    n_threads: usize,
    sent: usize,
    received: usize,
    early: BTreeMap<usize, Outcome>,
    ready: VecDeque<Parse>,
    /// The places of the words of the sentences that were sent and have not come back as trees.
    offsets: VecDeque<Option<Offsets>>,
    progress: Option<Progress>,
    n_parsed: usize,
    process: u32,
}

/// The function called with the number of trees so far, and the number of sentences if that is known.
pub(crate) struct Progress {
    pub(crate) call: Py<PyAny>,
    pub(crate) total: Option<usize>,
}

impl PyParses {
    /// Starts the threads.
    ///
    /// # Errors
    /// When they cannot be started.
    pub(crate) fn new(
        parser: &Arc<Parser>,
        source: Source,
        n_threads: usize,
        progress: Option<Progress>,
    ) -> PyResult<Self> {
        let n_threads = own_threads(n_threads).map_err(exception)?.0;
        Ok(Self {
            source: Some(source),
            failure: None,
            threads: Threads::start(parser, n_threads)?,
            n_threads,
            sent: 0,
            received: 0,
            early: BTreeMap::new(),
            ready: VecDeque::new(),
            offsets: VecDeque::new(),
            progress,
            n_parsed: 0,
            process: std::process::id(),
        })
    }

    /// The next tree; `None` at the end.
    pub(crate) fn advance(&mut self, py: Python<'_>) -> PyResult<Option<PyTree>> {
        loop {
            if let Some(parse) = self.ready.pop_front() {
                let offsets = self.offsets.pop_front().flatten();
                return Ok(Some(PyTree::of_parse(parse, offsets)));
            }
            if std::process::id() != self.process {
                let problem =
                    "the iterator was begun before a fork: call parse_batch() in this process";
                return Err(PyRuntimeError::new_err(problem));
            }
            while self.sent - self.received < self.n_threads * CHUNKS_PER_THREAD && self.send(py) {}
            if self.sent == self.received {
                return self.failure.take().map_or(Ok(None), Err);
            }
            self.receive(py)?;
        }
    }

    /// Gives the threads another chunk; returns false at the end.
    fn send(&mut self, py: Python<'_>) -> bool {
        let Some(source) = &mut self.source else { return false };
        let mut chunk = Vec::with_capacity(CHUNK);
        while chunk.len() < CHUNK {
            match source.next(py) {
                Some(Ok(Sentence { tokens, offsets })) => {
                    chunk.push(tokens);
                    self.offsets.push_back(offsets);
                }
                end => {
                    self.failure = end.and_then(Result::err);
                    self.source = None;
                    break;
                }
            }
        }
        if chunk.is_empty() {
            return false;
        }
        self.threads.send((self.sent, chunk));
        self.sent += 1;
        true
    }

    /// Waits for the next chunk.
    fn receive(&mut self, py: Python<'_>) -> PyResult<()> {
        loop {
            py.check_signals()?;
            if let Some(outcome) = self.early.remove(&self.received) {
                self.received += 1;
                let parses = outcome.ok_or_else(panicked)?;
                self.ready.extend(parses.map_err(exception)?);
                self.n_parsed += self.ready.len();
                if let Some(Progress { call, total }) = &self.progress {
                    call.call1(py, (self.n_parsed, *total))?;
                }
                return Ok(());
            }
            if let Some((number, outcome)) = py.detach(|| self.threads.receive()) {
                self.early.insert(number, outcome);
            }
        }
    }
}

#[pymethods]
impl PyParses {
    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<PyTree>> {
        self.advance(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Some(Source::Given(iterator, ..)) = &self.source {
            visit.call(iterator)?;
        }
        self.progress.iter().try_for_each(|progress| visit.call(&progress.call))
    }

    fn __clear__(&mut self) {
        self.source = None;
        self.progress = None;
    }
}

/// Threads that parse chunks. They end when this is dropped.
struct Threads {
    jobs: Sender<Job>,
    outcomes: Mutex<Receiver<(usize, Outcome)>>,
    is_stopped: Arc<AtomicBool>,
}

impl Threads {
    fn start(parser: &Arc<Parser>, n_threads: usize) -> PyResult<Self> {
        let (jobs, waiting) = channel::<Job>();
        let (done, outcomes) = channel();
        let waiting = Arc::new(Mutex::new(waiting));
        let is_stopped = Arc::new(AtomicBool::new(false));
        for _ in 0..n_threads {
            let (parser, waiting) = (Arc::clone(parser), Arc::clone(&waiting));
            let (done, is_stopped) = (done.clone(), Arc::clone(&is_stopped));
            let work = move || {
                let mut worker = parser.worker();
                while let Some((number, chunk)) = next(&waiting) {
                    let parse = || parse(&mut worker, &chunk, &is_stopped);
                    let outcome = catch_unwind(AssertUnwindSafe(parse)).ok();
                    if done.send((number, outcome)).is_err() {
                        break;
                    }
                }
            };
            thread::Builder::new().name("srparse".to_owned()).spawn(work)?;
        }
        Ok(Self { jobs, outcomes: Mutex::new(outcomes), is_stopped })
    }

    fn send(&self, job: Job) {
        // Threads end only after this is dropped.
        let _ = self.jobs.send(job);
    }

    /// What a thread has finished; `None` if none has for a while.
    fn receive(&mut self) -> Option<(usize, Outcome)> {
        let outcomes = self.outcomes.get_mut().unwrap_or_else(PoisonError::into_inner);
        outcomes.recv_timeout(PATIENCE).ok()
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn next(waiting: &Mutex<Receiver<Job>>) -> Option<Job> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner).recv().ok()
}

/// Parses a chunk; what comes after a stop nobody waits for.
fn parse(
    worker: &mut ParserWorker<'_>,
    chunk: &[Vec<Token>],
    is_stopped: &AtomicBool,
) -> srparse::Result<Vec<Parse>> {
    let sentences = chunk.iter().take_while(|_| !is_stopped.load(Ordering::Relaxed));
    sentences.map(|tokens| worker.parse(tokens)).collect()
}

/// Names the sentence that an error is about.
pub(crate) fn numbered(py: Python<'_>, error: &PyErr, sentence: usize) -> PyErr {
    let text = format!("sentence {sentence}: {}", error.value(py));
    if error.is_instance_of::<PyTypeError>(py) {
        PyTypeError::new_err(text)
    } else {
        PyValueError::new_err(text)
    }
}
