//! Replies, and refusals in one sentence.

use hyper::StatusCode;
use hyper::body::Bytes;
use serde::Serialize;

use super::body::Content;

pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const JSON: &str = "application/json";
pub(super) const JSON_LINES: &str = "application/x-ndjson";
pub(super) const HTML: &str = "text/html; charset=utf-8";

/// A reply.
pub(super) struct Reply {
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) content: Content,
    /// Other headers.
    pub(super) headers: Vec<(&'static str, String)>,
}

impl Reply {
    pub(super) fn new(kind: &'static str, content: Content) -> Self {
        Self { status: StatusCode::OK, kind, content, headers: Vec::new() }
    }

    pub(super) fn text(kind: &'static str, text: impl Into<Bytes>) -> Self {
        Self::new(kind, Content::Whole(text.into()))
    }

    pub(super) fn json(value: &impl Serialize) -> Self {
        let mut bytes = serde_json::to_vec(value).unwrap_or_default();
        bytes.push(b'\n');
        Self::text(JSON, bytes)
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    pub(super) problem: String,
    header: Option<(&'static str, &'static str)>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, problem: impl Into<String>) -> Self {
        Self { status, problem: problem.into(), header: None }
    }

    /// The request is wrong.
    pub(super) fn bad(problem: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, problem)
    }

    /// There is no room now.
    pub(super) fn busy(problem: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, problem).with("Retry-After", "1")
    }

    /// The server has failed.
    pub(super) fn defect() -> Self {
        let problem =
            "the server failed on this request, which is a defect: other requests are answered";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, problem)
    }

    pub(super) fn with(mut self, name: &'static str, value: &'static str) -> Self {
        self.header = Some((name, value));
        self
    }

    /// The reply, as JSON or as text.
    pub(super) fn reply(self, as_json: bool) -> Reply {
        let mut reply = if as_json {
            Reply::json(&serde_json::json!({ "error": self.problem }))
        } else {
            Reply::text(TEXT, self.problem + "\n")
        };
        reply.status = self.status;
        reply.headers.extend(self.header.map(|(name, value)| (name, value.to_owned())));
        reply
    }
}
