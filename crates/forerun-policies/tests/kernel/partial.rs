//! Requests that ask for all the rest of a file and get a little of it, as
//! sendfile to a slow socket does.
//= seed 000

use forerun_policies::kernel::{Algorithm, Ara, AraTuning, OnDemand, Stock};

use crate::read_loop::Loop;

const FILE_BYTES: u64 = 21_031_620;
/// The bytes that consecutive requests got in the recorded trace.
const DONE_BYTES: [u64; 6] = [37_440, 28_800, 37_440, 14_400, 37_440, 37_440];

/// The mean fetch of a whole file read so, in pages.
fn mean_fetch<A: Algorithm>(algorithm: A) -> u64 {
    let mut kernel = Loop::new(Box::new(algorithm), FILE_BYTES.div_ceil(4096));
    let mut position = 0;
    for done in DONE_BYTES.into_iter().cycle() {
        let end = (position + done).min(FILE_BYTES);
        let page = position / 4096;
        kernel.read_partly(page, kernel.page_count - page, end.div_ceil(4096) - page);
        position = end;
        if position == FILE_BYTES {
            break;
        }
    }
    assert_eq!(kernel.pages_count, kernel.page_count, "each page is fetched once");
    (kernel.pages_count + kernel.io_count / 2) / kernel.io_count
}

#[test]
fn cut_requests_collapse_stock_and_nobody_else() {
    // After each request it is at the end of its window. So it takes the next for a random read. Most pages
    // of that window are cached already.
    let stock = mean_fetch(Stock::new(32));
    let ara = mean_fetch(Ara::new(AraTuning::default()));
    println!("stock 128K {stock} pages, ara {ara}");
    assert!((8..=20).contains(&stock), "stock reads {stock} pages at once");
    assert!(ara > 150, "ara reads {ara} pages at once");
    assert!(mean_fetch(OnDemand::linux_2_6_23(256)) > 150);
}

#[test]
fn a_cut_request_past_256_cached_pages_turns_stock_off() {
    // With windows of 256 pages, one wrong guess makes it take the file for cached. The reader then misses
    // at the end of every second window.
    let stock = mean_fetch(Stock::new(256));
    println!("stock 1M {stock} pages");
    assert!((160..=175).contains(&stock), "stock reads {stock} pages at once");
}
