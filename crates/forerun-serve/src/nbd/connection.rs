//! A client in transmission: takes requests, and answers them in any order.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::BytesMut;
use forerun::Error;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};

use super::failure::report;
use super::open::{Lent, OpenExport};
use super::outbox::{Outbox, Outgoing};
use super::patience::Patience;
use super::protocol::{Broken, Command, Replies, Request, Requests, Session};
use super::work::{self, Finished, PIECE_BYTES_MAX, Piece};

/// Requests of a client that have no complete reply yet, at which no more are taken. QEMU has 16 at
/// most, and nbdcopy 64 a connection.
const REQUESTS_MAX: usize = 128;
/// Bytes that these have asked for, at which no more are taken: the longest read.
const BYTES_MAX: u64 = 32 << 20;
/// Room for requests that come together.
const INPUT_BYTES: usize = 64 << 10;
/// Extents in one reply to BLOCK_STATUS.
const EXTENTS_MAX: usize = 1024;
/// Why a connection has ended.
#[derive(Debug)]
pub(super) enum End {
    /// All that was asked for is answered, and the client or the server leaves.
    Done,
    /// The client hung up.
    Gone,
    Broken(Broken),
    /// The rest of a reply that was begun cannot be read.
    Cut,
    Failed(io::Error),
}

/// One client.
pub(super) struct Connection<S> {
    stream: S,
    export: Arc<OpenExport>,
    session: Session,
    replies: Replies,
    input: BytesMut,
    requests: Requests,
    /// Requests without a complete reply, and the bytes that they have asked for.
    request_count: usize,
    request_bytes: u64,
    work: FuturesUnordered<BoxFuture<'static, Finished>>,
    outbox: Outbox,
    /// The bytes that the first reply lacks.
    refill: Option<BoxFuture<'static, Result<Lent, Error>>>,
    patience: Patience,
    /// No more requests are taken.
    is_ending: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// A client whose first requests may be in `input`.
    pub(super) fn new(
        stream: S,
        export: Arc<OpenExport>,
        session: Session,
        input: BytesMut,
    ) -> Connection<S> {
        Connection {
            stream,
            export,
            session,
            replies: Replies::new(session),
            input,
            requests: Requests::default(),
            request_count: 0,
            request_bytes: 0,
            work: FuturesUnordered::new(),
            outbox: Outbox::default(),
            refill: None,
            patience: Patience::new(),
            is_ending: false,
        }
    }

    /// Serves the client until it leaves, or until `stop`: then no more requests are taken.
    pub(super) async fn serve(mut self, stop: impl Future<Output = ()>) -> End {
        let mut stop = pin!(stop);
        std::future::poll_fn(|context| {
            if !self.is_ending {
                self.is_ending = stop.as_mut().poll(context).is_ready();
            }
            match self.poll(context) {
                Err(end) => Poll::Ready(end),
                Ok(()) if self.is_ending && self.request_count == 0 => Poll::Ready(End::Done),
                Ok(()) => Poll::Pending,
            }
        })
        .await
    }

    /// Does all that can be done now.
    fn poll(&mut self, context: &mut Context<'_>) -> Result<(), End> {
        loop {
            self.receive(context)?;
            while let Poll::Ready(Some(finished)) = self.work.poll_next_unpin(context) {
                self.finish(finished);
            }
            if !self.send(context)? {
                return Ok(());
            }
        }
    }

    /// Takes all requests that have come and that there is room for.
    fn receive(&mut self, context: &mut Context<'_>) -> Result<(), End> {
        while !self.is_ending && self.request_count < REQUESTS_MAX && self.request_bytes < BYTES_MAX {
            match self.requests.next(&mut self.input).map_err(End::Broken)? {
                Some(request) => {
                    self.start(request, context);
                    continue;
                }
                None => self.input.reserve(INPUT_BYTES),
            }
            match pin!(self.stream.read_buf(&mut self.input)).poll(context) {
                Poll::Ready(Ok(0)) => return Err(End::Gone),
                Poll::Ready(Ok(_)) => {}
                Poll::Ready(Err(error)) => return Err(End::Failed(error)),
                Poll::Pending => break,
            }
        }
        Ok(())
    }

