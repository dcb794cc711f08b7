//! Anything at all, in very little memory: nobody is stuck, and the sums agree.

use forerun_policies::kernel::{Algorithm, Ara, AraTuning, OnDemand, Stock};
use forerun_sim::kernel::{FileState, KernelConfig, Reclaim, Unplug};
use forerun_sim::source::{Action, Deed, Extent, ObjectId};
use forerun_trace::generate::Numbers;

use crate::cases::cases;
use crate::support::{KernelRun, PAGE, clients};

const OBJECT_COUNT: u64 = 5;
const OBJECT_BYTES: u64 = 300 * PAGE + 123;

fn algorithm(numbers: &mut Numbers) -> Box<dyn Algorithm> {
    let pages_max = 1 + numbers.below(300);
    match numbers.below(5) {
        0 => Box::new(Stock::new(pages_max)),
        1 => Box::new(OnDemand::linux_2_6_23(pages_max)),
        2 => Box::new(OnDemand::linux_2_6_31(pages_max)),
        3 => Box::new(OnDemand::linux_6_12(pages_max)),
        _ => Box::new(Ara::new(AraTuning {
            ratio_percent: numbers.below(120),
            hit_rate: numbers.below(9),
            window_bytes_max: pages_max * PAGE,
            is_nfsd: numbers.below(2) == 0,
            is_loop: numbers.below(2) == 0,
            ..AraTuning::default()
        })),
    }
}

fn config(numbers: &mut Numbers) -> KernelConfig {
    let mut config = KernelConfig::linux_2_6(16 + numbers.below(500));
    config.reclaim = [Reclaim::Linux2_4, Reclaim::Linux2_6][numbers.below(2) as usize];
    config.unplug = [Unplug::WhenWaiting, Unplug::WhenUptodate, Unplug::Always][numbers.below(3) as usize];
    let states = [FileState::Client, FileState::Request, FileState::Shared(2)];
    config.file_state = states[numbers.below(3) as usize];
    config.page_cost_ns = numbers.below(2) * 1000;
    config.request_cost_ns = numbers.below(2) * 1000;
    config.congestion_count = 1 + numbers.below(20) as usize;
    config.request_bytes_max = (1 + numbers.below(64)) * PAGE;
    config.writeback.throttle_percent = numbers.below(101);
    config.writeback.background_percent = numbers.below(101);
    config.writeback.request_count_max = 1 + numbers.below(4) as usize;
    config
}

fn action(numbers: &mut Numbers, position: &mut u64) -> Action {
    if numbers.below(4) == 0 {
        *position = numbers.below(OBJECT_BYTES);
    }
    let extent = Extent::between(*position, (*position + 1 + numbers.below(20 * PAGE)).min(OBJECT_BYTES));
    *position = if extent.end() == OBJECT_BYTES { 0 } else { extent.end() };
    let object = ObjectId(numbers.below(OBJECT_COUNT));
    match numbers.below(20) {
        0 => Action::close(object),
        1 => Action::Pause(numbers.below(20_000_000_000)),
        2..8 => Action::write(object, extent),
        _ => {
            let asked = extent.len + numbers.below(2) * numbers.below(1 << 20);
            Action::Do { deed: Deed::Read { asked }, object, extent }
        }
    }
}

#[test]
fn nobody_is_stuck_and_sums_agree() {
    for seed in 0..u64::from(cases(300)) {
        println!("seed {seed}");
        let mut numbers = Numbers::new(seed);
        let mut kernel = KernelRun::new(0, algorithm(&mut numbers));
        kernel.config = config(&mut numbers);
        let memory_bytes = kernel.config.pages_max * PAGE;
        let mut read_bytes = 0;
        let actions = (0..6).map(|_| {
            let mut position = 0;
            let actions: Vec<_> = (0..80).map(|_| action(&mut numbers, &mut position)).collect();
            let reads = actions.iter().filter_map(|action| match action {
                Action::Do { deed: Deed::Read { .. }, extent, .. } => Some(extent.len),
                _ => None,
            });
            read_bytes += reads.sum::<u64>();
            actions
        });
        let actions = actions.collect();
        let run = kernel.run(clients([OBJECT_BYTES; OBJECT_COUNT as usize], actions));
        assert_eq!(run.read_bytes, read_bytes, "seed {seed}");
        assert_eq!(run.read_bytes, run.hit_bytes + run.late_bytes + run.miss_bytes, "seed {seed}");
        assert!(run.memory_bytes_peak <= memory_bytes, "seed {seed}");
        assert!(run.wasted_bytes <= run.demand_bytes + run.readahead_bytes, "seed {seed}");
    }
}
