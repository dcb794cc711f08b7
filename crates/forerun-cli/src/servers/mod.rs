//! The common parts of all servers: the URLs that they serve, the sockets that clients connect to, and metrics.

mod monitoring;
mod named;
pub(crate) mod sockets;
mod upstreams;

pub(crate) use monitoring::{Monitoring, MonitoringOptions};
pub(crate) use named::NamedUrl;
pub(crate) use upstreams::Upstreams;
