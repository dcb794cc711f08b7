//! Memory: what is kept, and what gives way.

use forerun_policies::PolicyKind;
use forerun_sim::run::Run;
use forerun_sim::source::{Action, Client, Extent, ObjectId, Time, place};
use forerun_trace::generate::Numbers;

use crate::support::*;

/// Five readers: two forward, one backward, one that leaves out three of four, and one with random steps.
fn mixed(policy: PolicyKind) -> Run {
    let (len, count, size) = (64 * KIB, 256, 64 * MIB);
    let mut numbers = Numbers::new(5);
    let mut at = 0;
    let sparse = std::iter::from_fn(move || {
        at += len * (1 + numbers.below(7));
        (at + len <= size).then_some(at)
    });
    let clients: Vec<Box<dyn Client>> = vec![
        Box::new(sequential(0, 0, size, len)),
        Box::new(sequential(1, 0, size, len)),
        Box::new(reads(2, len, (0..count).map(move |index| size - (index + 1) * len))),
        Box::new(reads(3, len, (0..count).map(move |index| index * 4 * len))),
        Box::new(reads(4, len, sparse)),
    ];
    run("s3", policy, 16 * MIB, place([size; 5], MIB), clients)
}

/// Evictions of one stream's readahead do not stop another stream.
#[test]
fn leftovers_give_way_to_streams() {
    let none = mixed(PolicyKind::None);
    let run = mixed(PolicyKind::Adaptive);
    for reader in [0, 1] {
        let [before, after] = [&none, &run].map(|run| run.clients[reader].finished_ns / MS);
        println!("sequential reader {reader}: {before} ms without readahead, {after} ms with it");
        assert!(after * 5 <= before, "there was no room for its readahead");
    }
    assert!(run.elapsed_ns * 2 <= none.elapsed_ns);
}

const PAGE: u64 = 4096;

/// Reads its object page by page, at its own pace.
struct Slow {
    object: u64,
    pages: std::ops::Range<u64>,
    numbers: Numbers,
    is_paused: bool,
}

impl Client for Slow {
    fn next(&mut self, _now: Time) -> Action {
        self.is_paused = !self.is_paused;
        if self.is_paused {
            return Action::Pause(2_000_000_000 + self.numbers.below(4_000_000_000));
        }
        let page = self.pages.next();
        page.map_or(Action::End, |page| Action::read(ObjectId(self.object), Extent::new(page * PAGE, PAGE)))
    }
}

fn slow(count: u64, policy: PolicyKind) -> Run {
    let slow = |object| -> Box<dyn Client> {
        Box::new(Slow { object, pages: 0..512, numbers: Numbers::new(object), is_paused: false })
    };
    run(
        "ide-2006",
        policy,
        7900 * PAGE,
        place(vec![2 * MIB; count as usize], MIB),
        (0..count).map(slow).collect(),
    )
}

/// The cost of slow readers: pages fetched for a thousand read, and fetches for a thousand pages.
fn cost(run: &Run) -> (u64, u64) {
    let fetches = run.demand_count + run.readahead_count;
    let (read, fetched) = (run.read_bytes / PAGE, run.device.read_bytes / PAGE);
    (1000 * fetched / read, 1000 * fetches / fetched)
}

//= claims C1: 1 KB/s each in 7900 pages
#[test]
fn slow_readers_read_each_page_once() {
    for (count, pages_max, fetches_max) in [(50, 1000, 50), (200, 1000, 130), (800, 1000, 150)] {
        let (pages, fetches) = cost(&slow(count, PolicyKind::Adaptive));
        println!("{count} readers: {pages} pages for 1000, {fetches} fetches for 1000 pages");
        assert!(pages <= pages_max && fetches <= fetches_max, "{count} readers: {pages}, {fetches}");
    }
}

/// Bytes that are read again and again are fetched again once. Then they stay, whatever streams by, and
/// however slowly they are read.
#[test]
fn a_scan_leaves_what_is_read_again() {
    let (hot_bytes, scan_bytes) = (64 * MIB, 4096 * MIB);
    for pause_us in [1, 200, 1000] {
        let pass = move || sequential(0, 0, hot_bytes, 64 * KIB);
        let hot = (0..50).flat_map(move |_| pass());
        let hot = hot.flat_map(move |read| [read, Action::Pause(pause_us * 1000)]);
        let scan = sequential(1, 0, scan_bytes, 128 * KIB);
        let clients: Vec<Box<dyn Client>> = vec![Box::new(hot), Box::new(scan)];
        let objects = place([hot_bytes, scan_bytes], MIB);
        let run = run("demo", PolicyKind::Adaptive, 256 * MIB, objects, clients);
        let fetched = run.device.read_bytes - scan_bytes;
        println!("{pause_us} us between reads: {} MiB of {} fetched", fetched / MIB, 50 * hot_bytes / MIB);
        assert!(fetched <= 50 * hot_bytes / 20, "less than 95 % were there");
    }
}