    fn start(&mut self, request: Request, context: &mut Context<'_>) {
        self.request_count += 1;
        let cookie = request.cookie;
        let head = match request.command(self.export.shown.size, self.session) {
            Err(refusal) => self.replies.error(cookie, refusal.errno, refusal.message),
            Ok(Command::Read { offset, len, is_whole }) => {
                return self.read(cookie, offset, len, is_whole, context);
            }
            Ok(Command::BlockStatus { offset, len, is_one }) => {
                let count_max = if is_one { 1 } else { EXTENTS_MAX };
                let export = Arc::clone(&self.export);
                return self.work.push(Box::pin(work::block_status(export, cookie, offset, len, count_max)));
            }
            Ok(Command::Cache { offset, len }) => {
                self.export.will_need(offset, len);
                self.replies.done(cookie)
            }
            Ok(Command::Flush) => self.replies.done(cookie),
            Ok(Command::Disconnect) => {
                self.request_count -= 1;
                self.is_ending = true;
                return;
            }
        };
        self.outbox.push(Outgoing::head(cookie, head, true, 0));
    }

    fn read(&mut self, cookie: u64, offset: u64, len: u32, is_whole: bool, context: &mut Context<'_>) {
        self.request_bytes += u64::from(len);
        let is_whole = is_whole || !self.session.has_structured_replies;
        for piece in Piece::cut(cookie, offset, len, is_whole) {
            let mut reading: BoxFuture<'static, Finished> = Box::pin(piece.read(Arc::clone(&self.export)));
            // Bytes in memory are answered at once.
            match reading.as_mut().poll(context) {
                Poll::Ready(finished) => self.finish(finished),
                Poll::Pending => self.work.push(reading),
            }
        }
    }

    fn finish(&mut self, finished: Finished) {
        self.outbox.push(finished.into_reply(self.replies, &self.export.shown.name));
    }

    /// Sends replies. False if the rest has to wait.
    fn send(&mut self, context: &mut Context<'_>) -> Result<bool, End> {
        if self.outbox.is_empty() {
            return Ok(false);
        }
        let sent = match self.refill(context)? {
            Poll::Ready(()) => self.outbox.poll_send(&mut self.stream, context),
            Poll::Pending => Poll::Pending,
        };
        match sent {
            Poll::Ready(sent) => {
                let sent = sent.map_err(End::Failed)?;
                self.request_count -= sent.requests;
                self.request_bytes -= sent.weight;
                self.patience.renew();
                Ok(true)
            }
            Poll::Pending => {
                // Only memory that is kept makes it of account how long this lasts.
                if self.outbox.has_leases() && self.patience.is_over(context) {
                    self.outbox.let_go();
                }
                Ok(false)
            }
        }
    }

    /// Reads the bytes that the first reply lacks.
    fn refill(&mut self, context: &mut Context<'_>) -> Result<Poll<()>, End> {
        let Some((offset, len)) = self.outbox.lacks() else { return Ok(Poll::Ready(())) };
        let export = &self.export;
        let refill = self.refill.get_or_insert_with(|| {
            let (export, len) = (Arc::clone(export), len.min(u64::from(PIECE_BYTES_MAX)) as u32);
            Box::pin(async move { export.read(offset, len).await })
        });
        let Poll::Ready(result) = refill.as_mut().poll(context) else { return Ok(Poll::Pending) };
        self.refill = None;
        match result {
            Ok(lent) => self.outbox.fill(lent),
            Err(error) => {
                let errno = report(&export.shown.name, &error);
                let (replies, message) = (self.replies, error.to_string());
                let other = |outgoing: &Outgoing, offset| {
                    replies.error_at(outgoing.cookie, errno, &message, offset, outgoing.is_last)
                };
                if !self.outbox.fail(other) {
                    return Err(End::Cut);
                }
            }
        }
        Ok(Poll::Ready(()))
    }
}
