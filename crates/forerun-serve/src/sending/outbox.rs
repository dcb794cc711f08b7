//! Replies on their way to a client.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use forerun::{Error, ErrorKind};
use tokio::io::AsyncWrite;

use super::lent::Lent;
use super::outgoing::{Held, Outgoing, Slices};
use super::sender::Content;

/// Replies in the order in which they are sent.
///
/// A lease is memory that other readers need, so none waits for a client. [`Outbox::let_go`] copies the
/// bytes that the client takes next, but not many. All others go back to the
/// engine. They are read again once the client takes bytes again.
#[derive(Debug)]
pub(super) struct Outbox<C> {
    queue: VecDeque<Outgoing<C>>,
}

impl<C> Default for Outbox<C> {
    fn default() -> Outbox<C> {
        Outbox { queue: VecDeque::new() }
    }
}

/// The progress of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    /// Requests whose replies are complete.
    pub(crate) requests: usize,
    /// The weights of the replies.
    pub(crate) weight: u64,
}

/// The reply instead of `outgoing`, whose bytes of `content` cannot be read.
fn refused<C: Content>(content: &C, outgoing: &Outgoing<C>, error: &Error) -> Outgoing<C> {
    let head = content.refuse(error, outgoing.offset);
    Outgoing::head(head, outgoing.is_last, outgoing.weight)
}

impl<C: Content> Outbox<C> {
    pub(super) fn push(&mut self, outgoing: Outgoing<C>) {
        self.queue.push_back(outgoing);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// The object and the extent that the first reply lacks.
    pub(super) fn lacks(&self) -> Option<(&C, u64, u32)> {
        self.queue.front()?.lacks()
    }

    /// Brings the first bytes that the first reply lacks.
    pub(super) fn fill(&mut self, lent: Lent) {
        if let Some(first) = self.queue.front_mut() {
            first.held = Held::Lent(lent, 0);
        }
    }

    /// The bytes that the first reply lacks cannot be read: another reply takes its place. If the storage is away, all
    /// replies that lack bytes of it are refused, since each would wait as long, one after the other. False if it is
    /// too late for the first.
    pub(super) fn fail(&mut self, error: &Error) -> bool {
        let Some(first) = self.queue.front_mut().filter(|first| !first.is_started()) else { return false };
        let Some(failed) = first.content.take() else { return false };
        *first = refused(&failed, first, error);
        if matches!(error.kind, ErrorKind::Transient | ErrorKind::Busy | ErrorKind::Unreachable) {
            for outgoing in self.queue.iter_mut().filter(|outgoing| !outgoing.is_started()) {
                let lacks = outgoing.lacks().map(|(content, ..)| content);
                if let Some(content) = lacks.filter(|content| content.has_storage_of(&failed)) {
                    *outgoing = refused(content, outgoing, error);
                }
            }
        }
        true
    }

    /// The first memory that it keeps from others.
    pub(super) fn kept(&self) -> Option<&Lent> {
        self.queue.iter().find_map(|outgoing| match &outgoing.held {
            Held::Lent(lent, _) => Some(lent),
            _ => None,
        })
    }

    /// Gives the memory back.
    pub(super) fn let_go(&mut self) {
        for (number, outgoing) in self.queue.iter_mut().enumerate() {
            outgoing.let_go(number == 0);
        }
    }

    /// Sends as much as `stream` takes at once.
    pub(super) fn poll_send<S: AsyncWrite + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<Sent>> {
        let mut slices = Slices::new();
        for outgoing in &self.queue {
            if outgoing.lacks().is_some() || !outgoing.gather(&mut slices) {
                break;
            }
        }
        let bytes = ready!(Pin::new(stream).poll_write_vectored(context, slices.as_slice()))?;
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
