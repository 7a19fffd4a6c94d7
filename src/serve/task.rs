//! A request as batches of sentences, and its reply as a stream.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use hyper::body::Bytes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::Shared;
use super::pool::{Pool, Share, ThreadWorkers};
use super::reply::Refusal;
use crate::error::{Error, Result};
use crate::parser::{Parser, ParserWorker};

/// The most sentences of a batch.
const BATCH_SENTENCES: usize = 16;
/// No sentence is added to a batch that has this many words.
const BATCH_WORDS: usize = 400;

/// The part of a protocol that handles each item of a request.
pub(super) trait Render: Send + Sync + 'static {
    /// A sentence, or what stands in its place.
    type Item: Send;

    /// The number of words of an item.
    fn words(&self, item: &Self::Item) -> usize;

    /// Writes what the reply says of an item.
    ///
    /// # Errors
    /// When the model cannot do what is asked.
    fn render(
        &self,
        item: Self::Item,
        model: (&Parser, &mut ParserWorker<'_>),
        out: &mut Vec<u8>,
    ) -> Result<()>;
}

/// The items of a request, taken by whichever thread is free.
struct Source<I> {
    items: Box<dyn Iterator<Item = I> + Send>,
    next: u64,
}

/// A request that is being worked on.
struct Task<R: Render> {
    model: usize,
    render: R,
    source: Mutex<Source<R::Item>>,
    batches: UnboundedSender<Batch>,
    shared: Arc<Shared>,
}

/// The result of a batch.
struct Batch {
    number: u64,
    bytes: Result<Vec<u8>, Failure>,
    /// Whether no item is left.
    ended: bool,
}

/// Why a batch has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The model cannot do what is asked.
    Refused(Error),
    /// A thread has panicked, which is a defect.
    Panicked,
}

impl Failure {
    pub(super) fn refusal(self) -> Refusal {
        match self {
            Self::Refused(error) => Refusal::bad(error.to_string()),
            Self::Panicked => Refusal::defect(),
        }
    }
}

/// Some items, and whether none is left.
type TakenItems<I> = (Vec<I>, bool);

impl<R: Render> Task<R> {
    fn work(&self, workers: &mut ThreadWorkers<'_>) {
        // The client has gone.
        if self.batches.is_closed() {
            return;
        }
        let (number, taken) = self.take();
        let Some((items, ended)) = taken else {
            let batch = Batch { number, bytes: Err(Failure::Panicked), ended: true };
            let _ = self.batches.send(batch);
            return;
        };
        let (sentences, words) =
            (items.len(), items.iter().map(|item| self.render.words(item)).sum());
        let bytes = catch_unwind(AssertUnwindSafe(|| self.render_all(items, workers)));
        let bytes = match bytes {
            Ok(bytes) => bytes.map_err(Failure::Refused),
            Err(_) => {
                // It may have stopped in the middle of a change.
                workers.discard(self.model);
                Err(Failure::Panicked)
            }
        };
        self.shared.metrics.parsed(sentences, words);
        // The client may have gone.
        let _ = self.batches.send(Batch { number, bytes, ended });
    }

    /// The number of the next batch, and its items; `None` if reading them has panicked.
    fn take(&self) -> (u64, Option<TakenItems<R::Item>>) {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        source.next += 1;
        let taken = catch_unwind(AssertUnwindSafe(|| {
            let (mut items, mut words, mut ended) = (Vec::new(), 0, false);
            while items.len() < BATCH_SENTENCES && words < BATCH_WORDS && !ended {
                match source.items.next() {
                    Some(item) => {
                        words += self.render.words(&item);
                        items.push(item);
                    }
                    None => ended = true,
                }
            }
            (items, ended)
        }));
        (source.next - 1, taken.ok())
    }

    fn render_all(&self, items: Vec<R::Item>, workers: &mut ThreadWorkers<'_>) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        let (parser, worker) = workers.of(self.model);
        for item in items {
            if self.batches.is_closed() {
                break;
            }
            self.render.render(item, (parser, &mut *worker), &mut out)?;
        }
        Ok(out)
    }
}

/// Puts a job of a task at the end of the queue.
type Queue = Box<dyn Fn(&Pool) + Send>;

/// The reply of a task, whose parts come in the order of the items.
pub(super) struct Answer {
    shared: Arc<Shared>,
    again: Queue,
    batches: UnboundedReceiver<Batch>,
    waiting: BTreeMap<u64, Batch>,
    next: u64,
    /// The number of jobs in the queue or at work.
    jobs: usize,
    ended: bool,
    suffix: Option<&'static [u8]>,
    /// The share of the budgets that the request takes.
    _shares: [Share; 2],
}

/// The items of a request and how to answer it.
pub(super) struct Asked<R: Render> {
    pub(super) model: usize,
    pub(super) render: R,
    pub(super) items: Box<dyn Iterator<Item = R::Item> + Send>,
    /// Whether the request is so long that several threads are of use.
    pub(super) is_long: bool,
}

