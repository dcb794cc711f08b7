//! Seed 000: lighttpd sends big files to more than a thousand slow clients.
//!
//! It asks for the rest of the file each time, and the socket takes a few pages of it.
//! A readahead that believes what was asked for loses its place.
//= seed 000

pub(crate) mod clients;

use std::convert::Infallible;
use std::sync::Arc;

use forerun_policies::kernel::{Algorithm, Ara, AraTuning};
use forerun_sim::device::{Device, Level, Raid};
use forerun_sim::kernel::KernelConfig;
use forerun_sim::run::Run;
use forerun_sim::source::{Pace, Replay, Scan, Source};
use forerun_trace::{Access, ReadOptions, Reader};

use super::overhead::{CallCounts, Counted};
use super::scene::{Scene, historic_ide, megabytes, stock};
use super::{Claim, Findings, data};
use crate::slow_readers::SlowReaders;
use crate::table::{Column, Table};
use crate::work::on_all_cores;

/// A quarter of the document's clients.
const STREAMS: usize = 310;
/// The bytes that the document's trace requests, from where it begins.
const FILE_BYTES: u64 = 1_478_592 + 19_553_028;
/// The rate of a client: 43.4 MB/s for 1240.
const CLIENT_BYTES_PER_S: u64 = 35_000;
const PAGE_BYTES: u64 = 4096;
/// The document does not say: a quarter of 4 GiB.
const MEMORY_BYTES: u64 = 1 << 30;
const PAGE_COST_NS: u64 = 1000;
const MEMBERS: usize = 7;
const CHUNK_BYTES: u64 = 64 << 10;

const RECORDING: &[u8] = include_bytes!("../../data/recordings/lighttpd-sendfile-200.frt.gz");

const CLIENTS: SlowReaders =
    SlowReaders { count: STREAMS, file_bytes: FILE_BYTES, bytes_per_s: CLIENT_BYTES_PER_S, has_server: true };

/// The readahead of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Stock(u64),
    Adaptive,
    Forerun,
}

const WHO: [(&str, Who); 4] = [
    ("stock 128K", Who::Stock(128 << 10)),
    ("stock 1M", Who::Stock(1 << 20)),
    ("adaptive 1M", Who::Adaptive),
    ("Forerun", Who::Forerun),
];

/// The outcome of a run.
struct Service {
    run: Run,
    counts: CallCounts,
}

impl Service {
    /// Pages of each window; Forerun's are its fetches.
    fn window_pages(&self) -> f64 {
        match self.counts.fetches {
            0 => {
                let bytes = self.run.demand_bytes + self.run.readahead_bytes;
                bytes as f64 / PAGE_BYTES as f64 / (self.run.demand_count + self.run.readahead_count) as f64
            }
            fetches => self.counts.pages as f64 / fetches as f64,
        }
    }

    fn io_sectors(&self) -> f64 {
        self.run.device.read_bytes as f64 / 512.0 / self.run.device.read_count as f64
    }

    fn percent(&self, ns: u64) -> f64 {
        ns as f64 * 100.0 / self.run.elapsed_ns as f64
    }

    fn waited_percent(&self) -> f64 {
        self.percent(self.run.clients.iter().map(|client| client.waited_ns).sum())
    }

    fn mb_per_s(&self, bytes: u64) -> f64 {
        megabytes(bytes) * 1e9 / self.run.elapsed_ns as f64
    }
}

/// B1.
pub(super) fn lighttpd() -> Findings {
    let accesses = recorded();
    let jobs: Vec<(Who, bool)> = [false, true]
        .iter()
        .flat_map(|is_replay| WHO.iter().map(move |(_, who)| (*who, *is_replay)))
        .collect();
    let served = on_all_cores(&jobs, |(who, is_replay)| {
        let server = || -> Box<dyn Source> { CLIENTS.source() };
        let replay = || replay_of(&accesses);
        Ok::<_, Infallible>(if *is_replay { serve(*who, &replay) } else { serve(*who, &server) })
    })
    .unwrap_or_default();
    let (simulated, replayed) = served.split_at(WHO.len());
    let tables = vec![document_table(simulated), replay_table(replayed)];
    Findings { tables, claims: claims(simulated, replayed) }
}

fn serve(who: Who, source: &(dyn Fn() -> Box<dyn Source> + Sync)) -> Service {
    let scene = Scene { source, device: &array, memory_bytes: MEMORY_BYTES, read_cost_ns: PAGE_COST_NS };
    let kernel = |algorithm: Box<dyn Algorithm>| {
        let kept = Counted::keep(algorithm);
        let config =
            KernelConfig { page_cost_ns: PAGE_COST_NS, ..KernelConfig::linux_2_6(MEMORY_BYTES / PAGE_BYTES) };
        let run = scene.kernel(config, Box::new(kept.share()));
        let counts = kept.get().counts();
        Service { run, counts }
    };
    match who {
        Who::Stock(window_bytes_max) => kernel(stock(window_bytes_max)),
        Who::Adaptive => kernel(Box::new(Ara::new(AraTuning::default()))),
        Who::Forerun => Service { run: scene.ours(), counts: CallCounts::default() },
    }
}

/// The document does not say what its disks were: seven of the time, each below its queue.
fn array() -> Box<dyn Device> {
    let members = (0..MEMBERS).map(|_| historic_ide());
    Box::new(Raid::new(Level::Raid0, CHUNK_BYTES, members.collect()))
}

