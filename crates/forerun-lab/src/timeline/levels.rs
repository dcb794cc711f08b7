//! Memory over time, in intervals whose length grows with the run.

use forerun_engine::Time;

/// How much memory is used for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Bytes in flight.
    pub in_flight: u64,
    /// Bytes in flight or resident that nobody has read or waits for yet.
    pub unread: u64,
}

impl Level {
    fn max(self, other: Level) -> Level {
        Level { in_flight: self.in_flight.max(other.in_flight), unread: self.unread.max(other.unread) }
    }
}

/// Intervals at most; there are at least half as many once a run is long.
const COUNT_MAX: usize = 1024;

/// The most in each of some intervals.
#[derive(Clone, Debug)]
pub(super) struct Levels {
    peaks: Vec<Level>,
    interval_ns: u64,
    /// The level now, and since when. It is in `peaks` once time has passed: what is
    /// evicted for a fetch and what is fetched never share the memory.
    now: Level,
    since: Time,
}

impl Default for Levels {
    fn default() -> Levels {
        Levels { peaks: Vec::new(), interval_ns: 1000, now: Level::default(), since: Time(0) }
    }
}

impl Levels {
    /// From `time` on it is `level`. Time never decreases.
    pub(super) fn set(&mut self, time: Time, level: Level) {
        if time > self.since {
            self.count();
            self.reach(time);
            self.since = time;
        }
        self.now = level;
    }

    /// There are intervals up to that of `time`; it has been as it is for all new ones.
    fn reach(&mut self, time: Time) {
        while time.0 / self.interval_ns >= COUNT_MAX as u64 {
            self.interval_ns *= 2;
            self.peaks =
                self.peaks.chunks(2).map(|pair| pair.iter().fold(pair[0], |a, b| a.max(*b))).collect();
        }
        let at = (time.0 / self.interval_ns) as usize;
        if self.peaks.len() <= at {
            self.peaks.resize(at + 1, self.now);
        }
    }

    /// The level now is one that there was.
    fn count(&mut self) {
        self.reach(self.since);
        let at = (self.since.0 / self.interval_ns) as usize;
        self.peaks[at] = self.peaks[at].max(self.now);
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Time, Level)> + use<> {
        let mut all = self.clone();
        all.count();
        let starts = (0..).map(move |at| Time(at * all.interval_ns));
        starts.zip(all.peaks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_survive_and_gaps_are_filled() {
        let mut levels = Levels::default();
        let level = |in_flight| Level { in_flight, unread: 0 };
        levels.set(Time(0), level(5));
        levels.set(Time(500_000), level(200));
        levels.set(Time(500_000), level(90));
        levels.set(Time(500_001), level(7));
        levels.set(Time(50_000_000_000), level(1));
        let found: Vec<(Time, Level)> = levels.iter().collect();
        assert!(found.len() <= COUNT_MAX && found.len() >= COUNT_MAX / 2);
        assert_eq!(found[0].1.in_flight, 90);
        assert!(found[1..found.len() - 1].iter().all(|(_, level)| level.in_flight == 7));
    }
}