impl Answer {
    /// Puts a request into the queue.
    pub(super) fn begin<R: Render>(
        shared: &Arc<Shared>,
        asked: Asked<R>,
        shares: [Share; 2],
    ) -> Self {
        let (sender, batches) = unbounded_channel();
        let task = Arc::new(Task {
            model: asked.model,
            render: asked.render,
            source: Mutex::new(Source { items: asked.items, next: 0 }),
            batches: sender,
            shared: Arc::clone(shared),
        });
        let again: Queue = Box::new(move |pool| {
            let task = Arc::clone(&task);
            pool.push(Box::new(move |workers| task.work(workers)));
        });
        let jobs = if asked.is_long { shared.settings.threads.get() } else { 1 };
        (0..jobs).for_each(|_| again(&shared.pool));
        Self {
            shared: Arc::clone(shared),
            again,
            batches,
            waiting: BTreeMap::new(),
            next: 0,
            jobs,
            ended: false,
            suffix: None,
            _shares: shares,
        }
    }

    /// The same, with an end.
    pub(super) fn followed_by(mut self, suffix: &'static [u8]) -> Self {
        self.suffix = Some(suffix).filter(|suffix| !suffix.is_empty());
        self
    }

    /// Whether all of the reply has been taken.
    pub(super) fn is_done(&self) -> bool {
        self.jobs == 0 && self.waiting.is_empty() && self.suffix.is_none()
    }

    /// The next part of the reply; `None` at its end.
    pub(super) fn poll_part(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Failure>>> {
        loop {
            while let Some(batch) = self.waiting.remove(&self.next) {
                self.next += 1;
                // Only now: a client that does not read keeps no more in memory.
                if self.ended {
                    self.jobs -= 1;
                } else {
                    (self.again)(&self.shared.pool);
                }
                match batch.bytes {
                    Err(error) => return Poll::Ready(Some(Err(error))),
                    Ok(bytes) if !bytes.is_empty() => {
                        return Poll::Ready(Some(Ok(bytes.into())));
                    }
                    Ok(_) => {}
                }
            }
            if self.jobs == 0 {
                let suffix = self.suffix.take();
                return Poll::Ready(suffix.map(|suffix| Ok(Bytes::from_static(suffix))));
            }
            match self.batches.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Ready(Some(batch)) => {
                    self.ended |= batch.ended;
                    self.waiting.insert(batch.number, batch);
                }
            }
        }
    }
}

#[cfg(all(test, feature = "english-fast"))]
#[allow(clippy::unwrap_used)] // clippy does not know that helpers of tests are tests
mod tests {
    use std::future::poll_fn;

    use super::*;
    use crate::model::Model;
    use crate::serve::{ServedModel, Settings, metrics::Metrics};
    use crate::tree::heads::HeadRules;

    /// Panics on an item, or while it is read.
    struct Fragile;

    impl Render for Fragile {
        type Item = &'static str;

        fn words(&self, _: &&'static str) -> usize {
            1
        }

        fn render(
            &self,
            item: &'static str,
            _: (&Parser, &mut ParserWorker<'_>),
            out: &mut Vec<u8>,
        ) -> Result<()> {
            assert_ne!(item, "panic");
            out.extend_from_slice(item.as_bytes());
            Ok(())
        }
    }

    fn answer(
        shared: &Arc<Shared>,
        items: impl Iterator<Item = &'static str> + Send + 'static,
    ) -> Result<Bytes, u16> {
        let asked = Asked { model: 0, render: Fragile, items: Box::new(items), is_long: false };
        let shares = [shared.pool.body(), shared.pool.admit().unwrap()];
        let mut answer = Answer::begin(shared, asked, shares);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let part = runtime.block_on(poll_fn(|context| answer.poll_part(context)));
        part.unwrap().map_err(|failure| failure.refusal().status.as_u16())
    }

    #[test]
    fn after_a_panic_the_request_gets_status_500_and_the_thread_goes_on() {
        let parser = Parser::new(&Model::open("english-fast").unwrap(), &[]).unwrap();
        let model = ServedModel {
            name: "x".to_owned(),
            parser,
            heads: HeadRules::named("left").unwrap(),
            about: serde_json::Value::Null,
        };
        let shared = Arc::new(Shared {
            is_local: false,
            models: vec![model].into(),
            settings: Settings::default(),
            pool: Arc::new(Pool::new(1, 100)),
            metrics: Metrics::default(),
            log: None,
        });
        std::thread::scope(|scope| {
            let (pool, models) = (Arc::clone(&shared.pool), Arc::clone(&shared.models));
            let thread = scope.spawn(move || pool.work(&models));
            assert_eq!(answer(&shared, ["panic"].into_iter()), Err(500));
            let broken = std::iter::from_fn(|| panic!("an item cannot be read"));
            assert_eq!(answer(&shared, broken), Err(500));
            assert_eq!(answer(&shared, ["fine"].into_iter()), Ok(Bytes::from_static(b"fine")));
            assert_eq!(shared.pool.requests(), 0);
            shared.pool.close();
            thread.join().unwrap();
        });
    }
}
