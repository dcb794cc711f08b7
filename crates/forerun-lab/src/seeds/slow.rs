//! Seed 000: hundreds of slow readers in a small memory.
//!
//! The readahead for one of them waits long for its reader, and must survive until then. The
//! document links the mail with the experiment: 800 files of 2 MB, each read at 1 KB/s, on a
//! machine with 64 MB.
//= seed 000

mod kernels;
mod memory;
mod steady;

use std::convert::Infallible;

use forerun_policies::kernel::{Algorithm, AraClass, AraEvent};
use forerun_sim::device::{Device, Preset};
use forerun_sim::run::Run;

use super::scene::{Inspected, megabytes};
use super::{Claim, Findings, data};
use crate::slow_readers::{
    PAGE_BYTES, Readahead, SlowReaders, amplification, careful, fetch_count, fetched_bytes, per_page,
};
use crate::table::{Column, Table};
use crate::work::on_all_cores;
use kernels::KERNELS;
pub(super) use memory::memory;

const STREAMS: [usize; 6] = [50, 70, 100, 200, 400, 800];
const FILE_BYTES: u64 = 2 << 20;
const BYTES_PER_S: u64 = 1 << 10;
/// The part of 64 MB of memory that is left for files.
const PAGES: u64 = 7900;

/// C1.
pub(super) fn streams() -> Findings {
    let cells: Vec<(usize, usize)> = (0..=KERNELS.len())
        .flat_map(|kernel| STREAMS.iter().map(move |streams| (kernel, *streams)))
        .collect();
    let runs = on_all_cores(&cells, |(kernel, streams)| {
        let algorithm = KERNELS.get(*kernel).map(|kernel| (kernel.algorithm)());
        Ok::<_, Infallible>(run(*streams, algorithm))
    })
    .unwrap_or_default();
    let rows: Vec<&[Run]> = runs.chunks(STREAMS.len()).collect();
    let author = author();
    Findings {
        tables: vec![amplifications(&rows), requests(&rows), author.0],
        claims: claims(&rows, author.1),
    }
}

/// `count` streams, with a kernel's algorithm or with Forerun.
fn run(count: usize, algorithm: Option<Box<dyn Algorithm>>) -> Run {
    let readers = SlowReaders { count, file_bytes: FILE_BYTES, bytes_per_s: BYTES_PER_S, has_server: false };
    readers.run(&fast, PAGES * PAGE_BYTES, algorithm.map_or_else(Readahead::ours, Readahead::Linux))
}

/// Never busy: what is read twice is a matter of memory alone.
fn fast() -> Box<dyn Device> {
    Preset::from_name("nvme").expect("a preset").build(1)
}

fn name_of(kernel: usize) -> &'static str {
    KERNELS.get(kernel).map_or("Forerun", |kernel| kernel.name)
}

fn amplifications(rows: &[&[Run]]) -> Table {
    let groups = STREAMS.map(|streams| format!("{streams} streams"));
    let columns = groups
        .iter()
        .flat_map(|group| [Column::number("known").below(group), Column::number("simulated").below(group)]);
    let mut table = Table::new([Column::word("pages fetched per page read")].into_iter().chain(columns));
    for (kernel, runs) in rows.iter().enumerate() {
        let expected = KERNELS.get(kernel).map_or([None; 6], |kernel| kernel.expected);
        let cells = runs.iter().zip(expected).flat_map(|(run, expected)| {
            let expected = expected.map_or_else(String::new, |expected| format!("{expected:.2}"));
            [expected, format!("{:.3}", amplification(run))]
        });
        table.row([name_of(kernel).to_owned()].into_iter().chain(cells));
    }
    table
}

/// The work for the most streams; the author's disk did 57 to 72 requests/s for the adaptive
/// readahead.
fn requests(rows: &[&[Run]]) -> Table {
    let mut table = Table::new([
        Column::word("800 streams"),
        Column::number("requests per page"),
        Column::number("pages per request"),
        Column::number("waits per page"),
        Column::number("thrashed pages"),
        Column::number("requests/s"),
        Column::number("memory MB"),
    ]);
    for (kernel, runs) in rows.iter().enumerate() {
        let run = &runs[STREAMS.len() - 1];
        let is_kernel = kernel < KERNELS.len();
        table.row([
            name_of(kernel).to_owned(),
            format!("{:.3}", per_page(run)),
            format!("{:.1}", fetched_bytes(run) as f64 / PAGE_BYTES as f64 / fetch_count(run) as f64),
            format!("{:.3}", (run.late_bytes + run.miss_bytes) as f64 / run.read_bytes as f64),
            if is_kernel { run.thrash_count.to_string() } else { String::new() },
            format!("{:.0}", fetch_count(run) as f64 * 1e9 / run.elapsed_ns as f64),
            format!("{:.1}", megabytes(run.memory_bytes_peak)),
        ]);
    }
    table
}

