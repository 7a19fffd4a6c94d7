//! The bodies of requests and of replies.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::StatusCode;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use tokio::time::timeout;

use super::Shared;
use super::metrics::Answered;
use super::pool::Share;
use super::reply::{Refusal, Reply};
use super::task::{Answer, Failure};

/// A client may read no reply before it has sent its whole body: one that is too large is read and discarded, up to this
/// multiple of the limit.
const DRAINED: usize = 128;

/// The body of a request, and what it takes of the budget of all bodies.
///
/// # Errors
/// When it is too large or too slow, breaks off, or there is no room.
pub(super) async fn read(shared: &Shared, body: Incoming) -> Result<(Vec<u8>, Share), Refusal> {
    let limit = shared.settings.timeout;
    let late = format!("the body has not arrived within {} s", limit.as_secs());
    timeout(limit, read_all(shared, body))
        .await
        .unwrap_or(Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, late)))
}

async fn read_all(shared: &Shared, mut body: Incoming) -> Result<(Vec<u8>, Share), Refusal> {
    let most = shared.settings.max_body;
    let too_large = || {
        let problem =
            format!("the body has more than {most} bytes, which is the limit here: split it");
        Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, problem)
    };
    let drained = most.saturating_mul(DRAINED);
    if body.size_hint().lower() > drained as u64 {
        return Err(too_large());
    }
    let (mut bytes, mut share, mut size) = (Vec::new(), shared.pool.body(), 0);
    while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
        let broken =
            |error: hyper::Error| Refusal::bad(format!("the body cannot be read: {error}"));
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        size += data.len();
        if size > drained {
            break;
        }
        if size > most {
            bytes = Vec::new();
            continue;
        }
        if !share.add(data.len()) {
            return Err(Refusal::busy("too much text is being parsed: try again later"));
        }
        bytes.extend_from_slice(&data);
    }
    if size > most { Err(too_large()) } else { Ok((bytes, share)) }
}

/// The text of a body.
///
/// # Errors
/// When it is not UTF-8.
pub(super) fn text(body: Vec<u8>) -> Result<String, Refusal> {
    String::from_utf8(body).map_err(|error| {
        let at = error.utf8_error().valid_up_to() + 1;
        Refusal::bad(format!("the text is not UTF-8 at byte {at}"))
    })
}

/// The content of a reply.
pub(super) enum Content {
    Whole(Bytes),
    Parts { first: Bytes, rest: Box<Answer> },
}

impl Content {
    /// The content of an answer, whole if the first part is all.
    ///
    /// # Errors
    /// When the first part cannot be computed.
    pub(super) async fn of(
        mut answer: Answer,
        prefix: &'static [u8],
        suffix: &'static [u8],
    ) -> Result<Self, Refusal> {
        let first = poll_fn(|context| answer.poll_part(context)).await.transpose();
        let first = first.map_err(Failure::refusal)?;
        let mut bytes = prefix.to_vec();
        bytes.extend_from_slice(&first.unwrap_or_default());
        if answer.is_done() {
            bytes.extend_from_slice(suffix);
            return Ok(Self::Whole(bytes.into()));
        }
        Ok(Self::Parts { first: bytes.into(), rest: Box::new(answer.followed_by(suffix)) })
    }
}

/// The body of a reply. When it is dropped, all of it has been sent, or the client has gone.
pub(super) struct ReplyBody {
    content: Content,
    answered: Answered,
}

impl ReplyBody {
    pub(super) fn new(reply: Reply, answered: Answered) -> Self {
        Self { content: reply.content, answered }
    }
}

impl Body for ReplyBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let this = &mut *self;
        let part = match &mut this.content {
            Content::Whole(bytes) | Content::Parts { first: bytes, .. } if !bytes.is_empty() => {
                Poll::Ready(Some(Ok(std::mem::take(bytes))))
            }
            Content::Whole(_) => Poll::Ready(None),
            Content::Parts { rest, .. } => rest.poll_part(context),
        };
        if let Poll::Ready(Some(Ok(bytes))) = &part {
            this.answered.bytes += bytes.len() as u64;
        }
        // The status has been sent: breaking off is all that tells the client of an error.
        part.map(|part| {
            part.map(|part| {
                part.map(Frame::data).map_err(|failure| io::Error::other(failure.refusal().problem))
            })
        })
    }

    fn is_end_stream(&self) -> bool {
        match &self.content {
            Content::Whole(bytes) => bytes.is_empty(),
            Content::Parts { first, rest } => first.is_empty() && rest.is_done(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.content {
            Content::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Content::Parts { .. } => SizeHint::default(),
        }
    }
}
