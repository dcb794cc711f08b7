//! Windows that go on where others ended, as streams: what was read ahead for what, from
//! when to when, and what decided it first and last.

use std::collections::BTreeMap;

use forerun_engine::{Class, Extent, ObjectId, Time, Why};

/// Streams that a timeline keeps at most; later ones are only counted.
pub const STREAM_COUNT_MAX: usize = 4096;

/// Streams of one object that a window is compared with, those of the latest windows.
const COMPARED_MAX: usize = 256;

/// How far from the last window of a stream its next one is at most, unless that was longer.
const GAP_BYTES: u64 = 1 << 20;

/// The same where a stream leaves something out, again and again.
const STEP_BYTES: u64 = 64 << 20;

/// A stream: windows of one class that go on where one before ended. Bets are one for all
/// objects, and so are walks; what fills an object, follows a plan or another policy's
/// rules is one for each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPoint {
    /// Of what; nothing where it is of several objects.
    pub object: Option<ObjectId>,
    /// What it is for.
    pub class: Class,
    /// When its first window was wanted, and what decided its length.
    pub first: (Time, Why),
    /// When its last window was wanted, and what decided its length.
    pub last: (Time, Why),
    /// From the first to the last byte that was wanted, of all of its objects.
    pub span: Extent,
    /// How many windows there were.
    pub window_count: u64,
    /// Their bytes.
    pub window_bytes: u64,
    /// Bytes of the largest.
    pub window_bytes_max: u64,
}

/// Why a stream wanted no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It came to the end of its object; backward, to its start.
    ObjectEnd,
    /// It came to where another that goes the same way began.
    NextStream,
    /// It came to where it was expected to end.
    ExpectedEnd,
    /// Too much of its object was read ahead in vain.
    InVain,
    /// Nobody read on.
    ReaderLeft,
}

impl Stop {
    /// One word for it, of lower-case letters and dashes.
    pub const fn name(self) -> &'static str {
        match self {
            Stop::ObjectEnd => "object-end",
            Stop::NextStream => "next-stream",
            Stop::ExpectedEnd => "expected-end",
            Stop::InVain => "in-vain",
            Stop::ReaderLeft => "reader-left",
        }
    }
}

/// The index of a stream, and its last window; those of the latest windows come last.
type Open = (usize, Extent);

/// See the module's page.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    all: Vec<StreamPoint>,
    /// Which of them may go on, by object, if they are of one, and class.
    open: BTreeMap<(Option<ObjectId>, Class), Vec<Open>>,
    seen_count: u64,
    /// How far each object was read or fetched.
    ends: BTreeMap<ObjectId, u64>,
}

impl Streams {
    /// Some of `object` was read or fetched.
    pub(super) fn touch(&mut self, object: ObjectId, extent: Extent) {
        let end = self.ends.entry(object).or_default();
        *end = (*end).max(extent.end());
    }

    /// Why `stream` wanted no more; nothing where it is none that goes one way.
    pub(super) fn stop_of(&self, stream: &StreamPoint) -> Option<Stop> {
        let end = self.ends.get(&stream.object?).copied().unwrap_or(0);
        let is_at_end = match stream.class {
            Class::Forward | Class::Strided | Class::TwoLevel => stream.span.end() >= end,
            Class::Backward => stream.span.offset == 0,
            Class::Filled | Class::Planned | Class::Walk | Class::Guessed | Class::Other => return None,
        };
        Some(match stream.last.1 {
            _ if is_at_end => Stop::ObjectEnd,
            _ if self.all.iter().any(|next| stream.meets(next)) => Stop::NextStream,
            Why::EndKnown => Stop::ExpectedEnd,
            Why::LimitedByLedger => Stop::InVain,
            _ => Stop::ReaderLeft,
        })
    }

