//! The run loop: tells the engine what happens and does what it says.
//!
//! There is no thread that loops. A reader or a fetch with an event takes the lock, reports the event, and
//! collects the engine's actions. It releases the lock, and carries the actions out: it starts fetches,
//! cancels some, and wakes readers. The lock is never held over a wait or a copy.

mod changed;
mod explain;
mod failures;
mod fetch;
mod lending;
mod listings;
mod lists;
mod lock;
mod objects;
mod state;
mod turn;
mod waiter;
mod work;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use forerun_backend::{Backend, Entry, Error, ErrorKind, Result};
use forerun_engine::{
    Advice, ClientId, Counters, Engine, Extent, FetchId, MemoryRange, ReadId, ReaderId, Time, Usage,
};
use parking_lot::Mutex;
use tokio::runtime;
use tokio::time::Instant;

pub(crate) use lock::Loan;
pub(crate) use objects::{Name, Object};
pub(crate) use waiter::{Call, Wait, Waiter, with_ranges};
pub(crate) use work::Begun;

use crate::catalog::Catalog;
use crate::mapping::Memory;
use crate::profile::Learner;
use listings::Listing;
use lock::Lock;
use state::State;

/// Memory falls by at most so many bytes while the lock is held.
const SHRINK_BYTES_MAX: u64 = 64 << 20;

pub(crate) struct Driver {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) memory: Arc<Memory>,
    /// The record for later runs, if one is kept.
    pub(crate) learner: Option<Learner>,
    runtime: runtime::Handle,
    started: Instant,
    lock: Lock,
    /// The memory that is wanted, in bytes.
    memory_bytes_max: AtomicU64,
    /// Held by whoever changes that.
    resizing: Mutex<()>,
}

impl Driver {
    pub(crate) fn new(
        engine: Engine,
        memory: Memory,
        catalog: Arc<Catalog>,
        backend: Arc<dyn Backend>,
        learner: Option<Learner>,
        runtime: runtime::Handle,
    ) -> Driver {
        let known = learner.as_ref().map(Learner::known).unwrap_or_default();
        let memory_bytes_max = AtomicU64::new(engine.usage().memory_bytes_max);
        let (memory, lock) = (Arc::new(memory), Lock::new(State::new(engine, known)));
        Driver {
            backend,
            catalog,
            memory,
            learner,
            runtime,
            started: Instant::now(),
            lock,
            memory_bytes_max,
            resizing: Mutex::new(()),
        }
    }

    pub(crate) fn open(self: &Arc<Driver>, entry: &Entry, client: ClientId) -> (Arc<Object>, ReaderId) {
        let now = self.now();
        self.step(|state, _| {
            state.advance(now);
            state.open(entry, client)
        })
    }

    /// The directory at `path` was listed, and holds `entries`.
    pub(crate) fn list(self: &Arc<Driver>, path: &str, entries: &Arc<[Entry]>) {
        let (now, listing) = (self.now(), Listing::new(path, Arc::clone(entries)));
        self.step(|state, _| {
            state.advance(now);
            state.list(listing);
        });
    }

    /// A reader says how it will read.
    pub(crate) fn advise(self: &Arc<Driver>, object: &Object, reader: ReaderId, advice: Advice<'_>) {
        let now = self.now();
        self.step(|state, _| {
            state.advance(now);
            state.advise(object, reader, advice);
        });
    }

    /// The bytes of `extent` have changed in the backend.
    pub(crate) fn invalidate(self: &Arc<Driver>, object: &Object, extent: Extent) {
        let now = self.now();
        self.step(|state, _| {
            state.advance(now);
            state.engine.invalidate(state.now, object.id, extent);
        });
    }

    pub(crate) fn close(self: &Arc<Driver>, object: &Object, reader: ReaderId) {
        let now = self.now();
        self.step(|state, _| {
            state.advance(now);
            state.close(object, reader);
        });
    }

    /// Starts a read of at most `READ_BYTES_MAX`; `ranges` and the outcome are as
    /// the engine says. `waiter` names the task or callback that gets a parked read's answer.
    pub(crate) fn read(
        self: &Arc<Driver>,
        object: &Object,
        reader: ReaderId,
        extent: Extent,
        ranges: &mut Vec<MemoryRange>,
        waiter: impl FnOnce() -> Waiter,
    ) -> Result<Begun> {
        let now = self.now();
        if let Some(learner) = &self.learner {
            learner.note(now, object.id, &object.name, extent);
        }
        self.step(|state, _| {
            state.advance(now);
            state.read(object, reader, extent, ranges, waiter)
        })
    }

    /// The bytes of a read are not looked at any more.
    pub(crate) fn release(self: &Arc<Driver>, loan: &Loan) {
        match loan.place {
            Some(place) if self.lock.give_back(place) => self.step(|_, _| ()),
            Some(_) => {}
            None => self.step(|state, _| state.engine.release(loan.read)),
        }
    }

