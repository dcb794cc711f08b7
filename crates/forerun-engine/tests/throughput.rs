//! `adaptive` on the demo's store in virtual time: every figure beside its bound.

mod world;

use std::cell::RefCell;
use std::rc::Rc;

use forerun_engine::*;
use world::*;

const MIB: u64 = 1 << 20;

fn world(latency_ms: u64) -> World {
    World::new(Config::new(256 * MIB), link(latency_ms))
}

/// At least `share_percent` of the link's 400 MB/s, at most `waste_percent` more
/// bytes than asked for, within the budget.
fn check(world: &World, took_us: u64, share_percent: u64, waste_percent: u64) {
    let rate = world.megabytes_per_second(took_us);
    let wasted = 100.0 * world.fetched_bytes as f64 / world.asked_bytes as f64 - 100.0;
    println!(
        "{rate:.0} MB/s, {wasted:.1} % more than asked, {} MiB, {} fetches, {:?}",
        world.memory_bytes_peak / MIB,
        world.fetch_count,
        world.engine.device()
    );
    assert!(rate >= 4.0 * share_percent as f64, "{rate:.0} MB/s is below {share_percent} % of the link");
    assert!(wasted <= waste_percent as f64, "fetched {wasted:.1} % more than asked for");
    assert!(world.memory_bytes_peak <= 256 * MIB);
}

fn open(world: &mut World, readers: &[Reader], size: u64) {
    for reader in readers {
        world.engine.open(reader.object, size);
    }
}

fn one_sequential_reader(latency_ms: u64, share_percent: u64) {
    let mut world = world(latency_ms);
    let mut readers = [Reader::new(1, 1, sequential(0, 1024 * MIB, 65536))];
    open(&mut world, &readers, 1024 * MIB);
    let took = world.run(&mut readers);
    check(&world, took, share_percent, 1);
}

#[test]
fn one_sequential_reader_fills_the_link_at_2_ms() {
    one_sequential_reader(2, 95);
}

#[test]
fn one_sequential_reader_fills_the_link_at_10_ms() {
    one_sequential_reader(10, 92);
}

#[test]
fn one_sequential_reader_fills_the_link_at_50_ms() {
    one_sequential_reader(50, 80);
}

/// Eight regions of one object, read in turn by one reader through one handle.
fn interleaved(latency_ms: u64, share_percent: u64) {
    let mut world = world(latency_ms);
    let region = 128 * MIB;
    let turns = sequential(0, region, 65536).flat_map(|extent| {
        (0..8).map(move |stream| Extent::new(stream * 128 * MIB + extent.offset, extent.len))
    });
    let mut readers = [Reader::new(1, 1, turns)];
    open(&mut world, &readers, 8 * region);
    let took = world.run(&mut readers);
    check(&world, took, share_percent, 5);
}

#[test]
fn interleaved_readers_fill_the_link_at_2_ms() {
    interleaved(2, 90);
}

#[test]
fn interleaved_readers_fill_the_link_at_10_ms() {
    interleaved(10, 85);
}

#[test]
fn interleaved_readers_fill_the_link_at_50_ms() {
    // One thread meets eight regions one after another: eight latencies before
    // anybody can know of all streams, 0.4 s of the 2.7 s that the link needs.
    interleaved(50, 70);
}

#[test]
fn eight_objects_by_eight_readers_fill_the_link() {
    for latency_ms in [2, 10, 50] {
        let mut world = world(latency_ms);
        let mut readers: Vec<_> =
            (0..8).map(|id| Reader::new(id, id, sequential(0, 128 * MIB, 65536))).collect();
        open(&mut world, &readers, 128 * MIB);
        let took = world.run(&mut readers);
        check(&world, took, 80, 1);
    }
}

#[test]
fn disorder_costs_nothing() {
    for latency_ms in [2, 10, 50] {
        let mut world = world(latency_ms);
        let size = 1024 * MIB;
        let mut order: Vec<Extent> = sequential(0, size, 32768).collect();
        let mut numbers = Numbers(7);
        for index in 0..order.len() - 6 {
            order.swap(index, index + numbers.below(7) as usize);
        }
        let work: Work = Rc::new(RefCell::new(order.into()));
        let mut readers: Vec<_> = (0..8).map(|id| Reader::sharing(1, id, &work)).collect();
        open(&mut world, &readers, size);
        let took = world.run(&mut readers);
        check(&world, took, 80, 1);
    }
}

#[test]
fn random_reads_fetch_what_they_ask_for() {
    let mut world = world(10);
    let mut numbers = Numbers(11);
    let size = 1024 * MIB;
    let extents = (0..4000).map(|_| Extent::new(numbers.below(size / 4096) * 4096, 4096));
    let mut readers = [Reader::new(1, 1, extents.collect::<Vec<_>>())];
    open(&mut world, &readers, size);
    world.run(&mut readers);
    assert!(world.fetched_bytes <= world.asked_bytes * 101 / 100, "{} fetched", world.fetched_bytes);
}

/// A thousand slow readers share 4 MiB: nobody hangs, nothing is over budget.
#[test]
fn many_readers_in_little_memory_all_end() {
    let mut world = World::new(Config::new(4 * MIB), link(2));
    let mut readers: Vec<_> =
        (0..1000).map(|id| Reader::new(id, id, sequential(0, 256 << 10, 16384))).collect();
    open(&mut world, &readers, 256 << 10);
    world.run(&mut readers);
    assert!(world.memory_bytes_peak <= 4 * MIB);
}

/// Small budgets and large ones, near stores and far ones: one stream at least
/// half fills what its memory allows.
#[test]
fn a_stream_uses_the_memory_it_has() {
    for memory in [16 * MIB, 64 * MIB, 4096 * MIB] {
        let mut world = World::new(Config::new(memory), link(10));
        let mut readers = [Reader::new(1, 1, sequential(0, 512 * MIB, 65536))];
        open(&mut world, &readers, 512 * MIB);
        let took = world.run(&mut readers);
        let rate = world.megabytes_per_second(took);
        println!("{} MiB: {rate:.0} MB/s, peak {}", memory / MIB, world.memory_bytes_peak / MIB);
        assert!(rate > 200.0, "{rate:.0} MB/s with {} MiB", memory / MIB);
        assert!(world.memory_bytes_peak <= memory);
    }
}
