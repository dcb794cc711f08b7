//! One client, from its handshake to its end.

mod answering;
mod chunk;
mod connection;
mod counting;
mod greeting;
mod pace;
mod payloads;
mod work;

pub(super) use connection::{Connection, End};
pub use counting::OPERATIONS;
pub(super) use greeting::{Greeted, greet};
