//! The answer to one request.

use std::sync::Arc;

use rustix::io::Errno;

use super::channel::Channel;

/// Answers one request, once. Dropped without an answer it is an error, so that nobody waits for
/// what does not come.
#[derive(Debug)]
pub struct Reply {
    channel: Arc<Channel>,
    unique: u64,
    is_sent: bool,
}

impl Reply {
    pub(super) fn new(channel: &Arc<Channel>, unique: u64) -> Reply {
        Reply { channel: Arc::clone(channel), unique, is_sent: false }
    }

    /// It worked: `payload` is what was asked for.
    pub fn bytes(mut self, payload: &[u8]) {
        self.send(0, payload);
    }

    /// It did not work.
    pub fn error(mut self, errno: Errno) {
        self.send(-errno.raw_os_error(), &[]);
    }

    /// Either.
    pub fn result<T: AsRef<[u8]>>(self, result: Result<T, Errno>) {
        match result {
            Ok(payload) => self.bytes(payload.as_ref()),
            Err(errno) => self.error(errno),
        }
    }

    fn send(&mut self, error: i32, payload: &[u8]) {
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
            self.send(-Errno::IO.raw_os_error(), &[]);
        }
    }
}
