//! A store that is away: one request at a time finds out whether it is back, and the others wait for that.
//!
//! Each request is sent once whatever is known of the store, since an object that always fails must not
//! stand in the way of others. It waits here only once it has failed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// So many requests in a row failed: the store is away. Fewer happen to a store that
/// fails one request in a hundred.
const AWAY_MIN: u32 = 3;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Outage {
    row: Mutex<Row>,
    /// Wakes the requests that wait in the order in which they came: equal runs stay equal.
    back: Notify,
    /// The right to ask next, which goes to the request that waits longest.
    probe: Arc<Semaphore>,
}

/// Failures since the store last answered.
#[derive(Clone, Copy, Debug)]
struct Row {
    failed_count: u32,
    probed_count: u32,
    /// When to ask again.
    due: Instant,
}

/// How waiting for a store ends.
#[derive(Debug)]
pub(crate) enum Turn {
    /// The store is back.
    Back,
    /// It is this request's turn to ask.
    Probe(OwnedSemaphorePermit),
    /// It is too late.
    Late,
}

impl Default for Outage {
    fn default() -> Outage {
        let row = Row { failed_count: 0, probed_count: 0, due: Instant::now() };
        Outage { row: Mutex::new(row), back: Notify::new(), probe: Arc::new(Semaphore::new(1)) }
    }
}

impl Row {
    fn is_outage(&self) -> bool {
        self.failed_count >= AWAY_MIN
    }
}

impl Outage {
    pub(crate) fn is_on(&self) -> bool {
        self.row().is_outage()
    }

    fn row(&self) -> MutexGuard<'_, Row> {
        self.row.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store answered.
    pub(crate) fn end(&self) {
        let was_outage = {
            let mut row = self.row();
            let was_outage = row.is_outage();
            (row.failed_count, row.probed_count) = (0, 0);
            was_outage
        };
        if was_outage {
            self.back.notify_waiters();
        }
    }

    /// A request failed at its try `count`, by which it was to find out whether the store is back if it
    /// `is_probe`. The next one finds that out after `wait`, of the number of tries so far.
    pub(crate) fn note_failure(&self, is_probe: bool, count: u32, wait: impl FnOnce(u32) -> Duration) {
        let mut row = self.row();
        row.failed_count = row.failed_count.saturating_add(1);
        if is_probe || row.failed_count == AWAY_MIN {
            row.probed_count = count.max(row.probed_count.saturating_add(1));
            row.due = Instant::now() + wait(row.probed_count);
        }
    }

    /// Waits until the store is back, it is the turn of this request to find that out, or `deadline`.
    pub(crate) async fn turn(&self, deadline: Instant) -> Turn {
        let back = async {
            loop {
                // It hears of every end from here on.
                let end = self.back.notified();
                if !self.is_on() {
                    return;
                }
                end.await;
            }
        };
        let probe = async {
            // The semaphore is never closed.
            let Ok(probe) = Arc::clone(&self.probe).acquire_owned().await else { return Turn::Late };
            let due = self.row().due;
            sleep_until(due.min(deadline)).await;
            Turn::Probe(probe)
        };
        tokio::select! {
            biased;
            () = back => Turn::Back,
            turn = probe => turn,
            () = sleep_until(deadline) => Turn::Late,
        }
    }
}
