//! The model's time and real time.

use std::time::{Duration, Instant};

use forerun_sim::device::Time;

/// The model's time, which runs `speed` times as fast as real time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    start: Instant,
    speed: u64,
}

impl Clock {
    /// Starts the model's time, `speed` times as fast as real time; `speed` is not 0.
    pub(crate) fn start(speed: u64) -> Clock {
        Clock { start: Instant::now(), speed }
    }

    /// The model's time now.
    pub(crate) fn now(&self) -> Time {
        let elapsed = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Time(elapsed.saturating_mul(self.speed))
    }

    /// The real time until the model's `time`; zero if it has passed.
    pub(crate) fn until(&self, time: Time) -> Duration {
        // Rounded up, so that the time has passed after the wait.
        Duration::from_nanos(time.since(self.now()).div_ceil(self.speed))
    }

    /// Real nanoseconds as nanoseconds of the model.
    pub(crate) fn model_ns(&self, ns: u64) -> u64 {
        ns.saturating_mul(self.speed)
    }

    /// Nanoseconds of the model as real nanoseconds.
    pub(crate) fn real_ns(&self, ns: u64) -> u64 {
        ns / self.speed
    }
}
