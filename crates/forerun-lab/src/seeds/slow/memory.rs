//! How much memory slow readers need for the disk to be as little busy as it can be.

use forerun_policies::kernel::Algorithm;

use crate::seeds::scene::{historic_ide, megabytes, stock};
use crate::seeds::{Claim, Findings, data};
use crate::slow_readers::{AS_BUSY, Readahead, SlowReaders, busy_percent, careful, least_steps};
use crate::table::{Column, Table};

/// B2's streams, each with a file and a rate of its own.
const MODERATE: SlowReaders =
    SlowReaders { count: 100, file_bytes: 8 << 20, bytes_per_s: 64 << 10, has_server: false };
/// Memory is tried in steps of so much for each stream, up to so many.
const STEP_BYTES: u64 = 128 << 10;
const STEPS_MAX: u64 = 48;

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
        let steps = least_steps(STEPS_MAX, |steps| busy(steps, algorithm()) <= least_busy * AS_BUSY);
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

/// Percent of its time that the disk is busy, with so many steps of memory for each stream.
fn busy(steps: u64, algorithm: Option<Box<dyn Algorithm>>) -> f64 {
    let memory_bytes = MODERATE.count as u64 * steps * STEP_BYTES;
    let readahead = algorithm.map_or_else(Readahead::ours, Readahead::Linux);
    busy_percent(&MODERATE.run(&historic_ide, memory_bytes, readahead))
}
