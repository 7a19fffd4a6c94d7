//! Counters of the server, for Prometheus, and the access log.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::{Access, Shared};

/// Upper bounds of times, in seconds.
const BOUNDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0];

/// Counts since the start.
#[derive(Default)]
pub(super) struct Metrics {
    /// Replies by path and status.
    replies: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// Requests to parse within each bound, and all.
    times: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
    bytes: AtomicU64,
    sentences: AtomicU64,
    words: AtomicU64,
    refused_connections: AtomicU64,
}

impl Metrics {
    pub(super) fn parsed(&self, sentences: usize, words: usize) {
        self.sentences.fetch_add(sentences as u64, Relaxed);
        self.words.fetch_add(words as u64, Relaxed);
    }

    pub(super) fn refused_connection(&self) {
        self.refused_connections.fetch_add(1, Relaxed);
    }

    /// All counts in the text format of Prometheus.
    pub(super) fn text(&self, shared: &Shared) -> String {
        let mut out = String::new();
        let mut simple = |name: &str, kind: &str, help: &str, value: u64| {
            // Writing to memory does not fail.
            let _ = write!(
                out,
                "# HELP srparse_{name} {help}\n# TYPE srparse_{name} {kind}\nsrparse_{name} {value}\n"
            );
        };
        let counts = [
            ("sentences_total", "Sentences of all requests.", &self.sentences),
            ("words_total", "Words of all sentences.", &self.words),
            ("reply_bytes_total", "Bytes of the bodies of replies.", &self.bytes),
            ("refused_connections_total", "Connections over the limit.", &self.refused_connections),
        ];
        for (name, help, count) in counts {
            simple(name, "counter", help, count.load(Relaxed));
        }
        let (pool, threads) = (&shared.pool, shared.settings.threads.get() as u64);
        simple("jobs_waiting", "gauge", "Batches of sentences that wait.", pool.waiting() as u64);
        simple(
            "requests_in_work",
            "gauge",
            "Requests that wait or are parsed.",
            pool.requests() as u64,
        );
        simple("threads", "gauge", "Threads that parse.", threads);
        self.write_replies(&mut out);
        self.write_times(&mut out);
        out
    }

    fn write_replies(&self, out: &mut String) {
        out.push_str(
            "# HELP srparse_replies_total Replies.\n# TYPE srparse_replies_total counter\n",
        );
        let replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        for ((path, status), count) in &*replies {
            let _ = writeln!(
                out,
                "srparse_replies_total{{path=\"{path}\",status=\"{status}\"}} {count}"
            );
        }
    }

    fn write_times(&self, out: &mut String) {
        let name = "srparse_parse_seconds";
        let _ = write!(
            out,
            "# HELP {name} Time from the head of a POST request to the end of its reply.\n# TYPE {name} histogram\n"
        );
        let bounds = BOUNDS.iter().map(ToString::to_string).chain(["+Inf".to_owned()]);
        let mut sum = 0;
        for (bound, count) in bounds.zip(&self.times) {
            sum += count.load(Relaxed);
            let _ = writeln!(out, "{name}_bucket{{le=\"{bound}\"}} {sum}");
        }
        let seconds = self.microseconds.load(Relaxed) as f64 / 1e6;
        let _ = write!(out, "{name}_sum {seconds}\n{name}_count {sum}\n");
    }
}

/// A request whose reply is on its way; counted and logged when it is dropped.
pub(super) struct Answered {
    pub(super) shared: Arc<Shared>,
    pub(super) client: SocketAddr,
    pub(super) method: String,
    pub(super) path: String,
    /// The path among those that the server knows.
    pub(super) route: &'static str,
    /// Whether it is a POST request, which may parse.
    pub(super) is_post: bool,
    pub(super) status: u16,
    pub(super) bytes: u64,
    pub(super) start: Instant,
}

impl Drop for Answered {
    fn drop(&mut self) {
        let metrics = &self.shared.metrics;
        let time = self.start.elapsed();
        let mut replies = metrics.replies.lock().unwrap_or_else(PoisonError::into_inner);
        *replies.entry((self.route, self.status)).or_default() += 1;
        drop(replies);
        metrics.bytes.fetch_add(self.bytes, Relaxed);
        if self.is_post && self.status == 200 {
            let seconds = time.as_secs_f64();
            let bucket = BOUNDS.iter().position(|&bound| seconds <= bound).unwrap_or(BOUNDS.len());
            metrics.times[bucket].fetch_add(1, Relaxed);
            metrics.microseconds.fetch_add(time.as_micros() as u64, Relaxed);
        }
        if let Some(log) = &self.shared.log {
            let Self { client, status, bytes, .. } = *self;
            log(&Access { client, method: &self.method, path: &self.path, status, bytes, time });
        }
    }
}
