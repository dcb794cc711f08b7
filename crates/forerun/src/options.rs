//! What a user may choose.

use std::path::PathBuf;
use std::time::Duration;

use forerun_backend::ConnectOptions;
use forerun_engine::PolicyKind;
use tokio::runtime::Handle;

/// Choices of one [`Forerun`](crate::Forerun).
#[derive(Clone, Debug)]
pub struct Options {
    /// Memory for cached bytes, data in flight included, in bytes. 256 MiB
    /// unless chosen; pages that were never filled cost nothing.
    pub memory_bytes: u64,
    /// What decides what to read ahead.
    pub policy: PolicyKind,
    /// How long the answer to a stat or a list is believed, in which case a
    /// replaced object is noticed only when it is read. 1 s unless chosen.
    pub metadata_ttl: Duration,
    /// A file that keeps what was read of each object, and in which order: whoever
    /// opens the same version of it again is read ahead of in that order. It is made
    /// if it is not there, and saved every minute and when Forerun is closed.
    /// `docs/profiles.md` describes it. Nothing is kept unless a file is given.
    pub learn: Option<PathBuf>,
    /// How to reach the backend.
    pub connect: ConnectOptions,
    /// A runtime of the program, with time and I/O enabled, for all tasks. Forerun starts threads of its
    /// own unless one is given. It must run while somebody waits, and reads fail once it has ended.
    ///
    /// The only thread of a current-thread runtime cannot block for that runtime's own work. A blocking
    /// call that has to wait on such a runtime, in `spawn_blocking` too, fails with
    /// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid).
    pub runtime: Option<Handle>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            memory_bytes: 256 << 20,
            policy: PolicyKind::default(),
            metadata_ttl: Duration::from_secs(1),
            learn: None,
            connect: ConnectOptions::default(),
            runtime: None,
        }
    }
}
