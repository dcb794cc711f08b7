//! A client that sends what a test wants, good or bad.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than any answer takes, so that a test that fails ends.
const TIME_MAX: Duration = Duration::from_secs(20);

/// Both directions of a connection.
pub(crate) trait Stream: Read + Write {}
impl<T: Read + Write> Stream for T {}

/// A connection.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    /// Bytes that were read past the last answer.
    rest: Vec<u8>,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: Vec<u8>,
}

/// A socket whose server is at `address`.
pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIME_MAX)).unwrap();
    stream
}

impl Connection {
    pub(crate) fn new(address: SocketAddr) -> Connection {
        Connection::over(Box::new(connect(address)))
    }

    /// The same over `stream`.
    pub(crate) fn over(stream: Box<dyn Stream>) -> Connection {
        Connection { stream, rest: Vec::new() }
    }

    /// Sends bytes as they are.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Sends a request without a body. `head` has its first line without the version, and headers.
    pub(crate) fn ask(&mut self, head: &str) -> Reply {
        let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
        let headers: String = headers.lines().map(|header| format!("{}\r\n", header.trim())).collect();
        self.send(format!("{line} HTTP/1.1\r\nHost: test\r\n{headers}\r\n").as_bytes());
        self.reply(!line.starts_with("HEAD"))
    }

    /// Sends bytes to a server that may hang up meanwhile.
    pub(crate) fn try_send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes);
    }

    /// Reads an answer, with its body if `has_body`.
    pub(crate) fn reply(&mut self, has_body: bool) -> Reply {
        let reply = self.try_reply(has_body);
        reply.unwrap_or_else(|| panic!("the server hangs up: {:?}", String::from_utf8_lossy(&self.rest)))
    }

    /// The same; none if the server hangs up before it.
    pub(crate) fn try_reply(&mut self, has_body: bool) -> Option<Reply> {
        while !self.rest.windows(4).any(|end| end == b"\r\n\r\n") {
            if self.fill() == 0 {
                return None;
            }
        }
        let end = self.rest.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        let head = String::from_utf8(self.rest.drain(..end).collect()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut reply = Reply { status, head, body: Vec::new() };
        let is_empty = !has_body || matches!(status, 204 | 304);
        if let Some(len) = reply.header("content-length").filter(|_| !is_empty) {
            let len: usize = len.parse().unwrap();
            while self.rest.len() < len && self.fill() > 0 {}
            reply.body = self.rest.drain(..len.min(self.rest.len())).collect();
        } else if reply.header("transfer-encoding").is_some() {
            reply.body = self.chunks();
        }
        Some(reply)
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            while !self.rest.windows(2).any(|end| end == b"\r\n") {
                assert!(self.fill() > 0, "the server hangs up");
            }
            let end = self.rest.windows(2).position(|end| end == b"\r\n").unwrap();
            let line: Vec<u8> = self.rest.drain(..end + 2).collect();
            let len = usize::from_str_radix(std::str::from_utf8(&line).unwrap().trim(), 16).unwrap();
            while self.rest.len() < len + 2 {
                assert!(self.fill() > 0, "the server hangs up");
            }
            body.extend(self.rest.drain(..len));
            self.rest.drain(..2);
            if len == 0 {
                return body;
            }
        }
    }

    /// Reads more; 0 if the server has hung up. A server that is silent for too long has not: the test fails.
    pub(crate) fn fill(&mut self) -> usize {
        let mut bytes = vec![0; 1 << 16];
        let count = self.stream.read(&mut bytes).unwrap_or_else(|error| {
            let is_silent = matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            assert!(!is_silent, "the server is silent after {:?}", String::from_utf8_lossy(&self.rest));
            0
        });
        self.rest.extend(&bytes[..count]);
        count
    }
}

impl Reply {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let named = |line: &'_ str| {
            line.split_once(':').filter(|(found, _)| found.eq_ignore_ascii_case(name)).is_some()
        };
        let line = self.head.lines().find(|line| named(line))?;
        line.split_once(':').map(|(_, value)| value.trim())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}
