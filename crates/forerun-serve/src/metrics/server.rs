//! The server of the metrics.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CONTENT_TYPE};
use hyper::{Method, Request, Response, StatusCode};
use prometheus_client::encoding::prometheus_text;
use prometheus_client::registry::Registry;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::Metrics;
use crate::{Limits, Listener, Place};

/// Clients at once: a few scrapers and probes.
const CONNECTIONS_MAX: usize = 32;
/// How long a client may take no bytes of an answer, which is short.
const STALL_TIME_MAX: Duration = Duration::from_secs(10);
/// How long answers may go on at the end.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(1);

/// Serves metrics and probes on a thread of its own. So they are answered while a mount connects, waits or
/// unmounts. Dropping it ends it.
#[derive(Debug)]
pub struct MetricsServer {
    metrics: Arc<Metrics>,
    places: Vec<Place>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl MetricsServer {
    /// Serves `metrics` at the sockets that `listen` makes. That is called within the runtime of the server.
    ///
    /// # Errors
    /// If the sockets cannot be made, or the system refuses a thread.
    pub fn start<E: From<io::Error>>(
        metrics: Arc<Metrics>,
        listen: impl Future<Output = Result<Vec<Listener>, E>>,
    ) -> Result<MetricsServer, E> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let listeners = runtime.block_on(listen)?;
        let places = listeners.iter().map(Listener::place).collect::<Result<_, _>>()?;
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Arc::clone(&metrics)));
        let (stop, stopped) = oneshot::channel::<()>();
        let (served, registry) = (Arc::clone(&metrics), Arc::new(registry));
        let serve = move || {
            let limits = Limits::default().with_connections(CONNECTIONS_MAX);
            let limits = limits.with_stall(STALL_TIME_MAX).with_drain(DRAIN_TIME_MAX);
            let ended = async move { drop(stopped.await) };
            let serving = limits.serve(listeners, None, ended, move |request, _| {
                std::future::ready(answer(&served, &registry, &request))
            });
            runtime.block_on(serving);
        };
        let thread = thread::Builder::new().name("forerun-metrics".to_owned()).spawn(serve)?;
        Ok(MetricsServer { metrics, places, stop: Some(stop), thread: Some(thread) })
    }

    /// The metrics that it serves.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Where clients find it.
    pub fn places(&self) -> &[Place] {
        &self.places
    }
}

impl Drop for MetricsServer {
    fn drop(&mut self) {
        self.metrics.end();
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // It has said why it panicked, if it did.
            let _ = thread.join();
        }
    }
}

/// The answer to `request`.
fn answer<B>(metrics: &Metrics, registry: &Registry, request: &Request<B>) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut answer = text(StatusCode::METHOD_NOT_ALLOWED, "use GET or HEAD\n");
        answer.headers_mut().insert(ALLOW, "GET, HEAD".parse().expect("a header"));
        return answer;
    }
    let mut answer = match request.uri().path() {
        "/metrics" => scrape(registry),
        "/healthz" => text(StatusCode::OK, "ok\n"),
        "/readyz" => match metrics.not_ready() {
            None => text(StatusCode::OK, "ready\n"),
            Some(stage) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{stage}\n")),
        },
        _ => text(StatusCode::NOT_FOUND, "there are /metrics, /healthz and /readyz\n"),
    };
    if *request.method() == Method::HEAD {
        *answer.body_mut() = Full::default();
    }
    answer
}

fn scrape(registry: &Registry) -> Response<Full<Bytes>> {
    let mut scraped = String::new();
    if prometheus_text::encode(&mut scraped, registry).is_err() {
        return text(StatusCode::INTERNAL_SERVER_ERROR, "the metrics cannot be written\n");
    }
    text(StatusCode::OK, scraped)
}

fn text(status: StatusCode, text: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::new(text.into()));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, prometheus_text::CONTENT_TYPE.parse().expect("a header"));
    answer
}
