//! Helpers of the tests of real and of bad input: mounts of a URL by the program, as a user would
//! make them.

#[path = "../../../forerun-backend/tests/buckets/mod.rs"]
mod buckets;
mod bytes;
#[allow(dead_code, reason = "each test program uses its part")]
mod mounted;
#[allow(dead_code, reason = "each test program uses its part")]
pub(crate) mod others;
#[allow(dead_code, reason = "each test program uses its part")]
#[path = "../program/support.rs"]
pub(crate) mod program;
mod store;

pub(crate) use bytes::pattern;
#[allow(unused_imports, reason = "each test program uses its part")]
pub(crate) use mounted::{Mounted, mount};
#[allow(unused_imports, reason = "each test program uses its part")]
pub(crate) use program::send;
pub(crate) use store::Store;
