//! The cost of work, as far as the system tells: Linux does.

use std::fs;
use std::time::{Duration, Instant};

/// The time that work took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// From its beginning to its end.
    pub(super) elapsed: Duration,
    /// CPU time of the calling thread.
    pub(super) cpu: Option<Duration>,
}

/// Measures work on the calling thread.
pub(super) fn timed<T>(work: impl FnOnce() -> T) -> (T, Times) {
    let (start, cpu) = (Instant::now(), cpu_time());
    let result = work();
    let cpu = cpu.zip(cpu_time()).map(|(before, after)| after.saturating_sub(before));
    // The clock of short work may not have ticked.
    let cpu = cpu.filter(|cpu| !cpu.is_zero());
    (result, Times { elapsed: start.elapsed(), cpu })
}

/// The CPU time of the calling thread so far.
fn cpu_time() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Duration::from_nanos(text.split(' ').next()?.parse().ok()?))
}

/// Begins to measure anew what [`peak_memory`] returns; whether that is possible.
pub(super) fn reset_peak_memory() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The most memory that the process has had at once, in bytes.
pub(super) fn peak_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
