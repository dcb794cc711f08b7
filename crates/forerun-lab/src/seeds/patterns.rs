//! Seed 000: sparse and backward reads.
//!
//! A file of 100 MB, cold, with memory enough. The array of the document is not known. A store that
//! serves one request after the other, each with 8 ms and 200 MB/s, has its gain. Five disks with
//! buffers of their own do not. For the bound the first counts as a disk, since passing over bytes
//! costs less there than another request. The clairvoyant schedule is the best that was found, not
//! the best there is.
//= seed 000

use forerun_sim::device::{Costs, Device, Preset};
use forerun_sim::kernel::KernelConfig;
use forerun_sim::run::Run;
use forerun_sim::source::{Clients, Extent, Placed, Source};

use super::pairs::{self, Pair, Times};
use super::scene::{self, Scene, adaptive, seconds, stock};
use super::{Claim, Findings, programs};
use crate::table::{Column, Table};

pub(super) const PAGE_BYTES: u64 = 4096;
const FILE: Placed = Placed { address: 0, size: 100 << 20 };
/// The machine's memory.
const PAGES: u64 = 120_000;
/// The cost of a page for the processor of that time.
const PAGE_COST_NS: u64 = 3000;
/// An array as it may have been: no geometry is told.
const ARRAY: &str = "network:latency=8ms,connection=200MB/s,total=200MB/s,connections=1";
const GAPS: [u64; 6] = [2, 4, 8, 16, 32, 64];

/// Requests are whole windows, so that they can be counted.
pub(super) fn config() -> KernelConfig {
    KernelConfig { page_cost_ns: PAGE_COST_NS, request_bytes_max: 1 << 20, ..KernelConfig::linux_2_6(PAGES) }
}

pub(super) fn scene<'a>(
    source: &'a (dyn Fn() -> Box<dyn Source> + Sync),
    device: &'a (dyn Fn() -> Box<dyn Device> + Sync),
) -> Scene<'a> {
    Scene { source, device, memory_bytes: PAGES * PAGE_BYTES, read_cost_ns: PAGE_COST_NS }
}

/// F1: one page of every few.
pub(super) fn sparse() -> Findings {
    let mut table = Table::new([
        Column::word("device"),
        Column::number("1 page of"),
        Column::number("stock s"),
        Column::number("hit rate 0 s").below("adaptive"),
        Column::number("hit rate 8 s").below("adaptive"),
        Column::number("MB/s passed").below("adaptive"),
        Column::number("gain").below("adaptive"),
        Column::number("s").below("Forerun"),
        Column::number("gain").below("Forerun"),
        Column::number("requests").below("Forerun"),
        Column::number("MB").below("Forerun"),
        Column::number("clairvoyant s").below("bound"),
        Column::number("lower s").below("bound"),
    ]);
    let mut claims = Vec::new();
    for (device, expected) in [(ARRAY, [76.0, 38.0, 19.0, 9.5, 1.0, 1.0]), ("raid5", [0.0; 6])] {
        let preset = Preset::from_name(device).expect("a preset");
        let title = if device == ARRAY { "8 ms, 200 MB/s" } else { "5 disks" };
        for (gap, expected) in GAPS.into_iter().zip(expected) {
            let seen = sparse_row(&preset, gap, title, &mut table);
            if expected > 0.0 {
                let what = format!("1 page of {gap}, {title}: stock / hit rate 8, {expected} by reckoning");
                claims.push(Claim::within(what, seen.adaptive, expected * 0.9, expected * 1.1, ""));
            } else if gap == 4 || gap == 8 {
                let what = format!("1 page of {gap}, {title}: stock / hit rate 8, 40 in the document");
                claims.push(Claim::within(what, seen.adaptive, 20.0, 80.0, ARRAYS_DIFFER));
            }
            let what = format!("1 page of {gap}, {title}: Forerun gains as much as adaptive readahead");
            let text = format!("{:.1} and {:.1}", seen.ours, seen.adaptive);
            claims.push(Claim::that(what, text, seen.ours >= seen.adaptive * 0.99, ""));
        }
    }
    Findings { tables: vec![table], claims }
}

const ARRAYS_DIFFER: &str = "the disks of this array have buffers that read ahead by themselves, so that stock is fast too; \
    the document's array is not known";

/// How many times faster than stock.
struct Gains {
    adaptive: f64,
    ours: f64,
}

