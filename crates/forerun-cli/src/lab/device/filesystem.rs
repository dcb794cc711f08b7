//! The file system: `disk`, and `stats` beside it.

use std::ffi::OsStr;
use std::io;
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};

use forerun_serve::fuse::protocol::{
    self, Attributes, Directory, Offer, Operation, Request, Wishes, capabilities, open_flags,
};
use forerun_serve::fuse::{Filesystem, Reply};
use forerun_sim::device::Direction;
use rustix::fs::FileType;
use rustix::io::Errno;
use tokio::sync::watch;

use super::backing::Backing;
use super::clock::Clock;
use super::pacer::Message;

/// The name of the device's file.
pub(super) const DISK: &str = "disk";
/// The name of the file with the device's counters.
pub(super) const STATS: &str = "stats";

const ROOT_INODE: u64 = 1;
const DISK_INODE: u64 = 2;
const STATS_INODE: u64 = 3;

/// The kernel's limit of requests in flight. Its default of 12 would hold back requests that the
/// device is to order.
const REQUESTS_MAX: u16 = 256;
/// No file is ever renamed or resized.
const TTL: Duration = Duration::from_secs(3600);

/// The file system that the kernel talks to. It is dropped when the kernel hangs up.
#[derive(Debug)]
pub(super) struct DeviceFilesystem {
    backing: Backing,
    clock: Clock,
    pacer: Sender<Message>,
    owner: (u32, u32),
    mounted: SystemTime,
    /// Closes with the file system.
    _alive: watch::Sender<()>,
}

impl DeviceFilesystem {
    /// The bytes of `backing` at the pace of `pacer`, which gets requests with times of `clock`.
    pub(super) fn new(
        backing: Backing,
        clock: Clock,
        pacer: Sender<Message>,
        alive: watch::Sender<()>,
    ) -> DeviceFilesystem {
        let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        DeviceFilesystem { backing, clock, pacer, owner, mounted: SystemTime::now(), _alive: alive }
    }

    fn attributes(&self, inode: u64) -> Option<Attributes> {
        let (kind, permissions, size) = match inode {
            ROOT_INODE => (FileType::Directory, 0o755, 0),
            DISK_INODE => (FileType::RegularFile, 0o600, self.backing.size()),
            STATS_INODE => (FileType::RegularFile, 0o444, 0),
            _ => return None,
        };
        let (mode, modified) = (kind.as_raw_mode() | permissions, self.mounted);
        Some(Attributes { inode, size, modified, mode, owner: self.owner, block_bytes: 4096 })
    }

    fn inode_of(name: &OsStr) -> Option<u64> {
        match name.to_str()? {
            DISK => Some(DISK_INODE),
            STATS => Some(STATS_INODE),
            _ => None,
        }
    }

    fn list(offset: u64, room: u32) -> Vec<u8> {
        let entries = [
            (ROOT_INODE, FileType::Directory, "."),
            (ROOT_INODE, FileType::Directory, ".."),
            (DISK_INODE, FileType::RegularFile, DISK),
            (STATS_INODE, FileType::RegularFile, STATS),
        ];
        let mut list = Directory::new(room);
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (inode, kind, name)) in entries.into_iter().enumerate().skip(skipped) {
            if !list.add(inode, index as u64 + 1, kind.as_raw_mode(), name) {
                break;
            }
        }
        list.into_bytes()
    }

    fn read_disk(&self, issuer: u32, offset: u64, size: usize, reply: Reply) {
        let arrived = self.clock.now();
        let len = self.backing.len_within(offset, size);
        if len == 0 {
            return reply.bytes(&[]);
        }
        let bytes = match self.backing.read(offset, len) {
            Ok(bytes) => bytes,
            Err(error) => return reply.error(errno(&error)),
        };
        self.tell(Message::Request {
            address: offset,
            len: len as u64,
            direction: Direction::Read,
            issuer,
            arrived,
            answer: Box::new(move || reply.bytes(&bytes)),
        });
    }

    fn read_stats(&self, offset: u64, size: usize, reply: Reply) {
        self.tell(Message::Stats(Box::new(move |stats| {
            let text = stats.to_string();
            let from = usize::try_from(offset).map_or(text.len(), |offset| offset.min(text.len()));
            let to = (from + size).min(text.len());
            reply.bytes(&text.as_bytes()[from..to]);
        })));
    }

    fn write_disk(&self, issuer: u32, offset: u64, data: &[u8], reply: Reply) {
        let arrived = self.clock.now();
        let len = self.backing.len_within(offset, data.len());
        if len == 0 {
            return if data.is_empty() {
                reply.bytes(&protocol::written(0))
            } else {
                reply.error(Errno::NOSPC)
            };
        }
        if let Err(error) = self.backing.write(offset, &data[..len]) {
            return reply.error(errno(&error));
        }
        self.tell(Message::Request {
            address: offset,
            len: len as u64,
            direction: Direction::Write,
            issuer,
            arrived,
            // No request is longer than a `u32` can express.
            answer: Box::new(move || reply.bytes(&protocol::written(len as u32))),
        });
    }

    fn tell(&self, message: Message) {
        // The thread lives as long as this. A reply that is dropped for another reason reports an
        // error.
        let _ = self.pacer.send(message);
    }
}