/// The algorithm's own counters for 800 streams, beside the author's, and the share of its requests
/// that thrashed.
fn author() -> (Table, f64) {
    let kept = Inspected::new(careful(50));
    run(800, Some(Box::new(kept.share())));
    let ara = kept.get();
    let events = ara.events();
    let mut table = Table::new([
        Column::word("adaptive, ratio 50, 800 streams"),
        Column::number("author"),
        Column::number("simulated"),
    ]);
    let total = |event| events.total(event);
    let of = |class| {
        let tally = events.of(class, AraEvent::Readahead);
        format!("{} / {}", tally.count, tally.pages)
    };
    let requests = total(AraEvent::Readahead);
    let thrashed = total(AraEvent::ReadaheadThrash).count;
    let share = thrashed as f64 / requests.count as f64;
    for (name, author, seen) in [
        ("readahead requests / pages", "128500 / 410126", format!("{} / {}", requests.count, requests.pages)),
        ("of them read", "409948", total(AraEvent::ReadaheadHit).pages.to_string()),
        ("thrashed requests", "191", thrashed.to_string()),
        ("thrashed, % of requests", "0.15", format!("{:.2}", share * 100.0)),
        ("rescues", "1412", total(AraEvent::ReadaheadRescue).count.to_string()),
        ("cache misses", "93123", total(AraEvent::CacheMiss).count.to_string()),
        ("start of a file", "967 / 3719", of(AraClass::Initial)),
        ("with a valid state", "34601 / 34906", of(AraClass::State)),
        ("from the cache", "92132 / 368301", of(AraClass::Context)),
        ("from the cache, faster", "800 / 3200", of(AraClass::ContextAggressive)),
        ("after thrashing", "", of(AraClass::Thrashing)),
    ] {
        table.row([name.to_owned(), author.to_owned(), seen]);
    }
    (table, share)
}

fn claims(rows: &[&[Run]], thrashed: f64) -> Vec<Claim> {
    let figure = &data::rows("s000_claims/800 slow streams in 64 MB of memory without thrashing")[0];
    let last = STREAMS.len() - 1;
    let at_last = |kernel: usize| amplification(&rows[kernel][last]);
    let mut claims = vec![Claim::within(
        format!("800 streams, adaptive: share of requests that thrashed in % ({})", figure.text("value")),
        thrashed * 100.0,
        0.0,
        0.5,
        THRASHED,
    )];
    // The last row is Forerun's.
    let stock_limit = STREAMS.iter().zip(rows[0]).take_while(|(_, run)| amplification(run) <= 1.05).last();
    claims.push(Claim::within(
        "stock with 128K windows does not thrash with so many streams, 70 in the mail",
        stock_limit.map_or(0.0, |(streams, _)| *streams as f64),
        50.0,
        100.0,
        "",
    ));
    for kernel in [9, 10] {
        let what = format!("800 streams, {}: pages fetched per page", name_of(kernel));
        claims.push(Claim::within(what, at_last(kernel), 1.0, 1.03, ""));
    }
    for kernel in [0, 1, 2, 3] {
        let what = format!("800 streams, {}: pages fetched per page", name_of(kernel));
        claims.push(Claim::within(what, at_last(kernel), 1.9, 2.1, FALLBACK));
    }
    for (kernel, runs) in KERNELS.iter().zip(rows) {
        let far = |(run, expected): (&Run, Option<f64>)| {
            expected.is_some_and(|expected| {
                let seen = amplification(run);
                seen < expected * 0.75 || seen > expected * 1.25
            })
        };
        let count = runs.iter().zip(kernel.expected).filter(|(run, expected)| far((run, *expected))).count();
        claims.push(Claim::that(
            format!("{}: each number of streams within 25 % of what is known", kernel.name),
            format!("{count} of 5 are not"),
            count == 0,
            FAR,
        ));
    }
    let ours = &rows[KERNELS.len()][last];
    claims.push(Claim::within(
        "800 streams, Forerun: pages fetched per page",
        amplification(ours),
        1.0,
        1.005,
        "",
    ));
    claims.push(Claim::within("800 streams, Forerun: requests per page", per_page(ours), 0.0, 0.13, ""));
    claims
}

/// Why a claim does not hold.
const THRASHED: &str = "the mail is of the version of 2005: most of its windows came from the cache, and those of \
    version 16 come from its state";
const FALLBACK: &str = "the known number is of windows that never shrink: those reach it here too, with as many \
    requests. In 2.6.10 a window after a miss has two pages less, so that windows shrink to four \
    within 512 pages. These and the four ahead of them are read in the time of eight pages, and \
    memory keeps a page for six. About half are read before they are evicted";
const FAR: &str = "perhaps: so many streams with windows of 1 MiB barely fit into memory";
