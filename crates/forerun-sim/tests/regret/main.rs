//! What `adaptive` reads in vain is bounded, whatever is read.

mod accesses;

use accesses::Accesses;
use forerun_trace::generate::Numbers;

#[test]
fn any_reads_waste_little() {
    let count = if cfg!(debug_assertions) { 60 } else { 2000 };
    for seed in 0..count {
        let mut numbers = Numbers::new(seed);
        let len = 10 + numbers.below(120);
        let bytes: Vec<u8> = (0..len).map(|_| numbers.below(256) as u8).collect();
        Accesses::new(&bytes).check();
    }
}
