//! The server: accepts clients, and ends.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

use super::access::{Accessed, Counted};
use super::connection::Impatient;
use super::log::{AccessLog, Record};
use super::{Answer, Buckets, Credentials, plain, s3};
use crate::listener::{Listener, Stream};

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

/// Serves buckets to clients.
#[derive(Debug)]
pub struct Server {
    service: Arc<Service>,
    limits: Limits,
}

#[derive(Debug)]
struct Service {
    buckets: Arc<Buckets>,
    credentials: Arc<Credentials>,
    s3: s3s::service::S3Service,
    log: Option<Arc<AccessLog>>,
}

impl Server {
    /// A server of `buckets` for those who have `credentials`.
    pub fn new(buckets: Buckets, credentials: Credentials) -> Server {
        let (buckets, credentials) = (Arc::new(buckets), Arc::new(credentials));
        let s3 = s3::service(&buckets, &credentials);
        let service = Service { buckets, credentials, s3, log: None };
        Server { service: Arc::new(service), limits: Limits::default() }
    }

    /// The same with a log of all requests.
    #[must_use]
    pub fn with_log(self, log: AccessLog) -> Server {
        let Service { buckets, credentials, s3, .. } = &*self.service;
        let (buckets, credentials) = (Arc::clone(buckets), Arc::clone(credentials));
        let service = Service { buckets, credentials, s3: s3.clone(), log: Some(Arc::new(log)) };
        Server { service: Arc::new(service), ..self }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Server {
        Server { limits, ..self }
    }

    /// Serves the clients of `listeners` until `stop`. Then it takes no more requests, and ends once the answers
    /// are complete, or after the time that the limits have for that. Called within a runtime with time and I/O.
    pub async fn serve(&self, listeners: Vec<Listener>, stop: impl Future<Output = ()>) {
        let room = Arc::new(Semaphore::new(self.limits.connections.min(Semaphore::MAX_PERMITS)));
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
                    connections.spawn(self.converse(client, graceful.watcher()));
                }
                Some(_) = connections.join_next() => {}
            }
        }
        // The sockets go first, so that a new server may take their place.
        accepting.shutdown().await;
        if tokio::time::timeout(self.limits.drain, graceful.shutdown()).await.is_err() {
            tracing::warn!(target: "forerun::http", "clients that do not read their answers are cut off");
        }
    }

    /// Serves one client to its end.
    fn converse(
        &self,
        client: Client,
        watcher: hyper_util::server::graceful::Watcher,
    ) -> impl Future<Output = ()> + Send + 'static {
        let Client { stream, peer, permit } = client;
        let mut builder = auto::Builder::new(TokioExecutor::new());
        let http1 = &mut builder.http1();
        http1.timer(TokioTimer::new()).header_read_timeout(self.limits.idle).max_buf_size(HEAD_BYTES_MAX);
        let http2 = &mut builder.http2();
        http2.timer(TokioTimer::new()).max_header_list_size(HEAD_BYTES_MAX as u32);
        http2.max_concurrent_streams(STREAMS_MAX).max_send_buf_size(HEAD_BYTES_MAX);
        http2.keep_alive_interval(self.limits.idle).keep_alive_timeout(self.limits.idle);
        let io = TokioIo::new(Impatient::new(stream, self.limits.stall));
        let service = Arc::clone(&self.service);
        let answer = service_fn(move |request| {
            let service = Arc::clone(&service);
            async move { Ok::<_, Infallible>(service.logged(request, peer).await) }
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

impl Service {
    /// The answer to `request`, which the log has once it is over.
    async fn logged(&self, request: Request<Incoming>, peer: Option<SocketAddr>) -> hyper::Response<Counted> {
        let begun = Instant::now();
        let record = self.log.as_ref().map(|_| Record {
            peer,
            at: SystemTime::now(),
            request: format!("{} {} {:?}", request.method(), request.uri().path(), request.version()),
            status: 0,
            bytes: 0,
            time: Duration::ZERO,
            is_complete: false,
        });
        let answer = self.answer(request).await;
        let accessed = self.log.clone().zip(record).map(|(log, record)| {
            let status = answer.status().as_u16();
            Accessed { log, record: Record { status, ..record }, begun }
        });
        answer.map(|body| Counted::new(body, accessed))
    }

    /// S3 and plain HTTP share an address: no bucket can be called `-`.
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        match plain::target_of(request.uri().path()) {
            Some(target) => plain::answer(&self.buckets, &self.credentials, &request, target).await,
            None => s3::answer(&self.s3, request).await,
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
