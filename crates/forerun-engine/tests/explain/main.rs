//! The engine's report of its streams and of the outcomes of its readahead.

mod bed;
#[path = "../support/others.rs"]
mod others;
mod outcomes;

use bed::Bed;
use forerun_engine::*;

const OBJECT: ObjectId = ObjectId(1);
const READER: ReaderId = ReaderId(1);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const SIZE: u64 = 256 * MIB;

#[test]
fn forward() {
    let (stream, bed) = Bed::classify((0..64).map(|index| index * 64 * KIB), 64 * KIB);
    assert_eq!((stream.class, stream.offset), (Class::Forward, 4 * MIB));
    assert!(stream.ahead_bytes > 0 && stream.window_bytes >= stream.ahead_bytes / 2, "{stream:?}");
    assert!(stream.rate_bytes_per_s > MIB && stream.service_ns >= 5_000_000, "{stream:?}");
    assert_eq!(stream.active_count, 1);
    assert_eq!(bed.windows.first(), Some(&(Class::Forward, Why::FirstWindow)));
    assert!(bed.windows.iter().all(|(class, _)| *class == Class::Forward), "{:?}", bed.windows);
}

#[test]
fn backward() {
    let (stream, bed) = Bed::classify((1..=64).rev().map(|index| index * 64 * KIB), 64 * KIB);
    assert_eq!((stream.class, stream.offset), (Class::Backward, 64 * KIB));
    assert!(bed.report().readahead.of(Class::Backward).in_time_bytes > 2 * MIB);
}

#[test]
fn strided_by_one_step_and_by_two() {
    let (stream, bed) = Bed::classify((1..64).map(|index| index * MIB), 16 * KIB);
    assert_eq!(stream.class, Class::Strided);
    assert!(stream.offset > 63 * MIB, "{stream:?}");
    assert!(bed.report().readahead.of(Class::Strided).in_time_bytes > 0);
    let two_steps = (1..32).flat_map(|index| [index * 4 * MIB, index * 4 * MIB + 512 * KIB]);
    let (_, bed) = Bed::classify(two_steps, 16 * KIB);
    let strided = bed.report().streams.iter().filter(|stream| stream.class == Class::Strided).count();
    assert_eq!(strided, 2, "{:?}", bed.report().streams);
}

#[test]
fn unread_readahead_is_wasted_in_its_class() {
    let mut bed = Bed::new(16 * MIB);
    (0..32).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    let waiting = bed.report().waiting_bytes;
    assert!(waiting > 0);
    bed.engine.close(Time(bed.now), OBJECT, READER);
    let other = ObjectId(2);
    bed.engine.open(other, SIZE);
    for index in 0..512 {
        let extent = Extent::new(index * 64 * KIB, 64 * KIB);
        let outcome = bed.engine.read(Time(bed.now), other, READER, extent, &mut Vec::new());
        bed.settle();
        let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
        bed.engine.release(read);
        bed.now += 1_000_000;
    }
    assert_eq!(bed.report().readahead.of(Class::Forward).wasted_bytes, waiting);
    assert_eq!(bed.engine.readahead().total().wasted_bytes, bed.engine.counters().wasted_bytes);
}

#[test]
fn the_account_says_what_is_lost_and_what_a_wait_is_worth() {
    let mut bed = Bed::new(64 * MIB);
    bed.engine.advise(Time(0), OBJECT, READER, Advice::Random);
    bed.read(128 * MIB, 64 * KIB);
    assert_eq!(bed.report().account, None, "nothing was decided yet");
    bed.engine.advise(Time(0), OBJECT, READER, Advice::Normal);
    (0..64).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    let account = |bed: &Bed| bed.report().account.expect("it was read");
    let before = account(&bed);
    assert_eq!(before.lost_bytes, 0, "a stream expects all of it");
    assert!(before.allowance_bytes > 0 && before.room_bytes > 0 && before.wait_bytes > 0, "{before:?}");
    // Its reader has gone elsewhere for good: what waits for it is at risk, and not wasted.
    let waiting = bed.report().waiting_bytes;
    (0..512).for_each(|index| bed.read(64 * MIB + (index * 7919 % 448) * 256 * KIB, 4 * KIB));
    let (report, after) = (bed.report(), account(&bed));
    assert!(bed.ends.iter().any(|(_, end)| *end == End::ReaderLeft), "{:?}", bed.ends);
    assert!(after.lost_bytes >= waiting && waiting > 0, "{after:?}");
    assert!(after.wait_bytes < before.wait_bytes && after.room_bytes < before.room_bytes, "{after:?}");
    assert_eq!(report.readahead.of(Class::Forward).wasted_bytes, 0);
}

#[test]
fn why_a_window_is_as_large_as_it_is() {
    // The end of the object.
    let mut bed = Bed::new(64 * MIB);
    (0..32).for_each(|index| bed.read(SIZE - (32 - index) * 64 * KIB, 64 * KIB));
    assert_eq!(bed.report().streams[0].why, Why::EndKnown);
    assert_eq!(bed.report().streams[0].window_bytes, 0, "nothing is left");
    // Advice of a program.
    let mut bed = Bed::new(64 * MIB);
    bed.engine.advise(Time(0), OBJECT, READER, Advice::WillNeed(&[Extent::new(8 * MIB, MIB)]));
    bed.read(8 * MIB, 64 * KIB);
    let plan = bed.report().streams[0];
    assert_eq!((plan.class, plan.why, plan.offset), (Class::Planned, Why::Advised, 64 * KIB));
    assert_eq!(bed.windows.first(), Some(&(Class::Planned, Why::Advised)));
    // The profile of an earlier run.
    let mut bed = Bed::new(64 * MIB);
    bed.engine.plan(Time(0), OBJECT, &[Extent::new(8 * MIB, MIB)]);
    assert_eq!(bed.report().streams[0].why, Why::Planned);
}

