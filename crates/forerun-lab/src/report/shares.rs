//! The bytes of a run as shares of the bytes read: the summary and the charts show the same ones.

use forerun_sim::run::Run;

use crate::outcome::Outcome;
use crate::show::mean;
use crate::timeline::Timeline;

use super::number;

/// Bytes, as means where there is more than one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shares {
    /// Bytes that the programs read.
    pub(super) read_bytes: f64,
    fetched_bytes: f64,
    /// Bytes of hits, of late reads and of misses, and wasted bytes.
    parts: [f64; 4],
}

impl Shares {
    /// The means of all seeds.
    pub(super) fn of_outcome(outcome: &Outcome) -> Shares {
        let parts: [fn(&Run) -> u64; 4] =
            [|run| run.hit_bytes, |run| run.late_bytes, |run| run.miss_bytes, |run| run.wasted_bytes];
        Shares {
            read_bytes: mean(outcome, |run| run.read_bytes),
            fetched_bytes: mean(outcome, |run| run.demand_bytes + run.readahead_bytes),
            parts: parts.map(|part| mean(outcome, part)),
        }
    }

    /// The run of a timeline.
    pub(super) fn of_timeline(timeline: &Timeline) -> Shares {
        let totals = timeline.totals();
        Shares {
            read_bytes: (totals.hit_bytes + totals.late_bytes + totals.miss_bytes) as f64,
            fetched_bytes: totals.fetched_bytes as f64,
            parts: [totals.hit_bytes, totals.late_bytes, totals.miss_bytes, totals.wasted_bytes]
                .map(|bytes| bytes as f64),
        }
    }

    /// Hit, late, miss and wasted as shares of the bytes read; 0 if none were.
    pub(super) fn parts(&self) -> [f64; 4] {
        self.parts.map(|bytes| if self.read_bytes > 0.0 { bytes / self.read_bytes } else { 0.0 })
    }

    /// Fetched, hit, late, miss and wasted in percent of the bytes read.
    pub(super) fn percents(&self) -> [String; 5] {
        let [hit, late, miss, wasted] = self.parts();
        let fetched = if self.read_bytes > 0.0 { self.fetched_bytes / self.read_bytes } else { 0.0 };
        [fetched, hit, late, miss, wasted].map(|share| number::percent(share, 1.0))
    }

    /// The bytes read, in 10^6.
    pub(super) fn read_megabytes(&self) -> String {
        number::short(self.read_bytes / 1e6)
    }
}
