//! A read-only server of objects over HTTP, in two protocols at one address: S3, and plain HTTP below `/-/`.
//!
//! A bucket is one [`forerun::Forerun`]. A request opens one version of one object (`bucket`), and sends its
//! bytes as the engine brings them (`body`). A client that takes no bytes holds little memory, and stops only
//! itself.

mod body;
mod credentials;
mod domain;
mod log;
mod logged_body;
mod operation;
mod plain;
mod range;
mod s3;
mod server;
mod validators;

pub use credentials::Credentials;
pub use domain::Domain;
pub use log::{AccessLog, LogForm};
pub use operation::OPERATIONS;
pub use server::Server;

/// Answers of either protocol.
type Answer = hyper::Response<s3s::Body>;
