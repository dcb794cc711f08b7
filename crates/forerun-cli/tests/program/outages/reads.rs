//! Reads that end in the right bytes or in an error that is clear.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::ops::Range;
use std::time::Duration;

use nfs3_types::nfs3::{nfs_fh3, nfsstat3};

use super::super::nfs_client::Client;

/// Longer than any answer may take, so that a server that hangs fails the test.
const HANG: Duration = Duration::from_secs(60);

/// The end of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Right,
    /// An error instead of an answer.
    Refused,
    /// The connection was closed before the last byte. All bytes before were right.
    Cut,
}

/// A client.
pub(super) enum Reader {
    Http { address: String, path: &'static str },
    Nfs { client: Box<Client>, file: nfs_fh3 },
}

/// An answer over HTTP whose head has come.
pub(super) struct Answer {
    stream: TcpStream,
    pub(super) status: u16,
    pub(super) len: usize,
    /// Its bytes so far.
    pub(super) body: Vec<u8>,
    is_closed: bool,
}

impl Reader {
    pub(super) fn nfs(address: &str, path: &str) -> Reader {
        let mut client = Box::new(Client::new(address.parse().unwrap()));
        client.socket.set_read_timeout(Some(HANG)).unwrap();
        let file = client.open(path);
        Reader::Nfs { client, file }
    }

    /// Reads the `part` of an object that is `bytes`.
    pub(super) fn read(&mut self, bytes: &[u8], part: Range<usize>) -> Ended {
        match self {
            Reader::Http { address, path } => {
                let range = format!("Range: bytes={}-{}\r\n", part.start, part.end - 1);
                let mut answer = Answer::begin(address, path, &range);
                answer.take(usize::MAX);
                answer.ended(&bytes[part])
            }
            Reader::Nfs { client, file } => match client.read(file, part.start as u64, part.len() as u32) {
                Ok(read) => {
                    assert!(read == bytes[part], "wrong bytes over NFS");
                    Ended::Right
                }
                Err(nfsstat3::NFS3ERR_IO) => Ended::Refused,
                Err(status) => panic!("no error for a storage that fails: {status}"),
            },
        }
    }
}

impl Answer {
    /// Sends a GET, and waits for the head of its answer.
    pub(super) fn begin(address: &str, path: &str, headers: &str) -> Answer {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n")
            .unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let len = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
        Answer { stream, status, len, body: Vec::new(), is_closed: false }
    }

    /// Takes up to `count` more bytes.
    pub(super) fn take(&mut self, count: usize) {
        let wanted = self.body.len().saturating_add(count).min(self.len);
        let mut buffer = vec![0; 64 << 10];
        while self.body.len() < wanted {
            let most = buffer.len().min(wanted - self.body.len());
            match self.stream.read(&mut buffer[..most]) {
                Ok(0) => self.is_closed = true,
                Ok(len) => self.body.extend_from_slice(&buffer[..len]),
                Err(error) if error.kind() == ErrorKind::ConnectionReset => self.is_closed = true,
                Err(error) => panic!("an answer neither comes nor ends: {error}"),
            }
            if self.is_closed {
                return;
            }
        }
    }

    /// Its end, if `bytes` were asked for.
    pub(super) fn ended(&self, bytes: &[u8]) -> Ended {
        match self.status {
            200 | 206 => {
                assert_eq!(self.len, bytes.len(), "an answer of another length");
                assert!(bytes.starts_with(&self.body), "wrong bytes over HTTP");
                if self.body.len() == bytes.len() { Ended::Right } else { Ended::Cut }
            }
            502 | 503 => Ended::Refused,
            status => panic!("no status for a storage that fails: {status}"),
        }
    }
}
