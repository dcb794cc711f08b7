//! Seed 001: readahead that nobody waits for is held back by a plugged queue.
//!
//! iozone reads a file on each of many disks. No reader waits yet for a window that a mark starts.
//! So nothing unplugs the queue of Linux 2.6.30 until the reader has used up its pages.
//= seed 001

mod blktrace;
mod host;

use std::cell::Cell;
use std::convert::Infallible;
use std::rc::Rc;

use forerun_engine::Config;
use forerun_policies::kernel::OnDemand;
use forerun_sim::device::{Device, Level, Preset, Raid};
use forerun_sim::kernel::{KernelConfig, KernelWorld, Unplug};
use forerun_sim::queue::{Linus, Plug, Queue};
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Clients, ObjectId, Placed, Source};
use forerun_sim::world::World;

use super::scene::{Scene, megabytes, seconds};
use super::{Claim, Findings, data, programs};
use crate::table::{Column, Table};
use crate::work::on_all_cores;
use host::{Disks, Host};

/// The bytes that each process reads.
const FILE_BYTES: u64 = 32 << 20;
const PAGE_BYTES: u64 = 4096;
/// The machine's memory.
const MEMORY_BYTES: u64 = 256 << 20;
/// 1024 sectors, as the traces show them.
const WINDOW_BYTES: u64 = 512 << 10;
/// Every policy of the queue, the first is what was there before.
const UNPLUGS: [Unplug; 3] = [Unplug::WhenWaiting, Unplug::WhenUptodate, Unplug::Always];

/// H1.
pub(super) fn processes() -> Findings {
    let rows = data::rows("s001_unplug");
    let counts: Vec<usize> = rows.iter().map(|row| row.number("processes") as usize).collect();
    let cells: Vec<(usize, Option<Unplug>)> = counts
        .iter()
        .flat_map(|count| UNPLUGS.iter().map(|unplug| (*count, Some(*unplug))).chain([(*count, None)]))
        .collect();
    let rates = on_all_cores(&cells, |(count, unplug)| {
        let run = match unplug {
            Some(unplug) => kernel(*count, *unplug),
            None => ours(*count),
        };
        Ok::<_, Infallible>(megabytes(run.read_bytes) / seconds(run.elapsed_ns))
    })
    .unwrap_or_default();
    let mut table = Table::new([
        Column::number("processes"),
        Column::number("gain %").below("document"),
        Column::number("plugged MB/s").below("simulated"),
        Column::number("if uptodate MB/s").below("simulated"),
        Column::number("gain %").below("simulated"),
        Column::number("always MB/s").below("simulated"),
        Column::number("gain %").below("simulated"),
        Column::number("Forerun MB/s"),
        Column::number("bound MB/s"),
    ]);
    let mut gains = Vec::new();
    for (row, rate) in rows.iter().zip(rates.chunks(UNPLUGS.len() + 1)) {
        let count = row.number("processes");
        let gain = |at: usize| (rate[at] / rate[0] - 1.0) * 100.0;
        table.row([
            format!("{count:.0}"),
            row.text("throughput_gain_percent").to_owned(),
            format!("{:.0}", rate[0]),
            format!("{:.0}", rate[1]),
            format!("{:.1}", gain(1)),
            format!("{:.0}", rate[2]),
            format!("{:.1}", gain(2)),
            format!("{:.0}", rate[3]),
            format!("{:.0}", host::bound_mb_per_s(count)),
        ]);
        gains.push(Gain {
            document: row.number("throughput_gain_percent"),
            uptodate: gain(1),
            always: gain(2),
            ours: rate[3] / rate[2],
        });
    }
    let mut tables = vec![table];
    let mut claims = gain_claims(&gains);
    for (pattern, unplug) in [("old", Unplug::WhenWaiting), ("new", Unplug::WhenUptodate)] {
        let (table, claim) = blktrace::compare(pattern, &blktrace::record(unplug));
        tables.push(table);
        claims.push(claim);
    }
    Findings { tables, claims }
}

/// Gains in percent over the plugged queue, and Forerun's throughput over the one that
/// is always unplugged.
struct Gain {
    document: f64,
    uptodate: f64,
    always: f64,
    ours: f64,
}

