//! The events of a run, in bounded memory: a fold over the engine's events.
//!
//! Reads, fetches and windows are sampled, and memory is binned. So a run of any length gives a
//! timeline of the same size, and the same run the same timeline.

mod levels;
mod points;
mod reservoir;
mod streams;
mod unread;

use std::collections::BTreeMap;

use forerun_engine::{Event, Extent, FetchId, ObjectId, Time};

pub use levels::Level;
use levels::Levels;
pub use points::{Class, FetchPoint, ReadPoint, Served, Totals, WindowPoint};
use reservoir::Reservoir;
use streams::Streams;
pub use streams::{STREAM_COUNT_MAX, StreamPoint};
use unread::Unread;

/// Reads, fetches and windows that a timeline keeps at most, each.
pub const SAMPLE_COUNT_MAX: usize = 20_000;

/// A timeline; see the module's page.
#[derive(Clone, Debug)]
pub struct Timeline {
    reads: Reservoir<ReadPoint>,
    fetches: Reservoir<FetchPoint>,
    windows: Reservoir<WindowPoint>,
    streams: Streams,
    /// All reads, by what they were read ahead for.
    served: BTreeMap<Option<forerun_engine::Class>, Served>,
    totals: Totals,
    levels: Levels,
    in_flight: BTreeMap<FetchId, Flight>,
    /// Of two fetches of the same bytes each other one.
    twins: BTreeMap<FetchId, FetchId>,
    in_flight_bytes: u64,
    unread: Unread,
    /// When the last read was asked for or the last fetch dispatched.
    last: Time,
    /// When the last fetch ended.
    landed: Time,
    /// When the run was over, if that is known.
    over: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Flight {
    /// Its place among all fetches.
    index: u64,
    object: ObjectId,
    extent: Extent,
}

impl Default for Timeline {
    fn default() -> Timeline {
        Timeline {
            reads: Reservoir::new(SAMPLE_COUNT_MAX),
            fetches: Reservoir::new(SAMPLE_COUNT_MAX),
            windows: Reservoir::new(SAMPLE_COUNT_MAX),
            streams: Streams::default(),
            served: BTreeMap::new(),
            totals: Totals::default(),
            levels: Levels::default(),
            in_flight: BTreeMap::new(),
            twins: BTreeMap::new(),
            in_flight_bytes: 0,
            unread: Unread::default(),
            last: Time(0),
            landed: Time(0),
            over: None,
        }
    }
}

impl Timeline {
    /// Takes what has happened next.
    pub fn observe(&mut self, event: &Event) {
        let time = match *event {
            Event::Read { time, object, extent, late_bytes, missing_bytes, ahead, .. } => {
                self.unread.read(object, extent, missing_bytes);
                let class = match (missing_bytes, late_bytes) {
                    (0, 0) => Class::Hit,
                    (0, _) => Class::Late,
                    _ => Class::Miss,
                };
                self.reads.push(ReadPoint { time, object, extent, class, ahead });
                self.served.entry(ahead).or_default().count(class);
                self.totals.late_bytes += late_bytes;
                self.totals.miss_bytes += missing_bytes;
                self.totals.hit_bytes += extent.len - late_bytes - missing_bytes;
                self.last = self.last.max(time);
                time
            }
            Event::Window { time, object, extent, class, why, stream, .. } => {
                self.windows.push(WindowPoint { time, object, len: extent.len, class, why });
                self.streams.push(time, object, extent, (class, why), stream);
                time
            }
            Event::StreamEnd { time, stream, end, .. } => {
                self.streams.end(stream, end);
                time
            }
            Event::Fetch { time, id, object, extent, cause, .. } => {
                self.totals.fetched_bytes += extent.len;
                self.dispatch(
                    id,
                    FetchPoint { time, end: None, object, extent, cause, wasted: Extent::default() },
                );
                self.last = self.last.max(time);
                time
            }
            Event::Repeated { time, id, of, object, extent, cause } => {
                let point = FetchPoint { time, end: None, object, extent, cause, wasted: Extent::default() };
                let index = self.fetches.push(point);
                self.in_flight.insert(id, Flight { index, object, extent });
                self.in_flight_bytes += extent.len;
                self.twins.insert(id, of);
                self.twins.insert(of, id);
                time
            }
            Event::Won { time, .. } => time,
            Event::Fetched { time, id } => {
                self.land(time, id, 0);
                time
            }
            Event::Failed { time, id, bytes, .. } => {
                self.land(time, id, bytes);
                time
            }
            Event::Wasted { time, object, extent } => {
                self.totals.wasted_bytes += extent.len;
                for (index, extent) in self.unread.lose(object, extent) {
                    if let Some(fetch) = self.fetches.get_mut(index) {
                        fetch.wasted = hull(fetch.wasted, extent);
                    }
                }
                time
            }
            // A later version of the engine may tell of more.
            _ => return,
        };
        self.levels.set(time, Level { in_flight: self.in_flight_bytes, unread: self.unread.bytes() });
    }

