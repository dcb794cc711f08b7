//! The NBD server, and its protocol.

mod anything;
mod bad;
#[path = "../support/certificates.rs"]
mod certificates;
mod client;
mod handshake;
mod holes;
mod images;
mod limits;
mod messages;
mod numbers;
mod reads;
#[path = "../support/running.rs"]
mod running;
#[path = "../support/storage.rs"]
mod storage;
mod support;
mod tls;
mod versions;
mod writes;

use forerun_serve::nbd::protocol;
