//! Durations in buckets, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets. A hit takes microseconds, and a request during an outage half a
/// minute.
const BOUNDS: [Duration; 14] = [
    Duration::from_micros(10),
    Duration::from_micros(30),
    Duration::from_micros(100),
    Duration::from_micros(300),
    Duration::from_millis(1),
    Duration::from_millis(3),
    Duration::from_millis(10),
    Duration::from_millis(30),
    Duration::from_millis(100),
    Duration::from_millis(300),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(10),
    Duration::from_secs(30),
];

/// Counts durations. Adding one takes no lock and allocates nothing.
#[derive(Debug, Default)]
pub struct Durations {
    /// The last has the durations above all bounds.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_ns: AtomicU64,
}

impl Durations {
    /// Adds one.
    pub fn add(&self, duration: Duration) {
        let bucket = BOUNDS.partition_point(|bound| *bound < duration);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        self.sum_ns.fetch_add(duration.as_nanos() as u64, Ordering::Relaxed);
    }

    /// The sum so far.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum_ns.load(Ordering::Relaxed))
    }

    /// How many there are so far.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).sum()
    }

    /// Each bucket: its upper bound, and the number of durations up to it and above the bound before. The
    /// last bucket has no bound.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let bounds = BOUNDS.into_iter().map(Some).chain([None]);
        bounds.zip(self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_bucket_of_the_next_bound() {
        let durations = Durations::default();
        let (bound, above) = (Duration::from_millis(10), Duration::from_secs(40));
        [bound, bound + Duration::from_nanos(1), above].into_iter().for_each(|one| durations.add(one));
        let filled: Vec<_> = durations.buckets().filter(|(_, count)| *count > 0).collect();
        assert_eq!(filled, [(Some(bound), 1), (Some(Duration::from_millis(30)), 1), (None, 1)]);
        assert_eq!(durations.count(), 3);
        assert_eq!(durations.sum(), 2 * bound + above + Duration::from_nanos(1));
    }
}
