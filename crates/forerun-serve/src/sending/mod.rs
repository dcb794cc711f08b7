//! Bytes on their way from the engine's memory to a client.
//!
//! Each front end lends a part of the engine's memory to its clients ([`Pool`]). Replies have such bytes until
//! the client takes them ([`Sender`]). A client that takes none stops only itself: its bytes go back to the
//! engine, and are read again once it goes on (`outbox`).

mod lent;
mod memory_timeout;
mod outbox;
mod outgoing;
mod pool;
mod sender;
mod untaken;
mod write_timeout;

pub(crate) use lent::Lent;
pub(crate) use outgoing::Outgoing;
pub(crate) use pool::Pool;
pub(crate) use sender::{Content, Halt, Sender};
pub(crate) use untaken::Untaken;
pub(crate) use write_timeout::WriteTimeout;

/// The most bytes that the engine reads at once without copying them.
pub(crate) const PIECE_BYTES_MAX: u32 = 1 << 20;
