//! The kernel's requests: which of them can be answered at once, and which later.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use std::{future::Future, io};

use fuser::{
    AccessFlags, BsdFileFlags, Errno, FileHandle, Filesystem, FopenFlags, INodeNo, InitFlags, IoctlFlags,
    KernelConfig, LockOwner, OpenAccMode, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyIoctl, ReplyOpen, ReplyStatfs,
    ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use tokio::sync::watch;

use super::listing::{OpenDirectory, child_path};
use super::lists::{Lists, Told};
use super::tree::Tree;

/// What the kernel may have in flight for us without a reader waiting, and when
/// it starts holding back: enough for 64 requests of 1 MiB, where its defaults
/// (12 and 9) starve a backend that needs tens of fetches to be fast.
const BACKGROUND_REQUESTS_MAX: u16 = 64;
const CONGESTED_REQUESTS: u16 = 48;

/// The flag of programs that pass the page cache by.
const O_DIRECT: i32 = rustix::fs::OFlags::DIRECT.bits() as i32;

/// The file system as the kernel talks to it. Dropped when the kernel hangs up.
#[derive(Debug)]
pub(crate) struct ForerunFilesystem {
    tree: Arc<Tree>,
    lists: Lists,
    /// What the kernel may read ahead by itself.
    kernel_readahead_bytes: u32,
    /// Closes with this: see [`super::Mount::ended`].
    _alive: watch::Sender<()>,
}

impl ForerunFilesystem {
    /// Serves `tree` until the kernel hangs up; `alive` closes then. The kernel is
    /// to read ahead no further than it is told here.
    pub(crate) fn new(
        tree: Tree,
        kernel_readahead_bytes: u32,
        alive: watch::Sender<()>,
    ) -> ForerunFilesystem {
        ForerunFilesystem {
            tree: Arc::new(tree),
            lists: Lists::default(),
            kernel_readahead_bytes,
            _alive: alive,
        }
    }

    fn ioctl_of_directory(&self, handle: FileHandle, command: u32, words: &[u8], reply: ReplyIoctl) {
        let Some(directory) = self.tree.directories.get(handle) else { return reply.error(Errno::EBADF) };
        match self.lists.tell(handle, directory.path(), command, words) {
            Ok(Told::Added) => reply.ioctl(0, &[]),
            Ok(Told::Complete(parts)) => self.later(|tree| async move {
                match tree.prefetch(&parts).await {
                    Ok(left_out) => reply.ioctl(left_out, &[]),
                    Err(errno) => reply.error(errno),
                }
            }),
            Err(errno) => reply.error(errno),
        }
    }

    /// Answers with what `answer` does, on the engine's runtime.
    fn later<F: Future<Output = ()> + Send + 'static>(&self, answer: impl FnOnce(Arc<Tree>) -> F) {
        self.tree.forerun.spawn(answer(self.tree.clone()));
    }
}

impl Filesystem for ForerunFilesystem {
    fn init(&mut self, _: &Request, kernel: &mut KernelConfig) -> io::Result<()> {
        let wanted = InitFlags::FUSE_ASYNC_READ
            | InitFlags::FUSE_ASYNC_DIO
            | InitFlags::FUSE_PARALLEL_DIROPS
            | InitFlags::FUSE_DO_READDIRPLUS
            | InitFlags::FUSE_READDIRPLUS_AUTO
            | InitFlags::FUSE_CACHE_SYMLINKS
            | InitFlags::FUSE_NO_EXPORT_SUPPORT;
        // Older kernels lack some; each is only a matter of speed.
        if let Err(missing) = kernel.add_capabilities(wanted) {
            tracing::debug!("the kernel does not support {missing:?}");
            let _ = kernel.add_capabilities(wanted & !missing);
        }
        if let Some(passthrough) = &self.tree.passthrough {
            passthrough.ask_for(kernel);
        }
        // One that offers less than this is left with what it offers.
        let _ = kernel.set_max_readahead(self.kernel_readahead_bytes);
        let _ = kernel.set_max_background(BACKGROUND_REQUESTS_MAX);
        let _ = kernel.set_congestion_threshold(CONGESTED_REQUESTS);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let Some(parent) = self.tree.inodes.get(parent.0) else { return reply.error(Errno::ESTALE) };
        let Some(name) = name.to_str() else { return reply.error(Errno::ENOENT) };
        let path = child_path(&parent.path, name);
        self.later(|tree| async move { tree.lookup(&parent, &path, reply).await });
    }

