//! Seed 003: virtual machines on Ceph RBD, their accesses replayed as fast as
//! possible with each of librbd's strategies.
//!
//! librbd is the engine with librbd's policies on sectors (`sectors.rs`), since
//! librbd caches bytes; Forerun is the engine as it is.
//= seed 003

mod guests;
mod sectors;

use std::sync::Arc;

use forerun_engine::{Config, Event};
use forerun_policies::PolicyKind;
use forerun_sim::device::Preset;
use forerun_sim::source::{Pace, Replay, Scan, Source};
use forerun_sim::world::World;
use forerun_trace::Access;

use super::scene::{Scene, megabytes, seconds};
use super::{Claim, Findings, data};
use crate::table::{Column, Table};
use guests::Guest;
use sectors::{Magnified, Reduced, SCALE};

/// The document's windows, and Ceph's objects.
const WINDOW_BYTES_MAX: u64 = 4 << 20;
/// Enough that a window of 4 MiB is one operation; nothing is read twice.
const CACHE_BYTES: u64 = 128 << 20;
/// The cost of a replayed request for its client besides waiting.
const READ_COST_NS: u64 = 20_000;
/// Repetitions, with different luck.
const SEEDS: u64 = 3;

/// I1.
pub(super) fn boot_ide() -> Findings {
    findings(guests::boot_ide())
}

/// I2.
pub(super) fn boot_virtio() -> Findings {
    findings(guests::boot_virtio())
}

/// I3.
pub(super) fn grep_ide() -> Findings {
    findings(guests::grep_ide())
}

/// I4.
pub(super) fn grep_virtio() -> Findings {
    findings(guests::grep_virtio())
}

/// The outcome of one strategy.
#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    seconds: f64,
    /// Windows asked for, and their bytes.
    operations: u64,
    bytes: u64,
}

fn findings(workload: Guest) -> Findings {
    let name = workload.name;
    let rows = data::rows(&format!("s003_rbd/{name}"));
    let recorded = Series::of(workload.recorded);
    let counted = Series::of(workload.counted);
    let mut table = Table::new(columns());
    for (at, row) in rows.iter().enumerate() {
        let mut cells = vec![row.text("strategy").to_owned(), row.text("time_s").to_owned()];
        cells.push(format!("{:.3}", document_ratio(&rows, at)));
        cells.extend(["ra_ops", "ra_mb"].map(|column| row.text(column).to_owned()));
        cells.extend(recorded.cells(at));
        cells.extend(counted.cells(at));
        table.row(cells);
    }
    for (at, strategy) in ["Forerun", "clairvoyant", "lower bound"].into_iter().enumerate() {
        let mut cells = vec![strategy.to_owned(), String::new(), String::new(), String::new(), String::new()];
        cells.extend(recorded.cells(rows.len() + at));
        cells.extend(counted.cells(rows.len() + at));
        table.row(cells);
    }
    Findings { tables: vec![table], claims: claims(name, &rows, &recorded, &counted) }
}

fn columns() -> impl Iterator<Item = Column> {
    let groups = ["document", "our recording", "made from the document's counts"];
    let below = groups
        .into_iter()
        .flat_map(|group| ["s", "of none", "ops", "MB"].map(move |name| Column::number(name).below(group)));
    std::iter::once(Column::word("strategy")).chain(below)
}

fn document_ratio(rows: &[data::Record], at: usize) -> f64 {
    rows[at].number("time_s") / rows[0].number("time_s")
}

/// Each strategy of librbd, then Forerun and the bounds.
struct Series(Vec<Figures>);

impl Series {
    fn of(accesses: Vec<Access>) -> Series {
        let accesses = Arc::new(accesses);
        let strategies = [PolicyKind::None, PolicyKind::Plain, PolicyKind::Aligned, PolicyKind::Eager];
        let mut figures: Vec<Figures> = strategies.map(|policy| librbd(&accesses, policy)).into();
        let preset = preset();
        let scene = Scene {
            source: &|| replay(&accesses),
            device: &|| preset.build(1),
            memory_bytes: CACHE_BYTES,
            read_cost_ns: READ_COST_NS,
        };
        let ours = scene.ours();
        figures.push(Figures {
            seconds: seconds(ours.elapsed_ns),
            operations: ours.readahead_count,
            bytes: ours.readahead_bytes,
        });
        let bounds = scene.bounds(preset.costs());
        for ns in [bounds.clairvoyant_ns, bounds.lower_ns] {
            figures.push(Figures { seconds: seconds(ns), ..Figures::default() });
        }
        Series(figures)
    }

    fn ratio(&self, at: usize) -> f64 {
        self.0[at].seconds / self.0[0].seconds
    }

