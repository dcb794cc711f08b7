//! Requests that wait for the storage or a disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use forerun::Result;

use super::super::failure::report;
use super::super::open::OpenExport;
use super::super::protocol::{Replies, StatusExtent};
use super::chunk::Chunk;
use super::payloads::ReadyPart;
use crate::sending::{Lent, Outgoing, PIECE_BYTES_MAX};

/// A part of a read, which has an answer of its own.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    cookie: u64,
    offset: u64,
    /// All bytes of the answer. Only the first [`PIECE_BYTES_MAX`] are read before it begins.
    len: u32,
    /// Pieces of the same read that have no answer yet; none if there is only this one.
    left: Option<Arc<AtomicU32>>,
}

/// A request or a part of it that the storage has answered.
pub(super) enum Finished {
    Piece(Piece, Result<Lent>),
    Status(u64, Result<Vec<StatusExtent>>),
    /// A request without bytes in its reply. It had asked for so many.
    Done(u64, u32, Result<()>),
}

/// The end of a wait.
pub(super) enum Ended {
    /// There is a reply to it.
    Reply(Finished),
    /// A part of a write has ended. The number is that of the write.
    Part(u64, Result<()>),
}

impl Piece {
    /// The pieces of a read of `len` bytes, which the storage brings in any order; one for all of them if
    /// `is_whole`.
    pub(super) fn cut(cookie: u64, offset: u64, len: u32, is_whole: bool) -> impl Iterator<Item = Piece> {
        let step = if is_whole { len } else { PIECE_BYTES_MAX };
        let count = len.div_ceil(step);
        let left = (count > 1).then(|| Arc::new(AtomicU32::new(count)));
        (0..count).map(move |number| {
            let from = number * step;
            let len = (len - from).min(step);
            Piece { cookie, offset: offset + u64::from(from), len, left: left.clone() }
        })
    }

    /// Counts the piece as answered. True if it is the last of its read.
    fn mark_answered(&self) -> bool {
        self.left.as_ref().is_none_or(|left| left.fetch_sub(1, Ordering::Relaxed) == 1)
    }

    /// Reads the piece, or the beginning of it.
    pub(super) async fn read(self, export: Arc<OpenExport>) -> Ended {
        let result = export.read(self.offset, self.len.min(PIECE_BYTES_MAX)).await;
        Ended::Reply(Finished::Piece(self, result))
    }
}

/// Asks which of `len` bytes are holes.
pub(super) async fn block_status(
    export: Arc<OpenExport>,
    cookie: u64,
    offset: u64,
    len: u32,
    count_max: usize,
) -> Ended {
    Ended::Reply(Finished::Status(cookie, export.block_status(offset, len, count_max).await))
}

/// Writes a part.
pub(super) async fn write(export: Arc<OpenExport>, part: ReadyPart) -> Ended {
    let ReadyPart { write, offset, bytes, room } = part;
    let written = match room {
        Ok(room) => export.write(offset, bytes, room).await,
        Err(error) => Err(error),
    };
    Ended::Part(write, written)
}

/// Changes the export by `change`, which `cookie` asked for. It lasts before it is answered, if `is_durable`.
pub(super) async fn change(
    export: Arc<OpenExport>,
    (cookie, weight, is_durable): (u64, u32, bool),
    change: impl Future<Output = Result<()>>,
) -> Ended {
    let mut done = change.await;
    if is_durable && done.is_ok() {
        done = export.flush().await;
    }
    Ended::Reply(Finished::Done(cookie, weight, done))
}

impl Finished {
    /// The request that it answers, and whether the reply is no error.
    pub(super) fn outcome(&self) -> (u64, bool) {
        match self {
            Finished::Piece(piece, result) => (piece.cookie, result.is_ok()),
            Finished::Status(cookie, result) => (*cookie, result.is_ok()),
            Finished::Done(cookie, _, result) => (*cookie, result.is_ok()),
        }
    }

    /// The reply to it, about `export`.
    pub(super) fn into_reply(self, replies: Replies, export: &Arc<OpenExport>) -> Outgoing<Chunk> {
        let name = &export.shown.name;
        match self {
            Finished::Piece(piece, Ok(lent)) => {
                let Piece { cookie, offset, len, .. } = piece;
                let is_last = piece.mark_answered();
                let hole = lent.is_zero().then(|| replies.hole(cookie, offset, len, is_last)).flatten();
                match hole {
                    Some(head) => Outgoing::head(head, is_last, len),
                    None => {
                        let head = replies.data(cookie, offset, len, is_last);
                        let chunk = Chunk { export: Arc::clone(export), replies, cookie, is_last };
                        Outgoing::head(head, is_last, len).with_bytes(chunk, (offset, len), lent)
                    }
                }
            }
            Finished::Piece(piece, Err(error)) => {
                let (errno, is_last) = (report(name, &error), piece.mark_answered());
                let head = replies.error_at(piece.cookie, errno, &error.to_string(), piece.offset, is_last);
                Outgoing::head(head, is_last, piece.len)
            }
            Finished::Status(cookie, Ok(extents)) => {
                Outgoing::head(replies.block_status(cookie, &extents), true, 0)
            }
            Finished::Status(cookie, Err(error)) => {
                let errno = report(name, &error);
                Outgoing::head(replies.error(cookie, errno, &error.to_string()), true, 0)
            }
            Finished::Done(cookie, weight, Ok(())) => Outgoing::head(replies.done(cookie), true, weight),
            Finished::Done(cookie, weight, Err(error)) => {
                let errno = report(name, &error);
                Outgoing::head(replies.error(cookie, errno, &error.to_string()), true, weight)
            }
        }
    }
}
