//! Five clients of a file server with little memory and an elevator of its time.

use forerun_policies::kernel::Stock;
use forerun_sim::device::Preset;
use forerun_sim::kernel::KernelConfig;
use forerun_sim::queue::{Plug, Queue, elevator};
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, Link, Linked, ObjectId, Placed};
use forerun_trace::generate::Numbers;

use crate::support::KernelRun;

const MIB: u64 = 1 << 20;
const FILE_BYTES: u64 = 30 * MIB;
const REQUEST_BYTES: u64 = 8192;
const CLIENT_COUNT: u64 = 5;

/// Writes its file and reads it back, ten times.
fn client(object: u64, seed: u64) -> Box<dyn Client> {
    let pass = move |action: fn(ObjectId, Extent) -> Action| {
        let offsets = (0..FILE_BYTES).step_by(REQUEST_BYTES as usize);
        offsets.map(move |at| action(ObjectId(object), Extent::new(at, REQUEST_BYTES)))
    };
    let delay = Numbers::new(seed * CLIENT_COUNT + object).below(100_000_000);
    let rounds = (0..10).flat_map(move |_| pass(Action::write).chain(pass(Action::read)));
    Box::new([Action::Pause(delay)].into_iter().chain(rounds))
}

/// With memory of so many MiB, a third of which goes to all but the page cache.
fn run(memory_mib: u64, elevator_name: &str, seed: u64) -> Run {
    // A directory each, far from each other.
    let file = |index| Placed { address: index * 1500 * MIB, size: FILE_BYTES };
    let clients = (0..CLIENT_COUNT).map(|object| client(object, seed)).collect();
    let source = Clients::new((0..CLIENT_COUNT).map(file).collect(), clients);
    let disk = Preset::from_name("scsi-2001").expect("a disk").build(1);
    let elevator = elevator(elevator_name).expect("an elevator");
    let mut kernel = KernelRun::new(0, Box::new(Stock::new(32)));
    kernel.config = KernelConfig::linux_2_4(memory_mib * 256 * 2 / 3);
    kernel.config.request_bytes_max = 128 << 10;
    kernel.device = Box::new(Queue::new(disk, elevator, Plug::Historic));
    kernel.run(Linked::new(source, Link::ethernet_100()))
}

/// When the first client had finished, in percent of the last one's time.
fn first_to_last(run: &Run) -> u64 {
    let finished = || run.clients.iter().map(|client| client.finished_ns);
    100 * finished().min().unwrap_or(0) / finished().max().unwrap_or(1)
}

fn show(name: &str, run: &Run) {
    let seconds = run.elapsed_ns / 1_000_000_000;
    let rate = run.clients.iter().map(|client| client.read_bytes + client.write_bytes).sum::<u64>() * 1000
        / run.elapsed_ns;
    let device = run.device;
    println!(
        "{name:24} first/last {:3} %, {seconds:4} s, {rate} MB/s, read {} MiB in {}, wrote {} MiB in {}",
        first_to_last(run),
        device.read_bytes / MIB,
        device.read_count,
        device.write_bytes / MIB,
        device.write_count
    );
}

//= seed 004
#[test]
fn little_memory_makes_five_clients_unequal() {
    let ample = run(256, "linus", 1);
    show("256 MiB, linus", &ample);
    assert!(first_to_last(&ample) >= 95 && ample.device.read_bytes == 0);
    // The network's rate, as in the seed: 4:18.
    assert!((245..265).contains(&(ample.elapsed_ns / 1_000_000_000)));
    for seed in 1..4 {
        let unequal = run(128, "linus", seed);
        show("128 MiB, linus", &unequal);
        assert!(first_to_last(&unequal) <= 70);
        assert!(unequal.elapsed_ns > ample.elapsed_ns);
    }
    let equal = run(128, "deadline", 1);
    show("128 MiB, deadline", &equal);
    assert!(first_to_last(&equal) >= 85);
}
