//! From a request to what answers it: paths and methods, who may ask, and the headers of all replies.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hyper::body::Incoming;
use hyper::header::{
    AUTHORIZATION, CONTENT_ENCODING, HOST, HeaderName, HeaderValue, ORIGIN, TRANSFER_ENCODING,
};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode};

use super::body::ReplyBody;
use super::metrics::Answered;
use super::reply::{HTML, JSON, Refusal, Reply, TEXT};
use super::{Shared, corenlp, find, own};

/// The paths, and the methods that each of them knows.
const ROUTES: [(&str, &str); 13] = [
    ("/", "GET, HEAD, POST"),
    ("/find", "POST"),
    ("/live", "GET, HEAD"),
    ("/metrics", "GET, HEAD"),
    ("/models", "GET, HEAD"),
    ("/openapi.json", "GET, HEAD"),
    ("/parse", "POST"),
    ("/ping", "GET, HEAD"),
    ("/ready", "GET, HEAD"),
    ("/scenegraph", "GET, HEAD, POST"),
    ("/semgrex", "GET, HEAD, POST"),
    ("/tokensregex", "GET, HEAD, POST"),
    ("/tregex", "GET, HEAD, POST"),
];

/// The routes without a token: the page, which asks for it, and whether the server is there.
const OPEN: [&str; 4] = ["/", "/live", "/ping", "/ready"];

/// Whose clients expect refusals as text.
const CORENLP: [&str; 5] = ["/", "/scenegraph", "/semgrex", "/tokensregex", "/tregex"];

/// Answers a request.
pub(super) async fn answer(
    shared: Arc<Shared>,
    client: SocketAddr,
    request: Request<Incoming>,
) -> Response<ReplyBody> {
    let start = Instant::now();
    let (head, body) = request.into_parts();
    let path = head.uri.path();
    let route = ROUTES.iter().map(|(route, _)| *route).find(|&route| route == path);
    let as_json = !CORENLP.contains(&path);
    let reply = match may_ask(&shared, &head) {
        Ok(()) => dispatch(&shared, &head, body).await,
        Err(refusal) => Err(refusal),
    };
    let reply = reply.unwrap_or_else(|refusal| refusal.reply(as_json));
    let answered = Answered {
        method: head.method.to_string(),
        path: path.to_owned(),
        route: route.unwrap_or("other"),
        is_post: head.method == Method::POST,
        status: reply.status.as_u16(),
        bytes: 0,
        client,
        start,
        shared: Arc::clone(&shared),
    };
    respond(&shared, &head, reply, answered)
}

async fn dispatch(shared: &Arc<Shared>, head: &Parts, body: Incoming) -> Result<Reply, Refusal> {
    let path = head.uri.path();
    let Some((_, methods)) = ROUTES.iter().find(|(route, _)| *route == path) else {
        let known = ROUTES.map(|(route, _)| route).join(" ");
        let problem = format!("nothing is here: the paths of this server are {known}");
        return Err(Refusal::new(StatusCode::NOT_FOUND, problem));
    };
    if head.method == Method::OPTIONS {
        let mut reply = Reply::text(TEXT, "").with("Allow", format!("{methods}, OPTIONS"));
        reply.status = StatusCode::NO_CONTENT;
        return Ok(reply);
    }
    if !methods.split(", ").any(|method| method == head.method.as_str()) {
        let problem = format!("the method {} is not for {path}: use {methods}", head.method);
        return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, problem).with("Allow", methods));
    }
    if let Some(name) = encoding(head).filter(|_| head.method == Method::POST) {
        let problem = format!(
            "bodies in {} are not read: send them without encoding",
            String::from_utf8_lossy(name.as_bytes())
        );
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    match (path, head.method == Method::POST) {
        ("/", true) => corenlp::annotate(shared, head, body).await,
        ("/parse", _) => own::parse(shared, head, body).await,
        ("/find", _) => find::find(shared, head, body).await,
        ("/tregex", _) => corenlp::tregex(shared, head, body).await,
        ("/", _) if shared.settings.page.is_empty() => {
            Ok(Reply::text(TEXT, "srparse: POST a text here, or to /parse\n"))
        }
        ("/", _) => Ok(Reply::text(HTML, shared.settings.page.clone())),
        ("/models", _) => Ok(own::models(shared)),
        ("/metrics", _) => {
            Ok(Reply::text("text/plain; version=0.0.4; charset=utf-8", shared.metrics.text(shared)))
        }
        ("/openapi.json", _) => Ok(Reply::text(JSON, own::openapi())),
        ("/ping", _) => Ok(Reply::text(TEXT, "pong\n")),
        ("/live", _) => Ok(Reply::text(TEXT, "live\n")),
        ("/ready", _) => Ok(Reply::text(TEXT, "ready\n")),
        _ => {
            let problem = format!("patterns ({path}) are not searched here");
            Err(Refusal::new(StatusCode::NOT_IMPLEMENTED, problem))
        }
    }
}

