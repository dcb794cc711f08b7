//! The operations that the kernel's requests are counted by.

use super::protocol::Operation;

/// The names of the operations. Those that a mount refuses are `other`.
pub const OPERATIONS: &[&str] = &[
    "lookup",
    "getattr",
    "readlink",
    "open",
    "read",
    "release",
    "opendir",
    "readdir",
    "readdirplus",
    "releasedir",
    "statfs",
    "xattr",
    "ioctl",
    "other",
];

/// The place of `operation` in [`OPERATIONS`].
pub(super) fn number(operation: &Operation<'_>) -> usize {
    match operation {
        Operation::Lookup { .. } => 0,
        Operation::Getattr => 1,
        Operation::Readlink => 2,
        Operation::Open { .. } => 3,
        Operation::Read { .. } => 4,
        Operation::Release { .. } => 5,
        Operation::Opendir => 6,
        Operation::Readdir { .. } => 7,
        Operation::Readdirplus { .. } => 8,
        Operation::Releasedir { .. } => 9,
        Operation::Statfs => 10,
        Operation::Getxattr { .. } | Operation::Listxattr { .. } => 11,
        Operation::Setxattr { .. } | Operation::Removexattr { .. } => 11,
        Operation::Ioctl { .. } => 12,
        Operation::Setattr | Operation::Write { .. } | Operation::Fsync => 13,
        Operation::Change | Operation::Other => 13,
    }
}