    /// The run was over at `time`: writes and the time of programs may follow the last event.
    pub fn finish(&mut self, time: Time) {
        self.over = Some(time);
    }

    /// When the run was over; unless that is known, when the last read was asked for or the last
    /// fetch dispatched.
    pub fn end(&self) -> Time {
        self.over.unwrap_or(self.last)
    }

    /// From when on nothing is read or fetched any more, until the end.
    pub fn quiet_from(&self) -> Time {
        self.last.max(self.landed).min(self.end())
    }

    /// A sample of the reads, in order; at most [`SAMPLE_COUNT_MAX`].
    pub fn reads(&self) -> impl Iterator<Item = &ReadPoint> {
        self.reads.iter()
    }

    /// A sample of the fetches, in order; at most [`SAMPLE_COUNT_MAX`].
    pub fn fetches(&self) -> impl Iterator<Item = &FetchPoint> {
        self.fetches.iter()
    }

    /// A sample of the windows, in order; at most [`SAMPLE_COUNT_MAX`].
    pub fn windows(&self) -> impl Iterator<Item = &WindowPoint> {
        self.windows.iter()
    }

    /// The streams that windows were wanted for, by their first; at most [`STREAM_COUNT_MAX`].
    pub fn streams(&self) -> impl Iterator<Item = &StreamPoint> {
        self.streams.iter()
    }

    /// How many streams there were, whether kept or not.
    pub fn stream_count(&self) -> u64 {
        self.streams.seen_count()
    }

    /// How many reads there were, whether sampled or not.
    pub fn read_count(&self) -> u64 {
        self.reads.seen_count()
    }

    /// All reads, sampled or not, by what their first bytes were read ahead for, if any were.
    pub fn served(&self) -> impl Iterator<Item = (Option<forerun_engine::Class>, Served)> + '_ {
        self.served.iter().map(|(ahead, served)| (*ahead, *served))
    }

    /// The bytes of the whole run.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Memory over time: the beginning of each interval, and the most in it.
    pub fn levels(&self) -> impl Iterator<Item = (Time, Level)> + '_ {
        self.levels.iter()
    }

    fn dispatch(&mut self, id: FetchId, point: FetchPoint) {
        let FetchPoint { object, extent, .. } = point;
        let index = self.fetches.push(point);
        self.in_flight.insert(id, Flight { index, object, extent });
        self.in_flight_bytes += extent.len;
        self.unread.fetch(object, extent, index);
    }

    /// The fetch has ended with `bytes` that never came.
    fn land(&mut self, time: Time, id: FetchId, bytes: u64) {
        let Some(Flight { index, object, extent }) = self.in_flight.remove(&id) else { return };
        self.in_flight_bytes -= extent.len;
        self.landed = time;
        // The other one brings them, or has.
        let has_twin =
            bytes > 0 && self.twins.remove(&id).is_some_and(|twin| self.twins.remove(&twin).is_some());
        if bytes > 0 && !has_twin {
            self.unread.forget(object, Extent::between(extent.end().saturating_sub(bytes), extent.end()));
        }
        if let Some(fetch) = self.fetches.get_mut(index) {
            fetch.end = Some(time);
        }
    }
}

/// From the first to the last byte of both.
fn hull(a: Extent, b: Extent) -> Extent {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b,
        (_, true) => a,
        _ => Extent::between(a.offset.min(b.offset), a.end().max(b.end())),
    }
}

#[cfg(test)]
mod tests;
