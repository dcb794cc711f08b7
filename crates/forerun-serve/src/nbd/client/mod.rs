//! One client, from its handshake to its end.

mod answering;
mod chunk;
mod connection;
mod counting;
mod greeting;
mod payloads;
mod quick_client;
mod work;

pub(super) use connection::{Connection, End};
pub use counting::OPERATIONS;
pub(super) use greeting::{Greeted, greet};
