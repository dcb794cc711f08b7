//! A server of the Network Block Device protocol over [`forerun::Forerun`]s.
//!
//! An export is *one version* of one object. All connections to it share one [`forerun::Reader`], so
//! the engine sees all of their reads, and tells the streams among them apart by offset. Once the
//! object has another version, reads of the old one fail, and a client that connects again gets the
//! new one.
//!
//! A connection is one task (`connection`). It sends the bytes of reads as they lie in the engine's
//! memory. A client that takes no replies stops only itself. No more requests are taken from it, and the
//! bytes that wait for it go back to the engine (`outbox`).

mod connection;
mod exports;
mod failure;
mod greeting;
mod holes;
mod open;
mod outbox;
mod patience;
pub mod protocol;
mod server;
mod work;

pub use exports::{Exports, Source};
pub use server::Server;
