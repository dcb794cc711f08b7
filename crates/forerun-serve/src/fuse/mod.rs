//! A read-only file system over a [`forerun::Forerun`], for the Linux kernel's FUSE.
//!
//! An inode is one *version* of one object. The kernel's page cache belongs to inodes, so it cannot
//! mix two versions. A name whose object was replaced leads to another inode. A handle on the
//! replaced version keeps the bytes it has read and gets `ESTALE` for the rest.
//!
//! The threads that receive requests never wait. The engine's runtime answers metadata requests;
//! the thread that receives the bytes answers a read.

mod access;
mod advice;
mod asked;
mod attach;
mod attributes;
mod check;
mod device;
mod errno;
mod files;
mod filesystem;
mod governor;
mod handles;
mod helper;
mod inodes;
mod listing;
mod lists;
mod mount;
mod open_file;
mod operation_names;
mod options;
mod passthrough;
pub mod protocol;
mod push;
mod queued;
mod reads;
mod remains;
mod session;
mod source;
mod thread;
mod tree;
mod waits;
mod window;

pub use access::Access;
pub use asked::Asked;
pub use attach::{Unmounted, unmount};
pub use check::check_mount_point;
pub use mount::Mount;
pub use operation_names::OPERATIONS;
pub use options::MountOptions;
pub use session::{Filesystem, Reply};
pub use window::{KERNEL_READAHEAD_BYTES, KERNEL_READAHEAD_BYTES_OFFERED};
