//! `adaptive` on the demo's store: every figure beside its bound.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use forerun_engine::Config;
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

const MIB: u64 = 1 << 20;

fn sequential(object: u64, end: u64, len: u64) -> impl Iterator<Item = Action> {
    let extents = (0..end).step_by(len as usize).map(move |at| Extent::between(at, (at + len).min(end)));
    extents.map(move |extent| Action::read(ObjectId(object), extent))
}

/// Runs clients that read `count` objects of `size` bytes from a store of 80 MB/s per connection and 400
/// MB/s in all.
fn run(memory: u64, latency_ms: u64, count: u64, size: u64, clients: Vec<Box<dyn Client>>) -> Run {
    let name = format!("network:latency={latency_ms}ms,connection=80MB/s,total=400MB/s");
    let device = Preset::from_name(&name).expect("a store by its parameters").build(1);
    let world = World::new(Config::new(memory), device).expect("a configuration that works");
    let mut source = Clients::new(place((0..count).map(|_| size), MIB), clients);
    world.run(&mut source).expect("nobody hangs")
}

/// At least `share_percent` of the link's 400 MB/s, at most `waste_percent` more
/// bytes than asked for, within the budget.
#[track_caller]
fn check(run: &Run, share_percent: u64, waste_percent: u64) {
    let rate = run.read_bytes as f64 * 1e3 / run.elapsed_ns as f64;
    let more = 100.0 * run.device.read_bytes as f64 / run.read_bytes as f64 - 100.0;
    println!(
        "{rate:.0} MB/s, {more:.1} % more than asked, {} MiB, {} fetches",
        run.memory_bytes_peak / MIB,
        run.demand_count + run.readahead_count
    );
    assert!(rate >= 4.0 * share_percent as f64, "{rate:.0} MB/s is below {share_percent} % of the link");
    assert!(more <= waste_percent as f64, "fetched {more:.1} % more than asked for");
    assert!(run.memory_bytes_peak <= 256 * MIB);
}

fn one_sequential_reader(latency_ms: u64, share_percent: u64) {
    let reader = sequential(0, 1024 * MIB, 65536);
    let run = run(256 * MIB, latency_ms, 1, 1024 * MIB, vec![Box::new(reader)]);
    check(&run, share_percent, 1);
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

/// `count` regions of one object of 1 GiB, read in turn by one reader through one handle.
fn interleaved(count: u64, memory: u64, latency_ms: u64, share_percent: u64) {
    let region = 1024 * MIB / count;
    let turns = (0..region).step_by(65536).flat_map(move |offset| {
        (0..count).map(move |stream| Action::read(ObjectId(0), Extent::new(stream * region + offset, 65536)))
    });
    let run = run(memory, latency_ms, 1, count * region, vec![Box::new(turns)]);
    check(&run, share_percent, 5);
}

#[test]
fn interleaved_readers_fill_the_link_at_2_ms() {
    interleaved(8, 256 * MIB, 2, 90);
}

#[test]
fn interleaved_readers_fill_the_link_at_10_ms() {
    interleaved(8, 256 * MIB, 10, 85);
}

#[test]
fn interleaved_readers_fill_the_link_at_50_ms() {
    // One thread meets eight regions one after another. Only after eight latencies are all streams known:
    // 0.4 s of the 2.7 s that the link needs.
    interleaved(8, 256 * MIB, 50, 70);
}

/// The memory bounds the rate: it holds less than the link carries until a fetch is back.
#[test]
fn interleaved_readers_with_little_memory_are_refilled_before_they_wait() {
    interleaved(8, 16 * MIB, 35, 45);
    interleaved(128, 16 * MIB, 10, 14);
}

/// `count` readers, each of an object of its own.
fn readers_of(count: u64, size: u64, len: u64) -> Vec<Box<dyn Client>> {
    let reader = |object| -> Box<dyn Client> { Box::new(sequential(object, size, len)) };
    (0..count).map(reader).collect()
}

#[test]
fn eight_objects_by_eight_readers_fill_the_link() {
    for latency_ms in [2, 10, 50] {
        let run = run(256 * MIB, latency_ms, 8, 128 * MIB, readers_of(8, 128 * MIB, 65536));
        check(&run, 80, 1);
    }
}

#[test]
fn disorder_costs_nothing() {
    for latency_ms in [2, 10, 50] {
        let size = 1024 * MIB;
        let mut order: Vec<Action> = sequential(0, size, 32768).collect();
        let mut numbers = Numbers::new(7);
        for index in 0..order.len() - 6 {
            order.swap(index, index + numbers.below(7) as usize);
        }
        let work = Rc::new(RefCell::new(VecDeque::from(order)));
        let reader = |_| -> Box<dyn Client> {
            let work = Rc::clone(&work);
            Box::new(std::iter::from_fn(move || work.borrow_mut().pop_front()))
        };
        let run = run(256 * MIB, latency_ms, 1, size, (0..8).map(reader).collect());
        check(&run, 80, 1);
    }
}

#[test]
fn random_reads_fetch_what_they_ask_for() {
    let size = 1024 * MIB;
    let mut numbers = Numbers::new(11);
    let reads = (0..4000)
        .map(move |_| Action::read(ObjectId(0), Extent::new(numbers.below(size / 4096) * 4096, 4096)));
    let run = run(256 * MIB, 10, 1, size, vec![Box::new(reads)]);
    assert!(run.device.read_bytes <= run.read_bytes * 101 / 100, "{} fetched", run.device.read_bytes);
}

/// A thousand slow readers share 4 MiB: nobody hangs, nothing is over budget.
#[test]
fn many_readers_in_little_memory_all_end() {
    let run = run(4 * MIB, 2, 1000, 256 << 10, readers_of(1000, 256 << 10, 16384));
    assert!(run.memory_bytes_peak <= 4 * MIB);
}

/// Small budgets and large ones, near stores and far ones: one stream at least
/// half fills what its memory allows.
#[test]
fn a_stream_uses_the_memory_it_has() {
    for memory in [16 * MIB, 64 * MIB, 4096 * MIB] {
        let run = run(memory, 10, 1, 512 * MIB, readers_of(1, 512 * MIB, 65536));
        let rate = run.read_bytes as f64 * 1e3 / run.elapsed_ns as f64;
        println!("{} MiB: {rate:.0} MB/s, peak {}", memory / MIB, run.memory_bytes_peak / MIB);
        assert!(rate > 200.0, "{rate:.0} MB/s with {} MiB", memory / MIB);
        assert!(run.memory_bytes_peak <= memory);
    }
}
