//! A kernel of the past reads: what it fetches, when it waits, what it counts.

use crate::support::{KernelRun, PAGE, clients, network, read_in_steps};
use forerun_policies::kernel::{Ara, AraTuning, OnDemand, Stock};
use forerun_sim::device::Latency;
use forerun_sim::kernel::{Algorithm, FileState, KernelConfig, LoopDevice};
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Deed, Disorder, Disordered, Extent, Link, Linked, ObjectId, Placed};

const FILE_PAGES: u64 = 25_600;
const MS: u64 = 1_000_000;

fn stock() -> Box<dyn Algorithm> {
    Box::new(Stock::new(256))
}

fn forward(step_bytes: u64) -> Vec<Action> {
    read_in_steps(0, FILE_PAGES * PAGE, step_bytes)
}

fn read(algorithm: Box<dyn Algorithm>, actions: Vec<Action>) -> Run {
    KernelRun::new(40_000, algorithm).run(clients([FILE_PAGES * PAGE], vec![actions]))
}

/// Fetches and pages of them.
fn fetches(run: &Run) -> (u64, u64) {
    let bytes = run.demand_bytes + run.readahead_bytes;
    (run.demand_count + run.readahead_count, bytes / PAGE)
}

#[test]
fn a_file_is_read_once_from_front_to_back() {
    for algorithm in
        [stock(), Box::new(OnDemand::linux_2_6_23(256)), Box::new(Ara::new(AraTuning::default()))]
    {
        let name = format!("{algorithm:?}");
        let run = read(algorithm, forward(4096));
        let (count, pages) = fetches(&run);
        assert_eq!(pages, FILE_PAGES);
        assert!((100..=108).contains(&count), "{count} fetches by {}", &name[..20]);
        assert_eq!(run.read_bytes, run.hit_bytes + run.late_bytes + run.miss_bytes);
        assert_eq!((run.wasted_bytes, run.thrash_count, run.miss_bytes), (0, 0, 4096));
        assert_eq!(run.device.read_bytes, FILE_PAGES * PAGE);
    }
}

#[test]
fn backward_reading_is_blind_but_with_ara() {
    let backward = || forward(4096).into_iter().rev().collect::<Vec<_>>();
    assert_eq!(fetches(&read(stock(), backward())), (FILE_PAGES, FILE_PAGES));
    let (count, pages) = fetches(&read(Box::new(Ara::new(AraTuning::default())), backward()));
    assert!(count < 130 && pages == FILE_PAGES, "{count} fetches, {pages} pages");
}

#[test]
fn a_cached_file_costs_no_device() {
    let mut twice = forward(65536);
    twice.extend(forward(65536));
    let run = read(stock(), twice);
    assert_eq!(fetches(&run).1, FILE_PAGES);
    assert!(run.hit_bytes >= FILE_PAGES * PAGE);
    assert_eq!(run.memory_bytes_peak, FILE_PAGES * PAGE);
}

#[test]
fn costs_are_added_to_the_time() {
    let mut config = KernelConfig::linux_2_6(40_000);
    let run_with = |config| {
        let mut kernel = KernelRun::new(40_000, stock());
        kernel.config = config;
        kernel.run(clients([4 * PAGE], vec![read_in_steps(0, 4 * PAGE, 2 * PAGE)]))
    };
    let free = run_with(config);
    config.request_cost_ns = 1000;
    config.page_cost_ns = 10;
    let costly = run_with(config);
    assert_eq!(costly.elapsed_ns, free.elapsed_ns + 2 * 1000 + 4 * 10);
    assert_eq!(costly.clients[0].waited_ns, free.clients[0].waited_ns);
    assert_eq!(costly.clients[0].finished_ns, costly.elapsed_ns);
}

#[test]
fn a_partial_read_walks_only_what_it_takes() {
    let request = |offset: u64, len: u64| Action::Do {
        deed: Deed::Read { asked: FILE_PAGES * PAGE - offset },
        object: ObjectId(0),
        extent: Extent::new(offset, len),
    };
    //= seed 000
    let done = [37_440, 28_800, 37_440, 14_400, 37_440].into_iter().cycle();
    let offsets = done.scan(0, |end, len| {
        *end += len;
        Some((*end - len, len))
    });
    let partial = offsets.take(1000).map(|(offset, len)| request(offset, len)).collect::<Vec<_>>();
    let by_stock = read(Box::new(Stock::new(32)), partial.clone());
    let by_ara = read(Box::new(Ara::new(AraTuning::default())), partial);
    let size = |run: &Run| fetches(run).1 / fetches(run).0;
    assert!(size(&by_ara) > 100, "{} pages by ara", size(&by_ara));
    assert!((7..=20).contains(&size(&by_stock)), "{} pages by stock", size(&by_stock));
}

#[test]
fn disorder_is_read_in_large_fetches_only_by_those_who_expect_it() {
    let disorder =
        Disorder { request_bytes: 32 << 10, worker_count: 8, ahead_count: 16, displacement: 4, seed: 3 };
    let run = |algorithm, file_state| {
        let mut kernel = KernelRun::new(40_000, algorithm);
        kernel.config.file_state = file_state;
        kernel.run(Disordered::new(clients([FILE_PAGES * PAGE], vec![forward(65536)]), disorder))
    };
    let tuning = AraTuning { is_nfsd: true, hit_rate: 1, ..AraTuning::default() };
    for state in [FileState::Request, FileState::Shared(16)] {
        let by_stock = run(stock(), state);
        let by_ara = run(Box::new(Ara::new(tuning)), state);
        let (stock_count, ara_count) = (fetches(&by_stock).0, fetches(&by_ara).0);
        assert!(ara_count * 2 < stock_count, "{state:?}: ara {ara_count}, stock {stock_count}");
    }
}

#[test]
fn a_link_bounds_the_rate() {
    let link = Link { bits_per_s: 80_000_000, latency_ns: MS, half_duplex: true };
    let clients = clients([FILE_PAGES * PAGE; 2], vec![forward(65536), read_in_steps(1, 10 << 20, 65536)]);
    let run = KernelRun::new(60_000, stock()).run(Linked::new(clients, link));
    let bytes = FILE_PAGES * PAGE + (10 << 20);
    assert!(run.elapsed_ns > bytes * 100);
    assert!(run.elapsed_ns < bytes * 100 * 11 / 8, "{} ns", run.elapsed_ns);
}

#[test]
fn a_loop_device_reads_each_byte_once() {
    let size = FILE_PAGES * PAGE;
    let mut tuning = AraTuning::default();
    let upper = Box::new(Ara::new(tuning));
    tuning.is_loop = true;
    let file = Placed { address: 1 << 30, size };
    let lower = KernelConfig::linux_2_6(20_000);
    let disk = LoopDevice::new(lower, Box::new(Ara::new(tuning)), network(Latency::constant(MS)), file);
    let mut kernel = KernelRun::new(40_000, upper);
    kernel.device = Box::new(disk);
    let run = kernel.run(clients([size], vec![forward(65536)]));
    assert_eq!(run.device.read_bytes, size);
    assert_eq!(fetches(&run).1, FILE_PAGES);
}

#[test]
fn the_same_run_twice_is_the_same() {
    let run = || {
        let actions = (0..4).map(|object| read_in_steps(object, 4 << 20, 4096)).collect();
        KernelRun::new(500, stock()).run(clients([4 << 20; 4], actions))
    };
    assert_eq!(run(), run());
}
