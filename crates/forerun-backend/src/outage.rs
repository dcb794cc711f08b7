//! Outages of a store: one waiting request at a time probes whether the store is back.
//!
//! Each request is sent once, even during an outage: an object that always fails must not block the
//! others. A request waits here only after it has failed.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep_until};

/// Consecutive failures that begin an outage. A store that fails one request in a hundred hardly
/// ever reaches it.
const AWAY_MIN: u32 = 3;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Outage {
    row: Mutex<Row>,
    /// Wakes waiting requests in the order of their arrival: equal runs stay equal.
    back: Notify,
    /// The right to probe next, which goes to the request that has waited longest.
    probe: Arc<Semaphore>,
}

/// The failures since the store last answered.
#[derive(Clone, Copy, Debug)]
struct Row {
    failed_count: u32,
    probed_count: u32,
    /// The time of the next probe.
    due: Instant,
}

/// The end of a wait for the store.
#[derive(Debug)]
pub(crate) enum WaitEnd {
    /// The store is back.
    Back,
    /// This request probes the store.
    Probe(OwnedSemaphorePermit),
    /// The deadline has passed.
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

    /// Ends the outage: the store answered.
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

    /// Counts a request's failure at its try `count`. `is_probe` says whether that try was the
    /// probe. The next probe is due after `wait` of the number of probes so far.
    pub(crate) fn record_failure(&self, is_probe: bool, count: u32, wait: impl FnOnce(u32) -> Duration) {
        let mut row = self.row();
        row.failed_count = row.failed_count.saturating_add(1);
        if is_probe || row.failed_count == AWAY_MIN {
            row.probed_count = count.max(row.probed_count.saturating_add(1));
            row.due = Instant::now() + wait(row.probed_count);
        }
    }

    /// Waits until the store is back, this request may probe, or `deadline`.
    pub(crate) async fn wait(&self, deadline: Instant) -> WaitEnd {
        let back = async {
            loop {
                // Created before the check, so that no end of the outage is missed.
                let end = self.back.notified();
                if !self.is_on() {
                    return;
                }
                end.await;
            }
        };
        let probe = async {
            // The semaphore is never closed.
            let Ok(probe) = Arc::clone(&self.probe).acquire_owned().await else { return WaitEnd::Late };
            let due = self.row().due;
            sleep_until(due.min(deadline)).await;
            WaitEnd::Probe(probe)
        };
        tokio::select! {
            biased;
            () = back => WaitEnd::Back,
            end = probe => end,
            () = sleep_until(deadline) => WaitEnd::Late,
        }
    }
}
