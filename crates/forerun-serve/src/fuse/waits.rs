//! Requests that wait for the storage, and when they are given up.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forerun::{Error, ErrorKind, Forerun, Pending};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::thread::{Fate, fate};

/// How often the threads of waiting requests are examined. A killed program ends within this time,
/// and most waits end sooner.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long a wait continues after a signal if its thread cannot be seen.
const GRACE: Duration = Duration::from_millis(500);
/// Limit of early interrupts: signals for requests that do not wait yet. One thread may receive an
/// interrupt while another has just received its request. Most are for requests that were answered
/// meanwhile.
const EARLY_MAX: usize = 256;

/// How a wait is ended.
#[derive(Debug)]
pub(super) enum Wait {
    Read(Pending),
    Task(oneshot::Sender<Error>),
}

/// The origin of a waiting request.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    /// The number of the request.
    pub(super) unique: u64,
    /// The thread that asks; 0 if it cannot be seen.
    pub(super) thread: u32,
    /// Whether the read fills the page cache. A killed reader of it ends by itself. But its file is
    /// closed, and its fetches end, only once all its reads are answered. The kernel asks again if
    /// another reader waits for the same pages.
    pub(super) is_for_cache: bool,
}

/// All requests that wait.
#[derive(Debug)]
pub(crate) struct Waits {
    forerun: Forerun,
    /// Whether thread numbers are those of this process's PID namespace.
    sees_threads: bool,
    table: Mutex<WaitTable>,
}

#[derive(Debug, Default)]
struct WaitTable {
    waiting: HashMap<u64, Waiting>,
    early: VecDeque<u64>,
    is_watched: bool,
    is_closed: bool,
}

#[derive(Debug)]
struct Waiting {
    asker: Asker,
    wait: Wait,
    interrupted: Option<Instant>,
    /// Whether it has waited for an interval.
    is_old: bool,
}

impl Waits {
    /// No waits yet. The runtime of `forerun` examines them.
    pub(super) fn new(forerun: Forerun, sees_threads: bool) -> Waits {
        Waits { forerun, sees_threads, table: Mutex::default() }
    }

    /// Adds the wait of `asker`, until [`Waits::remove`].
    pub(super) fn add(self: &Arc<Waits>, asker: Asker, wait: Wait) {
        let mut table = self.table.lock();
        if table.is_closed {
            drop(table);
            return wait.give_up(unmounted());
        }
        let interrupted = table.take_early(asker.unique).then(Instant::now);
        table.waiting.insert(asker.unique, Waiting { asker, wait, interrupted, is_old: false });
        let begins = !std::mem::replace(&mut table.is_watched, true);
        drop(table);
        if begins {
            self.forerun.spawn(Arc::clone(self).watch());
        }
        if interrupted.is_some() {
            self.examine(asker.unique);
        }
    }

    /// Adds the wait of `asker` for `read`, which may have ended already.
    pub(super) fn add_read(self: &Arc<Waits>, asker: Asker, read: Pending) {
        self.add(asker, Wait::Read(read.clone()));
        if !read.is_waiting() {
            self.remove(asker.unique);
        }
    }

    /// Removes the request `unique`, which no longer waits.
    pub(super) fn remove(&self, unique: u64) {
        self.table.lock().waiting.remove(&unique);
    }

    /// Handles a signal for the thread that asks for `unique`.
    pub(super) fn interrupt(&self, unique: u64) {
        let mut table = self.table.lock();
        let Some(waiting) = table.waiting.get_mut(&unique) else { return table.add_early(unique) };
        waiting.interrupted = Some(Instant::now());
        drop(table);
        self.examine(unique);
    }

    /// Ends all waits, present and future: the mount is going away.
    pub(super) fn close(&self) {
        let waiting = {
            let mut table = self.table.lock();
            table.is_closed = true;
            std::mem::take(&mut table.waiting)
        };
        waiting.into_values().for_each(|waiting| waiting.wait.give_up(unmounted()));
    }

    /// Examines doubtful waits until none is left.
    async fn watch(self: Arc<Waits>) {
        loop {
            tokio::time::sleep(INTERVAL).await;
            let doubtful: Vec<u64> = {
                let mut table = self.table.lock();
                table.is_watched = !table.waiting.is_empty();
                if !table.is_watched {
                    return;
                }
                let waiting = table.waiting.iter_mut();
                waiting.filter_map(|(unique, waiting)| waiting.is_doubtful().then_some(*unique)).collect()
            };
            doubtful.into_iter().for_each(|unique| self.examine(unique));
        }
    }

    /// Gives `unique` up if its answer is of no use any more.
    fn examine(&self, unique: u64) {
        let Some(thread) = self.table.lock().waiting.get(&unique).map(|waiting| waiting.asker.thread) else {
            return;
        };
        let fate = if self.sees_threads { fate(thread) } else { Fate::Unseen };
        let mut table = self.table.lock();
        let is_vain = table.waiting.get(&unique).is_some_and(|waiting| waiting.is_vain(fate));
        let waiting = if is_vain { table.waiting.remove(&unique) } else { None };
        drop(table);
        if let Some(waiting) = waiting {
            waiting.wait.give_up(interrupted());
        }
    }
}

impl Waiting {
    /// Whether to examine its thread. The kernel tells of no signal while a thread waits for
    /// several reads at a time, as it does for each direct read.
    fn is_doubtful(&mut self) -> bool {
        let was_old = std::mem::replace(&mut self.is_old, true);
        self.interrupted.is_some() || was_old && matches!(self.wait, Wait::Read(_))
    }

    /// Whether the answer is of no use, given the `fate` of the thread.
    fn is_vain(&self, fate: Fate) -> bool {
        match (fate, self.interrupted) {
            (Fate::Living, _) => false,
            (Fate::Dying, _) => true,
            (Fate::Ended | Fate::Unseen, Some(since)) => since.elapsed() >= GRACE,
            (Fate::Ended, None) => self.asker.is_for_cache,
            (Fate::Unseen, None) => false,
        }
    }
}

impl WaitTable {
    fn add_early(&mut self, unique: u64) {
        if self.early.len() == EARLY_MAX {
            self.early.pop_front();
        }
        self.early.push_back(unique);
    }

    fn take_early(&mut self, unique: u64) -> bool {
        let found = self.early.iter().position(|early| *early == unique);
        found.and_then(|place| self.early.remove(place)).is_some()
    }
}

impl Wait {
    fn give_up(self, error: Error) {
        match self {
            Wait::Read(read) => read.give_up(error),
            // The receiver is gone if the answer came meanwhile.
            Wait::Task(task) => drop(task.send(error)),
        }
    }
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "the program that waited was interrupted")
}

fn unmounted() -> Error {
    Error::new(ErrorKind::Ended, "the mount was ended before the answer came; mount it again")
}