fn gain_claims(gains: &[Gain]) -> Vec<Claim> {
    let list = |each: fn(&Gain) -> f64| {
        gains.iter().map(|gain| format!("{:.1}", each(gain))).collect::<Vec<_>>().join(" ")
    };
    let (document, uptodate) = (list(|gain| gain.document), list(|gain| gain.uptodate));
    let falls = gains.windows(2).all(|two| two[1].uptodate <= two[0].uptodate + 1.0);
    let none_left = gains.iter().rev().take(2).all(|gain| gain.uptodate.abs() <= 3.0);
    let alike = gains.iter().all(|gain| (gain.uptodate - gain.always).abs() <= 3.0);
    let near = |gain: &Gain| {
        let ratio = (100.0 + gain.uptodate) / (100.0 + gain.document);
        (0.85..=1.15).contains(&ratio)
    };
    let far = gains.iter().filter(|gain| !near(gain)).count();
    let as_fast = gains.iter().map(|gain| gain.ours).fold(f64::INFINITY, f64::min);
    vec![
        Claim::that(
            format!("unplugging never gains more (by 1 or more) with more processes, in %: {document}"),
            uptodate.clone(),
            falls,
            "",
        ),
        Claim::that("32 and 64 processes gain nothing, to 3 %", uptodate.clone(), none_left, ""),
        Claim::that(
            "unplugging only if the page is up to date gains as much as always, to 3 %",
            list(|gain| gain.always),
            alike,
            "",
        ),
        Claim::that(
            "throughput over that of the plugged queue, each row to 15 %",
            format!("{far} of {} are not: {uptodate}", gains.len()),
            far == 0,
            "the model's processors are free until all are busy; the document does not tell what else 2 to \
    16 processes share",
        ),
        Claim::that(
            "Forerun is at least 0.95 times as fast as an unplugged queue, at its worst",
            format!("{as_fast:.3}"),
            as_fast >= 0.95,
            "",
        ),
    ]
}

fn config(unplug: Unplug) -> KernelConfig {
    KernelConfig { unplug, ..KernelConfig::linux_2_6(MEMORY_BYTES / PAGE_BYTES) }
}

fn algorithm(window_bytes: u64) -> Box<OnDemand> {
    Box::new(OnDemand::linux_2_6_31(window_bytes / PAGE_BYTES))
}

fn disk() -> Box<dyn Device> {
    Preset::from_name("fc-2010").expect("a preset").build(1)
}

fn queue(disk: Box<dyn Device>) -> Queue {
    Queue::new(disk, Box::new(Linus::default()), Plug::Historic)
}

/// Linux 2.6.31 with so many processes.
fn kernel(count: usize, unplug: Unplug) -> Run {
    let turn = Rc::new(Cell::new(0));
    let disks = Disks::new((0..count).map(|_| Box::new(queue(disk())) as Box<dyn Device>), Rc::clone(&turn));
    let world = KernelWorld::new(config(unplug), algorithm(WINDOW_BYTES), Box::new(disks));
    world.run(&mut Host::new(count, FILE_BYTES, turn)).expect("nobody hangs in an experiment")
}

/// Forerun above disks without plugs.
fn ours(count: usize) -> Run {
    let turn = Rc::new(Cell::new(0));
    let disks = Disks::new((0..count).map(|_| disk()), Rc::clone(&turn));
    let world = World::new(Config::new(MEMORY_BYTES), Box::new(disks)).expect("experiments' budgets work");
    world.run(&mut Host::new(count, FILE_BYTES, turn)).expect("nobody hangs in an experiment")
}

/// The bytes that H2's dd reads, in windows of 128 KiB.
const ARRAY_FILE_BYTES: u64 = 256 << 20;
const ARRAY_WINDOW_BYTES: u64 = 128 << 10;
/// The size to which md cuts requests.
const CHUNK_BYTES: u64 = 64 << 10;
const MEMBERS: usize = 7;
/// The cost of a page for processors of that time. Whether a piece has arrived when its
/// reader comes is a matter of microseconds: one alone would tell little.
const PAGE_COSTS_NS: [u64; 5] = [1000, 1500, 2000, 3000, 4000];

