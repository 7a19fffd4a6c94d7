//! Connections: how many, for how long, and how they end.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};

use super::timed_io::TimedIo;
use super::{Shared, route};

/// The largest head of a request, in bytes: settings of CoreNLP's clients are in it.
const MAX_HEAD: usize = 64 << 10;
/// The reply to a connection too many.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Type: text/plain; charset=utf-8\r\n\
Content-Length: 47\r\nConnection: close\r\n\r\ntoo many connections are open: try again later\n";

/// Accepts connections until the server is stopped; then waits for those that are open.
pub(super) async fn accept(
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
    stop: watch::Receiver<bool>,
) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    // Every connection has a sender, and the last one that is dropped ends the server.
    let (open, mut all_closed) = mpsc::channel::<()>(1);
    {
        let mut stopping = stop.clone();
        let mut stopped = pin!(stopping.wait_for(|&is_stopped| is_stopped));
        let mut next = |context: &mut Context<'_>| match stopped.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(None),
            Poll::Pending => listener.poll_accept(context).map(Some),
        };
        while let Some(accepted) = poll_fn(&mut next).await {
            match accepted {
                Ok((stream, client)) if open.strong_count() <= shared.settings.max_connections => {
                    let connection = serve(stream, client, Arc::clone(&shared), stop.clone());
                    let open = open.clone();
                    tokio::spawn(async move {
                        connection.await;
                        drop(open);
                    });
                }
                Ok((stream, _)) => {
                    shared.metrics.refused_connection();
                    refuse(stream);
                }
                // Such as too many open files: connections that end make room.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }
    drop((listener, open));
    let _ = all_closed.recv().await;
    Ok(())
}

/// Refuses a connection without waiting; whoever does not get the reply is refused as well.
fn refuse(stream: TcpStream) {
    let _ = stream.into_std().and_then(|mut stream| stream.write(TOO_MANY));
}

/// Answers the requests of a connection.
async fn serve(
    stream: TcpStream,
    client: SocketAddr,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    // Replies are written whole: nothing is gained by waiting for more.
    let _ = stream.set_nodelay(true);
    let limit = shared.settings.timeout;
    let answer = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { Ok::<_, Infallible>(route::answer(shared, client, request).await) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limit).max_buf_size(MAX_HEAD);
    // `nc -N` and scripts like it close their side once the request is written, and wait for the reply.
    http.half_close(true);
    let mut connection = pin!(http.serve_connection(TimedIo::new(stream, limit), answer));
    let mut stopped = pin!(stop.wait_for(|&is_stopped| is_stopped));
    let mut is_stopping = false;
    let done = poll_fn(|context| {
        // What has arrived is read before the server stops.
        let polled = connection.as_mut().poll(context);
        if polled.is_pending() && !is_stopping && stopped.as_mut().poll(context).is_ready() {
            is_stopping = true;
            connection.as_mut().graceful_shutdown();
            return connection.as_mut().poll(context);
        }
        polled
    });
    // A client that breaks off is nothing to report.
    let _ = done.await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_has_the_length_that_it_says() {
        let text = std::str::from_utf8(TOO_MANY).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
    }
}
