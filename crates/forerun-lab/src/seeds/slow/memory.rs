//! How much memory slow readers need for the disk to be as little busy as it can be.

use forerun_policies::kernel::Algorithm;
use forerun_sim::kernel::KernelConfig;

use super::{PAGE_BYTES, Pace, careful, readers};
use crate::seeds::scene::{Scene, historic_ide, megabytes, stock};
use crate::seeds::{Claim, Findings, data};
use crate::table::{Column, Table};

/// B2's streams, each with a file and a rate of its own.
const MODERATE: Pace = Pace { count: 100, file_bytes: 8 << 20, page_ns: 62_500_000 };
/// Memory is tried in steps of so much for each stream, up to so many.
const STEP_BYTES: u64 = 128 << 10;
const STEPS_MAX: u64 = 48;
/// As busy is a disk that is at most so much busier than with all the memory.
const AS_BUSY: f64 = 1.1;

/// A kernel's algorithm, or none for Forerun.
type Candidate = fn() -> Option<Box<dyn Algorithm>>;

/// B2.
pub(in crate::seeds) fn memory() -> Findings {
    let contenders: [(&str, Candidate); 3] = [
        ("stock 1M", || Some(stock(1 << 20))),
        ("adaptive 1M", || Some(Box::new(careful(50)))),
        ("Forerun", || None),
    ];
    let mut table = Table::new([
        Column::word("100 readers at 64 KB/s"),
        Column::number("disk busy %, ample memory"),
        Column::number("memory per client MB"),
        Column::number("disk busy % then"),
    ]);
    let least_busy = contenders[..2]
        .iter()
        .map(|(_, algorithm)| busy(STEPS_MAX, algorithm()))
        .fold(f64::INFINITY, f64::min);
    let mut needed = Vec::new();
    for (name, algorithm) in contenders {
        let steps = least_steps(|steps| busy(steps, algorithm()) <= least_busy * AS_BUSY);
        let megabytes = steps.map(|steps| megabytes(steps * STEP_BYTES));
        table.row([
            name.to_owned(),
            format!("{:.1}", busy(STEPS_MAX, algorithm())),
            megabytes
                .map_or_else(|| "never as little busy".to_owned(), |megabytes| format!("{megabytes:.2}")),
            steps.map_or_else(String::new, |steps| format!("{:.1}", busy(steps, algorithm()))),
        ]);
        needed.push(megabytes);
    }
    let figure = &data::rows("s000_claims/memory saved per 1000 clients")[0];
    let theory = format!("{} for 1000", figure.text("value"));
    let mut claims = Vec::new();
    for (at, name, why) in [(1, "adaptive", THEORY), (2, "Forerun", "")] {
        let saved = needed[0].zip(needed[at]).map(|(stock, new)| stock - new);
        let seen = saved.map_or_else(|| "never as little busy".to_owned(), |saved| format!("{saved:.2} MB"));
        let (some, all) = (saved.is_some_and(|saved| saved > 0.0), saved.is_some_and(|saved| saved >= 0.5));
        claims.push(Claim::that(format!("{name} saves memory for each client"), seen.clone(), some, ""));
        claims.push(Claim::that(
            format!("{name} saves half of the theory or more ({theory})"),
            seen,
            all,
            why,
        ));
    }
    Findings { tables: vec![table], claims }
}

const THEORY: &str = "perhaps: the theory counts two windows against one. But stock frees its first window while it \
    is read, and adaptive leaves half of the pages that would survive unused";

/// The fewest steps of memory that `suffice`, if the most of them do.
fn least_steps(suffice: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut too_few, mut enough) = (0, STEPS_MAX);
    if !suffice(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if suffice(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

/// Percent of its time that the disk is busy, with so many steps of memory for each stream.
fn busy(steps: u64, algorithm: Option<Box<dyn Algorithm>>) -> f64 {
    let memory_bytes = MODERATE.count as u64 * steps * STEP_BYTES;
    let scene = Scene { source: &|| readers(MODERATE), device: &historic_ide, memory_bytes, read_cost_ns: 0 };
    let run = match algorithm {
        Some(algorithm) => scene.kernel(KernelConfig::linux_2_6(memory_bytes / PAGE_BYTES), algorithm),
        None => scene.ours(),
    };
    run.device.busy_ns as f64 * 100.0 / run.elapsed_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_steps_are_found() {
        for least in [1, 2, 17, STEPS_MAX] {
            assert_eq!(least_steps(|steps| steps >= least), Some(least));
        }
        assert_eq!(least_steps(|_| false), None);
    }
}
