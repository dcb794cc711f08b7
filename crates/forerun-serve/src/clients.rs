//! Clients of HTTP: how they are served and ended. Each server of HTTP has its own answers.

use std::convert::Infallible;
use std::error::Error;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;

use hyper::body::{Body, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::task::JoinSet;

use crate::accepting::{Accepting, Client};
use crate::beginning::Beginning;
use crate::sending::{Untaken, WriteTimeout};
use crate::{Limits, Listener, Tls};

/// The most bytes of the head of a request. The server buffers at most this much of an answer before it reads
/// more of it.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Requests at once on a connection of HTTP/2.
const STREAMS_MAX: u32 = 128;

impl Limits {
    /// Serves the clients of `listeners` with `answer` until `stop`, over TLS alone if there is `tls`. Then it takes
    /// no more requests, and ends once the answers are complete, or after the time that there is for that. Called
    /// within a runtime with time and I/O.
    pub(crate) async fn serve<F, B>(
        self,
        listeners: Vec<Listener>,
        tls: Option<Tls>,
        stop: impl Future<Output = ()>,
        answer: impl Fn(Request<Incoming>, Option<SocketAddr>) -> F + Clone + Send + 'static,
    ) where
        F: Future<Output = Response<B>> + Send + 'static,
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
    {
        let mut accepting = Accepting::new(listeners, self.connections);
        let graceful = GracefulShutdown::new();
        let (mut beginning, mut connections) = (JoinSet::new(), JoinSet::new());
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                client = accepting.next() => match client {
                    Ok(client) => match &tls {
                        None => {
                            connections.spawn(self.converse(client, graceful.watcher(), answer.clone()));
                        }
                        Some(tls) => {
                            beginning.spawn(self.begin(client, tls.clone()));
                        }
                    },
                    Err(error) => {
                        tracing::warn!(target: "forerun::http", "a client cannot connect: {error}");
                    }
                },
                Some(begun) = beginning.join_next() => {
                    if let Ok(Some(client)) = begun {
                        connections.spawn(self.converse(client, graceful.watcher(), answer.clone()));
                    }
                }
                Some(_) = connections.join_next() => {}
            }
        }
        // The sockets go first, so that a new server may take their place.
        accepting.end().await;
        drop(beginning);
        if tokio::time::timeout(self.drain, graceful.shutdown()).await.is_err() {
            tracing::warn!(target: "forerun::http", "clients that do not read their answers are cut off");
        }
    }

    /// Begins TLS with `client`. The result is `None` if the client does not agree in time.
    async fn begin(self, client: Client, tls: Tls) -> Option<Client> {
        let reason = match tokio::time::timeout(self.idle, tls.accept(client.stream)).await {
            Ok(Ok(stream)) => return Some(Client { stream, ..client }),
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("it took longer than {} s", self.idle.as_secs_f32()),
        };
        tracing::debug!(target: "forerun::http", "a client did not begin TLS: {reason}");
        None
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
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
    {
        let Client { stream, peer, permit } = client;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        let http1 = &mut builder.http1();
        http1.timer(TokioTimer::new()).header_read_timeout(self.idle).max_buf_size(HEAD_BYTES_MAX);
        let http2 = &mut builder.http2();
        http2.timer(TokioTimer::new()).max_header_list_size(HEAD_BYTES_MAX as u32);
        http2.max_concurrent_streams(STREAMS_MAX).max_send_buf_size(HEAD_BYTES_MAX);
        http2.keep_alive_interval(self.idle).keep_alive_timeout(self.idle);
        // The bytes of answers are counted apart. Heads, and bytes that TLS has encrypted, wait in the stream alone.
        let io = TokioIo::new(Beginning::new(WriteTimeout::new(stream, self.stall), self.idle));
        let untaken = Arc::new(Untaken::default());
        let of_answers = Arc::clone(&untaken);
        let answer = service_fn(move |request| {
            // Many connections only send bytes: the room for making an answer is not theirs to keep.
            let (answer, untaken) = (Box::pin(answer(request, peer)), Arc::clone(&of_answers));
            async move { Ok::<_, Infallible>(answer.await.map(|body| untaken.body(body))) }
        });
        let connection = watcher.watch(builder.serve_connection(io, answer).into_owned());
        async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(target: "forerun::http", "a client is gone: {error}");
                },
                () = untaken.stalled(self.stall) => {
                    tracing::debug!(target: "forerun::http", "a client that takes nothing is cut off");
                }
            }
            drop(permit);
        }
    }
}
