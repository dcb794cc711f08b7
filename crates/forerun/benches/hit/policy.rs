//! The share of the policy in a sequential copy from memory: `adaptive` and `none` in turns.

use std::hint::black_box;
use std::time::Instant;

use forerun::{Forerun, PolicyKind, Reader};

use crate::{OBJECT_BYTES, READ_BYTES, cached, over_memory};

/// The size of a read of `cp`.
const COPY_BYTES: usize = 128 << 10;
/// How much longer a copy may take for its policy.
const GOAL_RATIO: f64 = 1.01;
/// Copies with each policy, one after the other.
const COPIES: usize = 105;
/// Pairs of instances that are copied from in turns.
const INSTANCES: usize = 5;

/// Whether a copy takes `adaptive` hardly longer than `none`.
pub(crate) fn policy_costs_little() -> bool {
    // Which pages of the machine an instance got makes a difference of its own.
    let instances: Vec<[Forerun; 2]> =
        (0..INSTANCES).map(|_| [PolicyKind::Adaptive, PolicyKind::None].map(over_memory)).collect();
    let readers: Vec<[Reader; 2]> =
        instances.iter().map(|pair| [cached(&pair[0], "a"), cached(&pair[1], "a")]).collect();
    let ratio_in = |piece_bytes: usize| {
        let mut buf = vec![0; piece_bytes];
        let mut copy = |reader: &Reader| {
            let started = Instant::now();
            for offset in (0..OBJECT_BYTES).step_by(piece_bytes) {
                reader.read_at_blocking(&mut buf, offset as u64).expect("memory does not fail");
                black_box(&buf);
            }
            started.elapsed().as_secs_f64()
        };
        let pairs = readers.iter().cycle().take(COPIES);
        let mut ratios: Vec<f64> = pairs.map(|[adaptive, none]| copy(adaptive) / copy(none)).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[COPIES / 2]
    };
    println!("sequential copy of what is in memory, adaptive to none: median of {COPIES} pairs");
    let ratio = ratio_in(COPY_BYTES);
    let verdict = if ratio <= GOAL_RATIO { "within" } else { "MORE THAN" };
    println!("{:>7} KiB a read: {ratio:.4}  {verdict} {GOAL_RATIO}", COPY_BYTES >> 10);
    println!("{:>7} KiB a read: {:.4}", READ_BYTES >> 10, ratio_in(READ_BYTES));
    ratio <= GOAL_RATIO
}
