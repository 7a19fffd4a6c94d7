//! Parallel work on the thread pool, with results in the order of the items.
//!
//! Results do not depend on the number of threads: each item is processed on its own. Threads take runs of
//! items from a shared counter, which balances work of uneven size. All parallel work goes through one
//! function that is compiled once; the iterators of the thread pool would be compiled again for each use.

use std::ops::Range;
#[cfg(feature = "cli")]
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::{Error, Result};

/// The number of runs of items per thread.
const RUNS_PER_THREAD: usize = 32;

/// Sets the number of threads for all parallel work; 0 for one per core. Only the first call has an effect.
#[cfg(feature = "cli")]
pub(crate) fn set_threads(threads: usize) {
    let _ = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
}

/// The number of threads for parallel work.
#[cfg(feature = "cli")]
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Runs `work` on a new pool with this number of threads; 0 for the current pool.
///
/// # Errors
/// When the threads cannot be started.
pub(crate) fn with_threads<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    if threads == 0 {
        return Ok(work());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Error::config("threads", error.to_string()))?;
    Ok(pool.install(work))
}

/// Maps the items of a slice.
pub(crate) fn map<I: Sync, T: Send>(items: &[I], f: impl Fn(&I) -> T + Sync) -> Vec<T> {
    map_range(items.len(), |at| f(&items[at]))
}

/// Maps the items of a slice. `init` creates the scratch memory of each thread.
pub(crate) fn map_init<I: Sync, S, T: Send>(
    items: &[I],
    init: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, &I) -> T + Sync,
) -> Vec<T> {
    map_range_init(items.len(), init, |memory, at| f(memory, &items[at]))
}

/// Maps the numbers below `n`.
pub(crate) fn map_range<T: Send>(n: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_range_init(n, || (), |(), at| f(at))
}

/// Maps the numbers below `n`. `init` creates the scratch memory of each thread.
pub(crate) fn map_range_init<S, T: Send>(
    n: usize,
    init: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let runs = Runs::new(n, n / (rayon::current_num_threads() * RUNS_PER_THREAD));
    collect(&runs, &|results| {
        let mut memory = None;
        while let Some((run, range)) = runs.next() {
            let memory = memory.get_or_insert_with(&init);
            put(&results[run], range.map(|at| f(memory, at)).collect());
        }
    })
}

/// Maps the numbers below `n`, one at a time in ascending order; after an error no more are begun.
///
/// # Errors
/// The first error in the order of the numbers.
pub(crate) fn try_map_range<T: Send>(
    n: usize,
    f: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let failed = AtomicBool::new(false);
    let results = map_owned(0..n, |at| {
        (!failed.load(Ordering::Relaxed)).then(|| {
            let result = f(at);
            failed.fetch_or(result.is_err(), Ordering::Relaxed);
            result
        })
    });
    results.into_iter().flatten().collect()
}

/// Maps owned items, one at a time in their order: the largest should come first.
pub(crate) fn map_owned<I: Send, T: Send>(
    items: impl IntoIterator<Item = I>,
    f: impl Fn(I) -> T + Sync,
) -> Vec<T> {
    let items: Vec<Mutex<Option<I>>> =
        items.into_iter().map(|item| Mutex::new(Some(item))).collect();
    let runs = Runs::new(items.len(), 1);
    collect(&runs, &|results| {
        while let Some((run, _)) = runs.next() {
            let item = items[run].lock().unwrap_or_else(PoisonError::into_inner).take();
            put(&results[run], item.map(&f).into_iter().collect());
        }
    })
}

/// Processes owned items, such as chunks of a slice, one at a time in their order.
pub(crate) fn for_each<I: Send>(items: impl IntoIterator<Item = I>, f: impl Fn(I) + Sync) {
    map_owned(items, f);
}

/// Processes items on threads of their own, one at a time in their order; a thread begins no more after an error.
///
/// For work that runs [`with_threads`]: a thread of the pool that waits for another pool begins the next item.
///
/// # Errors
/// An error of `f`.
#[cfg(feature = "cli")]
pub(crate) fn try_on_own_threads<I: Sync, E: Send>(
    threads: usize,
    items: &[I],
    f: impl Fn(&I) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let next = || items.get(next.fetch_add(1, Ordering::Relaxed));
    let work = || std::iter::from_fn(next).try_for_each(&f);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads.min(items.len())).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// The results of each run, stored by one of the threads.
type Results<T> = [Mutex<Vec<T>>];

