//! A small client of the NBD protocol, which also sends what no client should.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use super::numbers::{ACK, GO, OPTION_MAGIC, READ, REQUEST_MAGIC, STRUCTURED_REPLY};

/// How long a server may take that should take no time. A handshake may take longer, so that no client passes for one
/// that was cut off at once.
const DEADLINE: Duration = Duration::from_secs(30);

/// A socket of either kind.
pub(crate) trait Socket: Read + Write {}

impl<T: Read + Write> Socket for T {}

/// One message of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Simple { error: u32, cookie: u64 },
    Chunk { is_done: bool, kind: u16, cookie: u64, payload: Vec<u8> },
}

/// A connection.
pub(crate) struct Client {
    pub(crate) socket: Box<dyn Socket>,
    is_structured: bool,
    next_cookie: u64,
}

impl Client {
    /// Connects to the socket at `path`, and agrees on the fixed handshake without zeros.
    pub(crate) fn unix(path: &Path) -> Client {
        Client::greeted(Box::new(connect(path)), 3)
    }

    /// The same over TCP.
    #[allow(dead_code, reason = "each test program uses its part")]
    pub(crate) fn tcp(address: &str) -> Client {
        let socket = TcpStream::connect(address).expect("the server listens");
        socket.set_read_timeout(Some(DEADLINE)).unwrap();
        Client::greeted(Box::new(socket), 3)
    }

    /// Takes the greeting, and answers with `flags`.
    pub(crate) fn greeted(socket: Box<dyn Socket>, flags: u32) -> Client {
        let mut client = Client { socket, is_structured: false, next_cookie: 1 };
        assert_eq!(client.bytes(16), *b"NBDMAGICIHAVEOPT");
        assert_eq!(client.u16(), 3, "fixed newstyle, no zeroes");
        client.send(&flags.to_be_bytes());
        client
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    pub(crate) fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.socket.read_exact(&mut bytes).expect("the server answers");
        bytes
    }

    fn array<const N: usize>(&mut self) -> [u8; N] {
        self.bytes(N).try_into().unwrap()
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_be_bytes(self.array())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_be_bytes(self.array())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_be_bytes(self.array())
    }

    /// Whether the server has hung up, and said nothing before.
    pub(crate) fn is_hung_up(&mut self) -> bool {
        // A socket with bytes that nobody has read resets the connection.
        self.socket
            .read(&mut [0])
            .map_or_else(|error| error.kind() == std::io::ErrorKind::ConnectionReset, |len| len == 0)
    }

    pub(crate) fn send_option(&mut self, option: u32, data: &[u8]) {
        let head =
            [&OPTION_MAGIC.to_be_bytes()[..], &option.to_be_bytes(), &(data.len() as u32).to_be_bytes()];
        self.send(&[&head.concat(), data].concat());
    }

    /// The next answer to `option`: its kind, and what it says.
    pub(crate) fn answer(&mut self, option: u32) -> (u32, Vec<u8>) {
        assert_eq!(self.u64(), 0x0003_e889_0455_65a9);
        assert_eq!(self.u32(), option);
        let (kind, len) = (self.u32(), self.u32());
        (kind, self.bytes(len as usize))
    }

    /// Sends an option; all answers up to the last one, whose kind is apart.
    pub(crate) fn option(&mut self, option: u32, data: &[u8]) -> (Vec<(u32, Vec<u8>)>, u32) {
        self.send_option(option, data);
        self.answers(option)
    }

    /// All answers to `option`, and the kind of the last one.
    pub(crate) fn answers(&mut self, option: u32) -> (Vec<(u32, Vec<u8>)>, u32) {
        let mut answers = Vec::new();
        loop {
            let (kind, data) = self.answer(option);
            if kind == ACK || kind >> 31 == 1 {
                return (answers, kind);
            }
            answers.push((kind, data));
        }
    }

    /// Agrees on structured replies.
    pub(crate) fn structured(mut self) -> Client {
        assert_eq!(self.option(STRUCTURED_REPLY, &[]), (vec![], ACK));
        self.is_structured = true;
        self
    }

    /// Chooses the export `name`: its size and flags.
    pub(crate) fn go(&mut self, name: &str) -> (u64, u16) {
        let (answers, last) = self.option(GO, &named(name, &[]));
        assert_eq!((answers.len(), last), (1, ACK), "{name}");
        let (kind, data) = &answers[0];
        assert_eq!((*kind, &data[..2]), (3, &[0, 0][..]), "the size is told");
        (
            u64::from_be_bytes(data[2..10].try_into().unwrap()),
            u16::from_be_bytes(data[10..].try_into().unwrap()),
        )
    }

    /// Sends a request without payload, and gives its cookie.
    pub(crate) fn request(&mut self, kind: u16, flags: u16, offset: u64, len: u32) -> u64 {
        let cookie = self.next_cookie;
        self.next_cookie += 1;
        self.send(&request(kind, flags, cookie, offset, len));
        cookie
    }

