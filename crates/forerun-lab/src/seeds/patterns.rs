//! Seed 000: sparse and backward reads, and file systems in a file.
//!
//! A file of 100 MB, cold, with memory enough. The array of the document is not known: a
//! store that serves one request after the other, each with 8 ms and 200 MB/s, comes to
//! its gain, five disks with buffers of their own do not. For the bound the first counts as
//! a disk, since passing over bytes costs less there than another request. The clairvoyant
//! schedule is the best that was found, not the best there is.
//= seed 000

use forerun_engine::kernel::{Algorithm, Ara, AraTuning};
use forerun_sim::device::{Costs, Device, Preset};
use forerun_sim::kernel::KernelConfig;
use forerun_sim::run::Run;
use forerun_sim::source::{Clients, Extent, Placed, Source};

use super::contender::{self, Scene, adaptive, seconds, stock};
use super::daily::{APART_BYTES, TREES_MAX};
use super::images::Images;
use super::pairs::{self, Pair, Times};
use super::{Claim, Findings, workloads};
use crate::table::{Column, Table};

const PAGE_BYTES: u64 = 4096;
const FILE: Placed = Placed { address: 0, size: 100 << 20 };
/// The machine's memory.
const PAGES: u64 = 120_000;
/// What a page costs the processor of that time.
const PAGE_COST_NS: u64 = 3000;
/// An array as it may have been: no geometry is told.
const ARRAY: &str = "network:latency=8ms,connection=200MB/s,total=200MB/s,connections=1";
const GAPS: [u64; 6] = [2, 4, 8, 16, 32, 64];

/// Requests are whole windows, so that they can be counted.
fn config() -> KernelConfig {
    KernelConfig { page_cost_ns: PAGE_COST_NS, request_bytes_max: 1 << 20, ..KernelConfig::linux_2_6(PAGES) }
}

fn scene<'a>(
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
        Box::new(workloads::read_all(FILE, extents.map(|at| Extent::new(at, PAGE_BYTES))))
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
        format!("{:.0}", contender::megabytes(FILE.size) / bold),
        format!("{:.1}", old / bold),
        format!("{ours:.2}"),
        format!("{:.1}", old / ours),
        run.device.read_count.to_string(),
        format!("{:.0}", contender::megabytes(run.device.read_bytes)),
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
        let source = move || boxed(workloads::read_all(FILE, workloads::backward(FILE.size, len)));
        let forward = move || boxed(workloads::read_all(FILE, workloads::forward(FILE.size, len)));
        let scene = scene(&source, &contender::historic_ide);
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
            ..Times::without_kernels(&scene, contender::ide().costs())
        };
        let forward = seconds(self::scene(&forward, &contender::historic_ide).ours().elapsed_ns);
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

/// F3: trees in two mounted images: one is read, or both are compared.
pub(super) fn loop_mounted() -> Findings {
    let trees = workloads::with_copies(&workloads::tree(TREE_BYTES, TREE_MEDIAN_BYTES, 1), IMAGE_BYTES);
    let first = &trees[..trees.len() / 2];
    let grep = || boxed(workloads::grep_r(first));
    let diff = || boxed(workloads::diff_r(&trees));
    let bytes: u64 = first.iter().map(|file| file.size.next_multiple_of(PAGE_BYTES)).sum();
    let mut claims = Vec::new();
    let mut row = |key, source: &(dyn Fn() -> Box<dyn Source> + Sync), band, bytes: u64| {
        let (old, new) = (|| mounted(|| stock(128 << 10)), || mounted(below));
        let old_run = scene(source, &old).kernel(config(), stock(128 << 10));
        let new_run = scene(source, &new).kernel(config(), adaptive(1));
        let times = Times {
            stock: seconds(old_run.elapsed_ns),
            adaptive: seconds(new_run.elapsed_ns),
            ..Times::without_kernels(&scene(source, &old), contender::ide().costs())
        };
        let share = new_run.device.read_bytes as f64 / bytes as f64;
        let what = format!("{key}: bytes from the disk / bytes of the files, adaptive above and below");
        claims.push(Claim::within(what, share, 0.0, 1.05, ""));
        Pair { key: (key, ""), times, band, why: TREES_DIFFER, ours_max: 1.01, why_ours: ONE_DIRECTORY }
    };
    let grep = row("grep -r", &grep, (0.92, 1.02), bytes);
    let diff = Pair { ours_max: TREES_MAX, ..row("diff -r", &diff, (0.90, 1.0), 2 * bytes) };
    let pairs = [grep, diff];
    let mut findings = pairs::findings("s000_pairs/loop_mounted_iso", &pairs);
    findings.claims.extend(claims);
    findings
}

const TREES_DIFFER: &str = "below, the stock kernel reads 128 KiB of each image in turn, as in A1; the document does not \
    tell its own setup";
const ONE_DIRECTORY: &str = "a directory has about as many bytes as the kernel below reads ahead of an image at a time, and \
    the files of the next directory are known only once its names were read";
const IMAGE_BYTES: u64 = 64 << 20;
const TREE_BYTES: u64 = 48 << 20;
const TREE_MEDIAN_BYTES: u64 = 16 << 10;

/// The images, which are themselves read with `algorithm`.
fn mounted(algorithm: fn() -> Box<dyn Algorithm>) -> Box<dyn Device> {
    Box::new(Images::new(contender::historic_ide(), IMAGE_BYTES, APART_BYTES[0], config(), algorithm))
}

/// Adaptive readahead of a file that somebody above reads ahead in already.
fn below() -> Box<dyn Algorithm> {
    Box::new(Ara::new(AraTuning { hit_rate: 1, is_loop: true, ..AraTuning::default() }))
}

fn boxed(clients: Clients<'static>) -> Box<dyn Source> {
    Box::new(clients)
}
