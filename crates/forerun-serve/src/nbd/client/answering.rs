//! Requests of a client, from their start to their reply.

use std::future::Future;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use forerun::Zeroing;
use futures::FutureExt;
use tokio::io::{AsyncRead, AsyncWrite};

use super::super::protocol::{Command, Refusal, Request};
use super::connection::Connection;
use super::work::{self, Ended, Finished, Piece};
use crate::sending::Outgoing;

/// Extents in one reply to BLOCK_STATUS.
const EXTENTS_MAX: usize = 1024;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// Starts a request. The bytes of a write come after it.
    pub(super) fn start(&mut self, request: Request, context: &mut Context<'_>) {
        self.request_count += 1;
        self.quickness.ask(Instant::now);
        let (cookie, export) = (request.cookie, Arc::clone(&self.export));
        let command = request.command(&export.shown, self.session);
        self.counting.begin(cookie, command.as_ref().ok());
        match command {
            Err(refusal) if self.requests.is_in_payload() => {
                self.requests.drop_payload();
                self.writes.refuse(cookie, refusal);
            }
            Err(refusal) => self.refuse(cookie, refusal),
            Ok(Command::Read { offset, len, is_whole }) => self.read(cookie, offset, len, is_whole, context),
            Ok(Command::Write { len, is_durable, .. }) => {
                self.request_bytes += u64::from(len);
                self.writes.begin(cookie, len, is_durable);
            }
            Ok(Command::Trim { offset, len, is_durable }) => {
                let (owner, request) = (Arc::clone(&export), (cookie, 0, is_durable));
                let trim = async move { export.trim(offset, len).await };
                self.run(work::change(owner, request, trim), context);
            }
            Ok(Command::WriteZeroes { offset, len, is_durable, has_space, is_fast }) => {
                let (owner, request) = (Arc::clone(&export), (cookie, 0, is_durable));
                let zeroing = Zeroing { has_space, is_fast };
                let zeroes = async move { export.write_zeroes(offset, len, zeroing).await };
                self.run(work::change(owner, request, zeroes), context);
            }
            Ok(Command::Flush) => {
                self.run(work::change(export, (cookie, 0, true), async { Ok(()) }), context);
            }
            Ok(Command::BlockStatus { offset, len, is_one }) => {
                let count_max = if is_one { 1 } else { EXTENTS_MAX };
                self.run(work::block_status(export, cookie, offset, len, count_max), context);
            }
            Ok(Command::Cache { offset, len }) => {
                let (owner, request) = (Arc::clone(&export), (cookie, 0, false));
                let advice = async move { export.will_need(offset, len).await };
                self.run(work::change(owner, request, advice), context);
            }
            Ok(Command::Disconnect) => {
                self.request_count -= 1;
                self.is_ending = true;
            }
        }
    }

    /// Takes bytes of the write that came last.
    pub(super) fn take_part(&mut self, offset: u64, bytes: Bytes, is_last: bool) {
        if let Some((cookie, refusal)) = self.writes.take_refused() {
            return self.refuse(cookie, refusal);
        }
        let (export, len) = (Arc::clone(&self.export), bytes.len() as u32);
        self.writes.add_part(offset, bytes, is_last, async move { export.room(len).await }.boxed());
    }

    /// Writes the part that waits for room. Pending if it has to wait longer.
    pub(super) fn write_part(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match self.writes.poll_part(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => Poll::Ready(()),
            Poll::Ready(Some(part)) => {
                self.run(work::write(Arc::clone(&self.export), part), context);
                Poll::Ready(())
            }
        }
    }

    fn read(&mut self, cookie: u64, offset: u64, len: u32, is_whole: bool, context: &mut Context<'_>) {
        self.request_bytes += u64::from(len);
        let is_whole = is_whole || !self.session.has_structured_replies;
        for piece in Piece::cut(cookie, offset, len, is_whole) {
            self.run(piece.read(Arc::clone(&self.export)), context);
        }
    }

    /// Begins `work`. Bytes in memory are answered at once.
    fn run(&mut self, work: impl Future<Output = Ended> + Send + 'static, context: &mut Context<'_>) {
        let mut work = work.boxed();
        match work.as_mut().poll(context) {
            Poll::Ready(ended) => self.end(ended),
            Poll::Pending => self.work.push(work),
        }
    }

    /// A wait has ended.
    pub(super) fn end(&mut self, ended: Ended) {
        let finished = match ended {
            Ended::Reply(finished) => finished,
            Ended::Part(number, result) => {
                let Some(write) = self.writes.end_part(number, result) else { return };
                if write.is_durable && write.result.is_ok() {
                    let (export, request) = (Arc::clone(&self.export), (write.cookie, write.len, true));
                    return self.work.push(work::change(export, request, async { Ok(()) }).boxed());
                }
                Finished::Done(write.cookie, write.len, write.result)
            }
        };
        let (cookie, is_ok) = finished.outcome();
        let reply = finished.into_reply(self.replies, &self.export);
        self.counting.reply(cookie, reply.is_last(), is_ok);
        self.sender.push(reply);
    }

    fn refuse(&mut self, cookie: u64, refusal: Refusal) {
        self.counting.reply(cookie, true, false);
        self.reply(self.replies.error(cookie, refusal.errno, refusal.message));
    }

    fn reply(&mut self, head: Vec<u8>) {
        self.sender.push(Outgoing::head(head, true, 0));
    }
}
