//! An HTTP server of parsers.
//!
//! One thread reads requests and writes replies (`connection`, `route`); a fixed number of threads parse (`pool`), each
//! with a worker of every model that it has used. A request is worked on in batches of a few sentences (`task`): long
//! requests use all threads, short ones do not wait for long ones, and a client that reads slowly keeps no more than one
//! batch for each thread in memory.
//!
//! 1. What a client sends never names a file: models are those that the server was started with.
//! 2. Memory is bounded: by the number of connections, the size of one body and of all bodies, the number of requests
//!    that wait, and the length of a sentence.
//! 3. Time is bounded wherever a client decides on it: for the head and the body of a request, between requests, and
//!    while it does not read the reply.
//! 4. When the server stops, the requests that it has accepted are answered.
//! 5. A request on which a parser panics gets status 500, and no other request notices, where panics unwind. The program
//!    is built without unwinding: there, a panic ends it.

mod body;
mod connection;
mod corenlp;
mod find;
mod metrics;
mod own;
mod pattern;
mod pool;
mod query;
mod reply;
mod route;
mod task;
mod timed_io;

use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::error::{Error, Result};
use crate::parser::Parser;
use crate::tree::heads::HeadRules;
use metrics::Metrics;
use pool::Pool;

/// A parser with the name that requests give.
pub struct ServedModel {
    /// Its name.
    pub name: String,
    /// The parser.
    pub parser: Parser,
    /// The head rules of patterns.
    pub heads: HeadRules,
    /// The description that `GET /models` gives besides its name.
    pub about: serde_json::Value,
}

/// The settings of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The number of threads that parse.
    pub threads: NonZeroUsize,
    /// The largest body of a request, in bytes.
    pub max_body: usize,
    /// The largest number of open connections.
    pub max_connections: usize,
    /// The largest number of requests that wait for a parser or are being parsed.
    pub max_queue: usize,
    /// The largest number of words of a sentence.
    pub max_words: usize,
    /// The largest number of trees that may be asked for each sentence.
    pub max_nbest: usize,
    /// How long a client may take to send a head or a body, or to read more of a reply, and how long a connection may be
    /// without a request.
    pub timeout: Duration,
    /// The token that clients must send.
    pub token: Option<String>,
    /// The origin whose pages may use the server besides its own, such as `https://example.org`; `*` for all.
    pub allow_origin: Option<String>,
    /// The page at `/`, in HTML; empty for none.
    pub page: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            threads: NonZeroUsize::MIN,
            max_body: 8 << 20,
            max_connections: 512,
            max_queue: 256,
            max_words: 2_000,
            max_nbest: 100,
            timeout: Duration::from_secs(30),
            token: None,
            allow_origin: None,
            page: String::new(),
        }
    }
}

/// A request that has been answered.
#[derive(Debug, Clone)]
pub struct Access<'a> {
    /// The address of the client.
    pub client: SocketAddr,
    /// The method.
    pub method: &'a str,
    /// The path, without what follows `?`.
    pub path: &'a str,
    /// The status of the reply.
    pub status: u16,
    /// The number of bytes of the body of the reply.
    pub bytes: u64,
    /// The time from the head of the request to the end of the reply.
    pub time: Duration,
}

/// Called with every request that has been answered.
pub type AccessLog = Box<dyn Fn(&Access<'_>) + Send + Sync>;

/// A server that listens and answers nothing yet.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    stop: watch::Receiver<bool>,
    stopper: Stopper,
}

/// The state that all requests share.
struct Shared {
    /// Whether only this machine can connect.
    is_local: bool,
    models: Arc<[ServedModel]>,
    settings: Settings,
    pool: Arc<Pool>,
    metrics: Metrics,
    log: Option<AccessLog>,
}

/// Stops a server.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Lets the server answer what it has accepted, and then end.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens on an address such as `127.0.0.1:9000`; port 0 is any free port. The first model is the default.
    ///
    /// # Errors
    /// When there is no model, two have the same name, or the address cannot be listened on.
    pub fn bind(
        address: &str,
        models: Vec<ServedModel>,
        settings: Settings,
        log: Option<AccessLog>,
    ) -> Result<Self> {
        if models.is_empty() {
            return Err(Error::config("model", "a server needs at least one"));
        }
        for (at, model) in models.iter().enumerate() {
            if models[..at].iter().any(|other| other.name == model.name) {
                let problem = format!("`{}` is the name of two models: rename one", model.name);
                return Err(Error::config("model", problem));
            }
        }
        let failed = |error: std::io::Error| Error::config("listen", format!("{address}: {error}"));
        let unknown = |error: std::io::Error| {
            let problem =
                format!("{address}: {error}: give an address and a port, such as 127.0.0.1:9000");
            Error::config("listen", problem)
        };
        let addresses: Vec<SocketAddr> = address.to_socket_addrs().map_err(unknown)?.collect();
        let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let (sender, stop) = watch::channel(false);
        let shared = Shared {
            is_local: addresses.iter().all(|address| address.ip().is_loopback()),
            models: models.into(),
            pool: Arc::new(Pool::new(settings.max_queue, settings.max_body.saturating_mul(16))),
            metrics: Metrics::default(),
            settings,
            log,
        };
        Ok(Self { listener, shared: Arc::new(shared), stop, stopper: Stopper(sender) })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// When the system does not tell.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(|error| Error::config("listen", error.to_string()))
    }

    /// The handle that stops it, from any thread.
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Answers requests until it is stopped.
    ///
    /// # Errors
    /// When a thread cannot be started.
    pub fn run(self) -> Result<()> {
        let Self { listener, shared, stop, stopper: _stopper } = self;
        let failed = |error: std::io::Error| Error::config("serve", error.to_string());
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let mut threads = Vec::new();
        for number in 0..shared.settings.threads.get() {
            let (pool, models) = (Arc::clone(&shared.pool), Arc::clone(&shared.models));
            let thread = std::thread::Builder::new().name(format!("parser-{number}"));
            match thread.spawn(move || pool.work(&models)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    shared.pool.close();
                    return Err(failed(error));
                }
            }
        }
        let pool = Arc::clone(&shared.pool);
        let done = runtime.block_on(connection::accept(listener, shared, stop));
        pool.close();
        for thread in threads {
            // A thread that failed has said so.
            let _ = thread.join();
        }
        done.map_err(failed)
    }
}
