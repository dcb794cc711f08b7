//! The schedules of every test run; `make soak` runs many more.

use std::collections::BTreeSet;

use forerun_faults::{replay, run};

const SCHEDULES: u64 = 1000;

#[test]
fn schedules_end_as_they_must() {
    let mut kinds = BTreeSet::new();
    let mut reads = 0;
    for seed in 0..SCHEDULES {
        let verdict = run(seed, false);
        let found = verdict.accusations.join("\n");
        assert!(verdict.accusations.is_empty(), "seed {seed}: {found}\n{}", replay(seed));
        kinds.extend(verdict.fault_kinds);
        reads += verdict.read_count;
    }
    assert!(kinds.len() == 19, "not every kind of fault was met: {kinds:?}");
    assert!(reads > 20 * SCHEDULES, "{reads} reads");
}

#[test]
fn equal_seeds_run_equally() {
    for seed in 0..200 {
        let (first, second) = (run(seed, true), run(seed, true));
        assert!(first == second, "seed {seed} runs in two ways:\n{}\n{}", first.trace, second.trace);
        assert_ne!(first.trace_hash, run(seed + 1, false).trace_hash);
    }
}