    fn forget(&self, _: &Request, ino: INodeNo, count: u64) {
        self.tree.inodes.forget(ino.0, count);
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let Some(entry) = self.tree.inodes.get(ino.0) else { return reply.error(Errno::ESTALE) };
        self.later(|tree| async move { tree.getattr(ino.0, &entry, reply).await });
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let Some(entry) = self.tree.inodes.get(ino.0) else { return reply.error(Errno::ESTALE) };
        self.later(|tree| async move { tree.read_link(&entry.path, reply).await });
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if flags.acc_mode() != OpenAccMode::O_RDONLY {
            return reply.error(Errno::EROFS);
        }
        let Some(entry) = self.tree.inodes.get(ino.0) else { return reply.error(Errno::ESTALE) };
        let is_direct = flags.0 & O_DIRECT != 0;
        self.later(move |tree| async move { tree.open(ino.0, &entry, is_direct, reply).await });
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        self.tree.read(handle, offset, size as usize, reply);
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
        self.tree.release(handle);
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let Some(entry) = self.tree.inodes.get(ino.0) else { return reply.error(Errno::ESTALE) };
        let handle = self.tree.directories.insert(OpenDirectory::new(entry));
        reply.opened(handle, FopenFlags::empty());
    }

    fn readdir(&self, _: &Request, _: INodeNo, handle: FileHandle, offset: u64, reply: ReplyDirectory) {
        let Some(directory) = self.tree.directories.get(handle) else { return reply.error(Errno::EBADF) };
        self.later(|tree| async move { tree.readdir(&directory, offset, reply).await });
    }

    fn readdirplus(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        reply: ReplyDirectoryPlus,
    ) {
        let Some(directory) = self.tree.directories.get(handle) else { return reply.error(Errno::EBADF) };
        self.later(|tree| async move { tree.readdirplus(&directory, offset, reply).await });
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        reply.ok();
        self.lists.forget(handle);
        self.tree.directories.remove(handle);
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        // How much there is and how much would fit is not known, nor of use to a reader.
        reply.statfs(0, 0, 0, 0, 0, 4096, 255, 4096);
    }

    // "Not implemented" makes the kernel answer these itself from then on, which
    // saves a request on every close and, for `ls -l`, two on every file.

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.error(Errno::ENOSYS);
    }

    fn access(&self, _: &Request, _: INodeNo, _: AccessFlags, reply: ReplyEmpty) {
        reply.error(Errno::ENOSYS);
    }

    fn getxattr(&self, _: &Request, ino: INodeNo, name: &OsStr, room: u32, reply: ReplyXattr) {
        self.tree.get_attribute(ino.0, name, room, reply);
    }

    fn listxattr(&self, _: &Request, ino: INodeNo, room: u32, reply: ReplyXattr) {
        self.tree.list_attributes(ino.0, room, reply);
    }

    fn ioctl(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        flags: IoctlFlags,
        command: u32,
        words: &[u8],
        _: u32,
        reply: ReplyIoctl,
    ) {
        if flags.contains(IoctlFlags::FUSE_IOCTL_DIR) {
            return self.ioctl_of_directory(handle, command, words, reply);
        }
        match self.tree.ioctl(handle, command, words) {
            Ok(()) => reply.ioctl(0, &[]),
            Err(errno) => reply.error(errno),
        }
    }

    // The mount is read-only, so that these come only with hints, for which the kernel
    // must pass attributes on and so all else, or after `mount -o remount,rw`.

    fn setattr(
        &self,
        _: &Request,
        _: INodeNo,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        _: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        reply.error(Errno::EROFS);
    }

    fn mknod(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EROFS);
    }

    fn mkdir(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, reply: ReplyEntry) {
        reply.error(Errno::EROFS);
    }

    fn unlink(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EROFS);
    }

    fn rmdir(&self, _: &Request, _: INodeNo, _: &OsStr, reply: ReplyEmpty) {
        reply.error(Errno::EROFS);
    }

    fn symlink(&self, _: &Request, _: INodeNo, _: &OsStr, _: &Path, reply: ReplyEntry) {
        reply.error(Errno::EROFS);
    }

    fn rename(
        &self,
        _: &Request,
        _: INodeNo,
        _: &OsStr,
        _: INodeNo,
        _: &OsStr,
        _: RenameFlags,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::EROFS);
    }

    fn link(&self, _: &Request, _: INodeNo, _: INodeNo, _: &OsStr, reply: ReplyEntry) {
        reply.error(Errno::EROFS);
    }

    fn create(&self, _: &Request, _: INodeNo, _: &OsStr, _: u32, _: u32, _: i32, reply: ReplyCreate) {
        reply.error(Errno::EROFS);
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _: u64,
        _: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        reply.error(Errno::EROFS);
    }

    fn fallocate(&self, _: &Request, _: INodeNo, _: FileHandle, _: u64, _: u64, _: i32, reply: ReplyEmpty) {
        reply.error(Errno::EROFS);
    }

    fn setxattr(
        &self,
        _: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        _: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        match self.tree.set_attribute(ino.0, name, Some(value)) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }

    fn removexattr(&self, _: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        match self.tree.set_attribute(ino.0, name, None) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }
}
