//! The readahead of kernels in the engine beside that of kernels, on the same accesses: fetches and pages.
//! The file is cold and has 25,600 pages. The storage answers at once, and there is memory enough.
//!
//! The figures of 6.12 were measured on a kernel (6.18, the same algorithm) and on a model of the
//! algorithm. Where the two differ, the model's stand here. The figures of the others are the model's.
//! `table.rs` has them all without an engine around.
//= linux 6.12 mm/readahead.c

use forerun_engine::*;
use forerun_policies::PolicyKind;

use crate::patterns::*;

const PAGE: u64 = 4096;

/// Does `reads`; the fetches it took and the pages they had.
fn count(policy: PolicyKind, window_bytes: u64, reads: &Reads) -> (u64, u64) {
    let mut config = Config::new(512 << 20);
    config.policy = policy.into();
    config.window_bytes_max = window_bytes;
    config.fetch_bytes_min = config.fetch_bytes_max;
    let mut engine = Engine::new(config).expect("a configuration that works");
    let (object, reader) = (ObjectId(1), ReaderId(1));
    engine.open(object, PAGES * PAGE);
    let (mut fetches, mut pages, mut memory) = (0, 0, Vec::new());
    for (time, (page, len)) in reads.iter().enumerate() {
        let now = Time(time as u64 * 1_000_000);
        let extent = Extent::new(page * PAGE, len * PAGE);
        let mut outcome = engine.read(now, object, reader, extent, &mut memory);
        while let Some(fetch) = engine.poll_fetch(now) {
            fetches += 1;
            pages += fetch.extent.len / PAGE;
            engine.handle_fetched(now, fetch.id);
        }
        if let Outcome::Parked(read) = outcome {
            let reply = engine.poll_reply().expect("storage answers at once");
            assert_eq!((reply.read, reply.result.is_ok()), (read, true));
            outcome = Outcome::Ready(read);
        }
        let Outcome::Ready(read) = outcome else { unreachable!() };
        engine.release(read);
    }
    (fetches, pages)
}

#[derive(Clone, Copy)]
struct Expected {
    fetches: u64,
    /// 0: not compared.
    pages: u64,
    percent: u64,
}

fn check(policy: PolicyKind, name: &str, window_kib: u64, reads: &Reads, expected: Expected) {
    let (fetches, pages) = count(policy, window_kib << 10, reads);
    let policy = policy.name();
    println!("{policy}, {name}, {window_kib} KiB: {fetches} fetches of {pages} pages");
    let near = |got: u64, want: u64| got.abs_diff(want) * 100 <= want * expected.percent;
    assert!(near(fetches, expected.fetches), "{policy}, {name}, {window_kib} KiB: {fetches} fetches");
    let pages_fit = expected.pages == 0 || near(pages, expected.pages);
    assert!(pages_fit, "{policy}, {name}, {window_kib} KiB: {pages} pages");
}

/// `ondemand` with windows of 128 KiB and of 1 MiB.
fn both(name: &str, reads: Reads, small: (u64, u64), large: (u64, u64), percent: u64) {
    for (window_kib, (fetches, pages)) in [(128, small), (1024, large)] {
        check(PolicyKind::OnDemand, name, window_kib, &reads, Expected { fetches, pages, percent });
    }
}

/// The others with windows of 1 MiB: `stock`, `ondemand-2.6.23`, `ara`.
fn others(name: &str, reads: Reads, fetches: [u64; 3]) {
    let policies = [PolicyKind::Stock, PolicyKind::OnDemand2623, PolicyKind::Ara];
    for (policy, fetches) in policies.into_iter().zip(fetches) {
        check(policy, name, 1024, &reads, Expected { fetches, pages: 0, percent: 2 });
    }
}

#[test]
fn forward_reads() {
    both("forward 4k", forward(), (803, 25_600), (105, 25_600), 1);
    others("forward 4k", forward(), [105, 105, 103]);
}

#[test]
fn backward_reads() {
    both("backward 4k", backward(1), (25_600, 25_600), (25_600, 25_600), 1);
    both("backward 64k", backward(16), (1600, 25_600), (1600, 25_600), 1);
    // The engine fetches what the reader waits for by itself, and then what lies
    // before it: two fetches for each of the model's 103 windows.
    others("backward 64k", backward(16), [1600, 1600, 205]);
}

#[test]
fn sparse_pages() {
    both("1 of 2", stride(2, 1), (12_787, 12_815), (12_778, 12_824), 1);
    both("1 of 4", stride(4, 1), (6395, 0), (6390, 0), 1);
    both("1 of 8", stride(8, 1), (3200, 0), (3200, 0), 1);
    both("1 of 16", stride(16, 1), (1600, 0), (1600, 0), 1);
    others("1 of 2", stride(2, 1), [12_799, 105, 12_781]);
}

#[test]
fn strided_reads() {
    both("4 of 16", stride(16, 4), (1600, 6412), (1595, 6492), 1);
    others("4 of 16", stride(16, 4), [1600, 104, 1600]);
}

#[test]
fn interleaved() {
    both("2 streams", two_streams(), (808, 25_600), (111, 25_600), 2);
    others("2 streams", two_streams(), [25_597, 12_855, 12_854]);
    both("8 streams", eight_streams(3), (837, 25_600), (149, 25_600), 10);
}

#[test]
fn disorder() {
    both("8 KB within 16", reordered(5, 2, 16), (821, 25_600), (114, 25_600), 10);
    both("128 KB within 4", reordered(5, 32, 4), (800, 25_600), (105, 25_600), 10);
}

#[test]
fn random_reads() {
    // The kernel's own figures: the model's are 7 to 14 % below them.
    both("random 4k", random(9), (14_619, 16_735), (15_187, 18_241), 6);
}
