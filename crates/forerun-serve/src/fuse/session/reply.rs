//! The answer to one request.

use std::iter;
use std::sync::Arc;

use rustix::io::Errno;

use super::channel::Channel;

/// Answers one request, once. Dropping it answers with an error, so that the program does not wait
/// for ever.
#[derive(Debug)]
pub struct Reply {
    channel: Arc<Channel>,
    unique: u64,
    is_sent: bool,
}

impl Reply {
    pub(crate) fn new(channel: &Arc<Channel>, unique: u64) -> Reply {
        Reply { channel: Arc::clone(channel), unique, is_sent: false }
    }

    /// Answers with `payload`.
    pub fn bytes(mut self, payload: &[u8]) {
        self.send(0, [payload].into_iter());
    }

    /// It worked: `pieces`, one after the other, are what was asked for.
    pub(crate) fn pieces<'a>(mut self, pieces: impl Iterator<Item = &'a [u8]>) {
        self.send(0, pieces);
    }

    /// Answers with an error.
    pub fn error(mut self, errno: Errno) {
        self.send(-errno.raw_os_error(), iter::empty());
    }

    /// Answers with a payload or an error.
    pub fn result<T: AsRef<[u8]>>(self, result: Result<T, Errno>) {
        match result {
            Ok(payload) => self.bytes(payload.as_ref()),
            Err(errno) => self.error(errno),
        }
    }

    fn send<'a>(&mut self, error: i32, payload: impl Iterator<Item = &'a [u8]>) {
        self.is_sent = true;
        if let Err(error) = self.channel.send(self.unique, error, payload) {
            // The kernel has given the request up, or hung up.
            tracing::debug!(
                target: "forerun::mount",
                "the kernel does not take the answer to request {}: {error}", self.unique
            );
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if !self.is_sent {
            self.send(-Errno::IO.raw_os_error(), iter::empty());
        }
    }
}
