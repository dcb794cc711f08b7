//! A read-only server of NFS version 3 over [`forerun::Forerun`]s, with the mount protocol at the same port.
//!
//! An export is one bucket. A file handle names *one version* of one object. It is valid for as long as the
//! storage has that version, also over restarts of the server (`tree/handles/`). Reads of all
//! clients go to one [`forerun::Reader`] of each object, so the engine sees them together, and tells streams
//! apart by offset.
//!
//! A connection is one task (`connection`). It answers calls in any order, and takes no more of them than a
//! client has replies to come. A client that takes no replies stops only itself.

mod answer;
mod connection;
mod operations;
pub mod protocol;
mod server;
mod tree;

pub use operations::OPERATIONS;
pub use server::Server;
