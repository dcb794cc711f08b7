//! The server: accepts clients, and ends.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::JoinSet;

use super::connection::{Connection, End};
use super::tree::Tree;
use crate::accepting::{Accepting, Client};
use crate::metrics::RequestTimes;
use crate::sending::WriteTimeout;
use crate::{Buckets, Limits, Listener};

/// Serves buckets as exports to clients.
#[derive(Debug)]
pub struct Server {
    tree: Arc<Tree>,
    buckets: Buckets,
    limits: Limits,
    requests: Option<Arc<RequestTimes>>,
}

impl Server {
    /// A server of `buckets`. Each is the export of its name.
    pub fn new(buckets: Buckets) -> Server {
        Server { tree: Arc::new(Tree::new(&buckets)), buckets, limits: Limits::default(), requests: None }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Server {
        Server { limits, ..self }
    }

    /// The same, which counts its calls in `requests`, which are of [`OPERATIONS`](super::OPERATIONS).
    #[must_use]
    pub fn with_requests(self, requests: impl Into<Option<Arc<RequestTimes>>>) -> Server {
        Server { requests: requests.into(), ..self }
    }

    /// Serves the clients of `listeners` until `stop`. Then it takes no more calls, and replies to those that it
    /// has. It ends after that, or after the time that the limits have for it. Called within a runtime with time
    /// and I/O.
    pub async fn serve(&self, listeners: Vec<Listener>, stop: impl Future<Output = ()>) {
        let mut accepting = Accepting::new(listeners, self.limits.connections);
        let (ending, ended) = watch::channel(false);
        let mut connections = JoinSet::new();
        let closing = self.buckets.clone().close_idle();
        tokio::pin!(stop, closing);
        loop {
            tokio::select! {
                () = &mut stop => break,
                () = &mut closing => {}
                client = accepting.next() => match client {
                    Ok(client) => {
                        connections.spawn(self.converse(client, ended.clone()));
                    }
                    Err(error) => {
                        tracing::warn!(target: "forerun::nfs", "a client cannot connect: {error}");
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        // The sockets go first, so that a new server may take their place.
        accepting.end().await;
        let _ = ending.send(true);
        let all = async { while connections.join_next().await.is_some() {} };
        if tokio::time::timeout(self.limits.drain, all).await.is_err() {
            tracing::warn!(target: "forerun::nfs", "clients that do not read their replies are cut off");
        }
        connections.shutdown().await;
    }

    /// Serves one client to its end.
    fn converse(
        &self,
        client: Client,
        mut ended: watch::Receiver<bool>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let Client { stream, peer, permit } = client;
        let stream = WriteTimeout::new(stream, self.limits.stall);
        let (tree, requests) = (Arc::clone(&self.tree), self.requests.clone());
        let connection = Connection::new(stream, peer, tree, self.limits.idle, requests);
        let stop = async move {
            let _ = ended.wait_for(|ended| *ended).await;
        };
        async move {
            match connection.serve(stop).await {
                End::Done | End::Gone => tracing::debug!(target: "forerun::nfs", "a client has left"),
                End::Idle => tracing::debug!(target: "forerun::nfs", "a client that rests is cut off"),
                End::Broken(broken) => {
                    tracing::warn!(target: "forerun::nfs", "a client is cut off: {broken}");
                }
                End::Cut => {
                    tracing::warn!(
                        target: "forerun::nfs",
                        "a client is cut off: the rest of a reply cannot be read"
                    );
                }
                End::Failed(error) => tracing::debug!(target: "forerun::nfs", "a client is gone: {error}"),
            }
            drop(permit);
        }
    }
}
