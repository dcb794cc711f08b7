//! The streams that windows were wanted for: from when to when, what decided their windows
//! first and last, and why they ended.

use std::collections::BTreeMap;

use forerun_engine::{Class, End, Extent, ObjectId, StreamId, Time, Why};

/// Streams that a timeline keeps at most; later ones are only counted.
pub const STREAM_COUNT_MAX: usize = 4096;

/// A stream, or windows that are of none. All bets are one, and all walks. Region readahead, plans
/// and the windows of other policies are one for each object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamPoint {
    /// The object; nothing where it is of several objects.
    pub object: Option<ObjectId>,
    /// The kind of its last window.
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
    /// Why it is over; nothing if it is not, and where it is no stream.
    pub end: Option<End>,
}

/// The key of windows that are shown as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Stream(StreamId),
    Rest(Class, Option<ObjectId>),
}

/// See the module's page.
#[derive(Clone, Debug, Default)]
pub(super) struct Streams {
    all: Vec<StreamPoint>,
    /// Which of them is which; nothing for those that are only counted, and not over.
    indices: BTreeMap<Key, Option<usize>>,
    seen_count: u64,
}

impl Streams {
    /// The next window of a run.
    pub(super) fn push(
        &mut self,
        time: Time,
        object: ObjectId,
        extent: Extent,
        (class, why): (Class, Why),
        stream: Option<StreamId>,
    ) {
        let of_all = matches!(class, Class::Walk | Class::Guessed);
        let key = stream.map_or(Key::Rest(class, Some(object).filter(|_| !of_all)), Key::Stream);
        if let Some(known) = self.indices.get(&key) {
            known.iter().for_each(|index| self.all[*index].go_on(time, object, extent, class, why));
            return;
        }
        self.seen_count += 1;
        let is_kept = self.all.len() < STREAM_COUNT_MAX;
        self.indices.insert(key, is_kept.then_some(self.all.len()));
        if is_kept {
            self.all.push(StreamPoint {
                object: Some(object),
                class,
                first: (time, why),
                last: (time, why),
                span: extent,
                window_count: 1,
                window_bytes: extent.len,
                window_bytes_max: extent.len,
                end: None,
            });
        }
    }

    /// `stream` is over, unless it is heard of again.
    pub(super) fn end(&mut self, stream: StreamId, end: End) {
        match self.indices.get(&Key::Stream(stream)) {
            Some(Some(index)) => self.all[*index].end = Some(end),
            Some(None) => _ = self.indices.remove(&Key::Stream(stream)),
            // It has wanted nothing.
            None => {}
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &StreamPoint> {
        self.all.iter()
    }

    pub(super) fn seen_count(&self) -> u64 {
        self.seen_count
    }
}

impl StreamPoint {
    fn go_on(&mut self, time: Time, object: ObjectId, extent: Extent, class: Class, why: Why) {
        self.object = self.object.filter(|of| *of == object);
        (self.class, self.last, self.end) = (class, (time, why), None);
        self.span = super::hull(self.span, extent);
        self.window_count += 1;
        self.window_bytes += extent.len;
        self.window_bytes_max = self.window_bytes_max.max(extent.len);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const OBJECT: ObjectId = ObjectId(1);

    fn push(streams: &mut Streams, ms: u64, offset: u64, class: Class, stream: Option<u64>) {
        let why = if ms == 0 { Why::FirstWindow } else { Why::Steady };
        let time = Time(ms * 1_000_000);
        streams.push(time, OBJECT, Extent::new(offset, MIB), (class, why), stream.map(StreamId));
    }

    #[test]
    fn a_stream_is_what_the_engine_says() {
        let mut streams = Streams::default();
        for step in 0..8 {
            push(&mut streams, step, step * MIB, Class::Forward, Some(1));
            push(&mut streams, step, (99 - step) * MIB, Class::Backward, Some(2));
        }
        streams.end(StreamId(2), End::ReaderLeft);
        streams.end(StreamId(3), End::Closed);
        let all: Vec<&StreamPoint> = streams.iter().collect();
        assert_eq!(all.len(), 2);
        assert!(all.iter().all(|stream| (stream.window_count, stream.window_bytes) == (8, 8 * MIB)));
        assert_eq!((all[0].span, all[0].end), (Extent::new(0, 8 * MIB), None));
        assert_eq!((all[1].span, all[1].end), (Extent::new(92 * MIB, 8 * MIB), Some(End::ReaderLeft)));
        assert_eq!(
            (all[0].first, all[0].last),
            ((Time(0), Why::FirstWindow), (Time(7_000_000), Why::Steady))
        );
        // Its reader comes back.
        push(&mut streams, 9, 20 * MIB, Class::Backward, Some(2));
        assert_eq!(streams.iter().nth(1).map(|stream| (stream.window_count, stream.end)), Some((9, None)));
    }

    #[test]
    fn walks_and_bets_are_one_of_all_files() {
        let mut streams = Streams::default();
        for object in 0..5 {
            for class in [Class::Walk, Class::Other] {
                let extent = Extent::new(0, MIB);
                streams.push(Time(0), ObjectId(object), extent, (class, Why::Policy), None);
            }
        }
        let classes: Vec<Class> = streams.iter().map(|stream| stream.class).collect();
        assert_eq!(classes[0], Class::Walk);
        assert_eq!(classes[1..], [Class::Other; 5]);
        let walk = streams.iter().next().unwrap();
        assert_eq!((walk.object, walk.window_count), (None, 5));
    }

    #[test]
    fn streams_beyond_the_bound_are_only_counted() {
        let mut streams = Streams::default();
        for id in 0..2 * STREAM_COUNT_MAX as u64 {
            (0..2)
                .for_each(|step| push(&mut streams, step, (100 * id + step) * MIB, Class::Forward, Some(id)));
            streams.end(StreamId(id), End::Closed);
        }
        assert_eq!((streams.iter().count(), streams.seen_count()), (STREAM_COUNT_MAX, 8192));
        assert_eq!(streams.indices.len(), STREAM_COUNT_MAX);
    }
}
