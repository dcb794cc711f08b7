//! Many slow readers in little memory: a table of how much is read twice.
//!
//! Each reads its own file of 2 MiB, page by page at 1 KiB/s, half a pace up or
//! down. The cache has room for 7900 pages.

use forerun_policies::kernel::{Ara, AraTuning, OnDemand, Stock};
use forerun_sim::kernel::Algorithm;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Clients, Extent, ObjectId, Time, place};
use forerun_trace::generate::Numbers;

use crate::support::{KernelRun, PAGE};

const FILE_PAGES: u64 = 512;
const PAUSE_NS: u64 = 4_000_000_000;
const COUNTS: [u64; 5] = [50, 100, 200, 400, 800];

/// Reads its file, at its own pace.
struct Slow {
    object: u64,
    page: u64,
    numbers: Numbers,
    is_paused: bool,
}

impl Client for Slow {
    fn next(&mut self, _now: Time) -> Action {
        if self.page == FILE_PAGES {
            return Action::End;
        }
        self.is_paused = !self.is_paused;
        if self.is_paused {
            return Action::Pause(PAUSE_NS / 2 + self.numbers.below(PAUSE_NS));
        }
        self.page += 1;
        Action::read(ObjectId(self.object), Extent::new((self.page - 1) * PAGE, PAGE))
    }
}

fn run(count: u64, algorithm: Box<dyn Algorithm>) -> Run {
    let slow = |object| {
        let numbers = Numbers::new(object);
        Box::new(Slow { object, page: 0, numbers, is_paused: false }) as Box<dyn Client>
    };
    let clients =
        Clients::new(place(vec![FILE_PAGES * PAGE; count as usize], PAGE), (0..count).map(slow).collect());
    // The reserve comes on top.
    KernelRun::new(8150, algorithm).run(clients)
}

fn stock(pages: u64) -> Box<dyn Algorithm> {
    Box::new(Stock::new(pages))
}

fn ondemand(pages: u64) -> Box<dyn Algorithm> {
    Box::new(OnDemand::linux_2_6_23(pages))
}

fn today(pages: u64) -> Box<dyn Algorithm> {
    Box::new(OnDemand::linux_6_12(pages))
}

fn ara(ratio_percent: u64) -> Box<dyn Algorithm> {
    Box::new(Ara::new(AraTuning { ratio_percent, ..AraTuning::default() }))
}

/// A column: its name, its algorithm, pages fetched per 100 read, and how many
/// percent of them it may be off.
type Column = (&'static str, fn(u64) -> Box<dyn Algorithm>, u64, [u64; 5], u64);

const TABLE: [Column; 8] = [
    ("stock 128K", stock, 32, [100, 100, 196, 199, 200], 25),
    ("stock 1M", stock, 256, [187, 195, 198, 199, 200], 25),
    ("on-demand 128K", ondemand, 32, [100, 100, 239, 294, 389], 10),
    ("on-demand 1M", ondemand, 256, [217, 272, 316, 699, 946], 10),
    ("6.12 128K", today, 32, [100, 100, 230, 248, 356], 10),
    ("6.12 1M", today, 256, [211, 232, 316, 652, 802], 10),
    ("ARA 50", ara, 50, [101, 102, 102, 102, 102], 2),
    ("ARA 30", ara, 30, [100, 102, 102, 101, 102], 2),
];

#[test]
fn slow_streams_cost_refetches() {
    let mut off = Vec::new();
    for (name, algorithm, setting, expected, percent) in TABLE {
        let mut row = format!("{name:16}");
        for (count, expected) in COUNTS.into_iter().zip(expected) {
            let run = run(count, algorithm(setting));
            let fetched = 100 * (run.demand_bytes + run.readahead_bytes) / run.read_bytes;
            let pages = (run.demand_bytes + run.readahead_bytes) / PAGE;
            let per_fetch = 10 * pages / (run.demand_count + run.readahead_count);
            row += &format!("  {fetched:4} ({expected:4}) {per_fetch:4} {:6}", run.thrash_count);
            if fetched.abs_diff(expected) > expected * percent / 100 {
                off.push(format!("{name} at {count}: {fetched}, not {expected}"));
            }
        }
        println!("{row}");
    }
    assert!(off.is_empty(), "{off:#?}");
}
