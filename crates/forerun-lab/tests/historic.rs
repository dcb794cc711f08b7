//! Kernels' readahead in the engine, beside the same readahead in a simulated kernel. So `forerun
//! lab rows` shows the behaviour of a historic policy's kernel, whatever the engine's own scheduler
//! and memory are like.

use forerun_engine::Config;
use forerun_lab::rows::ROWS;
use forerun_policies::PolicyKind;
use forerun_policies::kernel::{Algorithm, OnDemand, Stock};
use forerun_sim::device::Preset;
use forerun_sim::kernel::{KernelConfig, KernelWorld};
use forerun_sim::run::Run;
use forerun_sim::world::World;

const SHRINK: u64 = 16;
const WINDOW_PAGES: u64 = 1024;

fn device() -> Preset {
    Preset::from_name("demo").expect("a preset")
}

fn algorithm(policy: PolicyKind) -> Box<dyn Algorithm> {
    match policy {
        PolicyKind::Stock => Box::new(Stock::new(WINDOW_PAGES)),
        PolicyKind::Context2631 => Box::new(OnDemand::linux_2_6_31(WINDOW_PAGES)),
        PolicyKind::OnDemand => Box::new(OnDemand::linux_6_12(WINDOW_PAGES)),
        _ => unreachable!("not compared here"),
    }
}

/// Checks that times and bytes of the workloads with `words` in their name differ by
/// `percent` at most.
fn check(words: &[&str], memory_bytes: u64, percent: u64) {
    for row in ROWS.iter().filter(|row| words.iter().any(|words| row.name.contains(words))) {
        for policy in [PolicyKind::Stock, PolicyKind::Context2631, PolicyKind::OnDemand] {
            let config = Config {
                policy: policy.into(),
                window_bytes_max: WINDOW_PAGES * 4096,
                ..Config::new(memory_bytes)
            };
            let world = World::new(config, device().build(1)).expect("the budget works");
            let engine = world.run(&mut row.source(SHRINK)).expect("nobody hangs");
            let config = KernelConfig::linux_2_6(memory_bytes / 4096);
            let world = KernelWorld::new(config, algorithm(policy), device().build(1));
            let kernel = world.run(&mut row.source(SHRINK)).expect("nobody hangs");
            let what = format!("{}, {}, {} MiB", row.name, policy.name(), memory_bytes >> 20);
            for figure in [|run: &Run| run.elapsed_ns, |run: &Run| run.device.read_bytes] {
                let (engine, kernel) = (figure(&engine), figure(&kernel));
                assert!(engine.abs_diff(kernel) * 100 <= kernel * percent, "{what}: {engine} and {kernel}");
            }
        }
    }
}

#[test]
fn with_memory_enough_they_are_the_same() {
    let words = ["sequential", "backward, 64", "stride, 64", "interleaved", "bursts", "shuffled", "sparse"];
    check(&words, 64 << 20, 5);
}

#[test]
fn with_little_memory_they_lose_as_much() {
    check(&["sequential", "interleaved", "bursts", "shuffled", "sparse"], 16 << 20, 35);
}
