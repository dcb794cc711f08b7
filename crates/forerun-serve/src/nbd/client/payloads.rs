//! Writes, whose bytes come in parts.

use std::collections::HashMap;
use std::task::{Context, Poll};

use bytes::Bytes;
use forerun::Result;
use futures::FutureExt;
use futures::future::BoxFuture;
use tokio::sync::OwnedSemaphorePermit;

use super::super::protocol::Refusal;

/// A write without a reply.
#[derive(Debug)]
pub(super) struct Write {
    pub(super) cookie: u64,
    pub(super) len: u32,
    /// It is flushed before it is answered.
    pub(super) is_durable: bool,
    pub(super) result: Result<()>,
    /// Parts that are being written.
    part_count: usize,
    /// All parts have come.
    is_received: bool,
}

/// A part that need not wait for room any more.
#[derive(Debug)]
pub(super) struct ReadyPart {
    pub(super) write: u64,
    pub(super) offset: u64,
    pub(super) bytes: Bytes,
    /// An error if the server is about to end.
    pub(super) room: Result<OwnedSemaphorePermit>,
}

type Room = BoxFuture<'static, Result<OwnedSemaphorePermit>>;

/// The writes of a client.
#[derive(Default)]
pub(super) struct Writes {
    open: HashMap<u64, Write>,
    /// Numbers writes: a client may use a cookie twice.
    next: u64,
    /// A refused write whose bytes still come.
    refused: Option<(u64, Refusal)>,
    /// The part that came last, until there is room for it.
    waiting: Option<(u64, u64, Bytes, Room)>,
}

impl Writes {
    /// The bytes of a write follow.
    pub(super) fn begin(&mut self, cookie: u64, len: u32, is_durable: bool) {
        self.next += 1;
        let write = Write { cookie, len, is_durable, result: Ok(()), part_count: 0, is_received: false };
        self.open.insert(self.next, write);
    }

    /// The bytes of a write follow, and it is refused after them.
    pub(super) fn refuse(&mut self, cookie: u64, refusal: Refusal) {
        self.refused = Some((cookie, refusal));
    }

    /// The refused write whose last bytes have come.
    pub(super) fn take_refused(&mut self) -> Option<(u64, Refusal)> {
        self.refused.take()
    }

    /// A part of the write that began last. It waits for `room`.
    pub(super) fn add_part(&mut self, offset: u64, bytes: Bytes, is_last: bool, room: Room) {
        if let Some(write) = self.open.get_mut(&self.next) {
            write.part_count += 1;
            write.is_received = is_last;
        }
        self.waiting = Some((self.next, offset, bytes, room));
    }

    /// Whether no other part may come yet.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// The part that waits, once there is room for it. None if there is no such part.
    pub(super) fn poll_part(&mut self, context: &mut Context<'_>) -> Poll<Option<ReadyPart>> {
        let Some((_, _, _, room)) = &mut self.waiting else { return Poll::Ready(None) };
        let Poll::Ready(room) = room.poll_unpin(context) else { return Poll::Pending };
        let part = self.waiting.take();
        Poll::Ready(part.map(|(write, offset, bytes, _)| ReadyPart { write, offset, bytes, room }))
    }

    /// A part was written or has failed. The write, if that was the last of it.
    pub(super) fn end_part(&mut self, number: u64, result: Result<()>) -> Option<Write> {
        let write = self.open.get_mut(&number)?;
        write.part_count -= 1;
        if write.result.is_ok() {
            write.result = result;
        }
        let is_over = write.is_received && write.part_count == 0;
        if is_over { self.open.remove(&number) } else { None }
    }
}
