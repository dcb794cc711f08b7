//! The bytes that `adaptive` wastes are bounded for all reads.

mod accesses;
#[path = "../../../forerun-trace/tests/support/cases.rs"]
mod cases;

use accesses::Accesses;
use cases::cases;
use forerun_trace::generate::Numbers;

#[test]
fn any_reads_waste_little() {
    (0..count()).for_each(|seed| from(seed).check(1));
}

#[test]
fn any_reads_of_several_side_by_side_waste_little() {
    (0..count()).for_each(|seed| from(seed).check(2 + seed as usize % 15));
}

fn count() -> u64 {
    u64::from(cases(if cfg!(debug_assertions) { 60 } else { 2000 }))
}

fn from(seed: u64) -> Accesses {
    println!("seed {seed}");
    let mut numbers = Numbers::new(seed);
    let len = 10 + numbers.below(120);
    let bytes: Vec<u8> = (0..len).map(|_| numbers.below(256) as u8).collect();
    Accesses::new(&bytes)
}

/// A disk's stream that leaves out every other 128 KiB, which it is cheaper to read than to pass.
#[test]
fn long_gaps_that_are_read_through_count_as_waste() {
    from(50_131).check(1);
}

/// Unaligned ones in steps, which run over the end of the object.
#[test]
fn elements_of_a_strided_stream_are_not_taken_for_lost_bytes() {
    let bytes = [
        156, 155, 102, 42, 110, 76, 241, 224, 34, 201, 23, 0, 220, 222, 117, 248, 234, 9, 118, 117, 132, 250,
        233, 225, 171, 122, 178, 119, 191, 50, 76, 176, 95, 62, 242, 4, 196, 250, 61, 197, 245, 174, 196, 25,
        173, 248, 125, 213, 84, 112, 160,
    ];
    Accesses::new(&bytes).check(1);
}
