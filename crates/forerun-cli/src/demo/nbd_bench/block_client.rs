//! A client of a block device, which keeps several requests in flight on one connection.
//!
//! It negotiates no structured replies, since nbdkit's plugins gain nothing by them.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

use super::disk_reads::Extent;

const READ: u16 = 0;
const WRITE: u16 = 1;
const DISCONNECT: u16 = 2;
const OPTION_GO: u32 = 7;
const ACK: u32 = 1;
/// Bit of answers to options that are errors.
const ERROR: u32 = 1 << 31;
/// The fixed newstyle handshake, without zeros after it.
const FLAGS: u32 = 3;

/// Replies that come together are taken by one call of the system.
const INPUT_BYTES: usize = 256 << 10;
/// A server that takes longer for a reply never answers.
const REPLY_TIME_MAX: Duration = Duration::from_secs(60);

/// A connection to the first export of a server.
#[derive(Debug)]
pub(super) struct BlockClient {
    input: BufReader<UnixStream>,
}

impl BlockClient {
    /// Connects to the server at `socket`.
    ///
    /// # Errors
    /// If the server refuses, or is none.
    pub(super) fn connect(socket: &Path) -> io::Result<BlockClient> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(REPLY_TIME_MAX))?;
        stream.set_write_timeout(Some(REPLY_TIME_MAX))?;
        let mut client = BlockClient { input: BufReader::with_capacity(INPUT_BYTES, stream) };
        let greeting: [u8; 18] = client.array()?;
        if !greeting.starts_with(b"NBDMAGICIHAVEOPT") {
            return Err(io::Error::other("the server does not greet as NBD does"));
        }
        // GO, for the export without a name, and no question about it.
        let option = [&b"IHAVEOPT"[..], &OPTION_GO.to_be_bytes(), &6_u32.to_be_bytes(), &[0; 6]].concat();
        client.send(&[&FLAGS.to_be_bytes()[..], &option].concat())?;
        loop {
            let [_, _, _, kind, len] = client.words()?;
            let mut answer = vec![0; len as usize];
            client.input.read_exact(&mut answer)?;
            match kind {
                ACK => return Ok(client),
                _ if kind & ERROR != 0 => {
                    let message = String::from_utf8_lossy(&answer);
                    return Err(io::Error::other(format!("the server refuses its export: {message}")));
                }
                _ => {}
            }
        }
    }

    /// Reads all `extents`, up to `depth` at once. Gives the bytes of each to `take`.
    ///
    /// # Errors
    /// If the server answers a read with an error, or not at all.
    pub(super) fn read(
        &mut self,
        extents: &[Extent],
        depth: usize,
        mut take: impl FnMut(Extent, &[u8]),
    ) -> io::Result<()> {
        let (mut sent, mut requests, mut bytes) = (0, Vec::new(), Vec::new());
        for answered in 0..extents.len() {
            // Requests wait until all replies that have come are taken: then one call sends several.
            if self.input.buffer().is_empty() {
                requests.clear();
                let until = extents.len().min(answered + depth);
                (sent..until).for_each(|place| push_request(&mut requests, READ, place, extents[place]));
                sent = until;
                self.send(&requests)?;
                wait_for_reply(self.input.get_ref(), REPLY_TIME_MAX)?;
            }
            let place = self.reply()?;
            let extent = *extents.get(place).ok_or_else(|| io::Error::other("a reply to no request"))?;
            bytes.resize(extent.len as usize, 0);
            self.input.read_exact(&mut bytes)?;
            take(extent, &bytes);
        }
        Ok(())
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Errors
    /// If the server answers with an error, or not at all.
    pub(super) fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let mut request = Vec::new();
        push_request(&mut request, WRITE, 0, Extent { offset, len: bytes.len() as u32 });
        request.extend_from_slice(bytes);
        self.send(&request)?;
        self.reply().map(drop)
    }

    /// The number of the request that the next reply answers.
    fn reply(&mut self) -> io::Result<usize> {
        let [_, error, high, low] = self.words()?;
        match error {
            0 => Ok((high as usize) << 32 | low as usize),
            _ => Err(io::Error::other(format!("the server answers with error {error}"))),
        }
    }

    /// The next numbers of a message.
    fn words<const COUNT: usize>(&mut self) -> io::Result<[u32; COUNT]> {
        let mut words = [0; COUNT];
        for word in &mut words {
            *word = u32::from_be_bytes(self.array()?);
        }
        Ok(words)
    }

    fn array<const LEN: usize>(&mut self) -> io::Result<[u8; LEN]> {
        let mut bytes = [0; LEN];
        self.input.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.input.get_mut().write_all(bytes)
    }
}

impl Drop for BlockClient {
    /// Leaves as the protocol wants it, so that no server complains.
    fn drop(&mut self) {
        let mut request = Vec::new();
        push_request(&mut request, DISCONNECT, 0, Extent { offset: 0, len: 0 });
        if self.send(&request).is_ok() {
            let _ = self.input.fill_buf();
        }
    }
}

/// Waits for a reply as QEMU and libnbd do. The kernel would wake a blocking read also when the server takes
/// a request.
fn wait_for_reply(stream: &UnixStream, time_max: Duration) -> io::Result<()> {
    let limit = Timespec::try_from(time_max).map_err(io::Error::other)?;
    let mut waited = [PollFd::new(stream, PollFlags::IN)];
    match retry_on_intr(|| poll(&mut waited, Some(&limit)))? {
        0 => Err(io::Error::other(format!("the server did not reply within {time_max:?}"))),
        _ => Ok(()),
    }
}

/// Adds a request, whose number comes back in its reply.
fn push_request(requests: &mut Vec<u8>, kind: u16, number: usize, extent: Extent) {
    requests.extend_from_slice(&0x2560_9513_u32.to_be_bytes());
    requests.extend_from_slice(&u32::from(kind).to_be_bytes());
    requests.extend_from_slice(&(number as u64).to_be_bytes());
    requests.extend_from_slice(&extent.offset.to_be_bytes());
    requests.extend_from_slice(&extent.len.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_that_a_server_does_not_reply() {
        let (client, mut server) = UnixStream::pair().unwrap();
        let error = wait_for_reply(&client, Duration::ZERO).unwrap_err();
        assert_eq!(error.to_string(), "the server did not reply within 0ns");
        server.write_all(&[0]).unwrap();
        wait_for_reply(&client, Duration::ZERO).unwrap();
    }
}
