//! The answer to one request.

use std::iter;
use std::sync::Arc;

use rustix::io::Errno;

use super::super::operation_names::number;
use super::super::protocol::Request;
use super::channel::Channel;
use crate::metrics::Begun;

/// Answers one request, once. Dropping it answers with an error, so that the program does not wait
/// for ever.
#[derive(Debug)]
pub struct Reply {
    channel: Arc<Channel>,
    unique: u64,
    /// If requests are counted, and this is the answer to one of a program.
    begun: Option<Begun>,
    is_sent: bool,
}

impl Reply {
    pub(crate) fn new(channel: &Arc<Channel>, unique: u64) -> Reply {
        Reply { channel: Arc::clone(channel), unique, begun: None, is_sent: false }
    }

    /// The answer to `request`, which has just come.
    pub(crate) fn to(channel: &Arc<Channel>, request: &Request<'_>) -> Reply {
        let mut reply = Reply::new(channel, request.unique);
        reply.begun = channel.requests.as_ref().map(|requests| requests.begin(number(&request.operation)));
        reply
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
        if let (Some(requests), Some(begun)) = (&self.channel.requests, self.begun) {
            requests.end(begun, error == 0);
        }
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
