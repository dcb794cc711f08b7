//! The server: its answers and its log.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use forerun::ClientId;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH};
use hyper::{Method, Request};

use super::log::{AccessLog, Record};
use super::logged_body::{Accessed, Counted};
use super::operation::operation;
use super::{Answer, Credentials, Domain, plain, s3};
use crate::metrics::RequestTimes;
use crate::sharers::{client_at, client_of};
use crate::{Buckets, Limits, Listener, Tls};

/// Serves buckets to clients.
#[derive(Debug)]
pub struct Server {
    service: Arc<Service>,
    limits: Limits,
    tls: Option<Tls>,
}

#[derive(Clone, Debug)]
struct Service {
    buckets: Arc<Buckets>,
    credentials: Arc<Credentials>,
    domain: Option<Domain>,
    s3: s3s::service::S3Service,
    log: Option<Arc<AccessLog>>,
    requests: Option<Arc<RequestTimes>>,
}

/// The client that asks: a user or a host. An extension of the request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharer(pub(super) ClientId);

impl Server {
    /// A server of `buckets` for those who have `credentials`.
    ///
    /// # Errors
    /// If S3 allows no bucket of one of the names.
    pub fn new(buckets: Buckets, credentials: Credentials) -> Result<Server, String> {
        s3::check_names(&buckets)?;
        let (buckets, credentials) = (Arc::new(buckets), Arc::new(credentials));
        let s3 = s3::service(&buckets, &credentials, None);
        let service = Service { buckets, credentials, domain: None, s3, log: None, requests: None };
        Ok(Server { service: Arc::new(service), limits: Limits::default(), tls: None })
    }

    /// The same, whose buckets hosts below `domain` name as well.
    #[must_use]
    pub fn with_domain(self, domain: Domain) -> Server {
        let s3 = s3::service(&self.service.buckets, &self.service.credentials, Some(&domain));
        let service = Service { s3, domain: Some(domain), ..(*self.service).clone() };
        Server { service: Arc::new(service), ..self }
    }

    /// The same, which serves only clients that begin TLS.
    #[must_use]
    pub fn with_tls(self, tls: Tls) -> Server {
        Server { tls: Some(tls.with_protocols(&["h2", "http/1.1"])), ..self }
    }

    /// The same with a log of all requests.
    #[must_use]
    pub fn with_log(self, log: AccessLog) -> Server {
        let service = Service { log: Some(Arc::new(log)), ..(*self.service).clone() };
        Server { service: Arc::new(service), ..self }
    }

    /// The same, which counts its requests in `requests`, which are of [`OPERATIONS`](super::OPERATIONS).
    #[must_use]
    pub fn with_requests(self, requests: impl Into<Option<Arc<RequestTimes>>>) -> Server {
        let service = Service { requests: requests.into(), ..(*self.service).clone() };
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
        let service = Arc::clone(&self.service);
        let answer = move |request, peer| {
            let service = Arc::clone(&service);
            async move { service.logged(request, peer).await }
        };
        let closing = (*self.service.buckets).clone().close_idle();
        tokio::select! {
            () = self.limits.serve(listeners, self.tls.clone(), stop, answer) => {}
            () = closing => {}
        }
    }
}

impl Service {
    /// The answer to `request`, which the log has once it is over.
    async fn logged(
        &self,
        mut request: Request<Incoming>,
        peer: Option<SocketAddr>,
    ) -> hyper::Response<Counted> {
        let user = self.credentials.user_of(request.headers().get(AUTHORIZATION));
        let client = user.map_or_else(|| client_at(peer), client_of);
        request.extensions_mut().insert(Sharer(client));
        let begun = Instant::now();
        let path = Domain::path_of(self.domain.as_ref(), &request).into_owned();
        let record = self.log.as_ref().map(|_| Record {
            peer,
            at: SystemTime::now(),
            request: format!("{} {} {:?}", request.method(), path, request.version()),
            status: 0,
            bytes: 0,
            time: Duration::ZERO,
            is_complete: false,
        });
        let counted = self
            .requests
            .as_ref()
            .map(|requests| (requests, requests.begin(operation(request.method(), &path))));
        let is_head = request.method() == Method::HEAD;
        let answer = self.answer(request, &path).await;
        if let Some((requests, begun)) = counted {
            requests.end(begun, answer.status().as_u16() < 400);
        }
        let accessed = self.log.clone().zip(record).map(|(log, record)| {
            let status = answer.status().as_u16();
            Accessed { log, record: Record { status, ..record }, begun }
        });
        let len = answer.headers().get(CONTENT_LENGTH).and_then(|len| len.to_str().ok()?.parse().ok());
        let len = if is_head { Some(0) } else { len };
        answer.map(|body| Counted::new(body, len, accessed))
    }

    /// S3 and plain HTTP share an address: no bucket can be called `-`. The host may name the first part of `path`.
    async fn answer(&self, request: Request<Incoming>, path: &str) -> Answer {
        match plain::target_of(path) {
            Some(target) => plain::answer(&self.buckets, &self.credentials, &request, target).await,
            None => s3::answer(&self.s3, request, self.credentials.is_empty()).await,
        }
    }
}
