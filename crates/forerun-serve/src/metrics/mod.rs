//! Metrics for Prometheus, and probes of health, over HTTP.
//!
//! All front ends share this. A front end counts its requests in [`RequestTimes`], a connection to a store in
//! a [`forerun::Meter`]. The engine keeps its own sums, which a scrape reads (`figures`). So a read of bytes in
//! memory costs two looks at the clock and two or three additions, and takes no lock for this.

mod families;
mod figures;
mod request_times;
mod server;

pub use figures::{Metrics, OTHERS};
pub use request_times::RequestTimes;
pub use server::MetricsServer;

pub(crate) use request_times::Begun;
