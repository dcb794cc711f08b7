//! Advice of readers, and its effect on readahead.

#[path = "support/others.rs"]
mod others;

use forerun_engine::*;

const OBJECT: ObjectId = ObjectId(1);
const READER: ReaderId = ReaderId(1);
const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const SIZE: u64 = 256 * MIB;

/// An engine above storage that answers at once, with one object open.
struct Bed {
    engine: Engine,
    now: u64,
    fetched: Vec<Extent>,
}

impl Bed {
    fn new(memory: u64) -> Bed {
        let mut engine = Engine::new(Config::new(memory)).expect("a configuration that works");
        assert!(engine.open(OBJECT, SIZE));
        Bed { engine, now: 0, fetched: Vec::new() }
    }

    fn advise(&mut self, advice: Advice<'_>) {
        self.engine.advise(Time(self.now), OBJECT, READER, advice);
    }

    /// Lets all fetches end, a few milliseconds later.
    fn settle(&mut self) {
        loop {
            let mut fetches = Vec::new();
            while let Some(fetch) = self.engine.poll_fetch(Time(self.now)) {
                fetches.push(fetch);
            }
            while let Some(fetch) = self.engine.poll_cancel() {
                self.engine.handle_failed(Time(self.now), fetch, FetchError { code: 0 });
                fetches.retain(|other| other.id != fetch);
            }
            if fetches.is_empty() {
                return;
            }
            self.now += 5_000_000;
            for fetch in fetches {
                self.fetched.push(fetch.extent);
                self.engine.handle_fetched(Time(self.now), fetch.id);
            }
        }
    }

    fn read(&mut self, offset: u64, len: u64) {
        let extent = Extent::new(offset, len);
        let outcome = self.engine.read(Time(self.now), OBJECT, READER, extent, &mut Vec::new());
        self.settle();
        while self.engine.poll_reply().is_some() {}
        let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
        self.engine.release(read);
        self.now += 1_000_000;
    }

    /// Bytes fetched, which must not be fetched twice.
    fn bytes(&self) -> u64 {
        self.fetched.iter().map(|extent| extent.len).sum()
    }

    /// Whether only bytes of `wanted` were fetched.
    fn only(&self, wanted: &[Extent]) -> bool {
        let inside = |extent: &Extent| wanted.iter().map(|w| w.intersection(extent).len).sum::<u64>();
        self.fetched.iter().all(|extent| inside(extent) == extent.len)
    }
}

fn apart(count: u64) -> Vec<Extent> {
    (0..count).map(|index| Extent::new((count - index) * MIB, 64 * KIB)).collect()
}

#[test]
fn random_advice_stops_readahead() {
    let mut bed = Bed::new(64 * MIB);
    bed.advise(Advice::Random);
    (0..64).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    assert_eq!(bed.engine.counters().readahead_count, 0);
    assert_eq!(bed.bytes(), 64 * 64 * KIB);
    bed.advise(Advice::Normal);
    (64..70).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    assert!(bed.engine.counters().readahead_count > 0, "said back");
}

#[test]
fn sequential_advice_reads_ahead_from_the_first_read() {
    for (advice, ahead) in [(Advice::Normal, false), (Advice::Sequential, true)] {
        let mut bed = Bed::new(64 * MIB);
        bed.advise(advice);
        bed.read(100 * MIB, 16 * KIB);
        assert_eq!(bed.bytes() >= 256 * KIB, ahead, "{advice:?}: {} bytes", bed.bytes());
    }
}

#[test]
fn sequential_advice_near_the_start_does_not_fetch_earlier_bytes() {
    let mut bed = Bed::new(64 * MIB);
    bed.advise(Advice::Sequential);
    bed.read(128 * KIB, 16 * KIB);
    bed.read(144 * KIB, 16 * KIB);
    assert!(bed.only(&[Extent::new(128 * KIB, SIZE - 128 * KIB)]), "{:?}", bed.fetched);
}

#[test]
fn needed_extents_alone_are_fetched_in_order() {
    let (mut bed, wanted) = (Bed::new(64 * MIB), apart(20));
    bed.advise(Advice::WillNeed(&wanted));
    bed.settle();
    assert_eq!(bed.fetched, wanted);
    wanted.iter().for_each(|extent| bed.read(extent.offset, extent.len));
    assert_eq!(bed.engine.counters().demand_count, 0);
    assert!(bed.only(&wanted));
}

