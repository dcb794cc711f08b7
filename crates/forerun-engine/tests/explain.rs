//! What the engine says of its streams and of what became of what it read ahead.

use forerun_engine::*;

const OBJECT: ObjectId = ObjectId(1);
const READER: ReaderId = ReaderId(1);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const SIZE: u64 = 256 * MIB;

/// An engine above storage that takes 5 ms for everything, with one object open.
struct Bed {
    engine: Engine,
    now: u64,
    windows: Vec<(Class, Why)>,
}

impl Bed {
    fn new(memory: u64) -> Bed {
        Bed::with(Config { events_max: 1 << 16, ..Config::new(memory) })
    }

    fn with(config: Config) -> Bed {
        let mut engine = Engine::new(config).expect("a configuration that works");
        engine.open(OBJECT, SIZE);
        Bed { engine, now: 0, windows: Vec::new() }
    }

    fn settle(&mut self) {
        loop {
            let mut fetches = Vec::new();
            while let Some(fetch) = self.engine.poll_fetch(Time(self.now)) {
                fetches.push(fetch.id);
            }
            if fetches.is_empty() {
                break;
            }
            self.now += 5_000_000;
            fetches.iter().for_each(|fetch| self.engine.handle_fetched(Time(self.now), *fetch));
        }
        while let Some(fetch) = self.engine.poll_cancel() {
            self.engine.handle_failed(Time(self.now), fetch, FetchError { code: 0 });
        }
        while self.engine.poll_reply().is_some() {}
        while let Some(event) = self.engine.poll_event() {
            if let Event::Window { class, why, .. } = event {
                self.windows.push((class, why));
            }
        }
    }

    fn read(&mut self, offset: u64, len: u64) {
        let extent = Extent::new(offset, len);
        let outcome = self.engine.read(Time(self.now), OBJECT, READER, extent, &mut Vec::new());
        self.settle();
        let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
        self.engine.release(read);
        self.now += 1_000_000;
    }

    fn report(&self) -> ObjectReport {
        self.engine.explain(OBJECT).expect("it is open")
    }

    /// What the stream that was read last is, after reads of `len` bytes at `offsets`.
    fn classify(offsets: impl Iterator<Item = u64>, len: u64) -> (StreamReport, Bed) {
        let mut bed = Bed::new(64 * MIB);
        offsets.for_each(|offset| bed.read(offset, len));
        (bed.report().streams[0], bed)
    }
}

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
fn strided_in_one_and_in_two_levels() {
    let (stream, bed) = Bed::classify((1..64).map(|index| index * MIB), 16 * KIB);
    assert_eq!(stream.class, Class::Strided);
    assert!(stream.offset > 63 * MIB, "{stream:?}");
    assert!(bed.report().readahead.of(Class::Strided).in_time_bytes > 0);
    let two_level = (1..32).flat_map(|index| [index * 4 * MIB, index * 4 * MIB + 512 * KIB]);
    assert_eq!(Bed::classify(two_level, 16 * KIB).0.class, Class::TwoLevel);
}

#[test]
fn every_block_read_ahead_is_counted_once() {
    let mut bed = Bed::new(64 * MIB);
    (0..512).for_each(|index| bed.read(index % 256 * 64 * KIB, 64 * KIB));
    let report = bed.report();
    let total = report.readahead.total();
    assert_eq!(&report.readahead, bed.engine.readahead());
    assert_eq!(total.wasted_bytes, 0, "{total:?}");
    // What was read and had not been asked for by anybody before.
    assert_eq!(total.in_time_bytes + total.late_bytes + report.missed_bytes, 16 * MIB);
    let fetched = bed.engine.counters();
    assert_eq!(
        total.sum() + report.waiting_bytes + report.missed_bytes,
        fetched.demand_bytes + fetched.readahead_bytes
    );
}

#[test]
fn what_nobody_comes_for_is_wasted_in_its_class() {
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
fn why_a_window_is_as_large_as_it_is() {
    // The end of the object.
    let mut bed = Bed::new(64 * MIB);
    (0..32).for_each(|index| bed.read(SIZE - (32 - index) * 64 * KIB, 64 * KIB));
    assert_eq!(bed.report().streams[0].why, Why::EndKnown);
    assert_eq!(bed.report().streams[0].window_bytes, 0, "nothing is left");
    // What a program says.
    let mut bed = Bed::new(64 * MIB);
    bed.engine.advise(Time(0), OBJECT, READER, Advice::WillNeed(&[Extent::new(8 * MIB, MIB)]));
    bed.read(8 * MIB, 64 * KIB);
    let plan = bed.report().streams[0];
    assert_eq!((plan.class, plan.why, plan.offset), (Class::Planned, Why::Advised, 64 * KIB));
    assert_eq!(bed.windows.first(), Some(&(Class::Planned, Why::Advised)));
    // What an earlier run read.
    let mut bed = Bed::new(64 * MIB);
    bed.engine.plan(Time(0), OBJECT, &[Extent::new(8 * MIB, MIB)]);
    assert_eq!(bed.report().streams[0].why, Why::Planned);
}

#[test]
fn other_policies_have_their_own_rules() {
    let mut bed =
        Bed::with(Config { policy: PolicyKind::Plain, events_max: 1 << 16, ..Config::new(64 * MIB) });
    (0..64).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    assert!(bed.report().streams.is_empty());
    assert!(bed.report().readahead.of(Class::Other).in_time_bytes > 0);
    assert_eq!(bed.windows.first(), Some(&(Class::Other, Why::Policy)));
}

#[test]
fn what_is_forgotten_is_not_explained() {
    let mut bed = Bed::new(64 * MIB);
    bed.read(0, 64 * KIB);
    bed.engine.close(Time(bed.now), OBJECT, READER);
    assert_eq!(bed.engine.objects().collect::<Vec<_>>(), [OBJECT]);
    bed.engine.forget(Time(bed.now), OBJECT);
    assert_eq!(bed.engine.explain(OBJECT), None);
    assert_eq!(bed.engine.objects().count(), 0);
}
