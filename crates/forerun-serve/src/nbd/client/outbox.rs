//! Replies on their way to a client.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::AsyncWrite;

use super::super::lent::Lent;

/// Pieces of memory that one call sends.
const SLICES_MAX: usize = 64;

/// A reply, or a part of one.
#[derive(Debug)]
pub(super) struct Outgoing {
    /// The bytes of the protocol, and how many are sent.
    pub(super) head: Vec<u8>,
    head_sent: usize,
    /// The bytes of the export that are not sent yet.
    offset: u64,
    left: u64,
    held: Held,
    /// The request to answer with an error, if these bytes have to be read again and that fails.
    pub(super) cookie: u64,
    pub(super) is_last: bool,
    /// Bytes that the client had asked for by this.
    weight: u32,
}

/// The first of the bytes that are not sent yet, and how many of these are sent.
#[derive(Debug)]
enum Held {
    Nothing,
    Lent(Lent, usize),
    Copied(Vec<u8>, usize),
}

impl Outgoing {
    /// A reply without bytes of the export to the read of `weight` bytes, or to another request.
    pub(super) fn head(cookie: u64, head: Vec<u8>, is_last: bool, weight: u32) -> Outgoing {
        let (head_sent, held) = (0, Held::Nothing);
        Outgoing { head, head_sent, offset: 0, left: 0, held, cookie, is_last, weight }
    }

    /// A reply with `len` bytes from `offset` on, the first of which are `lent`.
    pub(super) fn data(
        cookie: u64,
        head: Vec<u8>,
        is_last: bool,
        (offset, len): (u64, u32),
        lent: Lent,
    ) -> Outgoing {
        let (left, held) = (u64::from(len), Held::Lent(lent, 0));
        Outgoing { head, head_sent: 0, offset, left, held, cookie, is_last, weight: len }
    }

    /// The extent of the bytes that it needs before it can go on.
    fn lacks(&self) -> Option<(u64, u64)> {
        (self.left > 0 && matches!(self.held, Held::Nothing)).then_some((self.offset, self.left))
    }

    fn is_started(&self) -> bool {
        self.head_sent > 0
    }

    fn is_sent(&self) -> bool {
        self.head_sent == self.head.len() && self.left == 0
    }

    /// Adds the bytes that can be sent now to `slices`. False if others must not follow yet.
    fn gather<'a>(&'a self, slices: &mut Slices<'a>) -> bool {
        slices.add(&self.head[self.head_sent..]);
        let before = slices.bytes;
        match &self.held {
            Held::Nothing => {}
            Held::Lent(lent, sent) => {
                let mut skip = *sent;
                for slice in lent.slices() {
                    let skipped = skip.min(slice.len());
                    skip -= skipped;
                    slices.add(&slice[skipped..]);
                }
            }
            Held::Copied(bytes, sent) => slices.add(&bytes[*sent..]),
        }
        (slices.bytes - before) as u64 == self.left
    }

    /// Takes note that up to `count` bytes of it are sent; how many of these are not its own.
    fn advance(&mut self, count: usize) -> usize {
        let of_head = count.min(self.head.len() - self.head_sent);
        self.head_sent += of_head;
        let count = count - of_head;
        let (len, sent) = match &mut self.held {
            Held::Nothing => return count,
            Held::Lent(lent, sent) => (lent.len(), sent),
            Held::Copied(bytes, sent) => (bytes.len(), sent),
        };
        let of_held = count.min(len - *sent);
        *sent += of_held;
        let is_empty = *sent == len;
        self.offset += of_held as u64;
        self.left -= of_held as u64;
        if is_empty {
            self.held = Held::Nothing;
        }
        count - of_held
    }
}

/// Slices for one call.
struct Slices<'a> {
    slices: [IoSlice<'a>; SLICES_MAX],
    count: usize,
    bytes: usize,
}

impl<'a> Slices<'a> {
    fn add(&mut self, bytes: &'a [u8]) {
        if self.count < SLICES_MAX && !bytes.is_empty() {
            self.slices[self.count] = IoSlice::new(bytes);
            self.count += 1;
            self.bytes += bytes.len();
        }
    }
}

/// Replies in the order in which they are sent.
///
/// A lease is memory that other readers need, so none waits for a client. [`Outbox::let_go`] copies the
/// piece that the client is in the midst of. All others go back to the
/// engine. They are read again once the client takes bytes again.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    queue: VecDeque<Outgoing>,
}

/// The progress of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    /// Requests whose replies are complete.
    pub(super) requests: usize,
    /// The weights of the replies.
    pub(super) weight: u64,
}

impl Outbox {
    pub(super) fn push(&mut self, outgoing: Outgoing) {
        self.queue.push_back(outgoing);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The extent that the first reply lacks.
    pub(super) fn lacks(&self) -> Option<(u64, u64)> {
        self.queue.front()?.lacks()
    }

    /// Brings the first bytes that the first reply lacks.
    pub(super) fn fill(&mut self, lent: Lent) {
        if let Some(first) = self.queue.front_mut() {
            first.held = Held::Lent(lent, 0);
        }
    }

    /// The bytes that the first reply lacks cannot be read: `error` makes another reply of it. False if
    /// it is too late for that.
    pub(super) fn fail(&mut self, error: impl FnOnce(&Outgoing, u64) -> Vec<u8>) -> bool {
        let Some(first) = self.queue.front_mut().filter(|first| !first.is_started()) else { return false };
        let head = error(first, first.offset);
        *first = Outgoing::head(first.cookie, head, first.is_last, first.weight);
        true
    }

    /// Whether it keeps memory from others.
    pub(super) fn has_leases(&self) -> bool {
        self.queue.iter().any(|outgoing| matches!(outgoing.held, Held::Lent(..)))
    }

    /// Gives the memory back.
    pub(super) fn let_go(&mut self) {
        for (number, outgoing) in self.queue.iter_mut().enumerate() {
            let Held::Lent(lent, sent) = &outgoing.held else { continue };
            outgoing.held = if number == 0 || outgoing.is_started() {
                let mut bytes = lent.to_vec();
                Held::Copied(bytes.split_off(*sent), 0)
            } else {
                Held::Nothing
            };
        }
    }

    /// Sends as much as `stream` takes at once.
    pub(super) fn poll_send<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<Sent>> {
        let mut slices = Slices { slices: [IoSlice::new(&[]); SLICES_MAX], count: 0, bytes: 0 };
        for outgoing in &self.queue {
            if outgoing.lacks().is_some() || !outgoing.gather(&mut slices) {
                break;
            }
        }
        let bytes = ready!(Pin::new(stream).poll_write_vectored(context, &slices.slices[..slices.count]))?;
        if bytes == 0 && slices.bytes > 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        Poll::Ready(Ok(self.advance(bytes)))
    }

    fn advance(&mut self, bytes: usize) -> Sent {
        let mut sent = Sent::default();
        let mut left = bytes;
        while let Some(first) = self.queue.front_mut() {
            left = first.advance(left);
            if !first.is_sent() {
                break;
            }
            sent.requests += usize::from(first.is_last);
            sent.weight += u64::from(first.weight);
            self.queue.pop_front();
        }
        sent
    }
}
