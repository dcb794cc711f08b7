//! One client, from its handshake to its end.

mod answering;
mod connection;
mod counting;
mod greeting;
mod outbox;
mod patience;
mod payloads;
mod work;

pub(super) use connection::{Connection, End};
pub use counting::OPERATIONS;
pub(super) use greeting::{Greeted, greet};
pub(super) use work::PIECE_BYTES_MAX;