#[test]
fn windows_say_which_stream_they_are_of() {
    let mut bed = Bed::new(64 * MIB);
    for step in 0..64 {
        for start in [8 * MIB, 64 * MIB, 128 * MIB] {
            bed.read(start + step * 64 * KIB, 64 * KIB);
        }
    }
    assert_eq!(bed.streams.len(), 3, "{:?}", bed.streams);
    // Readahead along a plan belongs to no stream.
    let mut bed = Bed::new(64 * MIB);
    bed.engine.advise(Time(0), OBJECT, READER, Advice::WillNeed(&[Extent::new(8 * MIB, MIB)]));
    bed.read(8 * MIB, 64 * KIB);
    assert!(bed.streams.is_empty() && !bed.windows.is_empty());
}

#[test]
fn streams_end_for_a_reason() {
    let read = |count: u64, end: u64| {
        let mut bed = Bed::new(64 * MIB);
        (0..count).for_each(|step| bed.read(end - (count - step) * 64 * KIB, 64 * KIB));
        bed
    };
    let mut to_the_end = read(64, SIZE);
    to_the_end.engine.close(Time(to_the_end.now), OBJECT, READER);
    assert_eq!(to_the_end.ends_of_one(), [End::ObjectEnd]);

    let mut closed = read(64, SIZE / 2);
    closed.engine.close(Time(closed.now), OBJECT, READER);
    assert_eq!(closed.ends_of_one(), [End::Closed]);
    closed.engine.forget(Time(closed.now), OBJECT);
    assert_eq!(closed.ends_of_one(), [End::Closed], "told once");

    let mut forgotten = read(64, SIZE / 2);
    forgotten.engine.forget(Time(forgotten.now), OBJECT);
    assert_eq!(forgotten.ends_of_one(), [End::Forgotten]);

    // Here and there, far from it and from one another.
    let mut left = read(64, SIZE / 2);
    (0..512).for_each(|index| left.read(SIZE / 2 + 8 * MIB + (index * 7919 % 448) * 256 * KIB, 4 * KIB));
    let ends = left.ends.clone();
    let first = left.streams.first().copied().expect("the first stream");
    assert!(ends.contains(&(first, End::ReaderLeft)), "{ends:?}");

    // One who leaves out more and more.
    let mut sparse = read(64, SIZE / 2);
    (0..64).for_each(|step| sparse.read(SIZE / 2 + step * 512 * KIB, 16 * KIB));
    sparse.engine.close(Time(sparse.now), OBJECT, READER);
    sparse.listen();
    let first = sparse.streams.first().copied().expect("the first stream");
    assert!(sparse.ends.contains(&(first, End::LeftOut)), "{:?}", sparse.ends);
}

#[test]
fn the_stream_read_longest_ago_gives_way() {
    let mut bed = Bed::new(64 * MIB);
    // In no order, so that they are not the steps of one.
    let start = |index: u64| (index.pow(3) % 251 + 1) * MIB;
    for round in 0..6 {
        (0..100).for_each(|index| bed.read(start(index) + round * 16 * KIB, 16 * KIB));
    }
    for index in 100..150 {
        (0..3).for_each(|step| bed.read(start(index) + step * 16 * KIB, 16 * KIB));
    }
    assert!(bed.ends.iter().any(|(_, end)| *end == End::PushedOut), "{:?}", bed.ends);
}

#[test]
fn a_reader_that_returns_continues_its_stream() {
    let mut bed = Bed::new(64 * MIB);
    (0..64).for_each(|step| bed.read(step * 64 * KIB, 64 * KIB));
    bed.engine.close(Time(bed.now), OBJECT, READER);
    bed.engine.open(OBJECT, SIZE);
    (64..4096).for_each(|step| bed.read(step * 64 * KIB, 64 * KIB));
    bed.engine.close(Time(bed.now), OBJECT, READER);
    assert_eq!(bed.ends_of_one(), [End::Closed, End::ObjectEnd]);
}

#[test]
fn other_policies_have_their_own_rules() {
    let mut bed = Bed::with(Config { policy: others::LIBRBD, events_max: 1 << 16, ..Config::new(64 * MIB) });
    (0..64).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    assert!(bed.report().streams.is_empty());
    assert!(bed.report().readahead.of(Class::Other).in_time_bytes > 0);
    assert_eq!(bed.windows.first(), Some(&(Class::Other, Why::Policy)));
}

#[test]
fn forgotten_objects_are_not_explained() {
    let mut bed = Bed::new(64 * MIB);
    bed.read(0, 64 * KIB);
    bed.engine.close(Time(bed.now), OBJECT, READER);
    assert_eq!(bed.engine.objects().collect::<Vec<_>>(), [OBJECT]);
    bed.engine.forget(Time(bed.now), OBJECT);
    assert_eq!(bed.engine.explain(OBJECT), None);
    assert_eq!(bed.engine.objects().count(), 0);
}
