//! The result of a policy for slow readers.

use forerun_policies::PolicyKind;
use forerun_sim::run::Run;

use super::{PAGE_BYTES, ReaderTrial};
use crate::export::Figure;
use crate::seeds::scene::megabytes;
use crate::table::{Column, Table};

/// One policy.
#[derive(Clone, Debug)]
pub struct ReaderRow {
    /// Its kind.
    pub policy: PolicyKind,
    /// Its run with the memory that was given.
    pub run: Run,
    /// The memory for each reader with which the device is as little busy as with ample memory and the first
    /// policy that reads ahead. None if no memory is enough.
    pub needed_bytes: Option<u64>,
}

pub(crate) fn fetched_bytes(run: &Run) -> u64 {
    run.demand_bytes + run.readahead_bytes
}

pub(crate) fn fetch_count(run: &Run) -> u64 {
    run.demand_count + run.readahead_count
}

/// Bytes fetched for each byte read.
pub(crate) fn amplification(run: &Run) -> f64 {
    fetched_bytes(run) as f64 / run.read_bytes as f64
}

/// Requests for each page read.
pub(crate) fn per_page(run: &Run) -> f64 {
    fetch_count(run) as f64 / (run.read_bytes / PAGE_BYTES) as f64
}

/// The share of the time in which the device had something to do.
pub(crate) fn busy_percent(run: &Run) -> f64 {
    run.device.busy_ns as f64 * 100.0 / run.elapsed_ns as f64
}

/// The rows beside each other.
pub fn table(trial: &ReaderTrial, rows: &[ReaderRow]) -> String {
    let number = |name: &str, group: &str| Column::number(name).below(group);
    let mut table = Table::new([
        Column::word("policy"),
        number("fetched / asked", ""),
        number("per page", "requests"),
        number("pages", "requests"),
        number("per page", "waits"),
        number("99 % ms", "waits"),
        number("MB", "unread"),
        number("MB", "memory"),
        number("needs", "KiB per reader"),
        number("saves", "KiB per reader"),
    ]);
    for row in rows {
        let run = &row.run;
        let kib = |bytes: Option<u64>| bytes.map_or_else(dash, |bytes| (bytes >> 10).to_string());
        let saved = saved_bytes(trial, rows, row).map_or_else(dash, |bytes| (bytes / 1024).to_string());
        table.row([
            row.policy.name().to_owned(),
            format!("{:.3}", amplification(run)),
            format!("{:.3}", per_page(run)),
            format!("{:.1}", fetched_bytes(run) as f64 / PAGE_BYTES as f64 / fetch_count(run) as f64),
            format!("{:.3}", waited_share(run)),
            format!("{:.2}", run.waits.quantile(990) as f64 / 1e6),
            format!("{:.1}", megabytes(run.wasted_bytes)),
            format!("{:.1}", megabytes(run.memory_bytes_peak)),
            kib(row.needed_bytes),
            saved,
        ]);
    }
    format!("{}\n\n{table}\n{LEGEND}", caption(trial))
}

const LEGEND: &str = "\
Requests and pages are fetches from the device, and waits are pages that a reader had to wait for.
Unread are bytes that were evicted before they were read. The first policy that reads ahead keeps
the device busy for some share of the time, if each reader has 6 MiB. Needs is the memory for each
reader with which that share is at most a tenth larger. Saves is the need of that first policy, less
its own. Policies of Linux (stock, ondemand, context, ara) run in a kernel's page cache, the others
in the engine. MB are 10^6 bytes.
";

fn caption(trial: &ReaderTrial) -> String {
    let super::SlowReaders { count, file_bytes, bytes_per_s, has_server } = trial.readers;
    let by = if has_server { "through one server, " } else { "" };
    format!(
        "{count} readers of {} KiB each, {by}{bytes_per_s} bytes/s each, on {}, {} KiB of memory, windows up to {} KiB",
        file_bytes >> 10,
        trial.device.name(),
        trial.memory_bytes >> 10,
        trial.window_bytes_max >> 10,
    )
}

/// The share of bytes that a reader had to wait for.
fn waited_share(run: &Run) -> f64 {
    (run.late_bytes + run.miss_bytes) as f64 / run.read_bytes as f64
}

fn saved_bytes(trial: &ReaderTrial, rows: &[ReaderRow], row: &ReaderRow) -> Option<i64> {
    Some(rows[trial.reference()].needed_bytes? as i64 - row.needed_bytes? as i64)
}

fn dash() -> String {
    "–".to_owned()
}

/// The rows for other programs, in whole bytes and nanoseconds.
pub fn figures(trial: &ReaderTrial, rows: &[ReaderRow]) -> Vec<Vec<(&'static str, Figure)>> {
    let readers = trial.readers;
    let row = |row: &ReaderRow| {
        let run = &row.run;
        vec![
            ("readers", Figure::Whole(readers.count as u64)),
            ("file_bytes", Figure::Whole(readers.file_bytes)),
            ("bytes_per_s", Figure::Whole(readers.bytes_per_s)),
            ("has_server", Figure::Whole(u64::from(readers.has_server))),
            ("device", Figure::Text(trial.device.name().to_owned())),
            ("memory_bytes", Figure::Whole(trial.memory_bytes)),
            ("window_bytes_max", Figure::Whole(trial.window_bytes_max)),
            ("policy", Figure::Text(row.policy.name().to_owned())),
            ("elapsed_ns", Figure::Whole(run.elapsed_ns)),
            ("read_bytes", Figure::Whole(run.read_bytes)),
            ("fetched_bytes", Figure::Whole(fetched_bytes(run))),
            ("fetch_count", Figure::Whole(fetch_count(run))),
            ("waited_bytes", Figure::Whole(run.late_bytes + run.miss_bytes)),
            ("wait_p99_ns", Figure::Whole(run.waits.quantile(990))),
            ("wasted_bytes", Figure::Whole(run.wasted_bytes)),
            ("memory_bytes_peak", Figure::Whole(run.memory_bytes_peak)),
            ("device_busy_ns", Figure::Whole(run.device.busy_ns)),
            ("needed_bytes_per_reader", row.needed_bytes.map_or(Figure::Unknown, Figure::Whole)),
        ]
    };
    rows.iter().map(row).collect()
}
