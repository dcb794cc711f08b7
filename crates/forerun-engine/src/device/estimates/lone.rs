//! How long a reader waits for a fetch that found no other in flight, by the place where the fetch begins. A
//! disk's head may be there already, or the disk's own buffer may have the bytes.

use alloc::collections::VecDeque;

use crate::device::time_of;
use crate::types::{Extent, ObjectId};

/// Ends of fetches that are remembered,
const ENDS_MAX: usize = 32;
/// and how far after one of them is near: as far as bets go.
pub(crate) const NEAR_BYTES: u64 = 1 << 20;

/// Where a fetch begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Locality {
    /// Where the one before it ended.
    Next,
    /// Soon after the end of a recent fetch.
    Near,
    Elsewhere,
}

/// Waits, smoothed.
#[derive(Debug, Default)]
pub(crate) struct Lone {
    /// Of all, and how many bytes came with the end of each near by.
    all: Option<(u64, u64)>,
    /// Of those at such places, without that wherever they come from.
    pub(crate) next_ns: Option<u64>,
    pub(crate) near_ns: Option<u64>,
    /// The latest is the last.
    ends: VecDeque<(ObjectId, u64)>,
}

impl Lone {
    /// A fetch of `extent` is dispatched: where it begins.
    pub(crate) fn locate(&mut self, object: ObjectId, extent: Extent) -> Locality {
        let is_near = |(other, end): &(ObjectId, u64)| {
            *other == object && *end <= extent.offset && extent.offset - end < NEAR_BYTES
        };
        let locality = if self.ends.back() == Some(&(object, extent.offset)) {
            Locality::Next
        } else if self.ends.iter().any(is_near) {
            Locality::Near
        } else {
            Locality::Elsewhere
        };
        if self.ends.len() == ENDS_MAX {
            self.ends.pop_front();
        }
        self.ends.push_back((object, extent.end()));
        locality
    }

    /// Whether any waited.
    pub(crate) fn is_some(&self) -> bool {
        self.all.is_some()
    }

    /// The wait for all fetches, less the time that carries their bytes at `rate` bytes a second. That rate
    /// is known better later than when the bytes came.
    pub(crate) fn all_ns(&self, rate: u64) -> Option<u64> {
        self.all.map(|(ns, bytes)| if bytes > 0 { ns.saturating_sub(time_of(bytes, rate)) } else { ns })
    }

    /// Records the wait for a fetch at such a place, with which `bytes` arrived. `rest_ns` is the wait
    /// without the time that carries its bytes.
    pub(crate) fn record(&mut self, locality: Locality, wait_ns: u64, bytes: u64, rest_ns: u64) {
        let smooth = |mean: Option<u64>, ns| Some(mean.map_or(ns, |mean| mean - mean / 8 + ns / 8));
        let (mean_ns, mean_bytes) = self.all.unzip();
        self.all = smooth(mean_ns, wait_ns).zip(smooth(mean_bytes, bytes));
        match locality {
            Locality::Next => self.next_ns = smooth(self.next_ns, rest_ns),
            Locality::Near => self.near_ns = smooth(self.near_ns, rest_ns),
            Locality::Elsewhere => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn locate(lone: &mut Lone, object: u64, offset: u64) -> Locality {
        lone.locate(ObjectId(object), Extent::new(offset, 4096))
    }

    #[test]
    fn places_are_told_apart_by_what_was_fetched_lately() {
        let mut lone = Lone::default();
        assert_eq!(locate(&mut lone, 0, 0), Locality::Elsewhere);
        assert_eq!(locate(&mut lone, 0, 4096), Locality::Next);
        assert_eq!(locate(&mut lone, 0, 100 * MIB), Locality::Elsewhere);
        assert_eq!(locate(&mut lone, 0, 8192), Locality::Near, "another came between");
        assert_eq!(locate(&mut lone, 0, MIB), Locality::Near);
        assert_eq!(locate(&mut lone, 1, MIB + 4096), Locality::Elsewhere, "of another object");
        assert_eq!(locate(&mut lone, 0, 99 * MIB), Locality::Elsewhere, "before, not after");
        (0..ENDS_MAX as u64).for_each(|at| _ = locate(&mut lone, 2, 10 * at * MIB));
        assert_eq!(locate(&mut lone, 0, 8192), Locality::Elsewhere, "that was long ago");
    }

    #[test]
    fn the_time_to_carry_bytes_is_subtracted_at_the_later_rate() {
        let mut lone = Lone::default();
        lone.record(Locality::Elsewhere, 150_000, 65_536, 0);
        let wait_ns = |rate| lone.all_ns(rate).unwrap();
        assert!(wait_ns(430_000_000) < 1000, "as fast as one fetch alone brings");
        assert!((95_000..105_000).contains(&wait_ns(1_300_000_000)), "as fast as many together bring");
    }

    #[test]
    fn each_place_has_waits_of_its_own() {
        let mut lone = Lone::default();
        for (locality, ns) in [(Locality::Next, 100), (Locality::Near, 3000), (Locality::Elsewhere, 8000)] {
            lone.record(locality, ns, 0, ns);
        }
        assert_eq!((lone.next_ns, lone.near_ns), (Some(100), Some(3000)));
    }
}
