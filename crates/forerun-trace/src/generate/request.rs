//! A request of a generated thread.

use crate::{FileId, Op};

/// One request of a thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) op: Op,
    pub(super) file: FileId,
    pub(super) offset: u64,
    pub(super) len: u64,
    /// The length asked for, if it gets less.
    pub(super) asked: Option<u64>,
    /// The reader's think time before it.
    pub(super) think_ns: u64,
}
