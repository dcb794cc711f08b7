//! The bytes of a read, which may have to be read again before they are sent.

use std::sync::Arc;

use forerun::{Error, Result};
use futures::future::BoxFuture;

use super::super::failure::report;
use super::super::open::OpenExport;
use super::super::protocol::Replies;
use crate::sending::{Content, Lent};

/// A part of the reply to a read.
#[derive(Debug)]
pub(super) struct Chunk {
    pub(super) export: Arc<OpenExport>,
    pub(super) replies: Replies,
    pub(super) cookie: u64,
    pub(super) is_last: bool,
}

impl Content for Chunk {
    fn read(&self, offset: u64, len: u32) -> BoxFuture<'static, Result<Lent>> {
        let export = Arc::clone(&self.export);
        Box::pin(async move { export.read(offset, len).await })
    }

    fn refuse(&self, error: &Error, offset: u64) -> Vec<u8> {
        let errno = report(&self.export.shown.name, error);
        self.replies.error_at(self.cookie, errno, &error.to_string(), offset, self.is_last)
    }

    fn has_storage_of(&self, other: &Chunk) -> bool {
        Arc::ptr_eq(&self.export, &other.export)
    }
}
