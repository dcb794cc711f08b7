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
use tokio::task::JoinSet;

use super::access::{Accessed, Counted};
use super::log::{AccessLog, Record};
use super::{Answer, Credentials, plain, s3};
use crate::accepting::{Accepting, Client};
use crate::sending::Impatient;
use crate::{Buckets, Limits, Listener};

/// The most bytes of the head of a request. The server buffers at most this much of an answer before it reads
/// more of it.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// Requests at once on a connection of HTTP/2.
const STREAMS_MAX: u32 = 128;

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
    ///
    /// # Errors
    /// If S3 allows no bucket of one of the names.
    pub fn new(buckets: Buckets, credentials: Credentials) -> Result<Server, String> {
        s3::check_names(&buckets)?;
        let (buckets, credentials) = (Arc::new(buckets), Arc::new(credentials));
        let s3 = s3::service(&buckets, &credentials);
        let service = Service { buckets, credentials, s3, log: None };
        Ok(Server { service: Arc::new(service), limits: Limits::default() })
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
        let mut accepting = Accepting::new(listeners, self.limits.connections);
        let graceful = GracefulShutdown::new();
        let mut connections = JoinSet::new();
        tokio::pin!(stop);
        let closing = (*self.service.buckets).clone().close_idle();
        tokio::pin!(closing);
        loop {
            tokio::select! {
                () = &mut stop => break,
                () = &mut closing => {}
                client = accepting.next() => match client {
                    Ok(client) => {
                        connections.spawn(self.converse(client, graceful.watcher()));
                    }
                    Err(error) => {
                        tracing::warn!(target: "forerun::http", "a client cannot connect: {error}");
                    }
                },
                Some(_) = connections.join_next() => {}
            }
        }
        // The sockets go first, so that a new server may take their place.
        accepting.end().await;
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
