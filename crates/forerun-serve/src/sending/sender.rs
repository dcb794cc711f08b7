//! The replies to one client, from their order to its socket.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use forerun::{Error, Result};
use futures::future::BoxFuture;
use tokio::io::AsyncWrite;

use super::lent::Lent;
use super::memory_timeout::MemoryTimeout;
use super::outbox::{Outbox, Sent};
use super::outgoing::Outgoing;

/// The bytes of a reply, which can be read again.
pub(crate) trait Content {
    /// Reads `len` bytes from `offset` on, at most [`super::PIECE_BYTES_MAX`].
    fn read(&self, offset: u64, len: u32) -> BoxFuture<'static, Result<Lent>>;

    /// The reply instead, if the bytes from `offset` on cannot be read.
    fn refuse(&self, error: &Error, offset: u64) -> Vec<u8>;

    /// Whether one storage has the bytes of both.
    fn has_storage_of(&self, other: &Self) -> bool;
}

/// Why nothing more can be sent.
#[derive(Debug)]
pub(crate) enum Halt {
    /// The rest of a reply that was begun cannot be read.
    Cut,
    Failed(io::Error),
}

/// Sends the replies to a client.
pub(crate) struct Sender<C> {
    outbox: Outbox<C>,
    /// The bytes that the first reply lacks.
    refill: Option<BoxFuture<'static, Result<Lent>>>,
    timeout: MemoryTimeout,
    /// All replies have left this program.
    is_flushed: bool,
}

impl<C: Content> Sender<C> {
    /// Called within a runtime.
    pub(crate) fn new() -> Sender<C> {
        Sender { outbox: Outbox::default(), refill: None, timeout: MemoryTimeout::new(), is_flushed: true }
    }

    /// Adds a reply behind all others.
    pub(crate) fn push(&mut self, outgoing: Outgoing<C>) {
        self.outbox.push(outgoing);
    }

    /// Whether all replies have left this program.
    pub(crate) fn is_flushed(&self) -> bool {
        self.is_flushed && self.outbox.is_empty()
    }

    /// Sends replies. Nothing if the rest has to wait.
    ///
    /// # Errors
    /// If the client cannot be served any more.
    pub(crate) fn send<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
    ) -> std::result::Result<Option<Sent>, Halt> {
        if self.outbox.is_empty() {
            return self.flush(stream, context).map(|()| None);
        }
        let sent = match self.refill(context)? {
            Poll::Ready(()) => self.outbox.poll_send(stream, context),
            Poll::Pending => Poll::Pending,
        };
        match sent {
            Poll::Ready(sent) => {
                self.is_flushed = false;
                self.timeout.renew();
                sent.map(Some).map_err(Halt::Failed)
            }
            Poll::Pending => {
                // Only memory that is kept makes it of account how long this lasts.
                if let Some(kept) = self.outbox.kept()
                    && self.timeout.is_over(kept.is_scarce(), context)
                {
                    self.outbox.let_go();
                }
                Ok(None)
            }
        }
    }

    /// Lets replies leave that wait to be encrypted together.
    fn flush<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
    ) -> std::result::Result<(), Halt> {
        if !self.is_flushed
            && let Poll::Ready(flushed) = Pin::new(stream).poll_flush(context)
        {
            flushed.map_err(Halt::Failed)?;
            self.is_flushed = true;
        }
        Ok(())
    }

    /// Reads the bytes that the first reply lacks.
    fn refill(&mut self, context: &mut Context<'_>) -> std::result::Result<Poll<()>, Halt> {
        let Some((content, offset, len)) = self.outbox.lacks() else { return Ok(Poll::Ready(())) };
        let refill = self.refill.get_or_insert_with(|| content.read(offset, len));
        let Poll::Ready(result) = refill.as_mut().poll(context) else { return Ok(Poll::Pending) };
        self.refill = None;
        match result {
            Ok(lent) => self.outbox.fill(lent),
            Err(error) if self.outbox.fail(&error) => {}
            Err(_) => return Err(Halt::Cut),
        }
        Ok(Poll::Ready(()))
    }
}
