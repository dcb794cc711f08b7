//! The NFS server, and its protocol.

mod anything;
mod bad;
mod client;
mod directories;
mod files;
mod handles;
mod limits;
mod reads;
#[path = "../support/running.rs"]
mod running;
#[path = "../support/storage.rs"]
mod storage;
mod support;

use forerun_serve::nfs::protocol;
