//! Whether more bytes in flight still raise the throughput.
//!
//! The rate of a link shows only once enough bytes are in flight. So the bytes in flight double as long as
//! each doubling raises the rate; a round lasts as long as a fetch. After two rounds without a quarter more
//! the link is full, and the last size that raised the rate stays. Little's law with the least latency is no
//! substitute: if latencies differ widely, most fetches need more than that.

//= Cardwell, Cheng, Gunn, Yeganeh, Jacobson, "BBR: congestion-based congestion control", 2016

/// Rounds that may bring nothing.
const FLAT_MAX: u32 = 2;
/// A rate counts as higher if it is higher by this share.
const MORE_SHARE: u64 = 4;
/// A rate below this share of the best one shows that other traffic uses the link.
const LESS_SHARE: u64 = 2;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    /// Bytes per second when they were last seen to be more.
    best: u64,
    /// Rounds since then.
    flat_count: u32,
    /// Bytes that had been delivered when this round began.
    began_at: u64,
    /// The bytes that could be in flight when the rate last rose.
    proven_bytes: u64,
}

impl Growth {
    pub(crate) fn goes_on(&self) -> bool {
        self.flat_count < FLAT_MAX && !crate::ablation::Rule::Growth.is_off()
    }

    /// The bytes that may be in flight for that; `None` before the first round.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let bytes = if self.goes_on() { 2 * self.proven_bytes } else { self.proven_bytes };
        (self.best > 0).then_some(bytes)
    }

    /// A fetch ended; `before` bytes had been delivered when it was dispatched, and
    /// `delivered` are now. No more than `pipe_bytes` are in flight, which brings `rate` bytes
    /// per second.
    pub(crate) fn end_round(&mut self, before: u64, delivered: u64, pipe_bytes: u64, rate: u64) {
        // Where readers ask for less than may be in flight that tells nothing.
        let is_full = 2 * (delivered - before) >= pipe_bytes;
        if !is_full || before < self.began_at {
            return;
        }
        self.began_at = delivered;
        if rate >= self.best + self.best / MORE_SHARE {
            (self.best, self.flat_count, self.proven_bytes) = (rate, 0, pipe_bytes);
        } else if rate < self.best / LESS_SHARE {
            (self.best, self.flat_count, self.proven_bytes) = (rate, 0, 0);
        } else {
            self.flat_count = self.flat_count.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// Whether it still grows after rounds of this many MiB per second each.
    fn after(growth: &mut Growth, rates: &[u64]) -> bool {
        for rate in rates {
            let before = growth.began_at;
            growth.end_round(before, before + MIB, MIB, rate * MIB);
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
    fn bytes_in_flight_that_raised_the_rate_stay_and_are_doubled() {
        let mut growth = Growth::default();
        let mut pipe_bytes = MIB;
        // The bytes of Little's law bring ever more, and more than 8 MiB in flight bring nothing.
        for _ in 0..8 {
            let before = growth.began_at;
            growth.end_round(before, before + pipe_bytes, pipe_bytes, pipe_bytes.min(8 * MIB));
            pipe_bytes = growth.bytes().unwrap();
        }
        assert_eq!((growth.goes_on(), growth.bytes()), (false, Some(8 * MIB)));
    }

    #[test]
    fn rounds_that_were_not_full_do_not_count() {
        let mut growth = Growth::default();
        (0..100).for_each(|_| growth.end_round(0, MIB, 4 * MIB, MIB));
        assert!(growth.goes_on());
    }

    #[test]
    fn one_round_counts_once() {
        let mut growth = Growth::default();
        // All of them were dispatched before the first ended.
        (1..100).for_each(|at| growth.end_round(0, at * MIB, MIB, MIB));
        assert!(growth.goes_on());
    }

    #[test]
    fn where_much_less_comes_it_begins_again() {
        let mut growth = Growth::default();
        assert!(!after(&mut growth, &[80, 80, 80]));
        assert_eq!(growth.bytes(), Some(MIB));
        assert!(after(&mut growth, &[30]));
        assert_eq!(growth.bytes(), Some(0));
    }
}
