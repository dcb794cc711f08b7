//! The table of servers.

use super::crowd_run::CrowdRun;
use super::web_server::WebServer;
use crate::demo::markdown;

const HEADER: [&str; 11] = [
    "server",
    "clients at their rate",
    "longest wait, s",
    "fetched ÷ sent",
    "disk time of a client's second, ms",
    "disks busy",
    "reads of the disks, 1/s",
    "KiB each",
    "peak memory, MB",
    "processor, s",
    "",
];
/// Disks whose answers are as late on average are not those of the model.
const LATE_NS_MAX: u64 = 1_000_000;

/// One line, to follow the measurement.
pub(super) fn line(server: WebServer, run: &CrowdRun) -> String {
    let cells = cells(server, run, "");
    let named: Vec<_> = HEADER.iter().zip(&cells).skip(1).filter(|(name, _)| !name.is_empty()).collect();
    let named: Vec<_> = named.iter().map(|(name, cell)| format!("{name}: {cell}")).collect();
    format!("{}: {}", cells[0], named.join("; "))
}

/// Whether `run` of `server` is as promised, if anything is.
pub(super) fn holds(server: WebServer, run: &CrowdRun, all: &[(WebServer, CrowdRun)]) -> bool {
    let is_least = |other: &CrowdRun| run.disk_ms_per_client_second() <= other.disk_ms_per_client_second();
    let others = all.iter().filter(|(other, _)| !other.is_ours());
    !server.is_ours()
        || run.is_right() && run.keeps_promises() && others.into_iter().all(|(_, other)| is_least(other))
}

pub(super) fn report(runs: &[(WebServer, CrowdRun)]) -> String {
    let verdict = |server: WebServer, run: &CrowdRun| match (server.is_ours(), holds(server, run, runs)) {
        (false, _) => "",
        (true, true) => "pass",
        (true, false) => "FAIL",
    };
    let rows: Vec<_> =
        runs.iter().map(|(server, run)| cells(*server, run, verdict(*server, run)).to_vec()).collect();
    let table = markdown::render(&HEADER.map(str::to_owned), &rows);
    let remarks: String = runs.iter().map(|(server, run)| remark(*server, run)).collect();
    format!("\n{table}{remarks}")
}

fn cells(server: WebServer, run: &CrowdRun, verdict: &str) -> [String; 11] {
    let seconds = run.measured.as_secs_f64();
    let disk_seconds = run.disk_count as f64 * seconds;
    let each = run.disks.read_bytes as f64 / run.disks.read_count.max(1) as f64;
    [
        server.title().to_owned(),
        format!("{} of {}", run.at_rate_count, run.client_count),
        format!("{:.1}", run.wait_max.as_secs_f64()),
        format!("{:.2}", run.fetched_ratio()),
        format!("{:.1}", run.disk_ms_per_client_second()),
        format!("{:.0} %", run.disks.busy_ns as f64 / 1e7 / disk_seconds.max(1e-9)),
        format!("{:.0}", run.disks.read_count as f64 / seconds),
        format!("{:.0}", each / 1024.0),
        format!("{:.0}", run.memory_peak as f64 / 1e6),
        format!("{:.1}", run.processor_seconds),
        verdict.to_owned(),
    ]
}

fn remark(server: WebServer, run: &CrowdRun) -> String {
    let title = server.title();
    let mut text = String::new();
    if let Some(failure) = &run.failure {
        text += &format!("{title}: {} clients were not served to the end: {failure}.\n", run.failed_count);
    }
    if run.wrong_count > 0 {
        text += &format!("{title}: {} clients got WRONG BYTES.\n", run.wrong_count);
    }
    if run.disks.late_ns > LATE_NS_MAX {
        let late_ms = run.disks.late_ns as f64 / 1e6;
        text +=
            &format!("{title}: the disks answered {late_ms:.1} ms late on average: end other programs.\n");
    }
    text
}
