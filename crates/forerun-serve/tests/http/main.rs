//! The HTTP server, in both of its protocols.

mod anything;
mod bad;
#[path = "../support/certificates.rs"]
mod certificates;
mod client;
mod domain;
mod ends;
mod frames;
mod http2;
mod plain;
#[path = "../support/running.rs"]
mod running;
mod s3;
mod s3_access;
mod s3_lists;
mod s3_objects;
mod s3_odd_lists;
mod signer;
#[path = "../support/storage.rs"]
mod storage;
mod support;
mod tls;