fn sparse_row(preset: &Preset, gap: u64, title: &str, table: &mut Table) -> Gains {
    let source = move || -> Box<dyn Source> {
        let extents = (0..FILE.size).step_by((gap * PAGE_BYTES) as usize);
        Box::new(programs::read_all(FILE, extents.map(|at| Extent::new(at, PAGE_BYTES))))
    };
    let device = || preset.build(1);
    let scene = scene(&source, &device);
    let run = |algorithm| seconds(scene.kernel(config(), algorithm).elapsed_ns);
    let (old, careful, bold) = (run(stock(1 << 20)), run(adaptive(0)), run(adaptive(8)));
    // Its requests do not overlap: what is passed over is cheaper than another one.
    let costs = Costs { is_disk: true, ..preset.costs() };
    let bounds = scene.bounds(costs);
    let run = scene.ours();
    let ours = seconds(run.elapsed_ns);
    table.row([
        title.to_owned(),
        gap.to_string(),
        format!("{old:.2}"),
        format!("{careful:.2}"),
        format!("{bold:.2}"),
        format!("{:.0}", scene::megabytes(FILE.size) / bold),
        format!("{:.1}", old / bold),
        format!("{ours:.2}"),
        format!("{:.1}", old / ours),
        run.device.read_count.to_string(),
        format!("{:.0}", scene::megabytes(run.device.read_bytes)),
        format!("{:.2}", seconds(bounds.clairvoyant_ns)),
        format!("{:.2}", seconds(bounds.lower_ns)),
    ]);
    Gains { adaptive: old / bold, ours: old / ours }
}

/// F2: from the end to the beginning.
pub(super) fn backward() -> Findings {
    let mut pairs = Vec::new();
    let mut counts = Table::new(["read", "stock", "adaptive", "Forerun"].map(Column::number));
    let mut claims = Vec::new();
    for (key, len, band, expected) in
        [("64k", 64 << 10, (0.576, 0.704), (1600, 103)), ("4k", 4 << 10, (0.340, 0.416), (25_600, 105))]
    {
        let source = move || boxed(programs::read_all(FILE, programs::backward(FILE.size, len)));
        let forward = move || boxed(programs::read_all(FILE, programs::forward(FILE.size, len)));
        let scene = scene(&source, &scene::historic_ide);
        let old = scene.kernel(config(), stock(1 << 20));
        let new = scene.kernel(config(), adaptive(1));
        let (old_count, new_count) = (asked(&old), asked(&new));
        counts.row([
            key.to_owned(),
            old_count.to_string(),
            new_count.to_string(),
            asked(&scene.ours()).to_string(),
        ]);
        claims.push(Claim::that(
            format!("{key} backward: {} requests become {}", expected.0, expected.1),
            format!("{old_count} become {new_count}"),
            (old_count, new_count) == expected,
            "",
        ));
        let times = Times {
            stock: seconds(old.elapsed_ns),
            adaptive: seconds(new.elapsed_ns),
            ..Times::without_kernels(&scene, scene::ide().costs())
        };
        let forward = seconds(self::scene(&forward, &scene::historic_ide).ours().elapsed_ns);
        let what = format!("{key}: Forerun backward / forward");
        claims.push(Claim::within(what, times.ours / forward, 0.0, 1.1, NOT_BACKWARD));
        let why = DRIVE_DIFFERS;
        pairs.push(Pair { key: (key, ""), times, band, why, ours_max: band.1, why_ours: NOT_BACKWARD });
    }
    let mut findings = pairs::findings("s000_pairs/backward", &pairs);
    findings.tables.push(counts);
    findings.claims.extend(claims);
    findings
}

const NOT_BACKWARD: &str = "perhaps: Forerun reads backward in leaps, and each leap costs the disk a movement that forward \
    reads do not";
const DRIVE_DIFFERS: &str = "both reads make adaptive readahead request the same windows. By its 4.49 s the document's file \
    for 4k thus has 177 MB, and a page costs stock readahead 0.26 ms. Here it costs 0.20 ms, of \
    which 0.09 are a hit in the drive's buffer. The model leaves out the processor time of 2006 for \
    each request, since no document tells it. By these two it was 0.06 ms";

/// Requests of a kernel or of Forerun, before anything is merged.
fn asked(run: &Run) -> u64 {
    run.demand_count + run.readahead_count
}

pub(super) fn boxed(clients: Clients<'static>) -> Box<dyn Source> {
    Box::new(clients)
}
