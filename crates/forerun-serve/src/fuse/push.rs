//! Putting bytes into the kernel's page cache before it asks for them.
//!
//! Only this thread does so, and it waits for nothing but the kernel: a page that is
//! just being read is locked until that READ is answered, which other threads do.

use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use forerun::{Extent, Lease, Reader};
use fuser::{INodeNo, Notifier};

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

/// Where pushes are asked for.
#[derive(Debug)]
pub(crate) struct Pusher {
    pushes: SyncSender<Push>,
}

impl Pusher {
    /// Asks for `push`, which is not made if too many wait.
    pub(crate) fn push(&self, push: Push) {
        let _ = self.pushes.try_send(push);
    }
}

/// The thread's end of the queue.
#[derive(Debug)]
pub(crate) struct PushQueue {
    pushes: Receiver<Push>,
}

/// A queue that holds pushes until a thread makes them.
pub(crate) fn push_queue() -> (Arc<Pusher>, PushQueue) {
    let (sender, pushes) = sync_channel(QUEUE_LEN);
    (Arc::new(Pusher { pushes: sender }), PushQueue { pushes })
}

impl PushQueue {
    /// Starts the thread, which tells the kernel by `notifier`. It ends when the
    /// last [`Pusher`] is gone.
    pub(crate) fn start(self, notifier: Notifier, tally: Arc<Tally>) {
        let kernel = Kernel { notifier, tally };
        let run = move || self.pushes.into_iter().for_each(|push| kernel.store(push));
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
