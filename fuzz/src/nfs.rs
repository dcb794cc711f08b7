//! The protocol of NFS, and the promises of it.

#[path = "../../crates/forerun-serve/tests/nfs/anything.rs"]
pub(crate) mod clients;

use forerun_serve::nfs::protocol;
