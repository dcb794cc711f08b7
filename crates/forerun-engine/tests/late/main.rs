//! Fetches whose bytes are late are asked for again, where that helps: in virtual time, above
//! a store that serves any number of fetches at once.

use std::collections::{BTreeMap, VecDeque};

use forerun_engine::*;

const MIB: u64 = 1 << 20;
const MS: u64 = 1_000_000;
const OBJECT: ObjectId = ObjectId(1);
const READER: ReaderId = ReaderId(1);
/// Of one fetch, once its first bytes are there: 100 MB/s.
const NS_PER_BYTE: u64 = 10;
/// What comes first, and what comes at a time after that.
const FIRST_BYTES: u64 = 16 << 10;
const PIECE_BYTES: u64 = 64 << 10;

/// Where nobody has read.
const PLACE: u64 = 1 << 39;

/// The store, the engine above it, and a reader.
struct Bed<F> {
    engine: Engine,
    budget: u64,
    now: Time,
    /// How long fetch after fetch waits for its first bytes, by number and time.
    latency_ns: F,
    count: u64,
    /// When how many bytes of which fetch will have come.
    coming: BTreeMap<(Time, FetchId), (u64, bool)>,
    /// How long the next ones wait instead, and whether they fail then.
    script: VecDeque<(u64, bool)>,
    failing: Vec<FetchId>,
    /// How long which fetches bring nothing once their first bytes are there, and the whole
    /// blocks that come after that.
    stalls: BTreeMap<u64, u64>,
    stalled_bytes: u64,
}

impl<F: FnMut(u64, Time) -> u64> Bed<F> {
    fn new(budget: u64, latency_ns: F) -> Bed<F> {
        Bed::under(PolicyKind::Adaptive, budget, latency_ns)
    }

    fn under(policy: PolicyKind, budget: u64, latency_ns: F) -> Bed<F> {
        let config = Config { policy, ..Config::new(budget) };
        let mut engine = Engine::new(config).expect("a configuration that works");
        engine.open(OBJECT, 1 << 40);
        let (coming, script, failing) = (BTreeMap::new(), VecDeque::new(), Vec::new());
        let (stalls, stalled_bytes) = (BTreeMap::new(), 0);
        let (now, count) = (Time(1), 0);
        Bed { engine, budget, now, latency_ns, count, coming, script, failing, stalls, stalled_bytes }
    }

    /// Reads `extent`: how long that took, in nanoseconds.
    fn read(&mut self, offset: u64, len: u64) -> u64 {
        let begun = self.now;
        let outcome = self.engine.read(self.now, OBJECT, READER, Extent::new(offset, len), &mut Vec::new());
        self.drain();
        let read = match outcome {
            Outcome::Ready(read) => read,
            Outcome::Parked(parked) => loop {
                self.pass_time();
                if let Some(reply) = self.engine.poll_reply() {
                    assert!(reply.read == parked && reply.result.is_ok(), "{reply:?}");
                    break parked;
                }
            },
        };
        self.engine.release(read);
        self.now.since(begun)
    }

