//! Loaders that read shuffled files by several workers, with and without a list.

use forerun_engine::{Config, Extent, ObjectId};
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Deed, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

const COUNT: usize = 2000;
const WORKERS: usize = 4;
const BYTES: u64 = 150_000;
/// Of the device `demo`, in bytes per second.
const LINK: u64 = 400_000_000;

/// All files in an order of no sense.
fn shuffled() -> Vec<u64> {
    let mut numbers = Numbers::new(1);
    let mut order: Vec<u64> = (0..COUNT as u64).collect();
    (1..COUNT).rev().for_each(|index| order.swap(index, numbers.below(index as u64 + 1) as usize));
    order
}

fn run(list: &[u64], workers: &[Vec<u64>]) -> Run {
    let clients = workers.iter().map(|files| -> Box<dyn Client + '_> {
        Box::new(files.iter().flat_map(|file| opened(ObjectId(*file))))
    });
    let mut source = Clients::new(place([BYTES; COUNT], 4096), clients.collect());
    let device = Preset::from_name("demo").expect("a device by its name").build(1);
    let world = World::new(Config::new(256 << 20), device).expect("a configuration that works");
    let parts = list.iter().map(|file| (ObjectId(*file), Extent::new(0, BYTES)));
    let world = if list.is_empty() { world } else { world.listed(parts) };
    world.run(&mut source).expect("nobody hangs")
}

/// The steps of a worker that reads the whole of `object`, as the kernel asks for it.
fn opened(object: ObjectId) -> impl Iterator<Item = Action> {
    const LEN: u64 = 128 << 10;
    let reads = (0..BYTES.div_ceil(LEN))
        .map(move |at| Action::read(object, Extent::new(at * LEN, LEN).intersection(&Extent::new(0, BYTES))));
    reads.chain([Action::Do { deed: Deed::Close, object, extent: Extent::new(0, 0) }])
}

#[track_caller]
fn check(what: &str, order: &[u64], workers: &[Vec<u64>]) {
    let (without, with) = (run(&[], workers), run(order, workers));
    let link = with.read_bytes as f64 / (LINK as f64) / (with.elapsed_ns as f64 / 1e9);
    println!(
        "{what}: {:.2} of the link, {:.2} times as fast as without, {} wasted, {} misses",
        link,
        without.elapsed_ns as f64 / with.elapsed_ns as f64,
        with.wasted_bytes,
        with.demand_count,
    );
    assert!(link >= 0.8, "{what}: {link:.2} of the link");
    assert!(with.wasted_bytes <= with.read_bytes / 20, "{what}: {} wasted", with.wasted_bytes);
}

#[test]
fn workers_that_take_turns_reach_the_link() {
    let order = shuffled();
    let workers = (0..WORKERS).map(|worker| order.iter().copied().skip(worker).step_by(WORKERS).collect());
    check("every fourth", &order, &workers.collect::<Vec<_>>());
}

#[test]
fn workers_with_a_batch_each_reach_the_link() {
    let order = shuffled();
    let batches: Vec<&[u64]> = order.chunks(32).collect();
    let workers = (0..WORKERS).map(|worker| {
        batches.iter().skip(worker).step_by(WORKERS).flat_map(|batch| batch.to_vec()).collect()
    });
    check("batches of 32", &order, &workers.collect::<Vec<_>>());
}

#[test]
fn workers_with_a_quarter_each_reach_the_link() {
    let order = shuffled();
    let workers = order.chunks(COUNT / WORKERS).map(<[u64]>::to_vec);
    check("a quarter each", &order, &workers.collect::<Vec<_>>());
}

#[test]
fn one_reader_reaches_the_link() {
    let order = shuffled();
    check("one", &order, std::slice::from_ref(&order));
}

#[test]
fn readers_in_another_order_waste_little_and_are_not_slower() {
    let (order, other) = (shuffled(), (0..COUNT as u64).collect::<Vec<_>>());
    let workers: Vec<Vec<u64>> = (0..WORKERS)
        .map(|worker| {
            other.iter().map(|file| (file * 7919 + worker as u64) % COUNT as u64).collect::<Vec<_>>()
        })
        .map(|files| files.into_iter().step_by(WORKERS).collect())
        .collect();
    let (without, with) = (run(&[], &workers), run(&order, &workers));
    let times = without.elapsed_ns as f64 / with.elapsed_ns as f64;
    println!("another order: {times:.2} times as fast, {} wasted", with.wasted_bytes);
    assert!(times >= 0.95, "{times:.2} times as fast");
    assert!(with.wasted_bytes <= with.read_bytes / 10 + (16 << 20), "{} wasted", with.wasted_bytes);
}
