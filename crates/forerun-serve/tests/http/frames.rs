//! A client of HTTP/2 that sends the frames that a test wants.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};

use super::client::connect;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

// Kinds of frames (RFC 9113, section 6).
pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const WINDOW_UPDATE: u8 = 8;

/// The flag of an answer to SETTINGS and PING.
const ACK: u8 = 1;
/// The flags of a request without a body, and of one whose head is complete.
pub(crate) const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The setting of the window that streams begin with.
const INITIAL_WINDOW_SIZE: u16 = 4;

/// A connection.
pub(crate) struct Http2(TcpStream);

/// A frame of the server.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) payload: Vec<u8>,
}

/// The bytes of a frame.
pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u32).to_be_bytes();
    [&len[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The frame of a GET of `path`, which is shorter than 127 bytes. Its fields are of the static table of HPACK, or plain
/// text.
pub(crate) fn get(stream: u32, path: &str) -> Vec<u8> {
    let [get, http, path_is, host_is] = [0x82, 0x86, 0x04, 0x01];
    let fields = [&[get, http, path_is, path.len() as u8][..], path.as_bytes(), &[host_is, 4], b"test"];
    frame(HEADERS, END_STREAM | END_HEADERS, stream, &fields.concat())
}

impl Http2 {
    /// Connects, and begins streams with `window` bytes.
    pub(crate) fn new(address: SocketAddr, window: u32) -> Http2 {
        let setting = [&INITIAL_WINDOW_SIZE.to_be_bytes()[..], &window.to_be_bytes()].concat();
        let mut client = Http2(connect(address));
        client.send(&[PREFACE, &frame(SETTINGS, 0, 0, &setting)].concat());
        client
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // The server may have hung up meanwhile, which the next read tells.
        let _ = self.0.write_all(bytes);
    }

    /// The next frame of the server, which is answered if it has to be. None if the server hangs up.
    pub(crate) fn frame(&mut self) -> Option<Frame> {
        let head = self.bytes(9)?;
        let payload = self.bytes(u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize)?;
        let (kind, flags) = (head[3], head[4]);
        if matches!(kind, SETTINGS | PING) && flags & ACK == 0 {
            self.send(&frame(kind, ACK, 0, if kind == PING { &payload } else { &[] }));
        }
        Some(Frame { kind, payload })
    }

    fn bytes(&mut self, len: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; len];
        match self.0.read_exact(&mut bytes) {
            Ok(()) => Some(bytes),
            Err(error) => {
                assert_ne!(error.kind(), ErrorKind::WouldBlock, "the server is silent");
                None
            }
        }
    }
}
