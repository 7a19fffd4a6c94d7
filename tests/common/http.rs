//! A server at work, and a client that sends exactly what it is told.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use super::command::interruptible;

/// A server at work; it ends with this.
pub struct Running {
    pub child: Child,
    pub log: BufReader<ChildStderr>,
    pub address: String,
}

impl Running {
    pub fn start(arguments: &[&str]) -> Self {
        let mut child = interruptible()
            .args(["serve", "--listen", "127.0.0.1:0", "--model", "english-fast", "-j", "2"])
            .args(arguments)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).unwrap_or_else(|| panic!("{line}"));
        let address = address.split(' ').next().unwrap().to_owned();
        Self { child, log, address }
    }

    pub fn connect(&self) -> Connection {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        Connection { reader: BufReader::new(stream.try_clone().unwrap()), stream }
    }

    pub fn ask(&self, request: &str) -> Reply {
        self.connect().ask(request)
    }

    /// Posts a text to `/parse`.
    pub fn parse(&self, text: &str) -> Reply {
        self.ask(&post("/parse", "", text))
    }

    pub fn signal(&self) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    /// Waits for the end; returns the exit status and the rest of the log.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let mut log = String::new();
        self.log.read_to_string(&mut log).unwrap();
        (self.child.wait().unwrap().code(), log)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub struct Connection {
    pub reader: BufReader<TcpStream>,
    pub stream: TcpStream,
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl Connection {
    /// Sends a request, and what is still to be sent if the server has answered already.
    pub fn send(&mut self, request: &str) {
        let _ = self.stream.write_all(request.as_bytes());
    }

    pub fn ask(&mut self, request: &str) -> Reply {
        self.send(request);
        self.head().unwrap().whole(self)
    }

    pub fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).unwrap_or(0);
        (read > 0).then(|| line.trim_end().to_owned())
    }

    /// Reads the head of a reply, if there is one.
    pub fn head(&mut self) -> Option<Reply> {
        let first = self.line()?;
        let status = first.split(' ').nth(1).unwrap().parse().unwrap();
        let mut headers = BTreeMap::new();
        while let Some(line) = self.line().filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap();
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        Some(Reply { status, headers, body: String::new() })
    }

    /// Reads the next part of a reply in parts; `None` at its end.
    pub fn part(&mut self) -> Option<Vec<u8>> {
        let length = usize::from_str_radix(&self.line().unwrap(), 16).unwrap();
        let mut bytes = vec![0; length + 2];
        self.reader.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes.split_off(length), b"\r\n");
        (length > 0).then_some(bytes)
    }

    /// Whether the server has closed the connection; waits until it does, or sends something.
    pub fn is_closed(&mut self) -> bool {
        self.reader.fill_buf().map_or(true, <[u8]>::is_empty)
    }
}

impl Reply {
    pub fn whole(mut self, connection: &mut Connection) -> Self {
        let mut bytes = Vec::new();
        if let Some(length) = self.headers.get("content-length") {
            bytes = vec![0; length.parse().unwrap()];
            connection.reader.read_exact(&mut bytes).unwrap();
        } else if self.headers.contains_key("transfer-encoding") {
            while let Some(part) = connection.part() {
                bytes.extend(part);
            }
        }
        self.body = String::from_utf8(bytes).unwrap();
        self
    }
}

/// A request with a body.
pub fn post(path: &str, headers: &str, body: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: x\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n")
}
