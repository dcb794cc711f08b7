//! A workload of each pattern that the generators know, small enough to run often.

use forerun_trace::generate::{Pattern, Plan};

use super::{Case, Kind};
use crate::workload::Workload;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
/// Of a stream that lasts.
const LONG_BYTES: u64 = 1 << 30;
const US: u64 = 1000;
const MS: u64 = 1_000_000;

/// One case for each pattern, and for some in combination. The names begin with `gen`.
pub fn generated() -> Vec<Case> {
    let plans = streams().into_iter().chain(long_streams()).map(|plan| (plan, Kind::Stream));
    let others = others().into_iter().map(|plan| (plan, Kind::Other));
    plans.chain(others).map(|((name, plan), kind)| case(name, &plan, kind)).collect()
}

fn case(name: &str, plan: &Plan, kind: Kind) -> Case {
    let accesses = plan.generate().expect("the plans below make sense").collect();
    Case { workload: Workload::held(&format!("gen {name}"), accesses), kind }
}

/// `plan`'s numbers with one pattern.
fn one(pattern: Pattern, file_bytes: u64, request_bytes: u64) -> Plan {
    Plan { patterns: vec![pattern], file_bytes, request_bytes, ..Plan::default() }
}

fn streams() -> Vec<(&'static str, Plan)> {
    let sequential = one(Pattern::Sequential, 64 * MIB, 64 * KIB);
    vec![
        ("sequential 64K", sequential.clone()),
        (
            "sequential 4K, thinks 50us",
            Plan { think_ns: 50 * US, ..one(Pattern::Sequential, 32 * MIB, 4 * KIB) },
        ),
        ("sequential 1M", one(Pattern::Sequential, 256 * MIB, MIB)),
        (
            "8 files side by side",
            Plan { patterns: vec![Pattern::Sequential; 8], file_bytes: 16 * MIB, ..sequential.clone() },
        ),
        ("displaced by 8", Plan { displaced: 8, ..one(Pattern::Sequential, 64 * MIB, 32 * KIB) }),
        ("interleaved 4", one(Pattern::Interleaved { streams: 4 }, 64 * MIB, 64 * KIB)),
        ("interleaved 32", one(Pattern::Interleaved { streams: 32 }, 128 * MIB, 64 * KIB)),
        ("strided 64K of 1M", one(Pattern::Strided { stride: MIB }, 1024 * MIB, 64 * KIB)),
        ("strided 4K of 64K", one(Pattern::Strided { stride: 64 * KIB }, 256 * MIB, 4 * KIB)),
        ("backward 64K", one(Pattern::Backward, 64 * MIB, 64 * KIB)),
        ("backward 4K", one(Pattern::Backward, 16 * MIB, 4 * KIB)),
        ("sparse 50% of 4K", one(Pattern::Sparse { percent: 50 }, 32 * MIB, 4 * KIB)),
        ("sparse 25% of 64K", one(Pattern::Sparse { percent: 25 }, 256 * MIB, 64 * KIB)),
        (
            "bursts of 16 x 128K",
            one(Pattern::Bursts { requests: 16, pause_ns: 100 * MS }, 64 * MIB, 128 * KIB),
        ),
        ("partial answers", one(Pattern::Partial, 64 * MIB, 128 * KIB)),
    ]
}

/// Those that last: what the first reads of a stream cost far away is little of their time.
fn long_streams() -> Vec<(&'static str, Plan)> {
    vec![
        ("long sequential 1M", one(Pattern::Sequential, LONG_BYTES, MIB)),
        ("long interleaved 4", one(Pattern::Interleaved { streams: 4 }, LONG_BYTES, 256 * KIB)),
        ("long backward 256K", one(Pattern::Backward, LONG_BYTES, 256 * KIB)),
    ]
}

fn others() -> Vec<(&'static str, Plan)> {
    let random = Plan { count: Some(4096), ..one(Pattern::Random, 1024 * MIB, 4 * KIB) };
    let mix =
        vec![Pattern::Sequential, Pattern::Random, Pattern::Backward, Pattern::Interleaved { streams: 4 }];
    vec![
        ("random 4K", random.clone()),
        ("random 4K of 64M", Plan { file_bytes: 64 * MIB, ..random.clone() }),
        ("random 128K", Plan { count: Some(1024), request_bytes: 128 * KIB, ..random.clone() }),
        ("8 random readers", Plan { patterns: vec![Pattern::Random; 8], count: Some(1024), ..random }),
        ("sparse 5% of 4K", one(Pattern::Sparse { percent: 5 }, 128 * MIB, 4 * KIB)),
        ("short files 16K", one(Pattern::Tree { files: 1000 }, 16 * KIB, 64 * KIB / 4)),
        ("tree up to 256K", one(Pattern::Tree { files: 500 }, 256 * KIB, 64 * KIB)),
        (
            "4 file server clients",
            Plan {
                patterns: vec![Pattern::FileServer { files: 4 }; 4],
                ..one(Pattern::Sequential, 4 * MIB, 32 * KIB)
            },
        ),
        (
            "sequential, random, backward, interleaved",
            Plan { patterns: mix, count: Some(1024), ..one(Pattern::Sequential, 64 * MIB, 64 * KIB) },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_workloads_differ_and_are_small() {
        let cases = generated();
        for (at, case) in cases.iter().enumerate() {
            let scan = case.workload.scan();
            let name = case.workload.name();
            assert!(scan.read_count > 0 && scan.access_count <= 20_000, "{name}: {}", scan.access_count);
            let bytes_max = if name.contains("long") { LONG_BYTES } else { 256 * MIB };
            assert!(scan.read_bytes <= bytes_max, "{name}: {}", scan.read_bytes);
            assert!(cases[..at].iter().all(|before| before.workload.name() != name), "{name}");
            assert!(cases[..at].iter().all(|before| !before.workload.repeats(&case.workload)), "{name}");
        }
    }
}
