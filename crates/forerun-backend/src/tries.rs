//! How often and when a request is tried again.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::time::Duration;

use tokio::time::Instant;

use crate::{Error, Result, RetryOptions};

/// What `ask` answers, tried again as `options` say while its errors are transient.
pub(crate) async fn repeat<T, F: Future<Output = Result<T>>>(
    options: &RetryOptions,
    ask: impl Fn() -> F,
) -> Result<T> {
    let mut tries = Tries::new(options);
    loop {
        match ask().await {
            Ok(answer) => return Ok(answer),
            Err(error) => tries.again(error).await?,
        }
    }
}

/// The tries one request has had.
pub(crate) struct Tries {
    options: RetryOptions,
    count: u32,
    first: Instant,
}

impl Tries {
    pub(crate) fn new(options: &RetryOptions) -> Tries {
        Tries { options: options.clone(), count: 0, first: Instant::now() }
    }

    /// Counts anew, for what got on in between.
    pub(crate) fn reset(&mut self) {
        (self.count, self.first) = (0, Instant::now());
    }

    /// Waits until the next try is due.
    ///
    /// # Errors
    /// `error` itself if trying again does not help, or with what was tried if
    /// it has been tried enough.
    pub(crate) async fn again(&mut self, error: Error) -> Result<()> {
        if !error.is_transient() {
            return Err(error);
        }
        self.count += 1;
        let wait = self.backoff();
        if self.count >= self.options.attempts || self.first.elapsed() + wait > self.options.deadline {
            return Err(self.exhausted(&error));
        }
        tracing::debug!(%error, tries = self.count, ?wait, "trying again");
        tokio::time::sleep(wait).await;
        Ok(())
    }

    /// Half of the doubled wait is certain and half is chance, so that readers
    /// that failed together do not come back together. The nanoseconds that the tries took are chance
    /// enough, and the same again where the clock is.
    fn backoff(&self) -> Duration {
        let doublings = (self.count - 1).min(31);
        let wait = self.options.backoff_first.saturating_mul(1 << doublings).min(self.options.backoff_max);
        let took = self.first.elapsed();
        let chance = BuildHasherDefault::<DefaultHasher>::default().hash_one((self.count, took)) as u32;
        wait / 2 + wait.mul_f64(f64::from(chance) / f64::from(u32::MAX)) / 2
    }

    fn exhausted(&self, error: &Error) -> Error {
        let (tries, time) = (self.count, self.first.elapsed());
        let plural = if tries == 1 { "try" } else { "tries" };
        Error::new(
            error.kind,
            format!("{error}; gave up after {tries} {plural} in {:.1} s", time.as_secs_f64()),
        )
    }
}
