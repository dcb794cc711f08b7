//! Putting bytes into the kernel's page cache before it asks for them.
//!
//! Only this thread does so, and it waits for nothing but the kernel: a page that is
//! just being read is locked until that READ is answered, which other threads do.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use forerun::{Extent, Lease, Reader};
use fuser::{INodeNo, Notifier, ReplyData};

use super::asked::Tally;

/// How many pushes may wait. One that finds no room is not made: its reader asks
/// for the bytes itself.
const QUEUE_LEN: usize = 256;

/// Bytes of one inode, which is one version of one object.
#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) ino: u64,
    pub(crate) reader: Reader,
    pub(crate) extent: Range<u64>,
}

/// What the thread does, one after the other.
#[derive(Debug)]
enum Job {
    Store(Push),
    Reply(ReplyData, Vec<u8>),
}

/// Where pushes are asked for.
#[derive(Debug)]
pub(crate) struct Pusher {
    jobs: SyncSender<Job>,
}

impl Pusher {
    /// Asks for `push`, which is not made if too many wait.
    pub(crate) fn push(&self, push: Push) {
        let _ = self.jobs.try_send(Job::Store(push));
    }

    /// Answers a READ once the pushes before have been made: its reader then finds them.
    pub(crate) fn reply(&self, reply: ReplyData, bytes: Vec<u8>) {
        let sent = self.jobs.try_send(Job::Reply(reply, bytes));
        if let Err(
            TrySendError::Full(Job::Reply(reply, bytes))
            | TrySendError::Disconnected(Job::Reply(reply, bytes)),
        ) = sent
        {
            reply.data(&bytes);
        }
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
    pub(crate) fn start(self, notifier: Notifier, tally: Arc<Tally>) {
        let kernel = Kernel { notifier, tally };
        let run = move || {
            for job in self.jobs {
                match job {
                    Job::Store(push) => kernel.store(push),
                    Job::Reply(reply, bytes) => reply.data(&bytes),
                }
            }
        };
        if let Err(error) = thread::Builder::new().name("forerun-push".to_owned()).spawn(run) {
            tracing::warn!("small reads will be slower: the thread that pushes does not start: {error}");
        }
    }
}

struct Kernel {
    notifier: Notifier,
    tally: Arc<Tally>,
}

impl Kernel {
    /// Stores what is in memory still. A reader asks for the rest itself.
    fn store(&self, Push { ino, reader, extent: Range { start, end } }: Push) {
        let store = |lease: &Lease<'_>| self.notifier.store(INodeNo(ino), start, &lease.to_contiguous());
        match reader.peek(Extent::between(start, end), store) {
            Some(Ok(())) => self.tally.add_push(end - start),
            Some(Err(error)) => tracing::debug!("{} bytes are not pushed: {error}", end - start),
            None => {}
        }
    }
}
