//! The threads that parse, what waits for them, and how much may wait.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::ServedModel;
use super::reply::Refusal;
use crate::parser::{Parser, ParserWorker};

/// A few sentences of a request.
pub(super) type Job = Box<dyn FnOnce(&mut ThreadWorkers<'_>) + Send>;

/// The workers of one thread, made when they are first needed.
pub(super) struct ThreadWorkers<'a> {
    models: &'a [ServedModel],
    workers: Vec<Option<ParserWorker<'a>>>,
}

impl<'a> ThreadWorkers<'a> {
    fn new(models: &'a [ServedModel]) -> Self {
        Self { models, workers: models.iter().map(|_| None).collect() }
    }

    /// A parser, and the worker of this thread for it.
    pub(super) fn of(&mut self, model: usize) -> (&'a Parser, &mut ParserWorker<'a>) {
        let parser = &self.models[model].parser;
        (parser, self.workers[model].get_or_insert_with(|| parser.worker()))
    }

    /// Gives up a worker: the next request gets a new one.
    pub(super) fn discard(&mut self, model: usize) {
        self.workers[model] = None;
    }
}

/// The tasks that wait for the threads.
pub(super) struct Pool {
    queue: Mutex<Queue>,
    changed: Condvar,
    requests: Arc<Budget>,
    bytes: Arc<Budget>,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Pool {
    /// At most so many requests at a time, and so many bytes in bodies.
    pub(super) fn new(requests: usize, bytes: usize) -> Self {
        Self {
            queue: Mutex::default(),
            changed: Condvar::new(),
            requests: Budget::new(requests),
            bytes: Budget::new(bytes),
        }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job at the end. Each request has at most one job for each thread, so the queue is bounded.
    pub(super) fn push(&self, job: Job) {
        self.queue().jobs.push_back(job);
        self.changed.notify_one();
    }

    /// Works until the pool is closed and nothing waits.
    pub(super) fn work(&self, models: &[ServedModel]) {
        let mut workers = ThreadWorkers::new(models);
        loop {
            let idle = |queue: &mut Queue| queue.jobs.is_empty() && !queue.closed;
            let queue = self.changed.wait_while(self.queue(), idle);
            let job = queue.unwrap_or_else(PoisonError::into_inner).jobs.pop_front();
            match job {
                Some(job) => job(&mut workers),
                None => return,
            }
        }
    }

    /// Lets the threads end when nothing waits.
    pub(super) fn close(&self) {
        self.queue().closed = true;
        self.changed.notify_all();
    }

    /// The number of jobs that wait.
    pub(super) fn waiting(&self) -> usize {
        self.queue().jobs.len()
    }

    /// The number of requests that wait or are being worked on.
    pub(super) fn requests(&self) -> usize {
        self.requests.taken()
    }

    /// Room for a request; a refusal if too many wait.
    pub(super) fn admit(&self) -> Result<Share, Refusal> {
        let mut share = Share::of(&self.requests);
        let busy = || Refusal::busy("too many requests wait: try again later");
        share.add(1).then_some(share).ok_or_else(busy)
    }

    /// Room for bytes of a body, which are added as they come.
    pub(super) fn body(&self) -> Share {
        Share::of(&self.bytes)
    }
}

/// An amount that is shared.
struct Budget {
    most: usize,
    taken: AtomicUsize,
}

impl Budget {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, taken: AtomicUsize::new(0) })
    }

    fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }
}

/// A part of a budget, given back when it is dropped.
pub(super) struct Share {
    budget: Arc<Budget>,
    amount: usize,
}

impl Share {
    fn of(budget: &Arc<Budget>) -> Self {
        Self { budget: Arc::clone(budget), amount: 0 }
    }

    /// Takes more; returns false if there is not enough.
    pub(super) fn add(&mut self, amount: usize) -> bool {
        let most = self.budget.most;
        let more = |taken: usize| taken.checked_add(amount).filter(|&taken| taken <= most);
        let fits =
            self.budget.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok();
        self.amount += if fits { amount } else { 0 };
        fits
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.budget.taken.fetch_sub(self.amount, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_goes_back_and_never_exceeds_the_budget() {
        let pool = Pool::new(2, 10);
        let shares = [pool.admit(), pool.admit()];
        assert!(shares.iter().all(Result::is_ok) && pool.admit().is_err());
        drop(shares);
        assert!(pool.admit().is_ok());
        let mut body = pool.body();
        assert!(body.add(6) && !body.add(5) && body.add(4) && !body.add(usize::MAX));
        drop(body);
        assert!(pool.body().add(10));
    }
}
