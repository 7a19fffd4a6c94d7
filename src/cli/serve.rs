//! `srparse serve`: parsers over HTTP.

use std::env;
use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{ExitCode, exit};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, ensure};
use serde_json::json;

use super::interrupts::{INTERRUPTED, on_signal};
use super::options::{Verbosity, from_one, threads};
use super::page;
use super::sentences::model_heads;
use crate::error::counted;
use crate::find::HEADS;
use crate::model::{Model, embedded};
use crate::parser::Parser;
use crate::serve::{Access, AccessLog, ServedModel, Server, Settings};
use crate::tree::heads::HeadRules;

/// Parse over HTTP, for programs in any language.
///
/// POST /parse takes raw text, JSON or lines of JSON, and replies with what `parse --output json` writes. POST / is the
/// protocol of CoreNLP's server, so that its clients can use this one. Everything else is described by GET /openapi.json.
///
/// Only this machine can connect, unless --listen says otherwise. SIGTERM and Ctrl-C stop the server once
/// accepted requests are answered; a second signal stops it at once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  srparse serve
  srparse serve --model fast=english-fast --model mine=my.srm -j 4
  curl --data-binary 'Dogs bark.' localhost:9000/parse
  SRPARSE_TOKEN=secret srparse serve --listen 0.0.0.0:9000")]
pub struct ServeArgs {
    /// Address and port to listen on; port 0 is any free port, which is printed.
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:9000")]
    listen: String,
    /// Model file, or the name of an embedded or installed model, and the name that requests give to it; may be
    /// repeated. The first is the default. Without a name, it is that of the file.
    #[arg(long, value_name = "[NAME=]FILE", default_value = embedded::DEFAULT)]
    model: Vec<String>,
    /// Number of threads that parse; 0 uses all cores.
    #[arg(short = 'j', long, value_name = "N", default_value_t = 0)]
    threads: usize,
    #[command(flatten)]
    verbosity: Verbosity,
    /// Answer only requests with the header `Authorization: Bearer TOKEN`. The environment variable SRPARSE_TOKEN does
    /// the same, and does not appear in process listings.
    #[arg(long, help_heading = ACCESS)]
    token: Option<String>,
    /// Answer pages of another origin as well: its scheme, host and port; * for all.
    #[arg(long, value_name = "ORIGIN", value_parser = origin, help_heading = ACCESS)]
    allow_origin: Option<String>,
    /// Largest body of a request, in bytes, or with K or M.
    #[arg(long, value_name = "SIZE", default_value = "8M", value_parser = size, help_heading = LIMITS)]
    max_body: usize,
    /// Largest number of open connections.
    #[arg(long, value_name = "N", default_value = "512", value_parser = from_one, help_heading = LIMITS)]
    max_connections: NonZeroUsize,
    /// Largest number of requests that wait or are parsed; others get status 503 and Retry-After.
    #[arg(long, value_name = "N", default_value = "256", help_heading = LIMITS)]
    max_queue: usize,
    /// Longest sentence that is parsed, in words.
    #[arg(long, value_name = "N", default_value = "2000", value_parser = from_one, help_heading = LIMITS)]
    max_words: NonZeroUsize,
    /// Largest number of trees for a sentence.
    #[arg(long, value_name = "N", default_value = "100", value_parser = from_one, help_heading = LIMITS)]
    max_nbest: NonZeroUsize,
    /// Seconds that a client may take to send a request or to read more of a reply, or be idle.
    #[arg(long, value_name = "SECONDS", default_value = "30", value_parser = clap::value_parser!(u64).range(1..=86_400),
          help_heading = LIMITS)]
    timeout: u64,
}

const ACCESS: &str = "Access options";
const LIMITS: &str = "Limits";

/// The environment variable with the token.
const TOKEN: &str = "SRPARSE_TOKEN";

/// Reads a number of bytes.
fn size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1 << 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1 << 20),
        _ => (text, 1),
    };
    let bytes = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    // A reply in memory is larger than the text.
    let bytes = bytes.filter(|&bytes| 0 < bytes && bytes <= 1 << 30);
    bytes.ok_or_else(|| "write a number of bytes up to 1024M, such as 500K or 8M".to_owned())
}

