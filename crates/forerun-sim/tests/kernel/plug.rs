//! Readahead behind a plugged queue: nobody waits for it, and so nothing lets it go.

use forerun_policies::kernel::OnDemand;
use forerun_sim::device::Preset;
use forerun_sim::kernel::Unplug;
use forerun_sim::queue::{Plug, Queue, elevator};
use forerun_sim::run::Run;

use crate::support::{KernelRun, PAGE, clients, read_in_steps};

const FILE_PAGES: u64 = 16_384;

/// One process on a disk that needs 3.1 ms for 512 KiB and 4.4 ms for 1 MiB. It takes 0.47 ms to use 512
/// KiB.
//= seed 001
fn run(unplug: Unplug, plug: Plug) -> Run {
    let disk = Preset::from_name("fc-2010").expect("a disk").build(1);
    let mut kernel = KernelRun::new(65_536, Box::new(OnDemand::linux_2_6_31(128)));
    kernel.config.unplug = unplug;
    kernel.config.request_bytes_max = 512 << 10;
    kernel.config.page_cost_ns = 3660;
    kernel.device = Box::new(Queue::new(disk, elevator("noop").expect("an elevator"), plug));
    kernel.run(clients([FILE_PAGES * PAGE], vec![read_in_steps(0, FILE_PAGES * PAGE, 128 << 10)]))
}

#[test]
fn letting_readahead_go_is_a_gain() {
    let held = run(Unplug::WhenWaiting, Plug::Historic);
    let conditional = run(Unplug::WhenUptodate, Plug::Historic);
    let always = run(Unplug::Always, Plug::Historic);
    let unplugged = run(Unplug::WhenWaiting, Plug::None);
    for (name, run) in
        [("held", &held), ("conditional", &conditional), ("always", &always), ("no plug", &unplugged)]
    {
        println!("{name:12} {} ms, {} reads", run.elapsed_ns / 1_000_000, run.device.read_count);
    }
    let gain = 1000 * held.elapsed_ns / conditional.elapsed_ns - 1000;
    println!("gain {gain} per mille");
    assert!(gain > 100);
    assert!(always.elapsed_ns.abs_diff(conditional.elapsed_ns) * 100 <= conditional.elapsed_ns * 3);
}
