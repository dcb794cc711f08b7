//! A server of the Network Block Device protocol over [`forerun::Forerun`]s.
//!
//! An export is *one version* of one object. All connections to it share one [`forerun::Reader`], so
//! the engine sees all of their reads, and tells the streams among them apart by offset. Once the
//! object has another version, reads of the old one fail, and a client that connects again gets the
//! new one.
//!
//! A connection is one task (`client`). It sends the bytes of reads as they lie in the engine's
//! memory. A client that takes no replies stops only itself. No more requests are taken from it, and the
//! bytes that wait for it go back to the engine (`client/outbox.rs`).
//!
//! The disk of an export is an object, or it is in an image (`image`). Writes go beside the object (`overlay`) or to a
//! local file (`direct`).

mod changes;
mod client;
mod direct;
mod disk;
mod exports;
mod failure;
mod file_holes;
mod image;
mod open;
mod overlay;
pub mod protocol;
mod server;
mod url_exports;

pub use client::OPERATIONS;
pub use direct::{WritableObject, WrittenSource};
pub use exports::Exports;
pub use overlay::Overlay;
pub use server::Server;
pub use url_exports::Source;
