//! How fast virtual time passes where nothing waits.

use std::time::Instant;

use forerun_policies::kernel::{Algorithm, Ara, AraTuning, OnDemand, Stock};

use crate::support::{KernelRun, PAGE, clients, read_in_steps};

const PAGES: u64 = 16_384;
const ROUNDS: u64 = 32;

#[test]
fn cached_pages_are_read_quickly() {
    let algorithms: [Box<dyn Algorithm>; 3] = [
        Box::new(Stock::new(32)),
        Box::new(OnDemand::linux_2_6_31(32)),
        Box::new(Ara::new(AraTuning::default())),
    ];
    for (name, algorithm) in ["stock", "on-demand", "ara"].into_iter().zip(algorithms) {
        let actions = (0..ROUNDS).flat_map(|_| read_in_steps(0, PAGES * PAGE, PAGE)).collect();
        let start = Instant::now();
        let run = KernelRun::new(2 * PAGES, algorithm).run(clients([PAGES * PAGE], vec![actions]));
        let ns = start.elapsed().as_nanos() as u64;
        assert_eq!(run.device.read_bytes, PAGES * PAGE);
        println!("{name:10} {} ns per page", ns / (PAGES * ROUNDS));
    }
}
