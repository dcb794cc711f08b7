//! The file system: `disk`, and `stats` beside it.

use std::ffi::OsStr;
use std::io;
use std::sync::mpsc::Sender;
use std::time::{Duration, SystemTime};

use forerun_sim::device::Direction;
use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use tokio::sync::watch;

use super::backing::Backing;
use super::clock::Clock;
use super::pacer::Message;

/// The name of the file that is the device.
pub(super) const DISK: &str = "disk";
/// The name of the file that tells what it has done.
pub(super) const STATS: &str = "stats";

const ROOT_INODE: u64 = 1;
const DISK_INODE: u64 = 2;
const STATS_INODE: u64 = 3;

/// What the kernel may have in flight; its default of 12 would hold back what the
/// device is there to order.
const REQUESTS_MAX: u16 = 256;
/// Nothing here is ever renamed or resized.
const TTL: Duration = Duration::from_secs(3600);

/// The file system as the kernel talks to it. Dropped when the kernel hangs up.
#[derive(Debug)]
pub(super) struct DeviceFilesystem {
    backing: Backing,
    clock: Clock,
    pacer: Sender<Message>,
    owner: (u32, u32),
    mounted: SystemTime,
    /// Closes with this.
    _alive: watch::Sender<()>,
}

impl DeviceFilesystem {
    /// The bytes of `backing` at the pace of `pacer`, to whom requests are told with
    /// `clock`'s times.
    pub(super) fn new(
        backing: Backing,
        clock: Clock,
        pacer: Sender<Message>,
        alive: watch::Sender<()>,
    ) -> DeviceFilesystem {
        let owner = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        DeviceFilesystem { backing, clock, pacer, owner, mounted: SystemTime::now(), _alive: alive }
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, size) = match inode.0 {
            ROOT_INODE => (FileType::Directory, 0o755, 0),
            DISK_INODE => (FileType::RegularFile, 0o600, self.backing.size()),
            STATS_INODE => (FileType::RegularFile, 0o444, 0),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size.div_ceil(512),
            atime: self.mounted,
            mtime: self.mounted,
            ctime: self.mounted,
            crtime: self.mounted,
            kind,
            perm,
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn read_disk(&self, issuer: u32, offset: u64, size: usize, reply: ReplyData) {
        let arrived = self.clock.now();
        let len = self.backing.len_within(offset, size);
        if len == 0 {
            return reply.data(&[]);
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
            answer: Box::new(move || reply.data(&bytes)),
        });
    }

    fn read_stats(&self, offset: u64, size: usize, reply: ReplyData) {
        self.tell(Message::Stats(Box::new(move |stats| {
            let text = stats.to_string();
            let from = usize::try_from(offset).map_or(text.len(), |offset| offset.min(text.len()));
            let to = (from + size).min(text.len());
            reply.data(&text.as_bytes()[from..to]);
        })));
    }

    fn tell(&self, message: Message) {
        // The thread is there as long as this is; a reply that was not sent for any
        // other reason says so itself when it is dropped.
        let _ = self.pacer.send(message);
    }
}

impl Filesystem for DeviceFilesystem {
    fn init(&mut self, _: &Request, kernel: &mut KernelConfig) -> io::Result<()> {
        // A loop device submits without waiting only if the kernel does, too.
        let wanted = InitFlags::FUSE_ASYNC_READ | InitFlags::FUSE_ASYNC_DIO;
        if let Err(missing) = kernel.add_capabilities(wanted) {
            tracing::warn!("this kernel does not support {missing:?}: requests will wait for one another");
            let _ = kernel.add_capabilities(wanted & !missing);
        }
        let _ = kernel.set_max_background(REQUESTS_MAX);
        let _ = kernel.set_congestion_threshold(REQUESTS_MAX);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inode = match name.to_str() {
            Some(DISK) if parent.0 == ROOT_INODE => DISK_INODE,
            Some(STATS) if parent.0 == ROOT_INODE => STATS_INODE,
            _ => return reply.error(Errno::ENOENT),
        };
        match self.attributes(INodeNo(inode)) {
            Some(attributes) => reply.entry(&TTL, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&TTL, &attributes),
            None => reply.error(Errno::ESTALE),
        }
    }

    /// Ignored, as a disk would: programs that write an image begin by cutting the
    /// file off.
    fn setattr(
        &self,
        request: &Request,
        inode: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        handle: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        self.getattr(request, inode, handle, reply);
    }

    fn readdir(&self, _: &Request, _: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let entries = [
            (ROOT_INODE, FileType::Directory, "."),
            (ROOT_INODE, FileType::Directory, ".."),
            (DISK_INODE, FileType::RegularFile, DISK),
            (STATS_INODE, FileType::RegularFile, STATS),
        ];
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (inode, kind, name)) in entries.into_iter().enumerate().skip(skipped) {
            if reply.add(INodeNo(inode), index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        // Nothing in the kernel's page cache, and writes beside one another.
        let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        if inode.0 == STATS_INODE {
            self.read_stats(offset, size as usize, reply);
        } else {
            self.read_disk(request.pid(), offset, size as usize, reply);
        }
    }

    fn write(
        &self,
        request: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        if inode.0 != DISK_INODE {
            return reply.error(Errno::EPERM);
        }
        let arrived = self.clock.now();
        let len = self.backing.len_within(offset, data.len());
        if len == 0 {
            return if data.is_empty() { reply.written(0) } else { reply.error(Errno::ENOSPC) };
        }
        if let Err(error) = self.backing.write(offset, &data[..len]) {
            return reply.error(errno(&error));
        }
        self.tell(Message::Request {
            address: offset,
            len: len as u64,
            direction: Direction::Write,
            issuer: request.pid(),
            arrived,
            // No request is larger than a `u32` can say.
            answer: Box::new(move || reply.written(len as u32)),
        });
    }

    /// Every write that has been answered is in the backing file; the kernel asks for
    /// this after those it cares for.
    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }
}

fn errno(error: &io::Error) -> Errno {
    tracing::warn!("the backing file cannot be read or written: {error}");
    error.raw_os_error().map_or(Errno::EIO, Errno::from_i32)
}
