//! A client in transmission: takes requests, and answers them in any order.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use bytes::BytesMut;
use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use super::super::open::OpenExport;
use super::super::protocol::{Broken, Incoming, Replies, Requests, Session};
use super::chunk::Chunk;
use super::counting::Counting;
use super::payloads::Writes;
use super::quick_client::QuickClient;
use super::work::Ended;
use crate::metrics::RequestTimes;
use crate::sending::{Halt, Sender};

/// Requests of a client that have no complete reply yet, at which no more are taken. QEMU has 16 at
/// most, and nbdcopy 64 a connection.
const REQUESTS_MAX: usize = 128;
/// Bytes that these have asked for, at which no more are taken: the longest read.
const BYTES_MAX: u64 = 32 << 20;
/// Room for requests that come together.
const INPUT_BYTES: usize = 64 << 10;

/// How long a client may take to take the end of TLS.
const GOODBYE_TIME_MAX: Duration = Duration::from_secs(1);

/// Why a connection has ended.
#[derive(Debug)]
pub(in super::super) enum End {
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
pub(in super::super) struct Connection<S> {
    stream: S,
    pub(super) export: Arc<OpenExport>,
    pub(super) session: Session,
    pub(super) replies: Replies,
    input: BytesMut,
    pub(super) requests: Requests,
    /// Requests without a complete reply, and the bytes that they have asked for.
    pub(super) request_count: usize,
    pub(super) request_bytes: u64,
    pub(super) writes: Writes,
    pub(super) work: FuturesUnordered<BoxFuture<'static, Ended>>,
    pub(super) counting: Counting,
    pub(super) quickness: QuickClient,
    pub(super) sender: Sender<Chunk>,
    /// No more requests are taken.
    pub(super) is_ending: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// A client whose first requests may be in `input`. They are counted in `requests`.
    pub(in super::super) fn new(
        stream: S,
        export: Arc<OpenExport>,
        session: Session,
        input: BytesMut,
        requests: Option<Arc<RequestTimes>>,
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
            writes: Writes::default(),
            work: FuturesUnordered::new(),
            counting: Counting::new(requests),
            quickness: QuickClient::default(),
            sender: Sender::new(),
            is_ending: false,
        }
    }

    /// Serves the client until it leaves, or until `stop`: then no more requests are taken.
    pub(in super::super) async fn serve(mut self, stop: impl Future<Output = ()>) -> End {
        let mut stop = pin!(stop);
        let end = std::future::poll_fn(|context| {
            if !self.is_ending {
                self.is_ending = stop.as_mut().poll(context).is_ready();
            }
            match self.poll(context) {
                Err(end) => Poll::Ready(end),
                Ok(()) if self.is_ending && self.request_count == 0 && self.sender.is_flushed() => {
                    Poll::Ready(End::Done)
                }
                Ok(()) => Poll::Pending,
            }
        })
        .await;
        if let End::Done = end {
            // The client can tell the end from one that somebody between has made.
            let _ = tokio::time::timeout(GOODBYE_TIME_MAX, self.stream.shutdown()).await;
        }
        end
    }

    /// Does all that can be done now.
    fn poll(&mut self, context: &mut Context<'_>) -> Result<(), End> {
        loop {
            self.receive(context)?;
            while let Poll::Ready(Some(ended)) = self.work.poll_next_unpin(context) {
                self.end(ended);
            }
            if !self.send(context)? {
                if !self.is_ending && self.quickness.expects_request(Instant::now) {
                    // Everything else of this thread has its turn before the next look.
                    let _ = pin!(tokio::task::yield_now()).poll(context);
                }
                return Ok(());
            }
        }
    }

    /// Takes all requests that have come and that there is room for.
    fn receive(&mut self, context: &mut Context<'_>) -> Result<(), End> {
        while self.is_receiving() && self.write_part(context).is_ready() {
            match self.requests.next(&mut self.input).map_err(End::Broken)? {
                Some(Incoming::Request(request)) => {
                    self.start(request, context);
                    continue;
                }
                Some(Incoming::Part { offset, bytes, is_last }) => {
                    self.take_part(offset, bytes, is_last);
                    continue;
                }
                None => {
                    let needed = self.requests.needed_bytes().saturating_sub(self.input.len());
                    self.input.reserve(needed.max(INPUT_BYTES));
                }
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

    /// A write that has begun is taken to its end.
    fn is_receiving(&self) -> bool {
        let has_room = self.request_count < REQUESTS_MAX && self.request_bytes < BYTES_MAX;
        self.requests.is_in_payload() || self.writes.is_waiting() || !self.is_ending && has_room
    }

    /// Sends replies. False if the rest has to wait.
    fn send(&mut self, context: &mut Context<'_>) -> Result<bool, End> {
        let Some(sent) = self.sender.send(&mut self.stream, context)? else { return Ok(false) };
        self.request_count -= sent.requests;
        self.request_bytes -= sent.weight;
        if self.request_count == 0 {
            self.quickness.answer(Instant::now());
        }
        Ok(true)
    }
}

impl From<Halt> for End {
    fn from(halt: Halt) -> End {
        match halt {
            Halt::Cut => End::Cut,
            Halt::Failed(error) => End::Failed(error),
        }
    }
}