/// The encoding of a body, if it has any besides that it comes in pieces.
fn encoding(head: &Parts) -> Option<&HeaderValue> {
    let is_plain = |value: &HeaderValue| {
        let names = String::from_utf8_lossy(value.as_bytes()).to_ascii_lowercase();
        names.split(',').all(|name| matches!(name.trim(), "" | "chunked" | "identity"))
    };
    let mut transfers = head.headers.get_all(TRANSFER_ENCODING).iter();
    let content = head.headers.get(CONTENT_ENCODING).filter(|name| *name != "identity");
    content.or_else(|| transfers.find(|value| !is_plain(value)))
}

/// Whether the client may ask: it knows the token, and is no page of another origin.
fn may_ask(shared: &Shared, head: &Parts) -> Result<(), Refusal> {
    if let Some(origin) = head.headers.get(ORIGIN)
        && !is_allowed(shared, head, origin)
    {
        let problem =
            "pages of other origins are not answered: start the server with --allow-origin";
        return Err(Refusal::new(StatusCode::FORBIDDEN, problem));
    }
    let is_open = head.method != Method::POST && OPEN.contains(&head.uri.path());
    let Some(token) = &shared.settings.token else { return Ok(()) };
    if is_open || head.method == Method::OPTIONS || has_token(head, token) {
        return Ok(());
    }
    let problem = "the token is missing or wrong: send the header `Authorization: Bearer TOKEN`";
    Err(Refusal::new(StatusCode::UNAUTHORIZED, problem).with("WWW-Authenticate", "Bearer"))
}

/// Whether a page of this origin may use the server.
fn is_allowed(shared: &Shared, head: &Parts, origin: &HeaderValue) -> bool {
    let allowed = shared.settings.allow_origin.as_deref();
    let host = head.headers.get(HOST).map(HeaderValue::as_bytes).unwrap_or_default();
    let origin = origin.as_bytes();
    let own = [&b"http://"[..], b"https://"].iter().find_map(|scheme| origin.strip_prefix(*scheme));
    // On this machine alone the server has only the names of this machine: a page whose host name is made to lead here is
    // not its own.
    own.is_some_and(|own| own == host && (!shared.is_local || is_this_machine(host)))
        || allowed.is_some_and(|allowed| allowed == "*" || allowed.as_bytes() == origin)
}

/// Whether a host, perhaps with a port, is a name or an address of this machine.
fn is_this_machine(host: &[u8]) -> bool {
    let host = String::from_utf8_lossy(host);
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => &host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Whether a request has the token, as a bearer token or as the password of any user.
fn has_token(head: &Parts, token: &str) -> bool {
    let Some(given) = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()) else {
        return false;
    };
    let (scheme, given) = given.split_once(' ').unwrap_or(("", given));
    if scheme.eq_ignore_ascii_case("bearer") {
        return is_same(given.trim().as_bytes(), token.as_bytes());
    }
    let password = BASE64_STANDARD.decode(given.trim()).unwrap_or_default();
    let password = password.splitn(2, |&byte| byte == b':').nth(1).unwrap_or_default();
    scheme.eq_ignore_ascii_case("basic") && is_same(password, token.as_bytes())
}

/// Compares in a time that does not depend on where the first difference is.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// The response of a reply, with the headers of all replies.
fn respond(shared: &Shared, head: &Parts, reply: Reply, answered: Answered) -> Response<ReplyBody> {
    let (status, kind) = (reply.status, reply.kind);
    let mut named = reply.headers.clone();
    named.push(("X-Content-Type-Options", "nosniff".to_owned()));
    if shared.settings.allow_origin.is_some()
        && let Some(origin) = head.headers.get(ORIGIN)
        && is_allowed(shared, head, origin)
    {
        let origin = origin.to_str().unwrap_or_default().to_owned();
        named.push(("Access-Control-Allow-Origin", origin));
        named.push(("Access-Control-Allow-Headers", "Authorization, Content-Type".to_owned()));
        named.push(("Access-Control-Allow-Methods", "GET, POST, OPTIONS".to_owned()));
        named.push(("Vary", "Origin".to_owned()));
    }
    let mut response = Response::new(ReplyBody::new(reply, answered));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if status != StatusCode::NO_CONTENT {
        headers.insert("content-type", HeaderValue::from_static(kind));
    }
    for (name, value) in named {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_str(&value)) {
            headers.insert(name, value);
        }
    }
    response
}