    fn cells(&self, at: usize) -> [String; 4] {
        let Figures { seconds, operations, bytes } = self.0[at];
        [
            format!("{seconds:.2}"),
            format!("{:.3}", self.ratio(at)),
            operations.to_string(),
            format!("{:.0}", megabytes(bytes)),
        ]
    }
}

/// Why ratios differ from the document's.
const OTHER_ACCESSES: &str =
    "the document's counts tell neither the mix of reads nor how many are in flight at once";
/// Why Forerun can lose.
const IN_THE_WAY: &str = "in long runs it reads ahead less than librbd, whose first window is ten reads at once. Where \
    runs end, its readahead delays the next read";

fn claims(name: &str, rows: &[data::Record], recorded: &Series, counted: &Series) -> Vec<Claim> {
    let none = rows[0].number("time_s");
    let what = format!("{name}: seconds without readahead, {none:.2} in the document");
    let mut claims =
        vec![Claim::within(what, counted.0[0].seconds, none * 0.88, none * 1.12, OTHER_ACCESSES)];
    for (at, strategy) in ["none", "plain", "aligned", "eager"].into_iter().enumerate().skip(1) {
        let document = document_ratio(rows, at);
        let what = format!("{name}: {strategy} / none, {document:.3} in the document");
        claims.push(Claim::within(what, counted.ratio(at), document - 0.1, document + 0.1, OTHER_ACCESSES));
    }
    let what = format!("{name}: the order is the document's, beyond its margins");
    let seen = (0..4).map(|at| format!("{:.3}", counted.ratio(at))).collect::<Vec<_>>().join(", ");
    claims.push(Claim::that(what, seen, same_order(rows, counted), OTHER_ACCESSES));
    for (series, of) in [(recorded, "recorded"), (counted, "counted")] {
        let best = (0..4).map(|at| series.ratio(at)).fold(1.0, f64::min);
        let ours = series.ratio(4);
        let what = format!("{name}, {of}: Forerun loses no more than 2 % against the best of them");
        let seen = format!("{ours:.3} against {best:.3}");
        claims.push(Claim::that(what, seen, ours <= 1.02 * best, IN_THE_WAY));
    }
    claims
}

/// Whether of any two strategies the one that is slower in the document, by more
/// than the margins of both, is the slower one here.
fn same_order(rows: &[data::Record], series: &Series) -> bool {
    let slower = |slow: usize, fast: usize| {
        let margins = rows[slow].number("margin_s_99_7") + rows[fast].number("margin_s_99_7");
        rows[slow].number("time_s") - rows[fast].number("time_s") > margins
    };
    let mut pairs = (0..4).flat_map(|slow| (0..4).map(move |fast| (slow, fast)));
    pairs.all(|(slow, fast)| !slower(slow, fast) || series.ratio(slow) > series.ratio(fast))
}

/// librbd with one of its strategies, on average over the luck of the network.
fn librbd(accesses: &Arc<Vec<Access>>, policy: PolicyKind) -> Figures {
    let mut figures = Figures::default();
    for seed in 1..=SEEDS {
        let config = Config {
            policy: policy.into(),
            window_bytes_max: WINDOW_BYTES_MAX * SCALE,
            storage_object_bytes: WINDOW_BYTES_MAX * SCALE,
            // A window is one operation per storage object, whatever its size.
            fetch_bytes_min: WINDOW_BYTES_MAX * SCALE,
            fetch_bytes_max: WINDOW_BYTES_MAX * SCALE,
            events_max: 1024,
            ..Config::new(CACHE_BYTES * SCALE)
        };
        let (mut operations, mut bytes) = (0, 0);
        let world = World::new(config, Box::new(Reduced(preset().build(seed)))).expect("the budget works");
        let world = world.read_cost_ns(READ_COST_NS).observe(|event| {
            if let Event::Window { extent, .. } = event {
                operations += 1;
                bytes += extent.len / SCALE;
            }
        });
        let run = world.run(&mut Magnified::new(replay(accesses))).expect("nobody hangs in an experiment");
        figures.seconds += seconds(run.elapsed_ns) / SEEDS as f64;
        (figures.operations, figures.bytes) = (operations, bytes);
    }
    figures
}

fn preset() -> Preset {
    Preset::from_name("rbd-2014").expect("a preset")
}

fn replay(accesses: &Arc<Vec<Access>>) -> Box<dyn Source> {
    let scan = Scan::of(accesses.iter());
    let accesses = Arc::clone(accesses);
    let each = (0..accesses.len()).map(move |at| accesses[at].clone());
    // Recordings do not tell what waited for what: one read after the other.
    let pace = if scan.dependent_count > 0 { Pace::Dependencies { think_percent: 0 } } else { Pace::Closed };
    Box::new(Replay::new(each, scan, pace))
}
