//! Handling the kernel's requests, at once or later on the engine's runtime.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio::sync::{oneshot, watch};

use super::errno::report;
use super::listing::OpenDirectory;
use super::lists::{Lists, Told};
use super::protocol::{self, Offer, Operation, Request, Wishes, capabilities};
use super::session::{Filesystem, Reply};
use super::tree::Tree;
use super::waits::{Asker, Wait};
use crate::served::child_path;
use crate::sharers::client_of;

/// Limits of background requests, which no reader waits for, and where the kernel starts to hold
/// back. They allow for 64 requests of 1 MiB: the kernel's defaults, 12 and 9, starve a backend
/// that needs tens of fetches to be fast.
const BACKGROUND_REQUESTS_MAX: u16 = 64;
const CONGESTED_REQUESTS: u16 = 48;

/// The open flag that bypasses the page cache.
const O_DIRECT: u32 = OFlags::DIRECT.bits();
/// The bits of the open flags that hold the access mode.
const O_ACCMODE: u32 = OFlags::ACCMODE.bits();
/// Block size and longest name, as `df` shows them.
const BLOCK_BYTES: u32 = 4096;
const NAME_BYTES_MAX: u32 = 255;

/// The file system that the kernel talks to. It is dropped when the kernel hangs up.
#[derive(Debug)]
pub(crate) struct ForerunFilesystem {
    tree: Arc<Tree>,
    lists: Lists,
    /// Limit of the kernel's own readahead.
    kernel_readahead_bytes: u32,
    /// Closes with the file system: see [`super::Mount::ended`].
    _alive: watch::Sender<()>,
}

/// The payload of an answer, or the error.
type Answer = Result<Vec<u8>, Errno>;

impl ForerunFilesystem {
    /// Serves `tree` until the kernel hangs up; `alive` closes then. The kernel reads ahead at most
    /// `kernel_readahead_bytes`.
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

    /// Answers a request about an inode, for which it may have to wait.
    fn answer_later(&self, request: Request<'_>, reply: Reply) {
        let inode = request.inode;
        let Some(entry) = self.tree.inodes.get(inode) else { return reply.error(Errno::STALE) };
        let asker = asker(&request);
        match request.operation {
            Operation::Lookup { name } => {
                let Some(name) = name.to_str() else { return reply.error(Errno::NOENT) };
                let path = child_path(&entry.path, name);
                self.later(asker, reply, |tree| async move { tree.lookup(&entry, &path).await });
            }
            Operation::Getattr => {
                self.later(asker, reply, move |tree| async move { tree.getattr(inode, &entry).await });
            }
            Operation::Readlink => {
                self.later(asker, reply, |tree| async move { tree.read_link(&entry.path).await });
            }
            Operation::Open { flags } if flags & O_ACCMODE != OFlags::RDONLY.bits() => {
                reply.error(Errno::ROFS);
            }
            Operation::Open { flags } => {
                let is_direct = flags & O_DIRECT != 0;
                let client = client_of(&request.user.to_string());
                self.later(asker, reply, move |tree| async move {
                    tree.open(inode, &entry, client, is_direct).await
                });
            }
            Operation::Opendir => {
                let handle = self.tree.directories.insert(OpenDirectory::new(entry));
                reply.bytes(&protocol::opened(handle, 0, 0));
            }
            _ => reply.error(Errno::NOSYS),
        }
    }

    /// Answers a request about the open directory `handle`.
    fn answer_of_directory(&self, request: Request<'_>, handle: u64, reply: Reply) {
        let Some(directory) = self.tree.directories.get(handle) else { return reply.error(Errno::BADF) };
        let asker = asker(&request);
        match request.operation {
            Operation::Readdir { offset, size, .. } => self
                .later(asker, reply, move |tree| async move { tree.readdir(&directory, offset, size).await }),
            Operation::Readdirplus { offset, size, .. } => self.later(asker, reply, move |tree| async move {
                tree.readdirplus(&directory, offset, size).await
            }),
            Operation::Ioctl { command, data, .. } => {
                match self.lists.tell(handle, directory.path(), command, data) {
                    Ok(Told::Added) => reply.bytes(&protocol::ioctl(0)),
                    Ok(Told::Complete(parts)) => self.later(asker, reply, |tree| async move {
                        tree.prefetch(&parts).await.map(protocol::ioctl)
                    }),
                    Err(errno) => reply.error(errno),
                }
            }
            _ => reply.error(Errno::NOSYS),
        }
    }

