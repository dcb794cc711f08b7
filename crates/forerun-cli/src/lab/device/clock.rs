//! A model's time and the time on the wall.

use std::time::{Duration, Instant};

use forerun_sim::device::Time;

/// The model's time: so many times as fast as the wall's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    start: Instant,
    speed: u64,
}

impl Clock {
    /// The model's time begins now, and is `speed` times as fast, which is not 0.
    pub(super) fn start(speed: u64) -> Clock {
        Clock { start: Instant::now(), speed }
    }

    /// The model's time now.
    pub(super) fn now(&self) -> Time {
        let elapsed = u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        Time(elapsed.saturating_mul(self.speed))
    }

    /// How long it is until the model's time is `time`: nothing if it has passed.
    pub(super) fn until(&self, time: Time) -> Duration {
        // Rounded up: whoever has waited this long finds that it has passed.
        Duration::from_nanos(time.since(self.now()).div_ceil(self.speed))
    }

    /// What `ns` on the wall are of the model's.
    pub(super) fn model_ns(&self, ns: u64) -> u64 {
        ns.saturating_mul(self.speed)
    }

    /// What `ns` of the model's are on the wall.
    pub(super) fn real_ns(&self, ns: u64) -> u64 {
        ns / self.speed
    }
}
