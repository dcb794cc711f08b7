//! The server: accepts clients, and ends.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::client::{Connection, End, Greeted, greet};
use super::exports::Exports;
use crate::Tls;
use crate::accepting::Accepting;
use crate::listener::{Listener, Stream};
use crate::metrics::RequestTimes;

/// Clients at once, handshakes included.
const CONNECTIONS_MAX: usize = 256;
/// How long a handshake may take in all; a store that is slow to say how large an object is included.
const HANDSHAKE_TIME_MAX: Duration = Duration::from_secs(60);
/// How long clients may take to read their last replies when the server ends.
const END_TIME_MAX: Duration = Duration::from_secs(10);

/// Serves exports to clients.
#[derive(Clone, Debug)]
pub struct Server {
    exports: Arc<Exports>,
    tls: Option<Arc<Tls>>,
    handshake_time_max: Duration,
    requests: Option<Arc<RequestTimes>>,
}

impl Server {
    /// A server of `exports`.
    pub fn new(exports: Exports) -> Server {
        let (exports, handshake_time_max) = (Arc::new(exports), HANDSHAKE_TIME_MAX);
        Server { exports, tls: None, handshake_time_max, requests: None }
    }

    /// The same, which serves only clients that begin TLS.
    pub fn with_tls(self, tls: Tls) -> Server {
        Server { tls: Some(Arc::new(tls)), ..self }
    }

    /// The same, which counts its requests in `requests`, which are of [`OPERATIONS`](super::OPERATIONS).
    pub fn with_requests(self, requests: impl Into<Option<Arc<RequestTimes>>>) -> Server {
        Server { requests: requests.into(), ..self }
    }

    /// The same, with another limit on the time of a handshake than a minute.
    pub fn with_handshake_time_max(self, handshake_time_max: Duration) -> Server {
        Server { handshake_time_max, ..self }
    }

    /// Serves the clients of `listeners` until `stop`. Then it answers the requests that it has, takes no
    /// more, and closes the connections. A client that does not read its replies holds that up for
    /// 10 s at most. At last all writes are flushed. Called within a runtime with time and I/O.
    ///
    /// # Errors
    /// If the writes cannot be flushed.
    pub async fn serve(
        &self,
        listeners: Vec<Listener>,
        stop: impl Future<Output = ()>,
    ) -> forerun::Result<()> {
        let (ending, ended) = watch::channel(false);
        let mut connections = JoinSet::new();
        // One too many is told so.
        let mut accepting = Accepting::new(listeners, usize::MAX);
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                client = accepting.next() => {
                    let stream = match client {
                        Ok(client) => client.stream,
                        Err(error) => {
                            tracing::warn!(target: "forerun::nbd", "a client cannot connect: {error}");
                            continue;
                        }
                    };
                    if connections.len() >= CONNECTIONS_MAX {
                        tracing::warn!(
                            target: "forerun::nbd",
                            "a client is turned away: there are {CONNECTIONS_MAX} connections already"
                        );
                        continue;
                    }
                    let (server, ended) = (self.clone(), ended.clone());
                    connections.spawn(server.converse(stream, ended));
                }
                Some(_) = connections.join_next() => {}
            }
        }
        // The sockets go first, so that a new server may take their place.
        accepting.end().await;
        let _ = ending.send(true);
        let all = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(END_TIME_MAX, all).await.is_err() {
            tracing::warn!(target: "forerun::nbd", "clients that do not read their replies are cut off");
        }
        connections.shutdown().await;
        self.exports.flush().await
    }
}

impl Server {
    /// Serves one client to its end.
    async fn converse(self, stream: Box<dyn Stream>, mut ended: watch::Receiver<bool>) {
        let (time_max, tls) = (self.handshake_time_max, self.tls.as_deref());
        let greeted = tokio::select! {
            greeted = tokio::time::timeout(time_max, greet(stream, &self.exports, tls)) => greeted,
            _ = ended.wait_for(|ended| *ended) => return,
        };
        let (stream, export, session, input) = match greeted {
            Ok(Ok(Greeted::Begun { stream, export, session, input })) => (stream, export, session, input),
            Ok(Ok(Greeted::Left)) => return,
            Ok(Ok(Greeted::Broken(broken))) => {
                return tracing::warn!(target: "forerun::nbd", "a client is cut off: {broken}");
            }
            Ok(Err(error)) => {
                return tracing::debug!(target: "forerun::nbd", "a client is gone: {error}");
            }
            Err(_) => {
                return tracing::warn!(
                    target: "forerun::nbd",
                    "a client is cut off: it chose no export within {} s", time_max.as_secs_f32()
                );
            }
        };
        let name = export.shown.name.clone();
        tracing::info!(target: "forerun::nbd", "a client reads the export {name:?}");
        let stop = async move {
            let _ = ended.wait_for(|ended| *ended).await;
        };
        let requests = self.requests.clone();
        match Connection::new(stream, export, session, input, requests).serve(stop).await {
            End::Done => tracing::info!(target: "forerun::nbd", "a client has left the export {name:?}"),
            End::Gone => tracing::info!(target: "forerun::nbd", "a client of the export {name:?} hung up"),
            End::Broken(broken) => {
                tracing::warn!(target: "forerun::nbd", "a client of the export {name:?} is cut off: {broken}");
            }
            End::Cut => tracing::warn!(
                target: "forerun::nbd",
                "a client of the export {name:?} is cut off: the rest of a reply cannot be read"
            ),
            End::Failed(error) => {
                tracing::info!(target: "forerun::nbd", "a client of the export {name:?} is gone: {error}");
            }
        }
    }
}
