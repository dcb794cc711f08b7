//! What a mount may be like.

use std::time::Duration;

use super::window::KERNEL_READAHEAD_BYTES;

/// How to mount.
#[derive(Clone, Debug)]
pub struct MountOptions {
    /// Whether other users than the one who mounts may use it. For ordinary
    /// users this needs `user_allow_other` in `/etc/fuse.conf`.
    pub allow_other: bool,
    /// Whether the kernel refuses to start the programs that the mount has.
    pub noexec: bool,
    /// How long the kernel may keep names and attributes, on top of how long the
    /// engine does.
    pub metadata_ttl: Duration,
    /// How far the kernel itself reads ahead of one reader, and around one page
    /// fault of mapped memory, in bytes: at least a page. More than 128 KiB needs root.
    pub kernel_readahead_bytes: u64,
    /// Whether to put what comes next into the kernel's page cache for who reads
    /// forward in small pieces.
    pub push: bool,
    /// Whether programs may say how they will read by setting the extended attribute
    /// `user.forerun.advice` of a file. The kernel then passes on all changes instead
    /// of refusing them, and the mount refuses them itself; attributes that are asked
    /// for cost a request. An ioctl says the same without.
    pub hints: bool,
    /// Whether the kernel is to read files of a local directory itself, as soon as they are
    /// open: then nothing is read ahead of them or kept in memory here, and what writes to
    /// one is seen by who has it open. Needs Linux 6.9 and `CAP_SYS_ADMIN`; where it is not
    /// possible, files are read as without it, and [`Mount::not_passed`](super::Mount::not_passed) says why.
    pub passthrough: bool,
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
        }
    }
}
