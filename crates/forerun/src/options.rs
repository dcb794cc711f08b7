//! The choices of a user.

use std::path::PathBuf;
use std::time::Duration;

use forerun_backend::ConnectOptions;
use forerun_engine::Config;
use forerun_policies::PolicyKind;
use tokio::runtime::Handle;

/// Choices of one [`Forerun`](crate::Forerun): `Options::default().with_memory_bytes(64 << 20)`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Memory for cached bytes, data in flight included, in bytes. 256 MiB
    /// unless chosen; pages that were never filled cost nothing.
    pub memory_bytes: u64,
    /// The policy that decides which bytes are read ahead.
    pub policy: PolicyKind,
    /// How long the answer to a stat or a list is believed. Until then a replaced object
    /// is noticed only when it is read. 1 s unless chosen.
    pub metadata_ttl: Duration,
    /// A file that keeps which bytes of each object were read, and in which order. A later
    /// reader of the same version is read ahead of in that order. The file is made
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

/// The same with one choice made.
impl Options {
    /// The least [`Options::memory_bytes`] that works.
    pub const MEMORY_BYTES_MIN: u64 = Config::MEMORY_BYTES_MIN;

    /// With [`Options::memory_bytes`].
    #[must_use]
    pub fn with_memory_bytes(self, memory_bytes: u64) -> Options {
        Options { memory_bytes, ..self }
    }

    /// With [`Options::policy`].
    #[must_use]
    pub fn with_policy(self, policy: PolicyKind) -> Options {
        Options { policy, ..self }
    }

    /// With [`Options::metadata_ttl`].
    #[must_use]
    pub fn with_metadata_ttl(self, metadata_ttl: Duration) -> Options {
        Options { metadata_ttl, ..self }
    }

    /// With [`Options::learn`].
    #[must_use]
    pub fn with_learn(self, learn: impl Into<Option<PathBuf>>) -> Options {
        Options { learn: learn.into(), ..self }
    }

    /// With [`Options::connect`].
    #[must_use]
    pub fn with_connect(self, connect: ConnectOptions) -> Options {
        Options { connect, ..self }
    }

    /// With [`Options::runtime`].
    #[must_use]
    pub fn with_runtime(self, runtime: impl Into<Option<Handle>>) -> Options {
        Options { runtime: runtime.into(), ..self }
    }
}