fn put<T>(place: &Mutex<Vec<T>>, results: Vec<T>) {
    *place.lock().unwrap_or_else(PoisonError::into_inner) = results;
}

/// Processes all runs and concatenates their results.
fn collect<T: Send>(runs: &Runs, work: &(dyn Fn(&Results<T>) + Sync)) -> Vec<T> {
    let results: Vec<Mutex<Vec<T>>> = (0..runs.number()).map(|_| Mutex::new(Vec::new())).collect();
    on_threads(runs.number(), &|| work(&results));
    let mut all = Vec::with_capacity(runs.n);
    for result in results {
        all.append(&mut result.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    all
}

/// Runs of numbers that threads take one after the other.
struct Runs {
    n: usize,
    size: usize,
    next: AtomicUsize,
}

impl Runs {
    fn new(n: usize, size: usize) -> Self {
        Self { n, size: size.max(1), next: AtomicUsize::new(0) }
    }

    fn number(&self) -> usize {
        self.n.div_ceil(self.size)
    }

    fn next(&self) -> Option<(usize, Range<usize>)> {
        let run = self.next.fetch_add(1, Ordering::Relaxed);
        let start = run * self.size;
        (start < self.n).then(|| (run, start..self.n.min(start + self.size)))
    }
}

/// Runs the same work on as many threads of the pool as there are runs, including the calling one. The only
/// use of the pool: the generic code is above.
fn on_threads(n_runs: usize, work: &(dyn Fn() + Sync)) {
    let threads = rayon::current_num_threads().min(n_runs);
    if threads <= 1 {
        return work();
    }
    rayon::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|_| work());
        }
        work();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn results_are_in_order_for_any_number_of_threads() {
        for threads in 1..4 {
            with_threads(threads, || {
                for n in [0, 1, 2, 63, 64, 65, 1000] {
                    let squares: Vec<usize> = (0..n).map(|at| at * at).collect();
                    assert_eq!(map_range(n, |at| at * at), squares);
                    assert_eq!(map_owned(0..n, |at| at * at), squares);
                    let numbers: Vec<usize> = (0..n).collect();
                    assert_eq!(map(&numbers, |at| at * at), squares);
                    let counted = map_init(&numbers, || 0, |calls, at| (*calls += 1, at * at).1);
                    assert_eq!(counted, squares);
                }
            })
            .unwrap();
        }
    }

    #[test]
    fn work_can_be_nested() {
        with_threads(3, || {
            let sums = map_range(50, |n| map_range(n, |at| at).into_iter().sum::<usize>());
            assert_eq!(sums, (0..50).map(|n| (0..n).sum()).collect::<Vec<usize>>());
        })
        .unwrap();
    }

    #[cfg(feature = "cli")]
    #[test]
    fn own_threads_finish_an_item_before_the_next() {
        let (busy, done) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
        let run = |&at: &usize| {
            let thread = std::thread::current().id();
            let was_busy = busy.lock().unwrap().contains(&thread);
            busy.lock().unwrap().push(thread);
            with_threads(1, || std::thread::sleep(std::time::Duration::from_millis(1)))?;
            busy.lock().unwrap().retain(|&other| other != thread);
            done.fetch_add(1, Ordering::Relaxed);
            if was_busy { Err(Error::config("item", at.to_string())) } else { Ok(()) }
        };
        let items: Vec<usize> = (0..20).collect();
        with_threads(3, || try_on_own_threads(3, &items, run)).unwrap().unwrap();
        assert_eq!(done.into_inner(), 20);
        let fail = |&at: &usize| if at == 2 { Err(at) } else { Ok(()) };
        assert_eq!(try_on_own_threads(2, &items, fail), Err(2));
    }

    #[test]
    fn chunks_are_written_in_place() {
        let mut numbers = vec![0; 1000];
        for_each(numbers.chunks_mut(7).enumerate(), |(at, chunk)| chunk.fill(at));
        assert!(numbers.iter().enumerate().all(|(at, &number)| number == at / 7));
    }

    #[test]
    fn the_first_error_is_returned() {
        let odd = |at: usize| {
            if at.is_multiple_of(2) { Ok(at) } else { Err(Error::config("n", at.to_string())) }
        };
        with_threads(1, || {
            let error = try_map_range(9, odd).unwrap_err().to_string();
            assert!(error.contains('1'), "{error}");
        })
        .unwrap();
        assert_eq!(try_map_range(1, odd).unwrap(), [0]);
    }
}