    /// Ends the wait of the parked `read` with `error`, unless it is over.
    pub(crate) fn give_up(self: &Arc<Driver>, read: ReadId, error: Error) {
        if let Some(waiter) = self.stop_waiting(read) {
            waiter.answer(self, Err(error));
        }
    }

    /// Takes away what the parked `read` would be answered to, unless it is over.
    pub(crate) fn stop_waiting(self: &Arc<Driver>, read: ReadId) -> Option<Waiter> {
        self.step(|state, _| state.give_up(read))
    }

    /// Runs `future` on the runtime.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(future);
    }

    pub(crate) fn counters(&self) -> Counters {
        self.lock.look().engine.counters()
    }

    /// Leases that have ended by now are not charged any more.
    pub(crate) fn memory_bytes(self: &Arc<Driver>) -> u64 {
        self.step(|state, _| state.engine.memory_bytes())
    }

    /// As [`Driver::memory_bytes`], with all else of that kind.
    pub(crate) fn usage(self: &Arc<Driver>) -> Usage {
        self.step(|state, _| state.engine.usage())
    }

    /// From now on `client` has this weight.
    pub(crate) fn set_weight(self: &Arc<Driver>, client: ClientId, weight: u32) {
        self.step(|state, _| state.engine.set_weight(client, weight));
    }

    /// From now on `client`, or all together, have no more than this rate.
    pub(crate) fn set_rate(self: &Arc<Driver>, client: Option<ClientId>, bytes_per_s: Option<u64>) {
        self.step(|state, _| state.engine.set_rate(client, bytes_per_s));
    }

    /// From now on the memory has `bytes`, within the engine's limits. The rest goes back to the system.
    pub(crate) fn set_memory_bytes(self: &Arc<Driver>, bytes: u64) {
        // One at a time, so that what is withdrawn stays so until it is back at the system.
        let _only = self.resizing.lock();
        loop {
            // In steps, so that nobody waits long for the lock.
            let step = bytes.max(self.memory_bytes_max().saturating_sub(SHRINK_BYTES_MAX));
            let now = self.now();
            let (kept, withdrawn) = self.step(|state, _| {
                state.advance(now);
                (state.engine.set_memory_bytes(state.now, step), state.engine.take_withdrawn())
            });
            self.memory_bytes_max.store(kept, Ordering::Relaxed);
            self.discard(withdrawn);
            if step == bytes {
                return;
            }
        }
    }

    /// Gives memory that the engine has withdrawn back to the system.
    fn discard(&self, mut withdrawn: Vec<MemoryRange>) {
        withdrawn.sort_unstable_by_key(|range| range.start);
        // Pages may be larger than blocks.
        withdrawn.dedup_by(|next, last| {
            let is_next = last.start + last.len == next.start;
            last.len += if is_next { next.len } else { 0 };
            is_next
        });
        for range in withdrawn {
            if let Err(error) = self.memory.discard(range) {
                tracing::warn!(target: "forerun::memory", "memory cannot be given back to the system: {error}");
            }
        }
    }

    /// The memory that is wanted, in bytes.
    pub(crate) fn memory_bytes_max(&self) -> u64 {
        self.memory_bytes_max.load(Ordering::Relaxed)
    }

    /// How often the engine's lock was taken.
    #[cfg(debug_assertions)]
    pub(crate) fn lock_count(&self) -> u64 {
        self.lock.count()
    }

    /// Ends every wait and every fetch; nothing is fetched from now on.
    pub(crate) fn shut_down(&self) {
        let (waiters, fetches) = self.lock.look().shut_down();
        fetches.iter().for_each(futures::future::AbortHandle::abort);
        drop(waiters);
    }

    fn progress(self: &Arc<Driver>, fetch: FetchId, bytes: u64) {
        let now = self.now();
        self.step(|state, _| {
            state.advance(now);
            state.progress(fetch, bytes);
        });
    }

    fn end(self: &Arc<Driver>, fetch: FetchId, object: &Object, result: Result<()>, is_busy: bool) {
        let now = self.now();
        if let Err(error) = &result {
            tracing::debug!(
                target: "forerun::read",
                path = &*object.name.path, kind = ?error.kind, %error, "a fetch failed"
            );
            if matches!(error.kind, ErrorKind::Changed | ErrorKind::NotFound) {
                self.catalog.invalidate(&object.name.path);
            }
        }
        self.step(|state, work| {
            state.advance(now);
            if is_busy {
                state.engine.handle_busy(state.now, fetch);
            }
            state.end(fetch, object, result, work);
        });
    }

    fn now(&self) -> Time {
        Time(self.started.elapsed().as_nanos() as u64)
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("backend", &self.backend).finish_non_exhaustive()
    }
}

/// The error of a reader whose Forerun was closed.
pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::Permanent, "Forerun was closed before the answer came; open it again")
}
