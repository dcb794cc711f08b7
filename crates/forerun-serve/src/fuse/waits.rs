//! Requests that wait for the storage, and when they are given up.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use forerun::{Error, ErrorKind, Forerun, Pending};
use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::thread::{Fate, fate};

/// How often the threads of waiting requests are looked at. A killed program ends within this time,
/// and most waits are over sooner than they would be looked at.
const INTERVAL: Duration = Duration::from_millis(100);
/// How long a wait goes on after a signal if the thread that waits cannot be seen.
const GRACE: Duration = Duration::from_millis(500);
/// Signals that have come for requests which do not wait yet: an interrupt may be received while
/// another thread has just received its request. Most are for requests that were answered meanwhile.
const EARLY_MAX: usize = 256;

/// What waits, and how its wait is ended.
#[derive(Debug)]
pub(super) enum Wait {
    Read(Pending),
    Task(oneshot::Sender<Error>),
}

/// Who waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker {
    /// The number of the request.
    pub(super) unique: u64,
    /// The thread that asks; 0 if it cannot be seen.
    pub(super) thread: u32,
    /// Whether the page cache waits. A killed reader of it ends by itself, but its file is closed,
    /// and its fetches end, once all reads are answered. The kernel asks again if another reader
    /// waits for the same pages.
    pub(super) is_for_cache: bool,
}

/// All requests that wait.
#[derive(Debug)]
pub(crate) struct Waits {
    forerun: Forerun,
    /// Whether numbers of threads are those that this process sees.
    sees_threads: bool,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
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
    /// Whether it has waited for a while.
    is_old: bool,
}

impl Waits {
    /// None so far. `forerun`'s runtime watches them.
    pub(super) fn new(forerun: Forerun, sees_threads: bool) -> Waits {
        Waits { forerun, sees_threads, table: Mutex::default() }
    }

    /// `asker` waits until [`Waits::remove`].
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

    /// The read that `asker` waits for may have ended before it was added.
    pub(super) fn add_read(self: &Arc<Waits>, asker: Asker, read: Pending) {
        self.add(asker, Wait::Read(read.clone()));
        if !read.is_waiting() {
            self.remove(asker.unique);
        }
    }

    /// The request `unique` does not wait any more.
    pub(super) fn remove(&self, unique: u64) {
        self.table.lock().waiting.remove(&unique);
    }

    /// A signal came for the thread that asks for `unique`.
    pub(super) fn interrupt(&self, unique: u64) {
        let mut table = self.table.lock();
        let Some(waiting) = table.waiting.get_mut(&unique) else { return table.add_early(unique) };
        waiting.interrupted = Some(Instant::now());
        drop(table);
        self.examine(unique);
    }

    /// Ends all waits, and those that would begin: the mount is going away.
    pub(super) fn close(&self) {
        let waiting = {
            let mut table = self.table.lock();
            table.is_closed = true;
            std::mem::take(&mut table.waiting)
        };
        waiting.into_values().for_each(|waiting| waiting.wait.give_up(unmounted()));
    }

    /// Looks at what waits for as long as something does.
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

    /// Gives `unique` up if nobody will look at its answer.
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
    /// Whether its thread should be looked at. The kernel tells of no signal while a thread waits
    /// for several reads at a time, as it does for each direct read.
    fn is_doubtful(&mut self) -> bool {
        let was_old = std::mem::replace(&mut self.is_old, true);
        self.interrupted.is_some() || was_old && matches!(self.wait, Wait::Read(_))
    }

    /// Whether nobody will look at the answer, if this is the `fate` of the thread.
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

impl Table {
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
            // Nobody listens if the answer came meanwhile.
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
