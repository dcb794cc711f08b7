//! Policies of other software are fetched and kept for as there, whatever the engine does
//! for its own.

use forerun_engine::*;
use forerun_policies::PolicyKind;

const MIB: u64 = 1 << 20;
const READER: ReaderId = ReaderId(1);

fn engine(memory_bytes: u64, policy: PolicyKind) -> Engine {
    let mut engine =
        Engine::new(Config { policy: policy.into(), ..Config::new(memory_bytes) }).expect("it works");
    engine.open(ObjectId(1), 64 * MIB);
    engine.open(ObjectId(2), 64 * MIB);
    engine
}

/// Asks for `extent`; what is fetched then, with its cause.
fn ask(engine: &mut Engine, object: u64, extent: Extent) -> (ReadId, Vec<(Fetch, Cause)>) {
    let mut memory = Vec::new();
    let outcome = engine.read(Time(0), ObjectId(object), READER, extent, &mut memory);
    let fetches = std::iter::from_fn(|| engine.poll_fetch(Time(0))).map(|fetch| (fetch.clone(), fetch.cause));
    let fetches = fetches.collect();
    let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
    (read, fetches)
}

/// Reads `extent` from storage that answers at once; offsets and lengths of its fetches
/// in KiB.
fn read(engine: &mut Engine, object: u64, extent: Extent) -> Vec<(u64, u64)> {
    let (read, fetches) = ask(engine, object, extent);
    for (fetch, _) in &fetches {
        engine.handle_fetched(Time(0), fetch.id);
    }
    while engine.poll_reply().is_some() {}
    engine.release(read);
    fetches.iter().map(|(fetch, _)| (fetch.extent.offset >> 10, fetch.extent.len >> 10)).collect()
}

fn piece(index: u64, kib: u64) -> Extent {
    Extent::new((index * kib) << 10, kib << 10)
}

#[test]
fn librbd_asks_for_each_window_beside_the_read_and_as_a_whole() {
    let mut engine = engine(64 * MIB, PolicyKind::Eager);
    (0..9).for_each(|index| assert_eq!(read(&mut engine, 1, piece(index, 64)).len(), 1));
    let (_, fetches) = ask(&mut engine, 1, piece(9, 64));
    let seen: Vec<_> = fetches
        .iter()
        .map(|(fetch, cause)| (fetch.extent.offset >> 10, fetch.extent.len >> 10, *cause))
        .collect();
    assert_eq!(seen, [(576, 64, Cause::Demand), (640, 4096 - 640, Cause::Readahead)]);
}

#[test]
fn a_kernel_asks_for_the_read_and_what_follows_in_one_request() {
    let mut engine = engine(64 * MIB, PolicyKind::OnDemand);
    assert_eq!(read(&mut engine, 1, piece(0, 4)), [(0, 16)]);
    assert_eq!(read(&mut engine, 1, piece(1, 4)), [(16, 64)], "asked for at the mark");
}

#[test]
fn a_kernel_asks_at_once_for_all_of_a_window() {
    let mut engine = engine(64 * MIB, PolicyKind::OnDemand);
    let sizes: Vec<_> = (0..256).map(|index| read(&mut engine, 1, piece(index, 64))).collect();
    let largest = sizes.iter().max_by_key(|fetches| fetches.len()).expect("there are some");
    assert_eq!(largest.len(), 8, "4 MiB in requests of 512 KiB: {largest:?}");
    assert!(largest.iter().all(|(_, kib)| *kib == 512), "{largest:?}");
}

#[test]
fn a_page_cache_does_not_know_what_was_read_ahead() {
    for (policy, is_kept) in [(PolicyKind::OnDemand, false), (PolicyKind::Adaptive, true)] {
        let mut engine = engine(4 * MIB, policy);
        // The bytes that follow are resident and unread. Others then read more than the memory holds, each
        // of them once.
        (0..2).for_each(|index| drop(read(&mut engine, 1, piece(index, 16))));
        (0..64).for_each(|index| drop(read(&mut engine, 2, Extent::new(index * MIB, 64 << 10))));
        let (_, fetches) = ask(&mut engine, 1, piece(2, 16));
        let is_demand = fetches.iter().any(|(_, cause)| *cause == Cause::Demand);
        assert_eq!(!is_demand, is_kept, "{}", policy.name());
    }
}
