//! The file system of the array: a file for each client, in one directory, through the kernel's page cache.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use forerun_serve::fuse::protocol::{
    self, Attributes, Directory, Offer, Operation, Request, Wishes, capabilities, open_flags,
};
use forerun_serve::fuse::{Access, Filesystem, Mount, Reply};
use rustix::fs::FileType;
use rustix::io::Errno;
use tokio::sync::watch;

use super::array_bytes::bytes_of;
use super::disk_array::DiskArray;

/// The size of each file. No client comes to its end.
pub(super) const FILE_BYTES: u64 = 64 << 20;
/// The kernel's readahead, as on a real disk.
const READAHEAD_BYTES_MAX: u32 = 128 << 10;
/// No file ever changes.
const TTL: Duration = Duration::from_secs(3600);
const ROOT_INODE: u64 = 1;
const FIRST_INODE: u64 = 2;

/// The name of a file.
pub(super) fn name_of(file: u64) -> String {
    format!("{file:05}.bin")
}

/// The file system, as the kernel talks to it. It is dropped when the kernel hangs up.
#[derive(Debug)]
struct ArrayFilesystem {
    array: DiskArray,
    file_count: u64,
    mounted: SystemTime,
    /// Closes with the file system.
    _alive: watch::Sender<()>,
}

/// Mounts `file_count` files of `array` on `directory`.
///
/// # Errors
/// If the system does not allow the mount.
pub(super) fn mount_array(array: DiskArray, file_count: u64, directory: &Path) -> Result<Mount, String> {
    let (ended, alive) = watch::channel(());
    let filesystem = ArrayFilesystem { array, file_count, mounted: SystemTime::now(), _alive: ended };
    // Servers may run as users of their own.
    let access = Access { allow_other: true, ..Access::default() };
    let mounted = Mount::of(filesystem, alive, directory, "array", access);
    mounted.map_err(|error| format!("mounting the array: {error}"))
}

impl ArrayFilesystem {
    fn attributes(&self, inode: u64) -> Option<Attributes> {
        let (kind, permissions, size) = match inode {
            ROOT_INODE => (FileType::Directory, 0o555, 0),
            _ => {
                self.file(inode)?;
                (FileType::RegularFile, 0o444, FILE_BYTES)
            }
        };
        let (mode, modified) = (kind.as_raw_mode() | permissions, self.mounted);
        Some(Attributes { inode, size, modified, mode, owner: (0, 0), block_bytes: 4096 })
    }

    fn file(&self, inode: u64) -> Option<u64> {
        inode.checked_sub(FIRST_INODE).filter(|file| *file < self.file_count)
    }

    fn inode(&self, name: &OsStr) -> Option<u64> {
        let file: u64 = name.to_str()?.strip_suffix(".bin")?.parse().ok()?;
        (name == name_of(file).as_str() && file < self.file_count).then_some(file + FIRST_INODE)
    }

    fn list(&self, offset: u64, room: u32) -> Vec<u8> {
        let mut list = Directory::new(room);
        let mode = FileType::RegularFile.as_raw_mode();
        for file in offset..self.file_count {
            if !list.add(file + FIRST_INODE, file + 1, mode, &name_of(file)) {
                break;
            }
        }
        list.into_bytes()
    }

    fn read(&self, file: u64, offset: u64, size: u32, reply: Reply) {
        let len = FILE_BYTES.saturating_sub(offset).min(u64::from(size));
        if len == 0 {
            return reply.bytes(&[]);
        }
        let bytes = bytes_of(file, offset, len as usize);
        self.array.read(file, offset, len, move || reply.bytes(&bytes));
    }
}

impl Filesystem for ArrayFilesystem {
    fn greet(&self, _offer: &Offer) -> Wishes {
        Wishes {
            capabilities: capabilities::ASYNC_READ | capabilities::ASYNC_DIO,
            readahead_bytes_max: READAHEAD_BYTES_MAX,
            // A disk holds back no readahead.
            background_requests_max: u16::MAX,
            congested_requests: u16::MAX,
            stack_depth_max: 0,
        }
    }

    fn answer(&self, request: Request<'_>, reply: Reply) {
        let inode = request.inode;
        match request.operation {
            Operation::Lookup { name } => {
                let found = self.inode(name).filter(|_| inode == ROOT_INODE);
                let found = found.and_then(|inode| self.attributes(inode)).ok_or(Errno::NOENT);
                reply.result(found.map(|attributes| protocol::entry(&attributes, TTL)));
            }
            Operation::Getattr => {
                let found = self.attributes(inode).ok_or(Errno::STALE);
                reply.result(found.map(|attributes| protocol::attributes(&attributes, TTL)));
            }
            Operation::Opendir => reply.bytes(&protocol::opened(0, 0, 0)),
            Operation::Readdir { offset, size, .. } => reply.bytes(&self.list(offset, size)),
            // As on a disk, what one program has read is there for the next.
            Operation::Open { .. } => reply.bytes(&protocol::opened(0, open_flags::KEEP_CACHE, 0)),
            Operation::Read { offset, size, .. } => match self.file(inode) {
                Some(file) => self.read(file, offset, size, reply),
                None => reply.error(Errno::ISDIR),
            },
            Operation::Statfs => reply.bytes(&protocol::statfs(4096, 255)),
            Operation::Release { .. } | Operation::Releasedir { .. } => reply.bytes(&[]),
            _ => reply.error(Errno::NOSYS),
        }
    }
}
