//! Permissions of a mount.

/// Permissions of a mount.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access {
    /// Whether users other than the one that mounts may use it. For ordinary users this needs
    /// `user_allow_other` in `/etc/fuse.conf`.
    pub allow_other: bool,
    /// Whether the kernel passes writes on.
    pub writable: bool,
    /// Whether the kernel refuses to run programs from the mount.
    pub noexec: bool,
}
