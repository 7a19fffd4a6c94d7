//! Any request: the server replies to what is HTTP, never with an error of its own, and goes on.
//!
//! An input is the method and the target on one line, the media type on the next, and the body; with one line, it is sent
//! as it is.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::time::Duration;

use srparse::serve::{ServedModel, Server, Settings};
use srparse::tree::heads::HeadRules;
use srparse::{Model, Parser};

use super::tiny;

/// A server of one tiny model.
static SERVER: LazyLock<SocketAddr> = LazyLock::new(|| {
    let model = Model::from_bytes(tiny::model(0), "tiny").expect("its own bytes");
    let parser = Parser::new(&model, &[]).expect("a parser");
    let heads = HeadRules::named("collins-modified").expect("built-in rules");
    let (name, about) = ("tiny".to_owned(), serde_json::Value::Null);
    let served = ServedModel { name, parser, heads, about };
    let (max_words, max_nbest, max_body) = (40, 5, 1 << 16);
    let timeout = Duration::from_secs(10);
    let settings = Settings { max_words, max_nbest, max_body, timeout, ..Settings::default() };
    let server = Server::bind("127.0.0.1:0", vec![served], settings, None).expect("a free port");
    let address = server.address().expect("an address");
    std::thread::spawn(move || server.run().expect("it runs"));
    address
});

/// Splits a line off.
fn line(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = bytes.iter().position(|&byte| byte == b'\n')?;
    Some((&bytes[..end], &bytes[end + 1..]))
}

/// Sends bytes and reads until the server closes the connection; `ends` if nothing else would make it.
fn reply(request: &[u8], ends: bool) -> Vec<u8> {
    let mut stream = TcpStream::connect(*SERVER).expect("the server listens");
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("not zero");
    let mut reply = Vec::new();
    // The server may close the connection in the middle of what it refuses.
    let _ = stream.write_all(request);
    if ends {
        let _ = stream.shutdown(Shutdown::Write);
    }
    let _ = stream.read_to_end(&mut reply);
    reply
}

fn is_no_error_of_its_own(reply: &[u8]) {
    assert!(!reply.starts_with(b"HTTP/1.1 500"), "{}", String::from_utf8_lossy(reply));
}

pub fn check(bytes: &[u8]) {
    let parts =
        line(bytes).and_then(|(target, rest)| line(rest).map(|(kind, body)| (target, kind, body)));
    let Some((target, kind, body)) = parts else {
        is_no_error_of_its_own(&reply(bytes, true));
        return;
    };
    let length = body.len().to_string();
    let request = [
        target,
        b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: ",
        kind,
        b"\r\nContent-Length: ",
        length.as_bytes(),
        b"\r\n\r\n",
        body,
    ];
    let reply = reply(&request.concat(), false);
    // A refusal may be lost when the server closes before it has read all.
    assert!(reply.is_empty() || reply.starts_with(b"HTTP/1.1 "));
    is_no_error_of_its_own(&reply);
}
