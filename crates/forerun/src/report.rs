//! Reports about readahead: its extents, its reasons and its outcomes.

use std::cmp::Reverse;
use std::time::Duration;

use forerun_backend::TryCounts;
use forerun_engine::{
    ByClass, Class, ClassCounters, ClientId, Counters, DeviceEstimate, ObjectReport, StreamReport, Time,
    Usage,
};

use crate::Forerun;

/// One object, as it was when it was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// Its path.
    pub path: String,
    /// The engine's report.
    pub report: ObjectReport,
    now: Time,
}

/// The figures of one engine and its backend, for metrics.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Snapshot {
    /// Sums since the start.
    pub counters: Counters,
    /// The outcomes of readahead by class.
    pub readahead: ByClass,
    /// Memory and fetches now.
    pub usage: Usage,
    /// Streams of open objects now, for each class.
    pub streams: [(Class, u64); Class::ALL.len()],
    /// Each client that was given a weight or a rate, and the bytes of the fetches for it since then.
    pub clients: Vec<(ClientId, u64)>,
    /// Requests to the store that were tried again.
    pub tries: TryCounts,
}

impl Explained {
    /// How long ago `stream`, one of its report's, was read last.
    pub fn idle(&self, stream: &StreamReport) -> Duration {
        Duration::from_nanos(self.now.since(stream.last_read))
    }
}

impl Forerun {
    /// A report on every object that is open, has bytes in memory, or was read ahead. It has the object's
    /// streams, how far ahead of them is read and why, and the outcomes. Open objects come first, then all
    /// others in order of path.
    pub fn explain(&self) -> Vec<Explained> {
        let (now, reports) = self.driver().explain();
        let is_of_use = |report: &ObjectReport| {
            let readahead = report.readahead.total();
            report.reader_count > 0 || report.cached_bytes > 0 || readahead != ClassCounters::default()
        };
        let mut explained: Vec<Explained> = reports
            .into_iter()
            .filter(|(_, report)| is_of_use(report))
            .map(|(object, report)| Explained { path: object.name.path.to_string(), report, now })
            .collect();
        explained.sort_by(|a, b| {
            let key = |one: &Explained| Reverse(one.report.reader_count > 0);
            key(a).cmp(&key(b)).then_with(|| a.path.cmp(&b.path))
        });
        explained
    }

    /// The figures of this engine. It takes the engine's lock once, and once for each object.
    pub fn snapshot(&self) -> Snapshot {
        let driver = self.driver();
        let (counters, readahead, usage, clients) = driver.figures();
        let (streams, tries) = (driver.stream_counts(), driver.backend.try_counts());
        Snapshot { counters, readahead, usage, streams, clients, tries }
    }

    /// The outcomes of all readahead since the start, by the class of reading that it was for.
    pub fn readahead(&self) -> ByClass {
        self.driver().readahead()
    }

    /// The speed of the backend, as its fetches so far show it.
    pub fn device(&self) -> DeviceEstimate {
        self.driver().device()
    }
}
