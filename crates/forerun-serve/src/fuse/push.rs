//! Putting bytes into the kernel's page cache before it asks for them.
//!
//! Only this thread does so, and it waits for nothing but the kernel: a page that is
//! just being read is locked until that READ is answered, which other threads do.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;

use forerun::Reader;
use fuser::{INodeNo, Notifier};

use super::asked::Tally;

/// How many pushes may wait. One that finds no room is not made: its reader asks
/// for the bytes itself.
const QUEUE_LEN: usize = 64;

/// Bytes of one inode, which is one version of one object.
#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) ino: u64,
    pub(crate) reader: Reader,
    pub(crate) offset: u64,
    pub(crate) len: usize,
}

/// What the pushing thread is to do.
#[derive(Debug)]
enum Job {
    /// Store what is in memory, or wait for it elsewhere.
    Find(Push),
    /// Store these bytes of an inode.
    Store { ino: u64, offset: u64, bytes: Vec<u8> },
}

/// Where pushes are asked for.
#[derive(Debug)]
pub(crate) struct Pusher {
    jobs: SyncSender<Job>,
}

impl Pusher {
    /// Asks for `push`, which is not made if too many wait.
    pub(crate) fn push(&self, push: Push) {
        let _ = self.jobs.try_send(Job::Find(push));
    }
}

/// The thread's end of the queue.
#[derive(Debug)]
pub(crate) struct PushQueue {
    jobs: Receiver<Job>,
}

/// A queue that holds pushes until a thread makes them.
pub(crate) fn push_queue() -> (Arc<Pusher>, PushQueue) {
    let (sender, jobs) = sync_channel(QUEUE_LEN);
    (Arc::new(Pusher { jobs: sender }), PushQueue { jobs })
}

impl PushQueue {
    /// Starts the thread, which tells the kernel by `notifier`. It ends when the
    /// last [`Pusher`] is gone.
    pub(crate) fn start(self, notifier: Notifier, tally: Arc<Tally>, pusher: &Arc<Pusher>) {
        let kernel = Arc::new(Kernel { notifier, tally });
        // Weak, for the queue closes only once nobody else can send.
        let pusher = Arc::downgrade(pusher);
        let run = move || {
            for job in self.jobs {
                match job {
                    Job::Find(push) => find(push, &kernel, &pusher),
                    Job::Store { ino, offset, bytes } => kernel.store(ino, offset, &bytes),
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("forerun-push".to_owned()).spawn(run) {
            tracing::warn!("small reads will be slower: the thread that pushes does not start: {error}");
        }
    }
}

/// Stores what is in memory at once. What has to be fetched comes on another
/// thread, which must not store it: it is one of those that answer READs.
fn find(push: Push, kernel: &Arc<Kernel>, pusher: &Weak<Pusher>) {
    let Push { ino, reader, offset, len } = push;
    let (kernel, pusher, this) = (Arc::clone(kernel), Weak::clone(pusher), thread::current().id());
    reader.submit(offset, len, move |found| {
        // Whoever wants these bytes asks for them, and hears of the error.
        let Ok(lease) = found else { return };
        if thread::current().id() == this {
            return kernel.store(ino, offset, &lease.to_contiguous());
        }
        if let Some(pusher) = pusher.upgrade() {
            let bytes = lease.to_contiguous().into_owned();
            // No room, no push.
            let _ = pusher.jobs.try_send(Job::Store { ino, offset, bytes });
        }
    });
}

struct Kernel {
    notifier: Notifier,
    tally: Arc<Tally>,
}

impl Kernel {
    fn store(&self, ino: u64, offset: u64, bytes: &[u8]) {
        match self.notifier.store(INodeNo(ino), offset, bytes) {
            Ok(()) => self.tally.add_push(bytes.len() as u64),
            Err(error) => tracing::debug!("{} bytes are not pushed: {error}", bytes.len()),
        }
    }
}
