//! The protocol of NFS, and the promises of it.

#[path = "../../crates/forerun-serve/tests/nfs/anything.rs"]
pub(crate) mod clients;
#[allow(dead_code, unused_imports, reason = "a part of a crate with more dependencies")]
#[path = "../../crates/forerun-serve/src/nfs/protocol/mod.rs"]
mod protocol;
