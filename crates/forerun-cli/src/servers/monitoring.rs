//! The metrics of a mount or a server, if a user wants them.

use std::error::Error;
use std::sync::Arc;

use forerun::{Forerun, Options};
use forerun_serve::metrics::{Metrics, MetricsServer, RequestTimes};

use super::sockets;
use crate::mount::EngineOptions;

/// The port unless an address has one.
const PORT: u16 = 9101;

/// Where the metrics are served.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct MonitoringOptions {
    /// Serve metrics for Prometheus at a TCP address, as in localhost, or at the Unix socket unix:PATH
    ///
    /// `/metrics` has the metrics, which docs/metrics.md describes. `/healthz` and `/readyz` answer
    /// probes. Port 9101 is used unless ADDR has one. Everybody who reaches ADDR may read them. They
    /// have no names of objects.
    #[arg(long, value_name = "ADDR")]
    metrics: Option<String>,
}

/// The metrics, served until this is dropped.
#[derive(Debug)]
pub(crate) struct Monitoring(Option<MetricsServer>);

impl MonitoringOptions {
    /// Whether the address is known here.
    ///
    /// # Errors
    /// The form of an address.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.metrics.as_deref().map_or(Ok(()), |address| sockets::at(address, PORT).check())
    }

    /// Begins to serve the metrics of `front_end`.
    ///
    /// # Errors
    /// If the address cannot be listened at.
    pub(crate) fn start(&self, front_end: &'static str) -> Result<Monitoring, Box<dyn Error>> {
        let Some(address) = self.metrics.as_deref() else { return Ok(Monitoring(None)) };
        let listen = sockets::listeners(Vec::new(), [sockets::at(address, PORT)]);
        Ok(Monitoring(Some(MetricsServer::start(Metrics::new(front_end), listen)?)))
    }
}

impl Monitoring {
    fn metrics(&self) -> Option<&Arc<Metrics>> {
        self.0.as_ref().map(MetricsServer::metrics)
    }

    /// Where a front end counts its requests, which are of `operations`.
    pub(crate) fn requests(&self, operations: &'static [&'static str]) -> Option<Arc<RequestTimes>> {
        self.metrics().map(|metrics| metrics.requests(operations))
    }

    /// `options`, with the requests to the store counted.
    pub(crate) fn metered(&self, options: Options) -> Options {
        let meter = self.metrics().map(|metrics| Arc::clone(metrics.meter()));
        let connect = options.connect.clone().with_meter(meter);
        options.with_connect(connect)
    }

    /// Programs may read from `foreruns`, which `engine` has set, from now on.
    pub(crate) fn ready<'a>(&self, engine: &EngineOptions, foreruns: impl IntoIterator<Item = &'a Forerun>) {
        if let Some(metrics) = self.metrics() {
            metrics.name_clients(engine.named_clients());
            metrics.ready(foreruns.into_iter().cloned().collect());
        }
    }

    /// No request is to come any more.
    pub(crate) fn drain(&self) {
        self.metrics().into_iter().for_each(|metrics| metrics.drain());
    }

    /// The address, for the end of a greeting.
    pub(crate) fn shown(&self) -> String {
        let places = self.0.iter().flat_map(MetricsServer::places);
        places.map(|place| format!(", metrics at {}", sockets::shown("http", place))).collect()
    }
}
