//! Readers that want more than the storage gives share it fairly, and leave nothing of it unused.

use forerun_engine::{ClientId, Config};
use forerun_sim::device::Preset;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, place};
use forerun_sim::world::World;
use forerun_trace::generate::Numbers;

const MIB: u64 = 1 << 20;
const LEN: u64 = 128 << 10;
/// 10 ms away, 100 MB/s in all.
const STORE: &str = "network:latency=10ms,connection=80MB/s,total=100MB/s";

/// A client that reads every `step`th piece of `object` from `first` on, `size` bytes in all.
fn pieces(object: u64, size: u64, first: u64, step: u64) -> Box<dyn Client> {
    let places = (first..size / LEN).step_by(step as usize);
    Box::new(places.map(move |at| Action::read(ObjectId(object), Extent::new(at * LEN, LEN))))
}

fn whole(object: u64, size: u64) -> Box<dyn Client> {
    pieces(object, size, 0, 1)
}

/// Runs `clients` that belong to `owners` and read objects of these sizes.
fn run(
    device: &str,
    sizes: &[u64],
    clients: Vec<Box<dyn Client>>,
    owners: &[u64],
    weights: &[(ClientId, u32)],
) -> Run {
    let device = Preset::from_name(device).expect("a device by its name").build(1);
    let world = World::new(Config::new(256 * MIB), device).expect("a configuration that works");
    let owners: Vec<ClientId> = owners.iter().map(|owner| ClientId(*owner)).collect();
    let mut source = Clients::new(place(sizes.iter().copied(), MIB), clients);
    world.shared(&owners, weights).run(&mut source).expect("nobody hangs")
}

/// The end of the first client to that of the last, and the share of 100 MB/s that all have got.
fn shares(run: &Run) -> (f64, f64) {
    let ends: Vec<u64> = run.clients.iter().map(|client| client.finished_ns).collect();
    let (first, last) = (ends.iter().min().unwrap(), ends.iter().max().unwrap());
    let total = run.read_bytes as f64 * 10.0 / run.elapsed_ns as f64;
    println!("ends {ends:?}: first / last {:.3}, total {total:.3}", *first as f64 / *last as f64);
    (*first as f64 / *last as f64, total)
}

#[test]
fn readers_of_which_one_asks_for_sixteen_pieces_at_once_end_together() {
    let size = 256 * MIB;
    let mut clients: Vec<Box<dyn Client>> = (0..4).map(|object| whole(object, size)).collect();
    clients.extend((0..16).map(|first| pieces(4, size, first, 16)));
    let owners: Vec<u64> = (0..4).chain([4; 16]).collect();
    let (fair, total) = shares(&run(STORE, &[size; 5], clients, &owners, &[]));
    assert!(fair >= 0.9 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

#[test]
fn clients_share_by_their_weights() {
    let sizes = [1, 2, 4].map(|part| part * 128 * MIB);
    let clients = (0..).zip(sizes).map(|(object, size)| whole(object, size)).collect();
    let weights = [(ClientId(1), 1), (ClientId(2), 2), (ClientId(3), 4)];
    let (fair, total) = shares(&run(STORE, &sizes, clients, &[1, 2, 3], &weights));
    assert!(fair >= 0.95 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

#[test]
fn a_client_with_many_readers_gets_no_more_than_one_with_one() {
    // Each reads as much as the other.
    let sizes = [256 * MIB, 32 * MIB, 32 * MIB, 32 * MIB, 32 * MIB, 32 * MIB, 32 * MIB, 32 * MIB, 32 * MIB];
    let clients = (0..).zip(sizes).map(|(object, size)| whole(object, size)).collect();
    let (fair, total) = shares(&run(STORE, &sizes, clients, &[1, 2, 2, 2, 2, 2, 2, 2, 2], &[]));
    assert!(fair >= 0.9 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

#[test]
fn random_readers_of_a_client_do_not_keep_another_from_its_share() {
    // 64 of them ask for more than the store gives.
    let (size, count) = (512 * MIB, 64);
    let mut clients = vec![whole(0, size)];
    for seed in 0..count {
        let mut numbers = Numbers::new(seed);
        let reads = (0..size / LEN / count)
            .map(move |_| Action::read(ObjectId(1), Extent::new(numbers.below(8192) * LEN, LEN)));
        clients.push(Box::new(reads));
    }
    let owners: Vec<u64> = [1].into_iter().chain([2; 64]).collect();
    let run = run(STORE, &[size, 8192 * LEN], clients, &owners, &[]);
    let (_, total) = shares(&run);
    let others = run.clients[1..].iter().map(|client| client.finished_ns).max().unwrap();
    let (fewer, more) = (others.min(run.clients[0].finished_ns), others.max(run.clients[0].finished_ns));
    let fair = fewer as f64 / more as f64;
    assert!(fair >= 0.85 && total >= 0.95, "first / last {fair:.3}, total {total:.3}");
}

/// Bytes per second on a disk: the sum of readers with these weights, each of whom reads `size` bytes.
fn rate_on_disk(weights: &[u32], sizes: &[u64]) -> (f64, f64) {
    let clients = (0..).zip(sizes).map(|(object, size)| whole(object, *size)).collect();
    let owners: Vec<u64> = (1..=weights.len() as u64).collect();
    let weights: Vec<_> = owners.iter().map(|owner| ClientId(*owner)).zip(weights.iter().copied()).collect();
    let run = run("ide-2006", sizes, clients, &owners, &weights);
    (shares(&run).0, run.read_bytes as f64 * 1e3 / run.elapsed_ns as f64)
}

#[test]
fn clients_of_a_disk_keep_nine_tenths_of_what_they_get_alone() {
    let (_, alone) = rate_on_disk(&[1], &[256 * MIB]);
    for weights in [[1, 1, 1, 1], [1, 1, 2, 4]] {
        let (fair, together) = rate_on_disk(&weights, &weights.map(|weight| u64::from(weight) * 128 * MIB));
        println!("weights {weights:?}: first / last {fair:.3}, {together:.1} of {alone:.1} MB/s");
        assert!(
            fair >= 0.9 && together >= 0.9 * alone,
            "{weights:?}: {fair:.3}, {together:.1} of {alone:.1} MB/s"
        );
    }
}