    /// The next message, without the bytes that follow a simple reply to a read.
    pub(crate) fn message(&mut self) -> Message {
        match self.u32() {
            0x6744_6698 => Message::Simple { error: self.u32(), cookie: self.u64() },
            0x668e_33ef => {
                let (flags, kind, cookie, len) = (self.u16(), self.u16(), self.u64(), self.u32());
                let payload = self.bytes(len as usize);
                Message::Chunk { is_done: flags == 1, kind, cookie, payload }
            }
            magic => panic!("a reply begins with {magic:#x}"),
        }
    }

    /// The error of the reply to `cookie`, which comes next; 0 for none.
    pub(crate) fn outcome(&mut self, cookie: u64) -> u32 {
        match self.message() {
            Message::Simple { error, cookie: answered } => {
                assert_eq!(answered, cookie);
                error
            }
            Message::Chunk { is_done, kind, cookie: answered, payload } => {
                assert_eq!((answered, is_done), (cookie, true));
                error_of(kind, &payload)
            }
        }
    }

    /// Reads, as the only request in flight.
    pub(crate) fn read(&mut self, offset: u64, len: u32) -> Result<Vec<u8>, u32> {
        self.read_with(0, offset, len)
    }

    /// Reads with `flags`.
    pub(crate) fn read_with(&mut self, flags: u16, offset: u64, len: u32) -> Result<Vec<u8>, u32> {
        let cookie = self.request(READ, flags, offset, len);
        self.take_read(cookie, offset, len)
    }

    /// The reply to the read `cookie`, the only one in flight.
    pub(crate) fn take_read(&mut self, cookie: u64, offset: u64, len: u32) -> Result<Vec<u8>, u32> {
        if !self.is_structured {
            let error = self.outcome(cookie);
            return if error == 0 { Ok(self.bytes(len as usize)) } else { Err(error) };
        }
        let (mut bytes, mut seen, mut failed) = (vec![0xEE; len as usize], 0, None);
        loop {
            let Message::Chunk { is_done, kind, cookie: answered, payload } = self.message() else {
                panic!("a read has a structured reply");
            };
            assert_eq!(answered, cookie);
            let from =
                |payload: &[u8]| (u64::from_be_bytes(payload[..8].try_into().unwrap()) - offset) as usize;
            match kind {
                1 => {
                    bytes[from(&payload)..][..payload.len() - 8].copy_from_slice(&payload[8..]);
                    seen += payload.len() - 8;
                }
                2 => {
                    let len = u32::from_be_bytes(payload[8..].try_into().unwrap()) as usize;
                    bytes[from(&payload)..][..len].fill(0);
                    seen += len;
                }
                _ => failed = Some(error_of(kind, &payload)).filter(|error| *error != 0).or(failed),
            }
            if is_done {
                assert!(failed.is_some() || seen == len as usize, "{seen} of {len} bytes came");
                return failed.map_or(Ok(bytes), Err);
            }
        }
    }
}

/// Connects to the socket at `path`.
pub(crate) fn connect(path: &Path) -> UnixStream {
    let socket = UnixStream::connect(path).expect("the server listens");
    socket.set_read_timeout(Some(DEADLINE)).unwrap();
    socket
}

/// The error that a chunk tells; 0 for none.
fn error_of(kind: u16, payload: &[u8]) -> u32 {
    match kind {
        0 => 0,
        0x8001 | 0x8002 => u32::from_be_bytes(payload[..4].try_into().unwrap()),
        _ => panic!("a chunk of kind {kind}"),
    }
}

/// A name with its length, and a count of `more` and these: the data of GO and INFO.
pub(crate) fn named(name: &str, more: &[u16]) -> Vec<u8> {
    let mut data = (name.len() as u32).to_be_bytes().to_vec();
    data.extend_from_slice(name.as_bytes());
    data.extend_from_slice(&(more.len() as u16).to_be_bytes());
    more.iter().for_each(|info| data.extend_from_slice(&info.to_be_bytes()));
    data
}

/// The data of LIST_META_CONTEXT and SET_META_CONTEXT.
pub(crate) fn queries(name: &str, queries: &[&str]) -> Vec<u8> {
    let counted = |text: &str| [&(text.len() as u32).to_be_bytes()[..], text.as_bytes()].concat();
    let mut data = counted(name);
    data.extend_from_slice(&(queries.len() as u32).to_be_bytes());
    queries.iter().for_each(|query| data.extend_from_slice(&counted(query)));
    data
}

pub(crate) fn request(kind: u16, flags: u16, cookie: u64, offset: u64, len: u32) -> Vec<u8> {
    let mut bytes = REQUEST_MAGIC.to_be_bytes().to_vec();
    bytes.extend_from_slice(&flags.to_be_bytes());
    bytes.extend_from_slice(&kind.to_be_bytes());
    bytes.extend_from_slice(&cookie.to_be_bytes());
    bytes.extend_from_slice(&offset.to_be_bytes());
    bytes.extend_from_slice(&len.to_be_bytes());
    bytes
}
