//! The common parts of all servers: the URLs that they serve, the sockets that clients connect to, TLS, and metrics.

mod monitoring;
mod named;
pub(crate) mod sockets;
mod tls;
mod upstreams;

pub(crate) use monitoring::{Monitoring, MonitoringOptions};
pub(crate) use named::NamedUrl;
pub(crate) use tls::{TlsOptions, wait_for_end};
pub(crate) use upstreams::Upstreams;
