//! Seed 000: what people do every day, on an IDE disk of 2006.
//!
//! Parameters that the document does not tell are the same in all rows. `/lib` has 24 MB with a
//! median of 20 KiB, 8 files to a directory; its blocks of names and inodes lie before its files.
//! The spread of sizes follows from the document. Of the 1.0 s that adaptive readahead takes off
//! its `diff -r`, stock readahead with windows of 1 MiB takes off 0.8 s. Against adaptive
//! readahead, windows of up to 128 KiB cost a movement more for a file of more than 48 KiB. Windows
//! of up to 1 MiB do so for one of 80 to 336 KiB. So most files of more than 48 KiB have less than
//! 80, and the deviation is 1.1 octaves.
//!
//! A copy lies 20 GiB behind its original. At that distance `diff debian.iso` takes as long as in
//! the document with the stock readahead, which is calibration and no evidence. Rows with copies
//! are means over three such distances, a third of a track from each other. With one alone it is
//! luck how the disk is turned after each movement. The elevator is CFQ and the queue is plugged,
//! as was the default.
//= seed 000

use forerun_policies::kernel::Algorithm;
use forerun_sim::device::{Costs, Device, Preset};
use forerun_sim::kernel::KernelConfig;
use forerun_sim::source::{Clients, Placed, Source, place};

use super::pairs::{self, Historic, Pair, Times};
use super::scene::{self, Scene};
use super::trees::{FILES_PER_DIRECTORY, Tree};
use super::{Findings, programs};

/// 2.45 s at the disk's 64 MB/s.
pub(super) const DEBIAN_ISO_BYTES: u64 = 157_000_000;
pub(super) const DSL_ISO_BYTES: u64 = 50 << 20;
/// Read through a file system that has no disk blocks for it.
const SPARSE_BYTES: u64 = 128 << 20;
const LIB_BYTES: u64 = 24 << 20;
const LIB_MEDIAN_BYTES: u64 = 20 << 10;
/// From an original to its copy.
pub(super) const APART_BYTES: [u64; 3] = [20 << 30, (20 << 30) + (200 << 10), (20 << 30) + (400 << 10)];
/// The machine's memory.
pub(super) const PAGES: u64 = 120_000;
/// The cost of a page for the processor of that time.
pub(super) const PAGE_COST_NS: u64 = 3000;
/// The share of stock's time that Forerun takes for trees, where the bound leaves room.
pub(super) const TREES_MAX: f64 = 0.6;
/// Why Forerun takes longer on two objects in turn.
const NOT_SEEK_AWARE: &str = "windows are sized for a busy device, not for few movements of a head";

/// Why adaptive readahead is faster on small files than it was in the document.
const STARTS_LARGER: &str =
    "stock readahead makes one request more of a file of 80 to 336 KiB, and too many are so large";

/// A kernel that reads ahead with `algorithm`.
fn kernel(algorithm: fn() -> Box<dyn Algorithm>) -> Historic {
    let config = KernelConfig { page_cost_ns: PAGE_COST_NS, ..KernelConfig::linux_2_6(PAGES) };
    Historic { config, algorithm }
}

/// Compares adaptive readahead with a kernel of the document.
struct Machine {
    stock: Historic,
}

impl Machine {
    fn new(stock: fn() -> Box<dyn Algorithm>) -> Machine {
        Machine { stock: kernel(stock) }
    }

    fn measure(
        &self,
        source: impl Fn() -> Box<dyn Source> + Sync,
        device: impl Fn() -> Box<dyn Device> + Sync,
        costs: Costs,
    ) -> Times {
        let scene = Scene {
            source: &source,
            device: &device,
            memory_bytes: PAGES * 4096,
            read_cost_ns: PAGE_COST_NS,
        };
        Times::of(&scene, &self.stock, &kernel(|| scene::adaptive(1)), costs)
    }

    fn alone(&self, source: impl Fn() -> Box<dyn Source> + Sync) -> Times {
        self.measure(source, scene::historic_ide, scene::ide().costs())
    }

    /// Of objects of these sizes and their copies.
    fn copied(&self, sizes: &[u64], source: impl Fn(&[Placed]) -> Clients<'static> + Sync) -> Times {
        let each = APART_BYTES.map(|apart| {
            let placed = programs::with_copies(sizes, apart);
            self.alone(|| Box::new(source(&placed)))
        });
        Times::mean(&each)
    }

    fn grep_r(&self) -> Times {
        let lib = lib(FILES_PER_DIRECTORY);
        let placed = place(lib.sizes.iter().copied(), 4096);
        self.alone(|| Box::new(lib.grep_r(&placed)))
    }

    fn diff_r(&self) -> Times {
        let lib = lib(FILES_PER_DIRECTORY);
        self.copied(&lib.sizes, |placed| lib.diff_r(placed))
    }

    fn dd(&self, size: u64) -> Times {
        self.alone(|| programs::dd(Placed { address: 0, size }))
    }

    fn dd_sparse(&self) -> Times {
        let memory = Preset::from_name("instant").expect("a preset");
        let placed = Placed { address: 0, size: SPARSE_BYTES };
        self.measure(|| programs::dd(placed), || memory.build(1), memory.costs())
    }

    fn diff(&self, size: u64) -> Times {
        self.copied(&[size], |two| programs::diff([two[0], two[1]]))
    }
}

/// `/lib`, with so many files in each directory.
pub(super) fn lib(files_per_directory: usize) -> Tree {
    Tree::new(LIB_BYTES, LIB_MEDIAN_BYTES, files_per_directory)
}

fn row(workload: &'static str, times: Times, band: (f64, f64), ours_max: f64) -> Pair {
    Pair { key: (workload, ""), times, band, why: "", ours_max, why_ours: NOT_SEEK_AWARE }
}

/// A1 to A3.
pub(super) fn stock_128k() -> Findings {
    let machine = Machine::new(|| scene::stock(128 << 10));
    pairs::findings(
        "s000_pairs/daily_128k_stock_vs_1m_adaptive",
        &[
            row("grep /lib", machine.grep_r(), (0.95, 1.05), 1.05),
            row("dd debian.iso", machine.dd(DEBIAN_ISO_BYTES), (0.95, 1.05), 1.05),
            row("diff /lib /lib.1", machine.diff_r(), (0.82, 0.92), TREES_MAX),
            row("diff debian.iso", machine.diff(DEBIAN_ISO_BYTES), (0.40, 0.45), 0.40),
        ],
    )
}

/// A4.
pub(super) fn stock_1m() -> Findings {
    let machine = Machine::new(|| scene::stock(1 << 20));
    let neutral = |workload, times| row(workload, times, (0.95, 1.05), 1.05);
    pairs::findings(
        "s000_pairs/daily_same_1m",
        &[
            neutral("grep /lib", machine.grep_r()),
            Pair { why: STARTS_LARGER, ours_max: TREES_MAX, ..neutral("diff /lib /lib.1", machine.diff_r()) },
            neutral("dd sparse", machine.dd_sparse()),
            neutral("dd dsl.iso", machine.dd(DSL_ISO_BYTES)),
            neutral("diff dsl.iso dsl.iso.1", machine.diff(DSL_ISO_BYTES)),
        ],
    )
}