    /// Answers on the engine's runtime, unless `asker` is interrupted first.
    fn later<F>(&self, asker: Asker, reply: Reply, answer: impl FnOnce(Arc<Tree>) -> F)
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        let (tree, answer) = (self.tree.clone(), answer(self.tree.clone()));
        self.tree.forerun.spawn(async move {
            let mut answer = pin!(answer);
            // Most answers are known at once and need no entry among the waits.
            if let Poll::Ready(answer) = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await {
                return reply.result(answer);
            }
            let (give_up, given_up) = oneshot::channel();
            tree.waits.add(asker, Wait::Task(give_up));
            let answer = tokio::select! {
                biased;
                answer = answer => answer,
                Ok(error) = given_up => Err(report(&error)),
            };
            tree.waits.remove(asker.unique);
            reply.result(answer);
        });
    }
}

impl Filesystem for ForerunFilesystem {
    fn greet(&self, offer: &Offer) -> Wishes {
        let mut wishes = Wishes {
            capabilities: capabilities::ASYNC_READ
                | capabilities::ASYNC_DIO
                | capabilities::PARALLEL_DIROPS
                | capabilities::DO_READDIRPLUS
                | capabilities::READDIRPLUS_AUTO
                | capabilities::CACHE_SYMLINKS
                | capabilities::NO_EXPORT_SUPPORT,
            readahead_bytes_max: self.kernel_readahead_bytes,
            background_requests_max: BACKGROUND_REQUESTS_MAX,
            congested_requests: CONGESTED_REQUESTS,
            stack_depth_max: 0,
        };
        // Older kernels lack some of them, which costs speed and nothing else.
        let missing = offer.lacks(wishes.capabilities);
        if missing != 0 {
            tracing::debug!(
                target: "forerun::mount",
                "the kernel does not support the capabilities {missing:#x}"
            );
        }
        if let Some(passthrough) = &self.tree.passthrough {
            passthrough.ask_for(offer, &mut wishes);
        }
        wishes
    }

    fn answer(&self, request: Request<'_>, reply: Reply) {
        let (tree, inode) = (&self.tree, request.inode);
        match request.operation {
            Operation::Lookup { .. }
            | Operation::Getattr
            | Operation::Readlink
            | Operation::Open { .. }
            | Operation::Opendir => self.answer_later(request, reply),
            Operation::Read { handle, offset, size, .. } => {
                tree.read(asker(&request), handle, offset, size as usize, reply);
            }
            Operation::Release { handle } => {
                reply.bytes(&[]);
                tree.release(handle);
            }
            Operation::Readdir { handle, .. }
            | Operation::Readdirplus { handle, .. }
            | Operation::Ioctl { handle, is_directory: true, .. } => {
                self.answer_of_directory(request, handle, reply);
            }
            Operation::Releasedir { handle } => {
                reply.bytes(&[]);
                self.lists.forget(handle);
                tree.directories.remove(handle);
            }
            // Size and free space of the store are unknown, and of no use to a reader.
            Operation::Statfs => reply.bytes(&protocol::statfs(BLOCK_BYTES, NAME_BYTES_MAX)),
            Operation::Getxattr { name, room } => reply.result(tree.get_attribute(inode, name, room)),
            Operation::Listxattr { room } => reply.result(tree.list_attributes(inode, room)),
            Operation::Ioctl { handle, command, data, .. } => {
                reply.result(tree.ioctl(handle, command, data).map(|()| protocol::ioctl(0)));
            }
            Operation::Setxattr { name, value } => {
                reply.result(tree.set_attribute(inode, name, Some(value)).map(|()| []));
            }
            Operation::Removexattr { name } => {
                reply.result(tree.set_attribute(inode, name, None).map(|()| []));
            }
            // The mount is read-only. These requests come only with hints, for which the kernel
            // must pass all changes on, or after `mount -o remount,rw`.
            Operation::Setattr | Operation::Write { .. } | Operation::Change => reply.error(Errno::ROFS),
            // After "not implemented" the kernel answers itself. That saves a request for every
            // close, and one for every file of `ls -l`.
            Operation::Fsync | Operation::Other => reply.error(Errno::NOSYS),
        }
    }

    fn forget(&self, inode: u64, lookups: u64) {
        self.tree.inodes.forget(inode, lookups);
    }

    fn interrupt(&self, unique: u64) {
        self.tree.waits.interrupt(unique);
    }
}

fn asker(request: &Request<'_>) -> Asker {
    let is_for_cache = matches!(request.operation, Operation::Read { flags, .. } if flags & O_DIRECT == 0);
    Asker { unique: request.unique, thread: request.thread, is_for_cache }
}