#[test]
fn needed_extents_may_be_larger_than_the_memory() {
    let mut bed = Bed::new(8 * MIB);
    let wanted = [Extent::new(0, 64 * MIB)];
    bed.advise(Advice::WillNeed(&wanted));
    bed.settle();
    assert!((MIB..=6 * MIB).contains(&bed.bytes()), "{} at once", bed.bytes());
    (0..1024).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    let counters = bed.engine.counters();
    assert!(counters.memory_bytes_peak <= 8 * MIB);
    assert_eq!(bed.bytes(), 64 * MIB);
    assert!(counters.miss_bytes <= MIB, "{} missing", counters.miss_bytes);
}

#[test]
fn extents_that_are_needed_twice_are_fetched_once() {
    let mut bed = Bed::new(64 * MIB);
    let wanted = [Extent::new(0, MIB), Extent::new(512 * KIB, MIB), Extent::new(SIZE - 10, u64::MAX / 2)];
    bed.advise(Advice::WillNeed(&wanted));
    bed.advise(Advice::WillNeed(&wanted));
    bed.settle();
    assert_eq!(bed.bytes(), 3 * MIB / 2 + 4 * KIB);
}

#[test]
fn needed_extents_end_at_the_end_of_a_smaller_object() {
    let mut bed = Bed::new(64 * MIB);
    let wanted = [Extent::new(8 * MIB, MIB), Extent::new(0, MIB), Extent::new(2 * MIB, MIB)];
    bed.advise(Advice::WillNeed(&wanted));
    bed.settle();
    bed.read(0, MIB);
    bed.engine.resize(Time(bed.now), OBJECT, 5 * MIB / 2);
    let more = [Extent::new(64 * KIB, 2 * MIB)];
    bed.fetched.clear();
    bed.advise(Advice::WillNeed(&more));
    bed.settle();
    (0..40).for_each(|index| bed.read(index * 64 * KIB, 64 * KIB));
    assert!(bed.only(&[Extent::new(0, 5 * MIB / 2)]), "{:?}", bed.fetched);
    assert_eq!(bed.engine.counters().demand_count, 0);
}

#[test]
fn unneeded_extents_leave_the_memory_and_the_queue() {
    let mut bed = Bed::new(64 * MIB);
    bed.read(0, 64 * KIB);
    let held = bed.engine.memory_bytes();
    // The first block is not needed as a whole.
    bed.advise(Advice::DontNeed(Extent::new(100, 64 * KIB - 100)));
    assert_eq!(held - bed.engine.memory_bytes(), 60 * KIB);
    bed.advise(Advice::WillNeed(&[Extent::new(8 * MIB, MIB)]));
    bed.advise(Advice::DontNeed(Extent::new(8 * MIB, MIB)));
    bed.fetched.clear();
    bed.settle();
    assert!(
        !bed.fetched.iter().any(|extent| extent.overlaps(&Extent::new(8 * MIB, MIB))),
        "{:?}",
        bed.fetched
    );
    bed.advise(Advice::DontNeed(Extent::new(u64::MAX, u64::MAX)));
}

#[test]
fn a_profile_is_fetched_ahead_and_suspended_when_it_is_wrong() {
    let learned = apart(200);
    let mut bed = Bed::new(64 * MIB);
    bed.engine.plan(Time(0), OBJECT, &learned);
    bed.settle();
    assert!((MIB / 2..=MIB).contains(&bed.bytes()), "{} at once", bed.bytes());
    (0..200).for_each(|index| bed.read(learned[index].offset, 64 * KIB));
    assert!(bed.engine.counters().demand_count < 8, "{:?}", bed.engine.counters());
    assert_eq!(bed.bytes(), 200 * 64 * KIB);

    let mut bed = Bed::new(64 * MIB);
    bed.engine.plan(Time(0), OBJECT, &learned);
    (0..200).for_each(|index| bed.read(index * MIB + 512 * KIB, 4 * KIB));
    assert!(bed.engine.counters().readahead_bytes <= 2 * MIB, "{:?}", bed.engine.counters());
}

#[test]
fn other_policies_keep_to_themselves() {
    for policy in [PolicyChoice::None, others::KERNEL, others::LIBRBD, others::OWN] {
        let mut engine = Engine::new(Config { policy, ..Config::new(8 * MIB) }).expect("it works");
        engine.open(OBJECT, SIZE);
        engine.advise(Time(0), OBJECT, READER, Advice::WillNeed(&apart(9)));
        engine.plan(Time(0), OBJECT, &apart(9));
        assert!(engine.poll_fetch(Time(0)).is_none(), "{policy:?}");
    }
}
