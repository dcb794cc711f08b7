//! A store that is away: one request at a time finds out whether it is back, and the others wait for that.
//!
//! Each request is sent once whatever is known of the store, since an object that always fails must not
//! stand in the way of others. It waits here only once it has failed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep_until};

/// So many requests in a row failed: the store is away. Fewer happen to a store that
/// fails one request in a hundred.
const AWAY_MIN: u32 = 3;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Outage {
    row: watch::Sender<Row>,
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
        Outage { row: watch::Sender::new(row), probe: Arc::new(Semaphore::new(1)) }
    }
}

impl Row {
    fn is_outage(&self) -> bool {
        self.failed_count >= AWAY_MIN
    }
}

impl Outage {
    pub(crate) fn is_on(&self) -> bool {
        self.row.borrow().is_outage()
    }

    /// The store answered.
    pub(crate) fn end(&self) {
        self.row.send_if_modified(|row| {
            let was_outage = row.is_outage();
            (row.failed_count, row.probed_count) = (0, 0);
            was_outage
        });
    }

    /// A request failed at its try `count`, by which it was to find out whether the store is back if it
    /// `is_probe`. The next one finds that out after `wait`, of the number of tries so far.
    pub(crate) fn note_failure(&self, is_probe: bool, count: u32, wait: impl FnOnce(u32) -> Duration) {
        self.row.send_if_modified(|row| {
            row.failed_count = row.failed_count.saturating_add(1);
            if is_probe || row.failed_count == AWAY_MIN {
                row.probed_count = count.max(row.probed_count.saturating_add(1));
                row.due = Instant::now() + wait(row.probed_count);
            }
            false
        });
    }

    /// Waits until the store is back, it is the turn of this request to find that out, or `deadline`.
    pub(crate) async fn turn(&self, deadline: Instant) -> Turn {
        let mut row = self.row.subscribe();
        let back = async { drop(row.wait_for(|row| !row.is_outage()).await) };
        let probe = async {
            // The semaphore is never closed.
            let Ok(probe) = Arc::clone(&self.probe).acquire_owned().await else { return Turn::Late };
            let due = self.row.borrow().due;
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
