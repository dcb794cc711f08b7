//! Retries of requests to a store.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use crate::outage::{Outage, WaitEnd};
use crate::{Error, ErrorKind, Result, RetryOptions};

/// Longer than any request waits that never gives up; an instant that far away exists.
const DEADLINE_MAX: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Counts of the requests to one store, since it was connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TryCounts {
    /// Answers that asked for fewer requests. A front end then keeps fewer in flight.
    pub busy: u64,
    /// Tries after a transient error.
    pub again: u64,
}

/// The requests to one store, which share their knowledge of outages.
#[derive(Debug)]
pub(crate) struct Retries {
    options: RetryOptions,
    outage: Outage,
    busy_count: AtomicU64,
    again_count: AtomicU64,
}

/// The tries of one request.
pub(crate) struct Tries {
    retries: Arc<Retries>,
    count: u32,
    first: Instant,
    /// Held while this request probes whether the store is back.
    probe: Option<OwnedSemaphorePermit>,
}

impl Retries {
    pub(crate) fn new(options: RetryOptions) -> Arc<Retries> {
        Arc::new(Retries {
            options,
            outage: Outage::default(),
            busy_count: AtomicU64::new(0),
            again_count: AtomicU64::new(0),
        })
    }

    /// The answer to `ask`, which is repeated after transient errors.
    pub(crate) async fn repeat<T, F: Future<Output = Result<T>>>(
        self: &Arc<Retries>,
        ask: impl Fn() -> F,
    ) -> Result<T> {
        let mut tries = self.begin();
        loop {
            match ask().await {
                Ok(answer) => {
                    tries.answered();
                    return Ok(answer);
                }
                Err(error) => tries.again(error).await?,
            }
        }
    }

    pub(crate) fn begin(self: &Arc<Retries>) -> Tries {
        Tries { retries: Arc::clone(self), count: 0, first: Instant::now(), probe: None }
    }

    /// Tells the waiting requests that the store answered.
    pub(crate) fn answered(&self) {
        self.outage.end();
    }

    pub(crate) fn counts(&self) -> TryCounts {
        TryCounts {
            busy: self.busy_count.load(Ordering::Relaxed),
            again: self.again_count.load(Ordering::Relaxed),
        }
    }
}

impl Tries {
    /// Starts counting anew, for a request that made progress.
    pub(crate) fn reset(&mut self) {
        (self.count, self.first) = (0, Instant::now());
    }

    /// Tells that the store answered this request.
    pub(crate) fn answered(&mut self) {
        self.retries.answered();
        self.probe = None;
    }

    /// Waits until the next try: a pause after this request's failure and, during an outage, until
    /// the store is back or this request may probe.
    ///
    /// # Errors
    /// `error` itself if a retry does not help; `error` with the number of tries after the last
    /// one.
    pub(crate) async fn again(&mut self, error: Error) -> Result<()> {
        if !error.is_transient() {
            self.answered();
            return Err(error);
        }
        if error.is_given_up {
            self.probe = None;
            return Err(error);
        }
        self.count += 1;
        if error.kind == ErrorKind::Busy {
            self.retries.busy_count.fetch_add(1, Ordering::Relaxed);
        }
        let asked_for = error.retry_after.unwrap_or_default();
        let probe = self.probe.take();
        let wait = |count| self.backoff(count).max(asked_for);
        self.retries.outage.record_failure(probe.is_some(), self.count, wait);
        drop(probe);
        let RetryOptions { attempts, deadline, .. } = self.retries.options;
        let left = deadline.saturating_sub(self.first.elapsed());
        if self.count >= attempts || left.is_zero() {
            return Err(self.exhausted(error));
        }
        tracing::debug!(target: "forerun::store", %error, tries = self.count, "trying again");
        if !self.retries.outage.is_on() {
            tokio::time::sleep(wait(self.count).min(left)).await;
        } else {
            match self.retries.outage.wait(Instant::now() + left.min(DEADLINE_MAX)).await {
                WaitEnd::Back => {}
                WaitEnd::Probe(probe) => self.probe = Some(probe),
                WaitEnd::Late => return Err(self.exhausted(error)),
            }
        }
        self.retries.again_count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// The pause doubles `count` times; half of it is fixed and half random. Requests that failed
    /// together must not come back together. The nanoseconds of the tries are random enough, and
    /// repeatable where the clock is.
    fn backoff(&self, count: u32) -> Duration {
        let RetryOptions { backoff_first, backoff_max, .. } = self.retries.options;
        let wait = backoff_first.saturating_mul(1 << (count - 1).min(31)).min(backoff_max);
        let took = self.first.elapsed();
        let chance = BuildHasherDefault::<DefaultHasher>::default().hash_one((count, took)) as u32;
        wait / 2 + wait.mul_f64(f64::from(chance) / f64::from(u32::MAX)) / 2
    }

    fn exhausted(&self, error: Error) -> Error {
        let (tries, time) = (self.count, self.first.elapsed());
        let plural = if tries == 1 { "try" } else { "tries" };
        let message = format!("{error}; gave up after {tries} {plural} in {:.1} s", time.as_secs_f64());
        Error { message, is_given_up: true, ..error }
    }
}
