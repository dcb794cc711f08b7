//! One client, from its handshake to its end.

mod answering;
mod chunk;
mod connection;
mod greeting;
mod payloads;
mod work;

pub(super) use connection::{Connection, End};
pub(super) use greeting::{Greeted, greet};