fn document_table(served: &[Service]) -> Table {
    let mut table = Table::new(
        ["", "unit"]
            .map(Column::word)
            .into_iter()
            .chain(["stock", "adaptive"].map(|name| Column::number(name).below("document")))
            .chain(WHO.map(|(name, _)| Column::number(name).below("simulated, a quarter of the clients"))),
    );
    for row in data::rows("s000_lighttpd") {
        let metric = row.text("metric");
        let figures = served.iter().map(|served| {
            let run = &served.run;
            match metric {
                "clients" => STREAMS.to_string(),
                "avg_ra_size" => format!("{:.0}", served.window_pages()),
                "avg_io_size" => format!("{:.1}", served.io_sectors()),
                "cpu_iowait" => format!("{:.1}", served.waited_percent()),
                "disk_util" => format!("{:.2}", served.percent(run.device.busy_ns)),
                "net_bw" => format!("{:.1}", served.mb_per_s(run.read_bytes)),
                _ => format!("{:.1}", served.mb_per_s(run.device.read_bytes)),
            }
        });
        let document = ["metric", "unit", "stock", "adaptive"].map(|column| row.text(column).to_owned());
        table.row(document.into_iter().chain(figures));
    }
    table
}

fn replay_table(served: &[Service]) -> Table {
    let mut table = Table::new([
        Column::word("lighttpd-sendfile-200, replayed"),
        Column::number("pages per window"),
        Column::number("sectors per I/O"),
        Column::number("waited s"),
        Column::number("disk busy s"),
        Column::number("fetched / read"),
    ]);
    for ((name, _), served) in WHO.iter().zip(served) {
        let run = &served.run;
        let waited: u64 = run.clients.iter().map(|client| client.waited_ns).sum();
        table.row([
            (*name).to_owned(),
            format!("{:.1}", served.window_pages()),
            format!("{:.1}", served.io_sectors()),
            format!("{:.2}", waited as f64 / 1e9),
            format!("{:.2}", run.device.busy_ns as f64 / 1e9),
            format!("{:.3}", (run.demand_bytes + run.readahead_bytes) as f64 / run.read_bytes as f64),
        ]);
    }
    table
}

/// Why ratios are other than the document's.
const DISKS: &str = "perhaps: its disks, memory and largest windows are not in the document. Its queues merged the \
    requests of stock: 155 sectors are more than 15 pages";

fn claims(simulated: &[Service], replayed: &[Service]) -> Vec<Claim> {
    let windows = |served: &Service| served.window_pages().round();
    let stock_1m = "with windows of 1 MiB it does not collapse in the model. Perhaps memory cannot hold its \
    readahead, and most is read again";
    let mut claims = vec![
        Claim::within(
            "stock 128K: pages of a window, 15 in the document",
            windows(&simulated[0]),
            8.0,
            20.0,
            "",
        ),
        Claim::within(
            "stock 1M: pages of a window, 15 in the document",
            windows(&simulated[1]),
            8.0,
            20.0,
            stock_1m,
        ),
        Claim::within(
            "adaptive: pages of a window, 228 in the document",
            windows(&simulated[2]),
            150.0,
            256.0,
            "",
        ),
    ];
    for (at, name) in [(0, "stock 128K"), (1, "stock 1M")] {
        let ratio = |each: &dyn Fn(&Service) -> f64| each(&simulated[2]) / each(&simulated[at]);
        for (what, low, high, seen) in [
            ("size of an I/O, 1.39", 1.2, 1.6, ratio(&Service::io_sectors)),
            ("disk busy, 0.74", 0.6, 0.9, ratio(&|served| served.percent(served.run.device.busy_ns))),
            ("network, 1.17", 1.0, 1.3, ratio(&|served| served.mb_per_s(served.run.read_bytes))),
        ] {
            claims.push(Claim::within(
                format!("adaptive / {name}: {what} in the document"),
                seen,
                low,
                high,
                DISKS,
            ));
        }
    }
    let short =
        "perhaps: the recording's files have 3 MB, and many of its windows are the first ones of a file";
    claims.extend([
        Claim::within("recording, stock 128K: pages of a window", windows(&replayed[0]), 8.0, 20.0, ""),
        Claim::within("recording, stock 1M: pages of a window", windows(&replayed[1]), 8.0, 20.0, ""),
        Claim::within("recording, adaptive: pages of a window", windows(&replayed[2]), 150.0, 256.0, short),
        Claim::within(
            "clients, Forerun / stock 128K: disk busy",
            simulated[3].run.device.busy_ns as f64 / simulated[0].run.device.busy_ns as f64,
            0.0,
            0.74,
            "",
        ),
    ]);
    claims
}

fn recorded() -> Arc<[Access]> {
    let reader = Reader::new(RECORDING, "lighttpd-sendfile-200", ReadOptions::default());
    let accesses = reader.expect("the samples are whole");
    accesses.map(|access| access.expect("the samples are whole")).collect()
}

fn replay_of(accesses: &Arc<[Access]>) -> Box<dyn Source> {
    let scan = Scan::of(accesses.iter());
    let accesses = Arc::clone(accesses);
    let each = (0..accesses.len()).map(move |at| accesses[at].clone());
    Box::new(Replay::new(each, scan, Pace::Recorded))
}