    /// The next window of a run.
    pub(super) fn push(&mut self, time: Time, object: ObjectId, extent: Extent, class: Class, why: Why) {
        let of_all = matches!(class, Class::Walk | Class::Guessed);
        let open = self.open.entry((Some(object).filter(|_| !of_all), class)).or_default();
        let found = match reach(class) {
            Some(reach) => nearest(open, extent, reach),
            None => open.len().checked_sub(1),
        };
        if let Some(place) = found {
            let (index, _) = open.remove(place);
            open.push((index, extent));
            self.all[index].go_on(time, object, extent, why);
            return;
        }
        self.seen_count += 1;
        if self.all.len() == STREAM_COUNT_MAX {
            return;
        }
        if open.len() == COMPARED_MAX {
            open.remove(0);
        }
        open.push((self.all.len(), extent));
        self.all.push(StreamPoint {
            object: Some(object),
            class,
            first: (time, why),
            last: (time, why),
            span: extent,
            window_count: 1,
            window_bytes: extent.len,
            window_bytes_max: extent.len,
        });
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &StreamPoint> {
        self.all.iter()
    }

    pub(super) fn seen_count(&self) -> u64 {
        self.seen_count
    }
}

impl StreamPoint {
    /// Whether the last of this is just before the first of `next`, which goes the same way.
    fn meets(&self, next: &StreamPoint) -> bool {
        let gap = match self.class {
            Class::Backward => self.span.offset.checked_sub(next.span.end()),
            _ => next.span.offset.checked_sub(self.span.end()),
        };
        let is_other = (next.object, next.class) == (self.object, self.class) && next.span != self.span;
        is_other && gap.is_some_and(|gap| gap <= GAP_BYTES)
    }

