use forerun_engine::{Cause, Event, Extent, FetchId, ObjectId, ReaderId, Time};

use super::{Class, Level, SAMPLE_COUNT_MAX, Served, Timeline};

const KB: u64 = 1024;
const OBJECT: ObjectId = ObjectId(0);

fn read(ms: u64, offset: u64, len: u64, late_bytes: u64, missing_bytes: u64) -> Event {
    Event::Read {
        time: Time(ms * 1_000_000),
        object: OBJECT,
        reader: ReaderId(0),
        extent: Extent::new(offset, len),
        late_bytes,
        missing_bytes,
        ahead: (late_bytes > 0).then_some(forerun_engine::Class::Strided),
    }
}

fn fetch(ms: u64, id: u64, offset: u64, len: u64) -> Event {
    let (id, time) = (FetchId(id), Time(ms * 1_000_000));
    let (cause, ahead) = (Cause::Readahead, Some(forerun_engine::Class::Forward));
    Event::Fetch { time, id, object: OBJECT, extent: Extent::new(offset, len), cause, ahead }
}

fn fetched(ms: u64, id: u64) -> Event {
    Event::Fetched { time: Time(ms * 1_000_000), id: FetchId(id) }
}

fn of(events: &[Event]) -> Timeline {
    let mut timeline = Timeline::default();
    events.iter().for_each(|event| timeline.observe(event));
    timeline
}

/// An event that changes nothing, long after the others.
const LATER: Event = Event::Fetched { time: Time(50_000_000), id: FetchId(999) };

#[test]
fn reads_have_a_class() {
    let timeline = of(&[read(1, 0, 8192, 0, 8192), read(2, 0, 8192, 4096, 0), read(3, 0, 8192, 0, 0)]);
    let classes: Vec<Class> = timeline.reads().map(|read| read.class).collect();
    assert_eq!(classes, [Class::Miss, Class::Late, Class::Hit]);
    let served: Vec<_> = timeline.served().collect();
    let of_none = Served { hit_count: 1, late_count: 0, miss_count: 1 };
    let strided = Served { late_count: 1, ..Served::default() };
    assert_eq!(served, [(None, of_none), (Some(forerun_engine::Class::Strided), strided)]);
}

#[test]
fn requested_bytes_are_not_unread() {
    let timeline = of(&[
        read(1, 0, 64 * KB, 0, 64 * KB),
        fetch(1, 1, 0, 256 * KB),
        fetched(2, 1),
        read(3, 64 * KB, 64 * KB, 0, 0),
        fetch(9, 2, 256 * KB, 4096),
    ]);
    let levels: Vec<Level> = timeline.levels().map(|(_, level)| level).collect();
    let unread: Vec<u64> = levels.iter().map(|level| level.unread / KB).collect();
    assert_eq!((unread.iter().max(), unread.last()), (Some(&192), Some(&132)));
    assert_eq!(levels.last().map(|level| level.in_flight), Some(4096));
}

#[test]
fn waste_belongs_to_the_fetch_that_brought_it() {
    let timeline = of(&[
        fetch(1, 1, 0, 128 * KB),
        fetch(1, 2, 128 * KB, 128 * KB),
        fetched(2, 1),
        fetched(2, 2),
        read(3, 0, 160 * KB, 0, 0),
        Event::Wasted { time: Time(4_000_000), object: OBJECT, extent: Extent::new(160 * KB, 96 * KB) },
        LATER,
    ]);
    let wasted: Vec<Extent> = timeline.fetches().map(|fetch| fetch.wasted).collect();
    assert_eq!(wasted, [Extent::default(), Extent::new(160 * KB, 96 * KB)]);
    assert_eq!(timeline.levels().last().map(|(_, level)| level), Some(Level::default()));
}

#[test]
fn a_cancelled_fetch_leaves_nothing_unread() {
    let failed = Event::Failed { time: Time(2_000_000), id: FetchId(1), cancelled: true, bytes: 100 * KB };
    let timeline = of(&[fetch(1, 1, 0, 128 * KB), failed, LATER]);
    let last = timeline.levels().last().map(|(_, level)| level);
    assert_eq!(last, Some(Level { in_flight: 0, unread: 28 * KB }));
    assert_eq!(timeline.fetches().next().and_then(|fetch| fetch.end), Some(Time(2_000_000)));
}

#[test]
fn a_long_run_does_not_grow_it() {
    let mut timeline = Timeline::default();
    for at in 0..100_000 {
        timeline.observe(&read(at, at * 4096, 4096, 0, 4096));
        timeline.observe(&fetch(at, at, at * 4096, 4096));
        timeline.observe(&fetched(at, at));
    }
    assert_eq!(timeline.read_count(), 100_000);
    for count in [timeline.reads().count(), timeline.fetches().count()] {
        assert!(count <= SAMPLE_COUNT_MAX && count > SAMPLE_COUNT_MAX / 4, "{count}");
    }
    assert!(timeline.levels().count() <= 1024);
}

#[test]
fn bytes_found_in_memory_count_as_unread_when_fetched_again() {
    let timeline = of(&[
        read(1, 0, 128 * KB, 0, 64 * KB),
        fetch(1, 1, 64 * KB, 64 * KB),
        fetched(2, 1),
        // Again ahead of anybody, after the first half was evicted.
        fetch(3, 2, 0, 64 * KB),
        LATER,
    ]);
    assert_eq!(timeline.levels().last().map(|(_, level)| level.unread), Some(64 * KB));
}
