//! The kernel's messages.

use std::ffi::OsStr;

use super::fields::Fields;

/// One message of the kernel.
#[derive(Clone, Copy, Debug)]
pub enum Message<'a> {
    /// It waits for an answer.
    Request(Request<'a>),
    /// The kernel has forgotten these inodes; no answer.
    Forget(Forgets<'a>),
    /// A signal came for the thread that waits for the request of this number; no answer.
    Interrupt(u64),
    /// The file system is unmounted; the kernel waits for an empty answer.
    Destroy(u64),
}

/// A request, and the thread that asks.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The number of the request, which is unique.
    pub unique: u64,
    /// The inode it is about.
    pub inode: u64,
    /// The user who asks, by number.
    pub user: u32,
    /// The thread that asks, as the PID namespace of the mount numbers it; 0 if it is in another.
    pub thread: u32,
    /// The operation, with its arguments.
    pub operation: Operation<'a>,
}

/// The operations that a file system here may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the system calls")]
pub enum Operation<'a> {
    Lookup {
        name: &'a OsStr,
    },
    Getattr,
    Setattr,
    Readlink,
    Open {
        flags: u32,
    },
    Read {
        handle: u64,
        offset: u64,
        size: u32,
        flags: u32,
    },
    Write {
        offset: u64,
        data: &'a [u8],
    },
    Statfs,
    Release {
        handle: u64,
    },
    Fsync,
    Setxattr {
        name: &'a OsStr,
        value: &'a [u8],
    },
    Getxattr {
        name: &'a OsStr,
        room: u32,
    },
    Listxattr {
        room: u32,
    },
    Removexattr {
        name: &'a OsStr,
    },
    Opendir,
    Readdir {
        handle: u64,
        offset: u64,
        size: u32,
    },
    Readdirplus {
        handle: u64,
        offset: u64,
        size: u32,
    },
    Releasedir {
        handle: u64,
    },
    Ioctl {
        handle: u64,
        is_directory: bool,
        command: u32,
        data: &'a [u8],
    },
    /// A change of a directory, or the allocation of space.
    Change,
    /// Anything else.
    Other,
}

/// Forgotten inodes, each with its count.
#[derive(Clone, Copy, Debug)]
pub struct Forgets<'a>(pub(super) Which<'a>);

#[derive(Clone, Copy, Debug)]
pub(super) enum Which<'a> {
    One(u64, u64),
    /// Pairs of numbers.
    Many(Fields<'a>),
}

impl Iterator for Forgets<'_> {
    /// An inode, and how many lookups of it are forgotten.
    type Item = (u64, u64);

    fn next(&mut self) -> Option<(u64, u64)> {
        match &mut self.0 {
            Which::One(inode, lookups) => {
                let one = (*inode, *lookups);
                self.0 = Which::Many(Fields(&[]));
                Some(one)
            }
            Which::Many(pairs) => Some((pairs.u64().ok()?, pairs.u64().ok()?)),
        }
    }
}
