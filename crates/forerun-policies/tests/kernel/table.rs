//! Each algorithm on the same accesses: a cold file of 25,600 pages, memory enough, one open file. The
//! expected figures are those of an independent model of the same descriptions. It counted windows, not the
//! runs of missing pages in them.

use forerun_policies::kernel::{Algorithm, Ara, AraTuning, OnDemand, Stock};

use crate::patterns::*;
use crate::read_loop::Loop;

/// A column of the table: its name and its algorithm.
type Column = (&'static str, fn() -> Box<dyn Algorithm>);

/// In the order of [`Row`]'s figures.
const COLUMNS: [Column; 8] = [
    ("stock 1M", || Box::new(Stock::new(256))),
    ("2.6.23 1M", || Box::new(OnDemand::linux_2_6_23(256))),
    ("6.12 128K", || Box::new(OnDemand::linux_6_12(32))),
    ("6.12 1M", || Box::new(OnDemand::linux_6_12(256))),
    ("ara", || ara(0)),
    ("ara, hit rate 1", || ara(1)),
    ("ara, hit rate 2", || ara(2)),
    ("ara, hit rate 8", || ara(8)),
];

fn ara(hit_rate: u64) -> Box<dyn Algorithm> {
    Box::new(Ara::new(AraTuning { hit_rate, ..AraTuning::default() }))
}

/// Windows of each column.
type Row = [u64; 8];

/// Windows and pages.
fn cost(algorithm: Box<dyn Algorithm>, reads: &Reads) -> (u64, u64) {
    let mut kernel = Loop::new(algorithm, PAGES);
    for (page, count) in reads {
        kernel.read(*page, *count);
    }
    (kernel.window_count, kernel.pages_count)
}

/// `pages` that are 0 are not compared.
#[track_caller]
fn check(name: &str, reads: &Reads, windows: Row, pages: Row, percent: u64) {
    let near = |got: u64, want: u64| got.abs_diff(want) * 100 <= want * percent;
    for (index, (column, make)) in COLUMNS.into_iter().enumerate() {
        let (got, got_pages) = cost(make(), reads);
        println!("{name}, {column}: {got} windows of {got_pages} pages, expected {}", windows[index]);
        assert!(near(got, windows[index]), "{name}, {column}: {got} windows");
        let want = pages[index];
        assert!(want == 0 || near(got_pages, want), "{name}, {column}: {got_pages} pages");
    }
}

/// The expected figure, whose shuffle is not known, must be one that some
/// shuffle gives.
#[track_caller]
fn check_shuffled(name: &str, reads: fn(u64) -> Reads, windows: Row) {
    const SHUFFLES: u64 = 25;
    let shuffled: Vec<Reads> = (1..=SHUFFLES).map(reads).collect();
    for ((column, make), want) in COLUMNS.into_iter().zip(windows) {
        let mut got: Vec<u64> = shuffled.iter().map(|reads| cost(make(), reads).0).collect();
        got.sort_unstable();
        let (least, most) = (got[0], got[got.len() - 1]);
        println!("{name}, {column}: {least} to {most}, half of them {}, expected {want}", got[got.len() / 2]);
        assert!((least..=most).contains(&want), "{name}, {column}: {least} to {most} windows");
    }
}

const ALL: Row = [PAGES; 8];

#[test]
fn forward_reads() {
    check("forward 4k", &forward(), [105, 105, 803, 105, 103, 103, 103, 103], ALL, 0);
}

#[test]
fn backward_reads() {
    let none = PAGES;
    check("backward 4k", &backward(1), [none, none, none, none, 106, 105, 105, 104], ALL, 0);
    check("backward 64k", &backward(16), [1600, 1600, 1600, 1600, 103, 103, 103, 103], ALL, 0);
}

#[test]
fn sparse_reads() {
    let pages = [12_802, PAGES, 12_815, 12_824, 0, 0, PAGES, PAGES];
    check("1 of 2", &stride(2, 1), [12_799, 105, 12_787, 12_778, 12_781, 12_678, 104, 104], pages, 0);
    let pages = [6403, PAGES, 0, 0, 0, 0, PAGES, PAGES];
    check("1 of 4", &stride(4, 1), [6400, 105, 6395, 6390, 6397, 6397, 104, 104], pages, 0);
    let pages = [0, 0, 0, 0, 0, 0, 0, PAGES];
    check("1 of 8", &stride(8, 1), [3200, 3200, 3200, 3200, 3199, 3199, 3199, 104], pages, 0);
    check("1 of 16", &stride(16, 1), [1600, 1600, 1600, 1600, 1600, 1600, 1600, 104], pages, 0);
}

#[test]
fn strided_reads() {
    let pages = [6412, PAGES, 0, 0, 0, 0, 0, PAGES];
    check("4 of 16", &stride(16, 4), [1600, 104, 1600, 1595, 1600, 1600, 1600, 104], pages, 0);
}

#[test]
fn interleaved_reads() {
    check("2 streams", &two_streams(), [25_597, 12_855, 808, 111, 12_854, 117, 116, 114], ALL, 0);
    check_shuffled("8 streams", eight_streams, [14_560, 207, 837, 149, 277, 191, 188, 178]);
}

#[test]
fn reads_out_of_order() {
    let small = |seed| reordered(seed, 2, 16);
    check_shuffled("8 KB within 16", small, [11_161, 129, 821, 114, 157, 117, 110, 106]);
    let large = |seed| reordered(seed, 32, 4);
    check_shuffled("128 KB within 4", large, [638, 109, 800, 105, 105, 105, 105, 108]);
}

#[test]
fn random_reads() {
    let windows = [14_213, 14_213, 13_651, 13_344, 14_213, 13_660, 6183, 5085];
    let pages = [14_213, 14_213, 17_213, 19_056, 0, 15_439, 24_718, 25_567];
    check("random 4k", &random(9), windows, pages, 3);
}
