//! Putting bytes into the kernel's page cache before the kernel asks for them.
//!
//! One thread does so, and it waits for nothing but the kernel. The kernel locks a page from its
//! READ until the answer; other threads answer those.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;

use forerun::{Extent, Lease, Reader};
use parking_lot::Mutex;

use super::asked::Tally;
use super::queued::Queued;
use super::session::{Channel, Reply};

/// How many jobs may wait. When the queue is full a push is dropped: its reader asks for the bytes
/// itself.
const QUEUE_LEN: usize = 256;

/// Bytes of one inode, which is one version of one object.
#[derive(Debug)]
pub(crate) struct Push {
    pub(crate) ino: u64,
    pub(crate) reader: Reader,
    pub(crate) extent: Range<u64>,
}

/// A READ whose bytes are known, to be answered after the pushes before it.
#[derive(Debug)]
pub(crate) struct ReadyRead {
    pub(crate) ino: u64,
    pub(crate) extent: Range<u64>,
    pub(crate) reply: Reply,
    pub(crate) bytes: Vec<u8>,
}

/// Jobs of the thread, in order.
#[derive(Debug)]
enum Job {
    Store(Push),
    Reply(ReadyRead),
}

/// The sending end of the queue.
#[derive(Debug)]
pub(crate) struct Pusher {
    jobs: SyncSender<Job>,
    queued: Arc<Mutex<Queued>>,
}

impl Pusher {
    /// Queues `push`. Drops it if the queue is full, or if a READ of its pages waits to be
    /// answered.
    pub(crate) fn push(&self, push: Push) {
        let queued = &mut *self.queued.lock();
        if queued.add_store(push.ino, &push.extent) {
            let (ino, extent) = (push.ino, push.extent.clone());
            if self.jobs.try_send(Job::Store(push)).is_err() {
                queued.end_store(ino, &extent);
            }
        }
    }

    /// Answers a READ after the queued pushes, so that its reader finds their pages. Answers at
    /// once if a push would wait for a page of this READ.
    pub(crate) fn answer(&self, answer: ReadyRead) {
        let mut queued = self.queued.lock();
        let mut answer = Some(answer);
        if let Some(ReadyRead { ino, extent, .. }) = &answer
            && queued.add_reply(*ino, extent)
        {
            let (ino, extent) = (*ino, extent.clone());
            let sent = answer.take().map(|answer| self.jobs.try_send(Job::Reply(answer)));
            if let Some(Err(TrySendError::Full(job) | TrySendError::Disconnected(job))) = sent {
                queued.end_reply(ino, &extent);
                answer = if let Job::Reply(answer) = job { Some(answer) } else { None };
            }
        }
        drop(queued);
        if let Some(ReadyRead { reply, bytes, .. }) = answer {
            reply.bytes(&bytes);
        }
    }
}

/// The thread's end of the queue.
#[derive(Debug)]
pub(crate) struct PushQueue {
    jobs: Receiver<Job>,
    queued: Arc<Mutex<Queued>>,
}

/// A queue that holds pushes until its thread starts.
pub(crate) fn push_queue() -> (Arc<Pusher>, PushQueue) {
    let (sender, jobs) = sync_channel(QUEUE_LEN);
    let queued = Arc::<Mutex<Queued>>::default();
    (Arc::new(Pusher { jobs: sender, queued: queued.clone() }), PushQueue { jobs, queued })
}

impl PushQueue {
    /// Starts the thread, which writes to `channel`. It ends with the last [`Pusher`].
    pub(crate) fn start(self, channel: Arc<Channel>, tally: Arc<Tally>) {
        let kernel = Kernel { channel, tally };
        let run = move || self.jobs.into_iter().for_each(|job| kernel.work(job, &self.queued));
        if let Err(error) = thread::Builder::new().name("forerun-push".to_owned()).spawn(run) {
            tracing::warn!(
                target: "forerun::mount",
                "small reads will be slower: the thread that pushes does not start: {error}"
            );
        }
    }
}

struct Kernel {
    channel: Arc<Channel>,
    tally: Arc<Tally>,
}

impl Kernel {
    fn work(&self, job: Job, queued: &Mutex<Queued>) {
        match job {
            Job::Store(push) => {
                self.store(&push);
                queued.lock().end_store(push.ino, &push.extent);
            }
            Job::Reply(ReadyRead { ino, extent, reply, bytes }) => {
                reply.bytes(&bytes);
                queued.lock().end_reply(ino, &extent);
            }
        }
    }

    /// Stores the bytes if they are still in memory. Otherwise the reader asks for them itself.
    fn store(&self, push: &Push) {
        let Push { ino, reader, extent: Range { start, end } } = push;
        let store = |lease: &Lease<'_>| self.channel.store(*ino, *start, &lease.to_contiguous());
        match reader.peek(Extent::between(*start, *end), store) {
            Some(Ok(())) => self.tally.add_push(end - start),
            Some(Err(error)) => {
                tracing::debug!(target: "forerun::mount", "{} bytes are not pushed: {error}", end - start)
            }
            None => {}
        }
    }
}
