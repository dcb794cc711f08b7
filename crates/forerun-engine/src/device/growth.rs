//! Whether more in flight still brings more.
//!
//! What a link carries shows only once enough is in flight, and that is what is to be found
//! out. As long as more brings more there is twice as much in flight; a round is as long as
//! a fetch is on its way. Where two rounds bring no quarter more the link is full.

//= Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: congestion-based congestion control", 2016

/// Rounds that may bring nothing.
const FLAT_MAX: u32 = 2;
/// More is what is more by one part of so many.
const MORE_SHARE: u64 = 4;
/// Who brings less than one part of so many is somebody else.
const LESS_SHARE: u64 = 2;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Growth {
    /// Bytes per second when they were last seen to be more.
    best: u64,
    /// Rounds since then.
    flat_count: u32,
    /// Bytes that had been delivered when this round began.
    began_at: u64,
}

impl Growth {
    pub(super) fn goes_on(&self) -> bool {
        self.flat_count < FLAT_MAX
    }

    /// A fetch ended; `before` bytes had been delivered when it was dispatched, and
    /// `delivered` are now. No more than `pipe_bytes` are in flight, which brings `rate` bytes
    /// per second.
    pub(super) fn note(&mut self, before: u64, delivered: u64, pipe_bytes: u64, rate: u64) {
        // Where readers ask for less than may be in flight that tells nothing.
        let is_full = 2 * (delivered - before) >= pipe_bytes;
        if !is_full || before < self.began_at {
            return;
        }
        self.began_at = delivered;
        if rate >= self.best + self.best / MORE_SHARE || rate < self.best / LESS_SHARE {
            (self.best, self.flat_count) = (rate, 0);
        } else {
            self.flat_count = self.flat_count.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// What becomes of it in rounds of so many MiB per second each.
    fn after(growth: &mut Growth, rates: &[u64]) -> bool {
        for rate in rates {
            let before = growth.began_at;
            growth.note(before, before + MIB, MIB, rate * MIB);
        }
        growth.goes_on()
    }

    #[test]
    fn it_ends_when_more_brings_no_more() {
        let mut growth = Growth::default();
        assert!(after(&mut growth, &[10, 20, 40, 80, 80]));
        assert!(!after(&mut growth, &[90]));
    }

    #[test]
    fn what_was_not_full_tells_nothing() {
        let mut growth = Growth::default();
        (0..100).for_each(|_| growth.note(0, MIB, 4 * MIB, MIB));
        assert!(growth.goes_on());
    }

    #[test]
    fn one_round_counts_once() {
        let mut growth = Growth::default();
        // All of them were dispatched before the first ended.
        (1..100).for_each(|at| growth.note(0, at * MIB, MIB, MIB));
        assert!(growth.goes_on());
    }

    #[test]
    fn where_much_less_comes_it_begins_again() {
        let mut growth = Growth::default();
        assert!(!after(&mut growth, &[80, 80, 80]));
        assert!(after(&mut growth, &[30]));
    }
}