    fn go_on(&mut self, time: Time, object: ObjectId, extent: Extent, why: Why) {
        self.object = self.object.filter(|of| *of == object);
        self.last = (time, why);
        self.span = super::hull(self.span, extent);
        self.window_count += 1;
        self.window_bytes += extent.len;
        self.window_bytes_max = self.window_bytes_max.max(extent.len);
    }
}

/// How far off windows of `class` may be from one before to go on with it; nothing where
/// all of an object's are one stream.
fn reach(class: Class) -> Option<u64> {
    match class {
        Class::Forward | Class::Backward => Some(GAP_BYTES),
        Class::Strided | Class::TwoLevel => Some(STEP_BYTES),
        Class::Filled | Class::Planned | Class::Walk | Class::Guessed | Class::Other => None,
    }
}

/// The place in `open` of the last window that is nearest to `extent`, if it is near; of
/// several the one of the latest.
fn nearest(open: &[Open], extent: Extent, reach: u64) -> Option<usize> {
    let gap = |last: &Extent| {
        extent.offset.saturating_sub(last.end()).max(last.offset.saturating_sub(extent.end()))
    };
    let near = open.iter().enumerate().rev().map(|(place, (_, last))| (gap(last), last.len, place));
    let near = near.filter(|(gap, len, _)| *gap <= reach.max(*len));
    near.min_by_key(|(gap, ..)| *gap).map(|(.., place)| place)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const OBJECT: ObjectId = ObjectId(1);

    fn push(streams: &mut Streams, ms: u64, object: ObjectId, offset: u64, class: Class, why: Why) {
        streams.push(Time(ms * 1_000_000), object, Extent::new(offset, MIB), class, why);
    }

    #[test]
    fn interleaved_streams_of_an_object_are_told_apart_either_way() {
        let mut streams = Streams::default();
        for step in 0..8 {
            let why = if step == 0 { Why::FirstWindow } else { Why::Steady };
            push(&mut streams, step, OBJECT, step * MIB, Class::Forward, why);
            push(&mut streams, step, OBJECT, (100 + step) * MIB, Class::Forward, why);
            push(&mut streams, step, OBJECT, (99 - step) * MIB, Class::Backward, why);
            push(&mut streams, step, OBJECT, (200 + 16 * step) * MIB, Class::Strided, why);
            push(&mut streams, step, ObjectId(2), step * MIB, Class::Forward, why);
        }
        let all: Vec<&StreamPoint> = streams.iter().collect();
        assert_eq!(all.len(), 5);
        assert!(all.iter().all(|stream| (stream.window_count, stream.window_bytes) == (8, 8 * MIB)));
        assert_eq!(all[1].span, Extent::new(100 * MIB, 8 * MIB));
        assert_eq!((all[2].class, all[2].span), (Class::Backward, Extent::new(92 * MIB, 8 * MIB)));
        assert_eq!(all[3].span, Extent::new(200 * MIB, 113 * MIB));
        assert_eq!(all[4].first, (Time(0), Why::FirstWindow));
        assert_eq!(all[4].last, (Time(7_000_000), Why::Steady));
        assert_eq!(all[4].object, Some(ObjectId(2)));
    }

    #[test]
    fn why_a_stream_stopped_is_told_from_where_it_came_to_and_what_decided_last() {
        let stop = |class, offset, why| {
            let mut streams = Streams::default();
            streams.touch(OBJECT, Extent::new(0, 8 * MIB));
            push(&mut streams, 0, OBJECT, offset, class, why);
            streams.stop_of(streams.iter().next().unwrap())
        };
        assert_eq!(stop(Class::Forward, 7 * MIB, Why::Steady), Some(Stop::ObjectEnd));
        assert_eq!(stop(Class::Backward, 0, Why::Growing), Some(Stop::ObjectEnd));
        assert_eq!(stop(Class::Backward, 7 * MIB, Why::Growing), Some(Stop::ReaderLeft));
        assert_eq!(stop(Class::Forward, 3 * MIB, Why::EndKnown), Some(Stop::ExpectedEnd));
        assert_eq!(stop(Class::Strided, 3 * MIB, Why::LimitedByLedger), Some(Stop::InVain));
        let mut streams = Streams::default();
        streams.touch(OBJECT, Extent::new(0, 8 * MIB));
        push(&mut streams, 0, OBJECT, 4 * MIB, Class::Forward, Why::Steady);
        push(&mut streams, 0, OBJECT, 0, Class::Forward, Why::Steady);
        push(&mut streams, 0, OBJECT, 5 * MIB, Class::Forward, Why::Steady);
        push(&mut streams, 0, OBJECT, MIB, Class::Forward, Why::Steady);
        push(&mut streams, 0, OBJECT, 2 * MIB, Class::Forward, Why::Steady);
        let stops: Vec<_> = streams.iter().map(|stream| streams.stop_of(stream)).collect();
        assert_eq!(stops, [Some(Stop::ReaderLeft), Some(Stop::NextStream)]);
        assert_eq!(stop(Class::Walk, 0, Why::Listed), None);
        assert_eq!(stop(Class::Other, 0, Why::Policy), None);
    }

    #[test]
    fn a_jump_is_another_stream_and_walks_and_bets_are_one_of_all_files() {
        let mut streams = Streams::default();
        push(&mut streams, 0, OBJECT, 0, Class::Forward, Why::FirstWindow);
        push(&mut streams, 1, OBJECT, 50 * MIB, Class::Forward, Why::FirstWindow);
        for object in 0..5 {
            push(&mut streams, 2, ObjectId(object), 0, Class::Walk, Why::Listed);
            push(&mut streams, 2, ObjectId(object), 0, Class::Other, Why::Policy);
        }
        let classes: Vec<Class> = streams.iter().map(|stream| stream.class).collect();
        assert_eq!(classes[..3], [Class::Forward, Class::Forward, Class::Walk]);
        assert_eq!(classes[3..], [Class::Other; 5]);
        let walk = streams.iter().nth(2).unwrap();
        assert_eq!((walk.object, walk.window_count), (None, 5));
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_rest_counted() {
        let mut streams = Streams::default();
        for index in 0..2 * STREAM_COUNT_MAX as u64 {
            push(&mut streams, index, OBJECT, index * 100 * MIB, Class::Forward, Why::FirstWindow);
        }
        assert_eq!((streams.iter().count(), streams.seen_count()), (STREAM_COUNT_MAX, 8192));
    }
}
