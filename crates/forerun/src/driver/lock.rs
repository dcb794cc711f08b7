//! The engine's lock, and how lent bytes come back without it.
//!
//! A lease that ends sets a bit. The next turn tells the engine of it before anything else, so the
//! engine decides as if it had heard at once. Only where it lacked memory, a lease that ends has a
//! turn of its own.

use std::sync::atomic::{AtomicU64, Ordering};

use forerun_engine::ReadId;
use parking_lot::{Mutex, MutexGuard};

use super::state::State;

/// Places for lent reads. Reads beyond have none, and come back with the lock.
const PLACES: u32 = u64::BITS - 1;
/// The bit of no place: the engine waits for what comes back.
const AWAITED: u64 = 1 << PLACES;

/// A read whose bytes are lent. Not a copy: it comes back once.
#[derive(Debug)]
pub(crate) struct Loan {
    pub(super) read: ReadId,
    pub(super) place: Option<u32>,
}

/// Which reads are lent, by place.
#[derive(Debug)]
pub(super) struct Loans {
    reads: [ReadId; PLACES as usize],
    vacant: u64,
}

impl Default for Loans {
    fn default() -> Loans {
        Loans { reads: [ReadId(0); PLACES as usize], vacant: !AWAITED }
    }
}

impl Loans {
    pub(super) fn lend(&mut self, read: ReadId) -> Loan {
        if self.vacant == 0 {
            return Loan { read, place: None };
        }
        let place = self.vacant.trailing_zeros();
        self.vacant &= self.vacant - 1;
        self.reads[place as usize] = read;
        Loan { read, place: Some(place) }
    }

    /// The reads of `places`, which are vacant from now on.
    fn take_back(&mut self, mut places: u64, mut tell: impl FnMut(ReadId)) {
        self.vacant |= places;
        while places != 0 {
            tell(self.reads[places.trailing_zeros() as usize]);
            places &= places - 1;
        }
    }
}

/// In cache lines of its own, so that a thread that takes the lock takes no line that others only read.
#[repr(align(128))]
pub(super) struct Lock {
    state: Mutex<State>,
    /// The places that have come back since the last turn, and [`AWAITED`].
    returned: AtomicU64,
    #[cfg(debug_assertions)]
    count: AtomicU64,
}

impl Lock {
    pub(super) fn new(state: State) -> Lock {
        Lock {
            state: Mutex::new(state),
            returned: AtomicU64::new(0),
            #[cfg(debug_assertions)]
            count: AtomicU64::new(0),
        }
    }

    /// For a look at the engine that changes nothing it would act upon.
    pub(super) fn look(&self) -> MutexGuard<'_, State> {
        #[cfg(debug_assertions)]
        self.count.fetch_add(1, Ordering::Relaxed);
        self.state.lock()
    }

    /// For a turn, which ends with [`Lock::is_settled`].
    pub(super) fn turn(&self) -> MutexGuard<'_, State> {
        let mut state = self.look();
        // Written only if need be, because other threads look at it.
        if self.returned.load(Ordering::Relaxed) != 0 {
            let places = self.returned.swap(0, Ordering::Acquire) & !AWAITED;
            take_back(&mut state, places);
        }
        state
    }

    /// Whether the turn is over: the engine has all the memory that it wants, or nothing has come back
    /// meanwhile. If not, the engine has just heard of what has.
    pub(super) fn is_settled(&self, state: &mut State) -> bool {
        if !state.engine.is_short_of_memory() {
            return true;
        }
        let places = self.returned.fetch_or(AWAITED, Ordering::Acquire) & !AWAITED;
        self.returned.fetch_and(!places, Ordering::Relaxed);
        take_back(state, places);
        places == 0
    }

    /// The bytes at `place` are not looked at any more. Whether the engine waits for them.
    pub(super) fn give_back(&self, place: u32) -> bool {
        // The reader's loads from the memory come before another fetch's stores.
        self.returned.fetch_or(1 << place, Ordering::Release) & AWAITED != 0
    }

    /// How often it was taken.
    #[cfg(debug_assertions)]
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

fn take_back(state: &mut State, places: u64) {
    let State { engine, loans, .. } = state;
    loans.take_back(places, |read| engine.release(read));
}
