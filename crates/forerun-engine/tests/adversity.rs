//! The engine when the backend fails or memory is short.

#[path = "support/others.rs"]
mod others;

use forerun_engine::*;

const MIB: u64 = 1 << 20;
const OBJECT: ObjectId = ObjectId(1);
const READER: ReaderId = ReaderId(1);

fn engine(memory_bytes: u64, policy: PolicyChoice) -> Engine {
    let mut config = Config::new(memory_bytes);
    config.policy = policy;
    Engine::new(config).expect("a configuration that works")
}

/// Reads one extent; fetches that touch anything from `bad` on fail at once.
/// Returns whether the read succeeded, and adds to `failures`.
fn read(engine: &mut Engine, now: Time, extent: Extent, bad: u64, failures: &mut Vec<Extent>) -> bool {
    let mut memory = Vec::new();
    let outcome = engine.read(now, OBJECT, READER, extent, &mut memory);
    while let Some(fetch) = engine.poll_fetch(now) {
        if fetch.extent.end() > bad {
            failures.push(fetch.extent);
            engine.handle_failed(now, fetch.id, FetchError { code: 1 });
        } else {
            engine.handle_fetched(now, fetch.id);
        }
    }
    let read = match outcome {
        Outcome::Ready(read) => read,
        Outcome::Parked(read) => {
            let reply = engine.poll_reply().expect("storage answers at once");
            assert_eq!(reply.read, read);
            if reply.result.is_err() {
                return false;
            }
            read
        }
    };
    engine.release(read);
    true
}

#[test]
fn failed_readahead_is_not_repeated_over_and_over() {
    let mut engine = engine(64 * MIB, PolicyChoice::Adaptive);
    engine.open(OBJECT, 64 * MIB);
    let (bad, mut failures) = (4 * MIB, Vec::new());
    for index in 0..bad / 4096 {
        let extent = Extent::new(index * 4096, 4096);
        assert!(read(&mut engine, Time(index * 1000), extent, bad, &mut failures), "a good block failed");
    }
    let count = failures.len();
    failures.sort_by_key(|extent| extent.offset);
    failures.dedup_by_key(|extent| extent.offset);
    assert!(failures.len() == count && count <= 20, "nobody asked for anything bad: {failures:?}");
    assert!(!read(&mut engine, Time(MIB), Extent::new(bad, 4096), bad, &mut failures));
}

#[test]
fn a_reader_does_not_pay_for_readahead_that_rode_along() {
    let mut engine = engine(64 * MIB, PolicyChoice::Adaptive);
    engine.open(OBJECT, 64 * MIB);
    let mut failures = Vec::new();
    assert!(read(&mut engine, Time(0), Extent::new(0, 4096), 4096, &mut failures));
    assert!(!failures.is_empty(), "nothing rode along");
}

#[test]
fn readahead_leaves_the_room_that_a_waiting_reader_needs() {
    let mut engine = engine(4 * MIB, others::LIBRBD);
    let now = Time(0);
    let mut memory = Vec::new();
    // Half of the memory is being copied from.
    let copied = ObjectId(99);
    engine.open(copied, 64 * MIB);
    for index in [8, 16] {
        let extent = Extent::new(index * MIB, MIB);
        assert!(matches!(engine.read(now, copied, READER, extent, &mut memory), Outcome::Parked(_)));
        while let Some(fetch) = engine.poll_fetch(now) {
            engine.handle_fetched(now, fetch.id);
        }
        assert!(engine.poll_reply().is_some_and(|reply| reply.result.is_ok()));
    }
    // The other half is being filled for readers each of whom wants 4 MiB ahead.
    let mut in_flight = std::collections::VecDeque::new();
    for id in 0..16 {
        let (object, reader) = (ObjectId(id), ReaderId(id));
        engine.open(object, 64 * MIB);
        for index in 0..11 {
            let outcome = engine.read(now, object, reader, Extent::new(index * 4096, 4096), &mut memory);
            while let Some(fetch) = engine.poll_fetch(now) {
                if fetch.cause == Cause::Demand {
                    engine.handle_fetched(now, fetch.id);
                } else {
                    in_flight.push_back(fetch.id);
                }
            }
            while engine.poll_reply().is_some() {}
            let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
            engine.release(read);
        }
    }
    let extent = Extent::new(32 * MIB, MIB);
    assert!(matches!(engine.read(now, copied, READER, extent, &mut memory), Outcome::Parked(_)));
    assert!(engine.poll_fetch(now).is_none(), "there is no room yet");
    // As that lands, the reader who waits is next.
    let next = loop {
        let landed = in_flight.pop_front().expect("the reader gets its room before all of it has landed");
        engine.handle_fetched(now, landed);
        if let Some(fetch) = engine.poll_fetch(now) {
            break fetch;
        }
    };
    assert_eq!((next.object, next.cause), (copied, Cause::Demand));
}

#[test]
fn a_store_that_asks_for_fewer_fetches_gets_half_as_many() {
    const COUNT: u64 = 40;
    let mut engine = engine(64 * MIB, PolicyChoice::Adaptive);
    let read_all = |engine: &mut Engine, offset: u64| {
        let mut memory = Vec::new();
        for object in 0..COUNT {
            let extent = Extent::new(offset, 4096);
            engine.open(ObjectId(object), 64 * MIB);
            engine.read(Time(offset), ObjectId(object), ReaderId(object), extent, &mut memory);
        }
    };
    let fetches = |engine: &mut Engine| {
        std::iter::from_fn(|| engine.poll_fetch(Time(10))).map(|fetch| fetch.id).collect::<Vec<_>>()
    };
    read_all(&mut engine, 0);
    let refused = fetches(&mut engine);
    assert!(refused.len() as u64 >= COUNT, "{}", refused.len());
    for fetch in &refused {
        engine.handle_busy(Time(20), *fetch);
    }
    for fetch in &refused {
        engine.handle_fetched(Time(30), *fetch);
    }
    while engine.poll_reply().is_some() {}

    read_all(&mut engine, 32 * MIB);
    let (mut in_flight, mut replies, mut most) = (fetches(&mut engine), 0, 0);
    while !in_flight.is_empty() {
        most = most.max(in_flight.len());
        engine.handle_fetched(Time(40), in_flight.remove(0));
        replies += std::iter::from_fn(|| engine.poll_reply()).count() as u64;
        in_flight.extend(fetches(&mut engine));
    }
    assert_eq!(replies, COUNT);
    // It recovers by one for each as many as are in flight.
    assert!((refused.len() / 2..=refused.len() / 2 + 5).contains(&most), "{most} of {}", refused.len());
}
