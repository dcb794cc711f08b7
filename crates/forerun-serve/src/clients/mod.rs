//! Clients of HTTP: how they are accepted, limited and ended. Each server of HTTP has its own answers.

mod impatient;

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use crate::listener::{Listener, Stream};
use impatient::Impatient;

/// Between tries where the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// The most bytes of the head of a request. The server buffers at most this much of an answer before it reads
/// more of it.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Requests at once on a connection of HTTP/2.
const STREAMS_MAX: u32 = 128;

/// Limits on the clients of a server.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// Clients at once. Others wait until one has left.
    pub connections: usize,
    /// How long a client may take for the head of a request, and rest before it.
    pub idle: Duration,
    /// How long a client may take no bytes of an answer.
    pub stall: Duration,
    /// How long answers may go on when the server ends.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        let seconds = Duration::from_secs;
        Limits { connections: 4096, idle: seconds(60), stall: seconds(60), drain: seconds(30) }
    }
}

impl Limits {
    /// The same for so many clients.
    #[must_use]
    pub fn with_connections(self, connections: usize) -> Limits {
        Limits { connections, ..self }
    }

    /// The same with this time for heads and rests.
    #[must_use]
    pub fn with_idle(self, idle: Duration) -> Limits {
        Limits { idle, ..self }
    }

    /// The same with this time without progress.
    #[must_use]
    pub fn with_stall(self, stall: Duration) -> Limits {
        Limits { stall, ..self }
    }

    /// The same with this time for the end.
    #[must_use]
    pub fn with_drain(self, drain: Duration) -> Limits {
        Limits { drain, ..self }
    }
}

impl Limits {
    /// Serves the clients of `listeners` with `answer` until `stop`. Then it takes no more requests, and ends once
    /// the answers are complete, or after the time that there is for that. Called within a runtime with time and
    /// I/O.
    pub(crate) async fn serve<F, B>(
        self,
        listeners: Vec<Listener>,
        stop: impl Future<Output = ()>,
        answer: impl Fn(Request<Incoming>, Option<SocketAddr>) -> F + Clone + Send + 'static,
    ) where
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        let room = Arc::new(Semaphore::new(self.connections.min(Semaphore::MAX_PERMITS)));
        let (accepted, mut clients) = tokio::sync::mpsc::channel(1);
        let mut accepting = JoinSet::new();
        for listener in listeners {
            accepting.spawn(accept(listener, Arc::clone(&room), accepted.clone()));
        }
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                Some(client) = clients.recv() => {
                    connections.spawn(self.converse(client, graceful.watcher(), answer.clone()));
                }
                Some(_) = connections.join_next() => {}
            }
        }
        // The sockets go first, so that a new server may take their place.
        accepting.shutdown().await;
        if tokio::time::timeout(self.drain, graceful.shutdown()).await.is_err() {
            tracing::warn!(target: "forerun::http", "clients that do not read their answers are cut off");
        }
    }

    /// Serves one client to its end.
    fn converse<F, B>(
        self,
        client: Client,
        watcher: Watcher,
        answer: impl Fn(Request<Incoming>, Option<SocketAddr>) -> F + Clone + Send + 'static,
    ) -> impl Future<Output = ()> + Send + 'static
    where
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        let Client { stream, peer, permit } = client;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        let http1 = &mut builder.http1();
        http1.timer(TokioTimer::new()).header_read_timeout(self.idle).max_buf_size(HEAD_BYTES_MAX);
        let http2 = &mut builder.http2();
        http2.timer(TokioTimer::new()).max_header_list_size(HEAD_BYTES_MAX as u32);
        http2.max_concurrent_streams(STREAMS_MAX).max_send_buf_size(HEAD_BYTES_MAX);
        http2.keep_alive_interval(self.idle).keep_alive_timeout(self.idle);
        let io = TokioIo::new(Impatient::new(stream, self.stall));
        let answer = service_fn(move |request| {
            let answer = answer(request, peer);
            async move { Ok::<_, Infallible>(answer.await) }
        });
        let connection = watcher.watch(builder.serve_connection(io, answer).into_owned());
        async move {
            if let Err(error) = connection.await {
                tracing::debug!(target: "forerun::http", "a client is gone: {error}");
            }
            drop(permit);
        }
    }
}

/// A client that has connected.
struct Client {
    stream: Box<dyn Stream>,
    peer: Option<SocketAddr>,
    permit: OwnedSemaphorePermit,
}

/// Accepts clients for ever, as many at once as there is room for.
async fn accept(listener: Listener, room: Arc<Semaphore>, accepted: tokio::sync::mpsc::Sender<Client>) {
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                if accepted.send(Client { stream, peer, permit }).await.is_err() {
                    return;
                }
            }
            // Too many open files, say: others may close some.
            Err(error) => {
                tracing::warn!(target: "forerun::http", "a client cannot connect: {error}");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
