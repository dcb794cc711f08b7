//! The result of a run.

use forerun_engine::{ByClass, Counters};

use crate::device::DeviceStats;

/// The result of one client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClientRun {
    /// When its last step was done, in nanoseconds from the beginning.
    pub finished_ns: u64,
    /// Bytes it read.
    pub read_bytes: u64,
    /// Bytes it wrote.
    pub write_bytes: u64,
    /// Nanoseconds it waited for reads.
    pub waited_ns: u64,
}

/// The numbers of one run. All of them are totals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Run {
    /// From the beginning to the last step's end, in nanoseconds.
    pub elapsed_ns: u64,
    /// Reads that clients made, and their bytes.
    pub read_count: u64,
    /// Bytes that clients read.
    pub read_bytes: u64,
    /// Of those, resident when asked for.
    pub hit_bytes: u64,
    /// Of those, in flight when asked for.
    pub late_bytes: u64,
    /// Of those, neither when asked for.
    pub miss_bytes: u64,
    /// Fetches made because somebody waited.
    pub demand_count: u64,
    /// Their bytes.
    pub demand_bytes: u64,
    /// Fetches made ahead of anybody.
    pub readahead_count: u64,
    /// Their bytes.
    pub readahead_bytes: u64,
    /// Bytes fetched and evicted, or left over at the end, before anybody read them.
    pub wasted_bytes: u64,
    /// The outcomes of readahead, by class. Bytes left unread at the end are wasted. A
    /// [`KernelWorld`](crate::kernel::KernelWorld) does not count them.
    pub readahead: ByClass,
    /// The most memory that was held, in bytes.
    pub memory_bytes_peak: u64,
    /// How long reads waited.
    pub waits: Waits,
    /// Every client, by its index.
    pub clients: Vec<ClientRun>,
    /// Counters of the device.
    pub device: DeviceStats,
    /// Blocks read ahead that were evicted before anybody read them, and then
    /// asked for. Only a [`KernelWorld`](crate::kernel::KernelWorld) counts them.
    pub thrash_count: u64,
}

impl Run {
    /// The same with what an engine counted of its cache and its fetches.
    pub fn with_counters(self, counters: &Counters) -> Run {
        Run {
            hit_bytes: counters.hit_bytes,
            late_bytes: counters.late_bytes,
            miss_bytes: counters.miss_bytes,
            demand_count: counters.demand_count,
            demand_bytes: counters.demand_bytes,
            readahead_count: counters.readahead_count,
            readahead_bytes: counters.readahead_bytes,
            wasted_bytes: counters.wasted_bytes,
            memory_bytes_peak: counters.memory_bytes_peak,
            ..self
        }
    }
}

/// A distribution of durations: 16 buckets for each power of two, so that a
/// bucket is at most a sixteenth wide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    counts: Vec<u64>,
    total: u64,
}

const BUCKETS: u32 = 16;

impl Waits {
    /// Counts a wait.
    pub fn add(&mut self, ns: u64) {
        self.add_many(ns, 1);
    }

    fn add_many(&mut self, ns: u64, count: u64) {
        let bucket = bucket_of(ns);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += count;
        self.total += count;
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// A duration in nanoseconds that `per_mille` of a thousand waits do not
    /// exceed, to a sixteenth; 0 if there are none.
    pub fn quantile(&self, per_mille: u64) -> u64 {
        let wanted = (self.total * per_mille).div_ceil(1000).max(1);
        let mut seen = 0;
        for (bucket, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return start_of(bucket + 1).saturating_sub(1);
            }
        }
        0
    }

    /// Each bucket that is not empty: its shortest duration and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(bucket, count)| (start_of(bucket), *count))
    }
}

/// Takes what [`Waits::buckets`] gives.
impl FromIterator<(u64, u64)> for Waits {
    fn from_iter<I: IntoIterator<Item = (u64, u64)>>(buckets: I) -> Waits {
        let mut waits = Waits::default();
        for (ns, count) in buckets {
            waits.add_many(ns, count);
        }
        waits
    }
}

fn bucket_of(ns: u64) -> usize {
    let shift = ns.checked_ilog2().unwrap_or(0).saturating_sub(BUCKETS.ilog2());
    (u64::from(shift * BUCKETS) + (ns >> shift)) as usize
}

fn start_of(bucket: usize) -> u64 {
    let shift = (bucket as u64 / u64::from(BUCKETS)).saturating_sub(1);
    (bucket as u64 - shift * u64::from(BUCKETS)) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_a_sixteenth_wide_at_most() {
        for ns in [0, 1, 15, 16, 17, 31, 32, 33, 1000, 1 << 20, (1 << 20) + 70_000, u64::MAX >> 1] {
            let bucket = bucket_of(ns);
            assert!(start_of(bucket) <= ns && ns < start_of(bucket + 1), "{ns} in bucket {bucket}");
            assert!((start_of(bucket + 1) - start_of(bucket)) * 16 <= ns.max(16));
        }
    }

    #[test]
    fn quantiles_come_from_the_counts() {
        let mut waits = Waits::default();
        (1..=1000).for_each(|ms| waits.add(ms * 1_000_000));
        let near = |value: u64, ms: u64| value.abs_diff(ms * 1_000_000) <= ms * 1_000_000 / 16;
        assert!(near(waits.quantile(500), 500) && near(waits.quantile(990), 990));
        assert_eq!(waits.buckets().map(|(_, count)| count).sum::<u64>(), 1000);
        assert_eq!(waits.buckets().collect::<Waits>(), waits);
        assert_eq!(Waits::default().quantile(500), 0);
    }
}
