//! How much of what it passes a stream reads.
//!
//! A stream that leaves out requests is read through as long as what it leaves
//! out is not too much.

/// What was passed longer ago than so many bytes counts less.
const MEMORY_BYTES: u64 = 1 << 20;
/// Requests before there is an opinion.
const COUNT_MIN: u32 = 3;
/// Of so many bytes one must be read.
const SPARSE_MAX: u64 = 5;
/// And where what is left out takes longer than a request, one of so many.
const DEAR_SPARSE_MAX: u64 = 3;
/// That is known after more requests: those in disorder seem to leave much out at first.
const DEAR_COUNT_MIN: u32 = 12;

/// Of the elements of a strided way as many at most may be left out as are read: each that is
/// fetched in vain costs as much as one that was of use saves.
const PATCHY_SPARSE_MAX: u64 = 2;
/// That is known after so many requests: some may come in disorder.
const PATCHY_COUNT_MIN: u32 = 6;

/// Bytes read and passed lately.
#[derive(Clone, Copy, Debug)]
pub(super) struct Density {
    read: u64,
    passed: u64,
    /// Requests, all of them and lately.
    count: u32,
    lately: u32,
}

impl Density {
    pub(super) fn new(read: u64, passed: u64) -> Density {
        Density { read, passed, count: 1, lately: 1 }
    }

    /// A read of `len` bytes moved the stream on by `passed`.
    pub(super) fn note(&mut self, len: u64, passed: u64) {
        self.read += len;
        self.passed += passed;
        self.count = self.count.saturating_add(1);
        self.lately += 1;
        if self.passed > MEMORY_BYTES {
            self.lately /= 2;
            self.read /= 2;
            self.passed /= 2;
        }
    }

    /// What it leaves out is dearer than requests that leave it out, which cost as much
    /// as `gap_bytes` each.
    pub(super) fn is_dear(&self, gap_bytes: u64) -> bool {
        let left_out = self.passed.saturating_sub(self.read);
        self.count >= DEAR_COUNT_MIN
            && left_out > gap_bytes * u64::from(self.lately)
            && DEAR_SPARSE_MAX * self.read < self.passed
    }

    /// Too little is read for the rest to be fetched along, unless what is left out with each
    /// read takes no longer than the `through_bytes` that every request costs.
    pub(super) fn is_thin(&self, through_bytes: u64) -> bool {
        let left_out = self.passed.saturating_sub(self.read);
        self.count >= COUNT_MIN
            && SPARSE_MAX * self.read < self.passed
            && left_out > through_bytes * u64::from(self.lately)
    }

    /// Most is left out, and that does not pay because requests are dearer. Where streams take
    /// turns it may be more: it passes below the head in any case.
    pub(super) fn is_sparse(&self, through_bytes: u64, in_turns: bool) -> bool {
        let left_out = self.passed.saturating_sub(self.read);
        let share = if in_turns { DEAR_SPARSE_MAX } else { PATCHY_SPARSE_MAX };
        share * self.read < self.passed && left_out > through_bytes * u64::from(self.lately)
    }

    /// Where nothing but elements count: too few of them are read.
    pub(super) fn is_patchy(&self) -> bool {
        self.count >= PATCHY_COUNT_MIN && PATCHY_SPARSE_MAX * self.read < self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_it_is_dense_and_a_sixteenth_is_thin() {
        let mut half = Density::new(4096, 4096);
        (0..10_000).for_each(|_| half.note(4096, 8192));
        assert!(!half.is_thin(0));
        let mut sixteenth = Density::new(4096, 4096);
        (0..2).for_each(|_| sixteenth.note(4096, 65536));
        assert!(sixteenth.is_thin(0));
        assert!(!sixteenth.is_thin(64 << 10), "requests are dearer");
    }

    #[test]
    fn steps_of_which_most_are_left_out_are_none() {
        let mut all = Density::new(256, 256);
        (0..100).for_each(|_| all.note(64, 64));
        assert!(!all.is_patchy() && !all.is_sparse(0, false));
        let mut quarter = Density::new(256, 256);
        (0..20).for_each(|_| quarter.note(64, 256));
        assert!(quarter.is_patchy() && quarter.is_sparse(0, true));
        assert!(!quarter.is_sparse(192, true), "requests are dearer");
    }

    #[test]
    fn a_stream_that_was_dense_becomes_thin() {
        let mut density = Density::new(4096, 4096);
        (0..10_000).for_each(|_| density.note(65536, 65536));
        (0..100).for_each(|_| density.note(4096, 65536));
        assert!(density.is_thin(0));
    }
}
