//! The promises for each reader.

use super::{BenchCase, LITTLE_MEMORY_BYTES, MEMORY_BYTES, Outcome};
use crate::demo::link::Shape;
use crate::demo::reader::Pattern;

/// The process may use this much memory besides that for data, plus a share of the latter: more
/// memory allows more requests in flight.
const MEMORY_BESIDES_BYTES_MAX: u64 = 40 << 20;
const MEMORY_SHARE_BESIDES: u64 = 8;
/// Tolerance for equal rates: the machine has other things to do.
const EQUAL_SHARE_MIN: f64 = 0.97;

/// The limits of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gate {
    pub(super) mb_s_min: f64,
    pub(super) fetched_ratio_max: f64,
    pub(super) memory_mb_max: f64,
}

impl BenchCase {
    /// The limits for reading `bytes`. `none` is the row's outcome without readahead.
    pub(super) fn gate(&self, bytes: u64, none: Option<Outcome>) -> Gate {
        let as_promised = self.shape == Shape::default();
        let (mb_s_min, fetched_ratio_max) = match self.pattern {
            // Many requests at once, which one after the other take ten times as long.
            _ if self.is_learned => (self.promised(10.0), 1.1),
            // There is nothing to read ahead; trying must not cost anything.
            Pattern::Random => (none.map_or(0.0, |none| EQUAL_SHARE_MIN * none.mb_s), 1.1),
            Pattern::Sequential | Pattern::Parallel if as_promised => (360.0, 1.05),
            Pattern::Interleaved | Pattern::Displaced if as_promised => (350.0, 1.05),
            Pattern::Sequential | Pattern::Parallel | Pattern::Interleaved | Pattern::Displaced => {
                (0.8 * self.bound_mb_s(bytes), 1.05)
            }
            Pattern::Backward => (self.promised(340.0), 1.05),
            Pattern::Strided => (self.promised(250.0), 1.1),
            Pattern::StridedBlocks => (self.promised(25.0), 4.0),
            Pattern::InterleavedMany => (self.promised(300.0), 1.1),
            // Four fifths of the rate that remains after each stream's first read has waited.
            Pattern::Bursts => (self.promised(110.0), 1.3),
            Pattern::Shuffled => (self.promised(200.0), 1.05),
            Pattern::Walked => (self.promised(80.0), 1.1),
            Pattern::Opened => (0.0, 1.1),
            // The touched pages, and a few more.
            Pattern::Mapped | Pattern::MappedAdvised => (0.0, 1.2),
            // No faster than its players, and it starts with a wait.
            Pattern::Paced => (63.0, 1.05),
        };
        let besides = MEMORY_BESIDES_BYTES_MAX + self.memory_bytes / MEMORY_SHARE_BESIDES;
        let memory_mb_max = (self.memory_bytes + besides) as f64 / 1e6;
        // With less memory, a window lasts less than a latency.
        let is_promised = match self.pattern {
            Pattern::Paced => self.memory_bytes >= LITTLE_MEMORY_BYTES,
            _ => self.memory_bytes >= MEMORY_BYTES,
        };
        match is_promised {
            true => Gate { mb_s_min, fetched_ratio_max, memory_mb_max },
            false => Gate { mb_s_min: 0.0, fetched_ratio_max: f64::INFINITY, memory_mb_max },
        }
    }

    /// A rate that is promised for the demo's store alone.
    fn promised(&self, mb_s: f64) -> f64 {
        if self.shape == Shape::default() { mb_s } else { 0.0 }
    }

    /// The bound for every mount: the link's rate, and the latencies that are unavoidable without
    /// knowing the future. Those are one for the file's name, and one for the first bytes of each
    /// stream of a thread.
    fn bound_mb_s(&self, bytes: u64) -> f64 {
        let latencies = 1 + self.pattern.streams_per_thread();
        let link = bytes as f64 / self.shape.total_bytes_per_s as f64;
        bytes as f64 / 1e6 / (link + latencies as f64 * self.shape.latency.as_secs_f64())
    }
}

impl Outcome {
    /// Whether it keeps every promise.
    pub(super) fn passes(&self, gate: &Gate) -> bool {
        self.is_correct
            && self.late_reads == 0
            && self.mb_s >= gate.mb_s_min
            && self.fetched_ratio <= gate.fetched_ratio_max
            && self.memory_peak_mb <= gate.memory_mb_max
    }
}

#[cfg(test)]
impl Outcome {
    /// The outcome of a sequential reader that keeps every promise.
    pub(super) const GOOD: Outcome = Outcome {
        mb_s: 390.0,
        fetched_ratio: 1.0,
        memory_peak_mb: 300.0,
        late_reads: 0,
        processors_taken: 0.0,
        is_correct: true,
    };
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn row(pattern: Pattern, milliseconds: u64) -> BenchCase {
        let shape = Shape { latency: Duration::from_millis(milliseconds), ..Shape::default() };
        BenchCase { pattern, shape, memory_bytes: MEMORY_BYTES, is_learned: false }
    }

    #[test]
    fn gates() {
        let table = [
            (Pattern::Sequential, 10, 360.0),
            (Pattern::Parallel, 10, 360.0),
            (Pattern::Interleaved, 10, 350.0),
            (Pattern::Backward, 10, 340.0),
            (Pattern::Backward, 50, 0.0),
            // 2.5 s on the link, and 2 or 9 times 50 ms.
            (Pattern::Sequential, 50, 0.8 * 1000.0 / 2.6),
            (Pattern::Interleaved, 50, 0.8 * 1000.0 / 2.95),
        ];
        for (pattern, milliseconds, mb_s_min) in table {
            let gate = row(pattern, milliseconds).gate(1_000_000_000, None);
            assert!((gate.mb_s_min - mb_s_min).abs() < 1e-6, "{}: {gate:?}", pattern.name());
            assert_eq!(gate.fetched_ratio_max, 1.05);
        }
        let learned = BenchCase { is_learned: true, ..row(Pattern::Random, 10) };
        assert_eq!(learned.gate(1_000_000_000, None).mb_s_min, 10.0);
        let none = Outcome { mb_s: 0.4, ..Outcome::GOOD };
        let gate = row(Pattern::Random, 10).gate(1_000_000_000, Some(none));
        assert!((gate.mb_s_min - 0.388).abs() < 1e-9);
    }

    #[test]
    fn each_promise_can_be_broken() {
        let gate = row(Pattern::Sequential, 10).gate(1_000_000_000, None);
        assert!(Outcome::GOOD.passes(&gate));
        for bad in [
            Outcome { mb_s: 359.0, ..Outcome::GOOD },
            Outcome { fetched_ratio: 1.06, ..Outcome::GOOD },
            Outcome { memory_peak_mb: 345.0, ..Outcome::GOOD },
            Outcome { late_reads: 1, ..Outcome::GOOD },
            Outcome { is_correct: false, ..Outcome::GOOD },
        ] {
            assert!(!bad.passes(&gate), "{bad:?}");
        }
        let little = BenchCase { memory_bytes: LITTLE_MEMORY_BYTES, ..row(Pattern::Paced, 10) };
        assert!(!Outcome::GOOD.passes(&little.gate(1_000_000_000, None)));
    }
}
