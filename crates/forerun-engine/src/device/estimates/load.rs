//! Whether the device is busy nearly all the time. A reader then waits for wasted fetches as well. On a
//! device with pauses, wasted fetches fill those.

use crate::types::Time;

/// The time after which a sample counts half.
const MEMORY_NS: u64 = 500_000_000;
/// The device is idle for at most this share of the time.
const IDLE_SHARE: u64 = 5;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Load {
    since: Time,
    idle_ns: u64,
    /// When the last fetch ended.
    ended: Time,
}

impl Load {
    /// A fetch is dispatched while `ahead` others are in flight.
    pub(crate) fn on_dispatch(&mut self, now: Time, ahead: usize) {
        if ahead == 0 {
            self.idle_ns += now.since(self.ended);
        }
        let all_ns = now.since(self.since);
        if all_ns > MEMORY_NS {
            let kept_ns = MEMORY_NS / 2;
            self.idle_ns = (u128::from(self.idle_ns) * u128::from(kept_ns) / u128::from(all_ns)) as u64;
            self.since = Time(now.0 - kept_ns);
        }
    }

    pub(crate) fn on_ended(&mut self, now: Time) {
        self.ended = now;
    }

    /// See the module's page.
    pub(crate) fn is_full(&self) -> bool {
        IDLE_SHARE * self.idle_ns <= self.ended.since(self.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A thousand fetches of 1 ms, with `pause_us` before each.
    fn is_full(load: &mut Load, pause_us: u64) -> bool {
        for _ in 0..1000 {
            let dispatched = Time(load.ended.0 + pause_us * 1000);
            load.on_dispatch(dispatched, 0);
            load.on_ended(Time(dispatched.0 + MS));
        }
        load.is_full()
    }

    #[test]
    fn a_reader_without_pauses_fills_the_device() {
        let mut load = Load::default();
        assert!(is_full(&mut load, 100));
        assert!(!is_full(&mut load, 1000));
        assert!(is_full(&mut load, 0), "the pauses were long ago");
    }

    #[test]
    fn one_fetch_beside_another_is_no_pause() {
        let mut load = Load::default();
        for index in 0..100 {
            load.on_dispatch(Time(index * 10 * MS), 1);
        }
        load.on_ended(Time(1000 * MS));
        assert!(load.is_full());
    }
}