/// Reads an origin as browsers send it.
fn origin(text: &str) -> Result<String, String> {
    let host = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://"));
    let is_host = |host: &str| !host.is_empty() && !host.contains(['/', ' ', '@']);
    // `null` is the origin of a page in a file.
    if ["*", "null"].contains(&text) || host.is_some_and(is_host) {
        return Ok(text.to_owned());
    }
    Err("write a scheme and a host without a path, such as https://example.org, or *".to_owned())
}

/// Runs the command.
///
/// # Errors
/// When a model cannot be loaded, or the address cannot be listened on.
pub fn run(args: &ServeArgs) -> anyhow::Result<ExitCode> {
    let quiet = args.verbosity.quiet;
    let token = token(args)?;
    let models = args.model.iter().map(|model| load(model)).collect::<anyhow::Result<Vec<_>>>()?;
    let n_threads = threads(args.threads, quiet);
    let settings = Settings {
        threads: NonZeroUsize::new(n_threads).unwrap_or(NonZeroUsize::MIN),
        max_body: args.max_body,
        max_connections: args.max_connections.get(),
        max_queue: args.max_queue,
        max_words: args.max_words.get(),
        max_nbest: args.max_nbest.get(),
        timeout: Duration::from_secs(args.timeout),
        token,
        allow_origin: args.allow_origin.clone(),
        page: page::serve::page(models.iter().map(|model| &*model.name)),
    };
    let is_secret = settings.token.is_some();
    let names = models.iter().map(|model| &*model.name).collect::<Vec<_>>().join(", ");
    let log: Option<AccessLog> = (!quiet).then(|| Box::new(log) as AccessLog);
    let server = Server::bind(&args.listen, models, settings, log)?;
    let address = server.address()?;
    if !quiet {
        print_address(address, &names, n_threads, is_secret);
    }
    let (stopper, stopping) = (server.stopper(), AtomicBool::new(false));
    on_signal(move || {
        if stopping.swap(true, Ordering::Relaxed) {
            exit(INTERRUPTED.into());
        }
        stopper.stop();
    });
    server.run()?;
    Ok(ExitCode::SUCCESS)
}

/// The token of the option or of the environment.
fn token(args: &ServeArgs) -> anyhow::Result<Option<String>> {
    let lossy = |token: OsString| token.to_string_lossy().into_owned();
    let token = args.token.clone().or_else(|| env::var_os(TOKEN).map(lossy));
    let is_header =
        |token: &String| !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
    ensure!(
        token.as_ref().is_none_or(is_header),
        "--token and {TOKEN}: a token is of one or more ASCII characters without spaces"
    );
    Ok(token)
}

/// Loads a model and its tagger.
fn load(argument: &str) -> anyhow::Result<ServedModel> {
    let (name, file) = match argument.split_once('=') {
        Some((name, file)) => (name.to_owned(), file),
        None => {
            let stem = Path::new(argument).file_stem().map(OsStr::to_string_lossy);
            (stem.unwrap_or_default().into_owned(), argument)
        }
    };
    ensure!(
        !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control()),
        "--model {argument}: the name of a model has one or more characters and no white space"
    );
    let model = Model::open(file)?;
    let context = || format!("--model {argument}");
    let parser = Parser::new(&model, &[]).with_context(context)?;
    if parser.has_tagger() {
        parser.load_tagger().with_context(context)?;
    }
    let about = json!({ "version": model.header.tool_version, "search": parser.preset().search });
    let heads = model_heads(&model)?.map_or_else(|| HeadRules::named(HEADS), Ok)?;
    Ok(ServedModel { name, parser, heads, about })
}

/// Prints where the server listens, and what is not safe about it.
fn print_address(address: SocketAddr, models: &str, threads: usize, is_secret: bool) {
    let threads = counted(threads as u64, "thread");
    say!("listening on http://{address} (models: {models}; {threads})");
    if !address.ip().is_loopback() {
        let advice = if is_secret {
            "without encryption: put a proxy with TLS in front of it"
        } else {
            "without a token and without encryption: add --token, and put a proxy with TLS in front of it"
        };
        say!("warning: other machines can connect, {advice}");
    }
}

/// Writes a line of the access log: no text and no query, which may be private.
fn log(access: &Access<'_>) {
    let Access { client, method, path, status, bytes, time } = access;
    let path = path.escape_debug();
    let milliseconds = time.as_secs_f64() * 1e3;
    say!("{client} \"{method} {path}\" {status} {bytes} bytes {milliseconds:.1} ms");
}
