//! The common parts of all servers: the URLs that they serve, and the sockets that clients connect to.

mod named;
pub(crate) mod sockets;
mod upstreams;

pub(crate) use named::NamedUrl;
pub(crate) use upstreams::Upstreams;
