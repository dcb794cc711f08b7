//! Options of a mount.

use std::sync::Arc;
use std::time::Duration;

use super::window::KERNEL_READAHEAD_BYTES;
use crate::metrics::RequestTimes;

/// How to mount: `MountOptions::default().with_noexec(true)`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MountOptions {
    /// Whether users other than the one that mounts may use it. For ordinary users this needs
    /// `user_allow_other` in `/etc/fuse.conf`.
    pub allow_other: bool,
    /// Whether the kernel refuses to run programs from the mount.
    pub noexec: bool,
    /// How long the kernel may keep names and attributes, in addition to the engine's time.
    pub metadata_ttl: Duration,
    /// The kernel's own readahead, in bytes: ahead of a reader, and around a page fault of mapped
    /// memory. At least a page; more than 128 KiB needs root.
    pub kernel_readahead_bytes: u64,
    /// Whether to put readahead into the kernel's page cache for readers of small pieces.
    pub push: bool,
    /// Whether programs may give advice by the extended attribute `user.forerun.advice` of a file.
    /// The kernel then passes all changes on, and the mount refuses them itself. Each attribute
    /// that is asked for costs a request. The ioctl for advice works without this option.
    pub hints: bool,
    /// Whether the kernel reads files of a local directory itself, as soon as they are open. Their
    /// bytes are not read ahead or kept in memory here, and a reader sees writes to an open file.
    /// Needs Linux 6.9 and `CAP_SYS_ADMIN`. Where it is not possible, files are read as without it,
    /// and [`Mount::not_passed`](super::Mount::not_passed) says why.
    pub passthrough: bool,
    /// Counts the kernel's requests, which are of [`OPERATIONS`](super::OPERATIONS).
    pub requests: Option<Arc<RequestTimes>>,
}

impl Default for MountOptions {
    fn default() -> MountOptions {
        MountOptions {
            allow_other: false,
            noexec: false,
            metadata_ttl: Duration::from_secs(1),
            kernel_readahead_bytes: KERNEL_READAHEAD_BYTES,
            push: true,
            hints: false,
            passthrough: false,
            requests: None,
        }
    }
}

/// The same with one choice made.
impl MountOptions {
    /// With [`MountOptions::allow_other`].
    #[must_use]
    pub fn with_allow_other(self, allow_other: bool) -> MountOptions {
        MountOptions { allow_other, ..self }
    }

    /// With [`MountOptions::noexec`].
    #[must_use]
    pub fn with_noexec(self, noexec: bool) -> MountOptions {
        MountOptions { noexec, ..self }
    }

    /// With [`MountOptions::metadata_ttl`].
    #[must_use]
    pub fn with_metadata_ttl(self, metadata_ttl: Duration) -> MountOptions {
        MountOptions { metadata_ttl, ..self }
    }

    /// With [`MountOptions::kernel_readahead_bytes`].
    #[must_use]
    pub fn with_kernel_readahead_bytes(self, kernel_readahead_bytes: u64) -> MountOptions {
        MountOptions { kernel_readahead_bytes, ..self }
    }

    /// With [`MountOptions::push`].
    #[must_use]
    pub fn with_push(self, push: bool) -> MountOptions {
        MountOptions { push, ..self }
    }

    /// With [`MountOptions::hints`].
    #[must_use]
    pub fn with_hints(self, hints: bool) -> MountOptions {
        MountOptions { hints, ..self }
    }

    /// With [`MountOptions::passthrough`].
    #[must_use]
    pub fn with_passthrough(self, passthrough: bool) -> MountOptions {
        MountOptions { passthrough, ..self }
    }

    /// The same with [`requests`](MountOptions::requests).
    #[must_use]
    pub fn with_requests(self, requests: impl Into<Option<Arc<RequestTimes>>>) -> MountOptions {
        MountOptions { requests: requests.into(), ..self }
    }
}
