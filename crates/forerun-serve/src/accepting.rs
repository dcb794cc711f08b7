//! Clients that connect to a server.

use std::future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinSet;

use crate::listener::{Listener, Stream};

/// Between tries where the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A client that has connected.
pub(crate) struct Client {
    pub(crate) stream: Box<dyn Stream>,
    pub(crate) peer: Option<SocketAddr>,
    /// Its place among the clients that are served at once.
    pub(crate) permit: OwnedSemaphorePermit,
}

/// Accepts the clients of all sockets of a server.
pub(crate) struct Accepting {
    tasks: JoinSet<()>,
    accepted: mpsc::Receiver<io::Result<Client>>,
}

impl Accepting {
    /// Accepts the clients of `listeners`, at most `connections_max` at once. Others wait until one has left.
    pub(crate) fn new(listeners: Vec<Listener>, connections_max: usize) -> Accepting {
        let room = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
        let (sender, accepted) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        for listener in listeners {
            tasks.spawn(accept(listener, Arc::clone(&room), sender.clone()));
        }
        Accepting { tasks, accepted }
    }

    /// The next client. It may be dropped and called again.
    ///
    /// # Errors
    /// If the system has no room for a client. Others may find some.
    pub(crate) async fn next(&mut self) -> io::Result<Client> {
        match self.accepted.recv().await {
            Some(client) => client,
            // There are no sockets.
            None => future::pending().await,
        }
    }

    /// Closes the sockets.
    pub(crate) async fn end(mut self) {
        self.tasks.shutdown().await;
    }
}

/// Accepts clients for ever, as many at once as there is room for.
async fn accept(listener: Listener, room: Arc<Semaphore>, accepted: mpsc::Sender<io::Result<Client>>) {
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let client = listener.accept().await.map(|(stream, peer)| Client { stream, peer, permit });
        let has_failed = client.is_err();
        if accepted.send(client).await.is_err() {
            return;
        }
        // Too many open files, say: others may close some.
        if has_failed {
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }
}