    /// Whatever happens next happens.
    fn pass_time(&mut self) {
        let coming = self.coming.keys().next().map(|(time, _)| *time);
        let next = coming.into_iter().chain(self.engine.poll_timeout()).min();
        self.now = self.now.max(next.expect("somebody waits for nothing"));
        if let Some(entry) = self.coming.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let ((_, fetch), (bytes, is_all)) = entry.remove_entry();
            if self.failing.contains(&fetch) {
                self.coming.retain(|(_, other), _| *other != fetch);
                self.engine.handle_failed(self.now, fetch, FetchError { code: 1 });
            } else if is_all {
                self.engine.handle_fetched(self.now, fetch);
            } else {
                self.engine.handle_progress(self.now, fetch, bytes);
            }
        }
        self.drain();
    }

    fn drain(&mut self) {
        while let Some(Fetch { id, extent, .. }) = self.engine.poll_fetch(self.now) {
            let usual = (self.latency_ns)(self.count, self.now);
            let (latency_ns, fails) = self.script.pop_front().unwrap_or((usual, false));
            self.failing.extend(fails.then_some(id));
            let first = Time(self.now.0 + latency_ns);
            let stall_ns = self.stalls.get(&self.count).copied().unwrap_or(0);
            self.count += 1;
            let first_bytes = FIRST_BYTES.min(extent.len - 1);
            self.stalled_bytes +=
                if stall_ns > 0 { extent.len - first_bytes / BLOCK_BYTES * BLOCK_BYTES } else { 0 };
            self.coming.insert((first, id), (first_bytes, false));
            let ends = (1..extent.len.div_ceil(PIECE_BYTES)).map(|piece| piece * PIECE_BYTES);
            for bytes in ends.chain([extent.len]) {
                let time = Time(first.0 + stall_ns + NS_PER_BYTE * bytes);
                self.coming.insert((time, id), (bytes, bytes == extent.len));
            }
        }
        while let Some(fetch) = self.engine.poll_cancel() {
            self.coming.retain(|(_, other), _| *other != fetch);
            self.engine.handle_failed(self.now, fetch, FetchError { code: 0 });
        }
        assert!(self.engine.memory_bytes() <= self.budget, "over budget");
    }

    /// The longest wait of somebody who reads `len` bytes from `offset` on.
    fn stream(&mut self, offset: u64, len: u64) -> u64 {
        (0..len / (64 << 10)).map(|at| self.read(offset + at * (64 << 10), 64 << 10)).max().unwrap_or(0)
    }

    /// The longest wait of somebody who makes `count` small reads in no order.
    fn random(&mut self, count: u64) -> u64 {
        let place = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 26 << 12;
        (0..count).map(|at| self.read(place(at) % (1 << 38), 4096)).max().unwrap_or(0)
    }

    fn repeated_count(&self) -> u64 {
        self.engine.counters().repeated_count
    }
}

#[test]
fn one_slow_fetch_of_many_is_asked_for_again() {
    for budget in [4 * MIB, 256 * MIB] {
        let mut bed = Bed::new(budget, |at, _| if at == 60 { 2000 * MS } else { 10 * MS });
        let longest = bed.stream(0, 128 * MIB);
        assert!(longest < 50 * MS, "somebody waited {longest} ns");
        let counters = bed.engine.counters();
        assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (1, 1, 1));
        assert!(counters.repeated_bytes <= counters.readahead_bytes / 16, "{counters:?}");
    }
}

#[test]
fn who_waits_for_one_fetch_after_the_other_waits_for_none_long() {
    let mut bed = Bed::new(64 * MIB, |at, _| if at % 50 == 49 { 2000 * MS } else { 10 * MS });
    let longest = bed.random(500);
    assert!(longest < 100 * MS, "somebody waited {longest} ns");
    let slow_count = bed.count / 50;
    assert!(
        (slow_count - 1..=slow_count).contains(&bed.repeated_count()),
        "{} of {}",
        bed.repeated_count(),
        bed.count
    );
}

#[test]
fn all_slow_is_nothing_to_ask_again_for() {
    let mut bed = Bed::new(64 * MIB, |at, _| (1000 + at * 7919 % 400) * MS);
    bed.stream(0, 64 * MIB);
    bed.random(50);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn what_slows_down_for_good_is_asked_again_a_few_times() {
    let slow_from = Time(2000 * MS);
    let latency_ns = |_, now| if now >= slow_from { 1000 * MS } else { 10 * MS };
    let mut bed = Bed::new(64 * MIB, latency_ns);
    bed.random(20);
    bed.stream(0, 2048 * MIB);
    assert!(bed.now > Time(2 * slow_from.0) && bed.repeated_count() <= 2, "{}", bed.repeated_count());
    let mut bed = Bed::new(64 * MIB, latency_ns);
    bed.random(400);
    assert!(bed.now > Time(2 * slow_from.0) && bed.repeated_count() <= 4, "{}", bed.repeated_count());
}

#[test]
fn many_slow_ones_are_asked_for_again_for_a_twentieth_of_all() {
    let mut bed = Bed::new(64 * MIB, |at, _| if at % 5 == 4 { 500 * MS } else { 10 * MS });
    bed.stream(0, 512 * MIB);
    bed.random(200);
    assert!(20 * bed.repeated_count() <= bed.count + 20, "{} of {}", bed.repeated_count(), bed.count);
}

#[test]
fn near_by_nothing_is_asked_for_again() {
    let mut bed = Bed::new(64 * MIB, |at, _| if at % 100 == 50 { 100 * MS } else { MS / 10 });
    bed.stream(0, 256 * MIB);
    bed.random(100);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn a_first_fetch_that_comes_after_all_is_told_from_one_that_lost() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.random(20);
    bed.script = [(60 * MS, false), (2000 * MS, false)].into();
    bed.read(PLACE, 4096);
    let counters = bed.engine.counters();
    assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (1, 0, 1));
}