impl Filesystem for DeviceFilesystem {
    fn greet(&self, offer: &Offer) -> Wishes {
        // A loop device submits without waiting only if the kernel does, too.
        let capabilities = capabilities::ASYNC_READ | capabilities::ASYNC_DIO;
        if offer.lacks(capabilities) != 0 {
            tracing::warn!(
                target: "forerun::lab",
                "this kernel has no asynchronous reads: requests will wait for one another"
            );
        }
        Wishes {
            capabilities,
            readahead_bytes_max: u32::MAX,
            background_requests_max: REQUESTS_MAX,
            congested_requests: REQUESTS_MAX,
            stack_depth_max: 0,
        }
    }

    fn answer(&self, request: Request<'_>, reply: Reply) {
        let Request { inode, thread, .. } = request;
        match request.operation {
            Operation::Lookup { name } => {
                let found = Self::inode_of(name).filter(|_| inode == ROOT_INODE);
                let found = found.and_then(|inode| self.attributes(inode)).ok_or(Errno::NOENT);
                reply.result(found.map(|attributes| protocol::entry(&attributes, TTL)));
            }
            // A change is ignored, as by a disk: programs that write an image truncate the file
            // first.
            Operation::Getattr | Operation::Setattr => {
                let found = self.attributes(inode).ok_or(Errno::STALE);
                reply.result(found.map(|attributes| protocol::attributes(&attributes, TTL)));
            }
            Operation::Opendir => reply.bytes(&protocol::opened(0, 0, 0)),
            Operation::Readdir { offset, size, .. } => reply.bytes(&Self::list(offset, size)),
            // Bypasses the kernel's page cache, and allows parallel writes.
            Operation::Open { .. } => {
                let flags = open_flags::DIRECT_IO | open_flags::PARALLEL_DIRECT_WRITES;
                reply.bytes(&protocol::opened(0, flags, 0));
            }
            Operation::Read { offset, size, .. } if inode == STATS_INODE => {
                self.read_stats(offset, size as usize, reply);
            }
            Operation::Read { offset, size, .. } => self.read_disk(thread, offset, size as usize, reply),
            Operation::Write { offset, data } if inode == DISK_INODE => {
                self.write_disk(thread, offset, data, reply);
            }
            Operation::Write { .. } => reply.error(Errno::PERM),
            Operation::Statfs => reply.bytes(&protocol::statfs(4096, 255)),
            // Every answered write is in the backing file. The kernel sends Fsync after those that
            // must last.
            Operation::Fsync | Operation::Release { .. } | Operation::Releasedir { .. } => reply.bytes(&[]),
            _ => reply.error(Errno::NOSYS),
        }
    }
}

fn errno(error: &io::Error) -> Errno {
    tracing::warn!(target: "forerun::lab", "the backing file cannot be read or written: {error}");
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}
