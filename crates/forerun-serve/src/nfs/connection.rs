//! One client: takes calls, and answers them in any order.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::BytesMut;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use futures::{FutureExt, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use tokio::time::{Instant, Sleep};

use super::answer::answer;
use super::operations::place_of;
use super::protocol::{Broken, Calls, Incoming, RECORD_BYTES_MAX};
use super::tree::{FileBytes, Tree};
use crate::metrics::RequestTimes;
use crate::sending::{Halt, Outgoing, Sender};

/// Calls of a client that have no complete reply yet, at which no more are taken. Linux reads ahead in 16 at
/// once, and more of them wait in its socket.
const CALLS_MAX: usize = 128;
/// Bytes that these have asked for, at which no more are taken: 32 of the longest reads.
const BYTES_MAX: u64 = 32 << 20;

/// Why a connection has ended.
#[derive(Debug)]
pub(super) enum End {
    /// All calls are answered, and the server ends.
    Done,
    /// The client hung up.
    Gone,
    /// The client has not called for too long. It connects again when it wants something.
    Idle,
    Broken(Broken),
    /// The rest of a reply that was begun cannot be read.
    Cut,
    Failed(io::Error),
}

/// One client.
pub(super) struct Connection<S> {
    stream: S,
    tree: Arc<Tree>,
    requests: Option<Arc<RequestTimes>>,
    peer: Option<SocketAddr>,
    input: BytesMut,
    calls: Calls,
    /// Calls without a complete reply, and the bytes that they have asked for.
    call_count: usize,
    call_bytes: u64,
    work: FuturesUnordered<BoxFuture<'static, Outgoing<FileBytes>>>,
    sender: Sender<FileBytes>,
    idle: Idle,
    /// No more calls are taken.
    is_ending: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// A client that may rest for `idle` between calls, which are counted in `requests`. Called within a runtime.
    pub(super) fn new(
        stream: S,
        peer: Option<SocketAddr>,
        tree: Arc<Tree>,
        idle: Duration,
        requests: Option<Arc<RequestTimes>>,
    ) -> Connection<S> {
        Connection {
            stream,
            tree,
            requests,
            peer,
            input: BytesMut::new(),
            calls: Calls::default(),
            call_count: 0,
            call_bytes: 0,
            work: FuturesUnordered::new(),
            sender: Sender::new(),
            idle: Idle::new(idle),
            is_ending: false,
        }
    }

    /// Serves the client until it leaves, or until `stop`: then no more calls are taken.
    pub(super) async fn serve(mut self, stop: impl Future<Output = ()>) -> End {
        let mut stop = pin!(stop);
        std::future::poll_fn(|context| {
            if !self.is_ending {
                self.is_ending = stop.as_mut().poll(context).is_ready();
            }
            match self.poll(context) {
                Err(end) => Poll::Ready(end),
                Ok(()) if self.is_ending && self.call_count == 0 && self.sender.is_flushed() => {
                    Poll::Ready(End::Done)
                }
                Ok(()) if self.call_count == 0 && self.idle.is_over(context) => Poll::Ready(End::Idle),
                Ok(()) => Poll::Pending,
            }
        })
        .await
    }

    /// Does all that can be done now.
    fn poll(&mut self, context: &mut Context<'_>) -> Result<(), End> {
        loop {
            self.receive(context)?;
            while let Poll::Ready(Some(reply)) = self.work.poll_next_unpin(context) {
                self.sender.push(reply);
            }
            let Some(sent) = self.sender.send(&mut self.stream, context)? else { return Ok(()) };
            self.call_count -= sent.requests;
            self.call_bytes -= sent.weight;
            self.idle.renew();
        }
    }

    /// Takes all calls that have come and that there is room for.
    fn receive(&mut self, context: &mut Context<'_>) -> Result<(), End> {
        while !self.is_ending && self.call_count < CALLS_MAX && self.call_bytes < BYTES_MAX {
            match self.calls.next(&mut self.input).map_err(End::Broken)? {
                Some(incoming) => {
                    self.start(incoming, context);
                    continue;
                }
                None => self.input.reserve(RECORD_BYTES_MAX),
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

    /// Begins to answer a call. One that needs nothing of the storage is answered at once.
    fn start(&mut self, incoming: Incoming, context: &mut Context<'_>) {
        self.idle.renew();
        self.call_count += 1;
        let call = match incoming {
            Incoming::Call(call) => call,
            Incoming::Refused(reply) => return self.sender.push(Outgoing::head(reply, true, 0)),
        };
        self.call_bytes += u64::from(call.operation.weight());
        let place = place_of(&call.operation);
        let counted = self.requests.clone().map(|requests| (requests.begin(place), requests));
        let answer = answer(Arc::clone(&self.tree), self.peer, call);
        let mut work = async move {
            let (reply, is_ok) = answer.await;
            if let Some((begun, requests)) = counted {
                requests.end(begun, is_ok);
            }
            reply
        }
        .boxed();
        match work.as_mut().poll(context) {
            Poll::Ready(reply) => self.sender.push(reply),
            Poll::Pending => self.work.push(work),
        }
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

/// How long a client has rested.
struct Idle {
    time_max: Duration,
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Idle {
    fn new(time_max: Duration) -> Idle {
        Idle { time_max, since: Instant::now(), timer: Box::pin(tokio::time::sleep(time_max)) }
    }

    /// The client does something. The timer is set anew when it ends, and not for every call.
    fn renew(&mut self) {
        self.since = Instant::now();
    }

    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        while self.timer.as_mut().poll(context).is_ready() {
            if self.since.elapsed() >= self.time_max {
                return true;
            }
            self.timer.as_mut().reset(self.since + self.time_max);
        }
        false
    }
}