#[test]
fn the_second_fetch_takes_over_should_the_first_fail() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.random(20);
    bed.script = [(200 * MS, true), (2000 * MS, false)].into();
    bed.read(PLACE, 4096);
    assert_eq!((bed.engine.counters().failed_count, bed.engine.counters().cancelled_count), (1, 0));
}

#[test]
fn bytes_that_changed_come_from_neither() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.random(20);
    bed.script = [(200 * MS, false); 2].into();
    bed.engine.read(bed.now, OBJECT, READER, Extent::new(PLACE, 4096), &mut Vec::new());
    bed.drain();
    while bed.repeated_count() == 0 {
        bed.pass_time();
    }
    bed.engine.invalidate(bed.now, OBJECT, Extent::new(PLACE, 4096));
    bed.drain();
    let begun = bed.now;
    while bed.engine.poll_reply().is_none() {
        bed.pass_time();
    }
    assert!(bed.now.since(begun) < 11 * MS, "the bytes of before were waited for");
    assert_eq!(bed.engine.counters().cancelled_count, 1);
}

#[test]
fn of_one_that_stalls_the_rest_is_asked_for_again() {
    for budget in [4 * MIB, 256 * MIB] {
        let mut bed = Bed::new(budget, |_, _| 10 * MS);
        bed.stalls = (1..5).map(|at| (60 * at, 2000 * MS)).collect();
        let longest = bed.stream(0, 256 * MIB);
        assert!(longest < 70 * MS, "somebody waited {longest} ns");
        let counters = bed.engine.counters();
        assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (4, 4, 4));
        // What had come does not come again.
        assert_eq!(counters.repeated_bytes, bed.stalled_bytes);
    }
}

#[test]
fn one_that_goes_on_after_a_stall_is_told_from_one_that_lost() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.stream(0, 32 * MIB);
    bed.stalls = [(bed.count, 60 * MS), (bed.count + 1, 2000 * MS)].into();
    bed.script = [(10 * MS, false), (2000 * MS, false)].into();
    bed.read(PLACE, MIB);
    let counters = bed.engine.counters();
    assert_eq!((counters.repeated_count, counters.won_count, counters.cancelled_count), (1, 0, 1));
}

#[test]
fn where_all_stall_nothing_is_asked_for_again() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.stalls = (0..10_000).map(|at| (at, (200 + at * 7919 % 400) * MS)).collect();
    bed.stream(0, 64 * MIB);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn other_policies_ask_for_nothing_again() {
    let mut bed =
        Bed::under(PolicyKind::OnDemand, 64 * MIB, |at, _| if at % 50 == 25 { 500 * MS } else { 10 * MS });
    bed.stalls = (1..5).map(|at| (60 * at, 500 * MS)).collect();
    bed.stream(0, 128 * MIB);
    bed.random(100);
    assert_eq!(bed.repeated_count(), 0);
}

#[test]
fn bytes_that_changed_during_a_stall_come_from_neither() {
    let mut bed = Bed::new(64 * MIB, |_, _| 10 * MS);
    bed.stream(0, 32 * MIB);
    bed.stalls = [(bed.count, 2000 * MS), (bed.count + 1, 2000 * MS)].into();
    bed.script = [(10 * MS, false), (200 * MS, false)].into();
    bed.engine.read(bed.now, OBJECT, READER, Extent::new(PLACE, MIB), &mut Vec::new());
    bed.drain();
    while bed.repeated_count() == 0 {
        bed.pass_time();
    }
    bed.engine.invalidate(bed.now, OBJECT, Extent::new(PLACE, MIB));
    bed.drain();
    let begun = bed.now;
    while bed.engine.poll_reply().is_none() {
        bed.pass_time();
    }
    assert!(bed.now.since(begun) < 30 * MS, "the bytes of before were waited for");
}
