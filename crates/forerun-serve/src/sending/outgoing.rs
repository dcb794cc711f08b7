//! A reply, and how much of it is sent.

use std::io::IoSlice;

use super::PIECE_BYTES_MAX;
use super::lent::Lent;

/// Pieces of memory that one call sends.
const SLICES_MAX: usize = 64;

/// The most bytes that are copied for a client that takes none.
const COPIED_BYTES_MAX: u32 = 64 << 10;

/// No disk has larger sectors.
const SECTOR_BYTES_MAX: u64 = 4096;

/// Zeros behind the bytes of a reply.
const PADDING: [u8; 3] = [0; 3];

/// A reply, or a part of one.
#[derive(Debug)]
pub(crate) struct Outgoing<C> {
    /// The bytes of the protocol, and how many are sent.
    head: Vec<u8>,
    head_sent: usize,
    /// The bytes of the object that are not sent yet.
    pub(super) offset: u64,
    left: u64,
    pub(super) held: Held,
    /// The most bytes to read at once.
    piece_bytes: u32,
    /// Zeros that are not sent yet.
    padding: usize,
    /// The object; none if the reply has no bytes of one.
    pub(super) content: Option<C>,
    /// The last part of its reply.
    pub(super) is_last: bool,
    /// The bytes of its request, as the connection counts them.
    pub(super) weight: u32,
}

/// The first of the bytes that are not sent yet, and how many of these are sent.
#[derive(Debug)]
pub(super) enum Held {
    Nothing,
    Lent(Lent, usize),
    Copied(Vec<u8>, usize),
}

impl<C> Outgoing<C> {
    /// A reply without bytes of an object.
    pub(crate) fn head(head: Vec<u8>, is_last: bool, weight: u32) -> Outgoing<C> {
        Outgoing {
            head,
            head_sent: 0,
            offset: 0,
            left: 0,
            held: Held::Nothing,
            piece_bytes: PIECE_BYTES_MAX,
            padding: 0,
            content: None,
            is_last,
            weight,
        }
    }

    /// The same with `len` bytes of `content` from `offset` on, the first of which are `lent`.
    #[must_use]
    pub(crate) fn with_bytes(self, content: C, (offset, len): (u64, u32), lent: Lent) -> Outgoing<C> {
        let (left, held) = (u64::from(len), Held::Lent(lent, 0));
        Outgoing { offset, left, held, content: Some(content), ..self }
    }

    /// The same with `padding` zeros at its end, at most three.
    #[must_use]
    pub(crate) fn with_padding(self, padding: usize) -> Outgoing<C> {
        Outgoing { padding: padding.min(PADDING.len()), ..self }
    }

    /// Whether the reply is complete with it.
    pub(crate) fn is_last(&self) -> bool {
        self.is_last
    }

    /// The object and the extent of the bytes that it needs before it can go on.
    pub(super) fn lacks(&self) -> Option<(&C, u64, u32)> {
        let content = self.content.as_ref().filter(|_| self.left > 0)?;
        let len = self.left.min(u64::from(self.piece_bytes)) as u32;
        matches!(self.held, Held::Nothing).then_some((content, self.offset, len))
    }

    /// Gives memory back. If it `is_next` to be sent, it has a copy of its first bytes from then on. So nothing
    /// is read again before the client takes some. After that it reads no more at once than such a client takes.
    pub(super) fn let_go(&mut self, is_next: bool) {
        let Held::Lent(lent, sent) = &self.held else { return };
        self.held = if is_next || self.is_started() {
            // The rest begins with a sector: none is put together from before and after a write.
            let most = COPIED_BYTES_MAX - (self.offset % SECTOR_BYTES_MAX) as u32;
            self.piece_bytes = COPIED_BYTES_MAX;
            Held::Copied(lent.copy(*sent, most as usize), 0)
        } else {
            Held::Nothing
        };
    }

    pub(super) fn is_started(&self) -> bool {
        self.head_sent > 0
    }

    pub(super) fn is_sent(&self) -> bool {
        self.head_sent == self.head.len() && self.left == 0 && self.padding == 0
    }

    /// Adds the bytes that can be sent now to `slices`. False if others must not follow yet.
    pub(super) fn gather<'a>(&'a self, slices: &mut Slices<'a>) -> bool {
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
        let is_whole = (slices.bytes - before) as u64 == self.left;
        let before = slices.bytes;
        if is_whole {
            slices.add(&PADDING[..self.padding]);
        }
        is_whole && slices.bytes - before == self.padding
    }

    /// Takes note that up to `count` bytes of it are sent; how many of these are not its own.
    pub(super) fn advance(&mut self, count: usize) -> usize {
        let of_head = count.min(self.head.len() - self.head_sent);
        self.head_sent += of_head;
        let count = self.advance_held(count - of_head);
        let of_padding = if self.left == 0 { count.min(self.padding) } else { 0 };
        self.padding -= of_padding;
        count - of_padding
    }

    fn advance_held(&mut self, count: usize) -> usize {
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
pub(super) struct Slices<'a> {
    slices: [IoSlice<'a>; SLICES_MAX],
    count: usize,
    pub(super) bytes: usize,
}

impl<'a> Slices<'a> {
    pub(super) fn new() -> Slices<'a> {
        Slices { slices: [IoSlice::new(&[]); SLICES_MAX], count: 0, bytes: 0 }
    }

    pub(super) fn as_slice(&self) -> &[IoSlice<'a>] {
        &self.slices[..self.count]
    }

    fn add(&mut self, bytes: &'a [u8]) {
        if self.count < SLICES_MAX && !bytes.is_empty() {
            self.slices[self.count] = IoSlice::new(bytes);
            self.count += 1;
            self.bytes += bytes.len();
        }
    }
}