/// H2.
pub(super) fn arrays() -> Findings {
    let mut table = Table::new([
        Column::word("7 disks as"),
        Column::number("gain").below("document"),
        Column::number("plugged MB/s").below("simulated, a mean of 5 processors"),
        Column::number("if uptodate MB/s").below("simulated, a mean of 5 processors"),
        Column::number("gain").below("simulated, a mean of 5 processors"),
        Column::number("least").below("simulated, a mean of 5 processors"),
        Column::number("most").below("simulated, a mean of 5 processors"),
        Column::number("Forerun MB/s"),
        Column::number("bound MB/s"),
    ]);
    let mut claims = Vec::new();
    for (name, level, document) in [("RAID-0", Level::Raid0, 1.086), ("RAID-5", Level::Raid5, 1.067)] {
        let rates = on_all_cores(&PAGE_COSTS_NS, |cost_ns| Ok::<_, Infallible>(array_rates(level, *cost_ns)))
            .unwrap_or_default();
        let mean = |each: &dyn Fn(&[f64; 3]) -> f64| rates.iter().map(each).sum::<f64>() / rates.len() as f64;
        let gains = rates.iter().map(|rate| rate[1] / rate[0]);
        let gain = mean(&|rate| rate[1]) / mean(&|rate| rate[0]);
        table.row([
            name.to_owned(),
            format!("{document:.3}"),
            format!("{:.1}", mean(&|rate| rate[0])),
            format!("{:.1}", mean(&|rate| rate[1])),
            format!("{gain:.3}"),
            format!("{:.3}", gains.clone().fold(f64::INFINITY, f64::min)),
            format!("{:.3}", gains.fold(0.0, f64::max)),
            format!("{:.1}", mean(&|rate| rate[2])),
            format!("{:.1}", array_bound_mb_per_s(level)),
        ]);
        let what =
            format!("{name}: gain of unplugging if the page is up to date, {document:.3} in the document");
        claims.push(Claim::within(what, gain, 1.03, 1.15, ""));
    }
    Findings { tables: vec![table], claims }
}

/// MB/s of dd with the queue plugged, with it unplugged if the page is up to date, and
/// with Forerun.
fn array_rates(level: Level, page_cost_ns: u64) -> [f64; 3] {
    let placed = Placed { address: 0, size: ARRAY_FILE_BYTES };
    let dd = || -> Box<dyn Source> {
        let read = |extent| Action::read(ObjectId(0), extent);
        let reads = programs::forward(ARRAY_FILE_BYTES, PAGE_BYTES).map(read);
        Box::new(Clients::new(vec![placed], vec![Box::new(reads)]))
    };
    let scene = Scene {
        source: &dd,
        device: &|| array(level),
        memory_bytes: MEMORY_BYTES,
        read_cost_ns: page_cost_ns,
    };
    let rate = |run: Run| megabytes(run.read_bytes) / seconds(run.elapsed_ns);
    let by = |unplug| {
        let config = KernelConfig { request_bytes_max: CHUNK_BYTES, page_cost_ns, ..config(unplug) };
        rate(scene.kernel(config, algorithm(ARRAY_WINDOW_BYTES)))
    };
    [by(Unplug::WhenWaiting), by(Unplug::WhenUptodate), rate(scene.ours())]
}

/// All disks that have data deliver all the time.
fn array_bound_mb_per_s(level: Level) -> f64 {
    let data_count = if level == Level::Raid0 { MEMBERS } else { MEMBERS - 1 };
    let disk = Preset::from_name("ide-2006").expect("a preset").costs();
    megabytes(disk.bytes_per_s_max) * data_count as f64
}

fn array(level: Level) -> Box<dyn Device> {
    let disk = || Preset::from_name("ide-2006").expect("a preset").build(1);
    let members = (0..MEMBERS).map(|_| Box::new(queue(disk())) as Box<dyn Device>);
    Box::new(Raid::new(level, CHUNK_BYTES, members.collect()))
}
