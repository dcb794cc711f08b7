//! Each algorithm when pages are lost before they are read, or are about to be, and on rare access
//! patterns.

use forerun_policies::kernel::*;

use crate::read_loop::{Loop, OBJECT, READER};

const PAGES: u64 = 10_000;

fn ara(tuning: AraTuning) -> Loop<Ara> {
    Loop::new(Box::new(Ara::new(tuning)), PAGES)
}

/// Adaptive readahead after pages 0 to `count`, one by one.
fn ara_after(count: u64) -> Loop<Ara> {
    let mut kernel = ara(AraTuning::default());
    read_each(&mut kernel, 0, count);
    kernel
}

fn read_each<A: Algorithm>(kernel: &mut Loop<A>, first: u64, end: u64) {
    for page in first..end {
        kernel.read(page, 1);
    }
}

fn count(kernel: &Loop<Ara>, event: AraEvent) -> u64 {
    kernel.algorithm.events().total(event).count
}

#[test]
fn stock_reads_lost_pages_one_by_one() {
    let mut kernel = Loop::new(Box::new(Stock::new(32)), PAGES);
    read_each(&mut kernel, 0, 100);
    let ahead = *kernel.fetched.last().expect("something was read");
    kernel.lose(100, ahead.0 + ahead.1 - 100);
    let io_before = kernel.io_count;
    read_each(&mut kernel, 100, ahead.0);
    assert!(kernel.fetched.contains(&(100, 1)) && kernel.fetched.contains(&(101, 1)));
    let lost = ahead.0 - 100;
    assert!(kernel.io_count - io_before >= lost, "fewer I/Os than the {lost} pages lost");
}

#[test]
fn ara_takes_what_survived_for_the_threshold() {
    let mut kernel = ara_after(8);
    kernel.lose(8, 8);
    kernel.read(8, 1);
    // Eight pages of its chunk survived; three quarters of that is safe.
    assert_eq!(kernel.fetched, [(0, 16), (8, 6)]);
    assert_eq!(count(&kernel, AraEvent::ReadaheadThrash), 1);
    assert_eq!(count(&kernel, AraEvent::ReadaheadMutilate), 1);
}

#[test]
fn ara_reads_exactly_what_is_lost_of_an_older_chunk() {
    let mut kernel = ara_after(15);
    assert_eq!(kernel.fetched, [(0, 16), (16, 49)]);
    kernel.lose(0, 16);
    kernel.read(15, 1);
    assert_eq!(kernel.fetched[2..], [(15, 1)]);
    assert_eq!(count(&kernel, AraEvent::ReadaheadThrash), 1);
    assert_eq!(count(&kernel, AraEvent::ReadaheadMutilate), 0);
}

#[test]
fn ara_sizes_chunks_by_how_fast_the_cache_turns_over() {
    let mut kernel = ara_after(14);
    // 14 pages are read while 22,401 of 65,536 go by. So 40 may be ahead of the reader, and the ratio
    // leaves 19. Two of them are ahead already.
    kernel.cache.scanned_count += 22_400;
    kernel.read(14, 1);
    assert_eq!(kernel.fetched, [(0, 16), (16, 17)]);
}

#[test]
fn ara_reads_nothing_where_it_would_not_survive() {
    // The two pages ahead are safe and, with that ratio, all that are.
    let mut kernel = ara(AraTuning { ratio_percent: 4, ..AraTuning::default() });
    read_each(&mut kernel, 0, 14);
    kernel.cache.scanned_count += 22_400;
    kernel.read(14, 1);
    assert_eq!((kernel.fetched.len(), kernel.rescued.len()), (1, 0));
    assert_eq!(count(&kernel, AraEvent::ReadaheadShrink), 1);
}

#[test]
fn ara_rescues_what_is_about_to_be_lost() {
    let mut kernel = ara_after(14);
    kernel.cache.scanned_count += kernel.cache.fillable_count;
    kernel.read(14, 1);
    assert_eq!((kernel.fetched.len(), &kernel.rescued[..]), (1, &[(14, 2)][..]));
    assert_eq!(count(&kernel, AraEvent::ReadaheadRescue), 1);
    // Behind what was rescued the cached pages tell how it was: from the start on.
    read_each(&mut kernel, 15, 17);
    assert_eq!(kernel.fetched, [(0, 16), (16, 32)]);
    let context = kernel.algorithm.events().of(AraClass::ContextAggressive, AraEvent::Readahead);
    assert_eq!(context, Tally { count: 1, pages: 32 });
}

#[test]
fn ara_leaves_its_mark_where_the_device_is_busy() {
    let mut kernel = ara_after(14);
    kernel.cache.is_congested = true;
    kernel.read(14, 1);
    assert_eq!((kernel.fetched.len(), count(&kernel, AraEvent::IoCongestion)), (1, 1));
}

#[test]
fn ara_reads_backward_threefold() {
    let mut kernel = ara(AraTuning::default());
    for page in (5900..6000).rev() {
        kernel.read(page, 1);
    }
    assert_eq!(kernel.fetched[..5], [(5999, 1), (5997, 2), (5992, 5), (5981, 11), (5958, 23)]);
    assert_eq!(
        kernel.algorithm.events().of(AraClass::Backward, AraEvent::Readahead).pages,
        2 + 5 + 11 + 23 + 47 + 95
    );
}

#[test]
fn ara_takes_a_small_file_whole() {
    let mut kernel = Loop::new(Box::new(Ara::new(AraTuning::default())), 23);
    kernel.read(0, 1);
    assert_eq!(kernel.fetched, [(0, 23)]);
    assert_eq!(count(&kernel, AraEvent::ReadaheadEof), 1);
}

#[test]
fn ara_without_ratio_reads_as_asked() {
    let mut kernel = ara(AraTuning { ratio_percent: 0, ..AraTuning::default() });
    kernel.read(0, 3);
    kernel.read(3, 3);
    assert_eq!(kernel.fetched, [(0, 3), (3, 3)]);
}

#[test]
fn ara_below_another_readahead_sets_no_mark() {
    let mut kernel = ara(AraTuning { is_loop: true, ..AraTuning::default() });
    read_each(&mut kernel, 0, 16);
    assert_eq!(kernel.fetched, [(0, 16)]);
    kernel.read(16, 1);
    assert_eq!(kernel.fetched, [(0, 16), (16, 49)]);
}

#[test]
fn ara_serves_nfs_first_and_looks_then() {
    let mut kernel = ara(AraTuning { is_nfsd: true, ..AraTuning::default() });
    kernel.read(102, 2);
    kernel.read(100, 2);
    // Nothing is cached before either: two reads out of order and no more.
    assert_eq!(kernel.fetched, [(102, 2), (100, 2)]);
    kernel.read(104, 2);
    // Six cached pages before 106 are a stream's past.
    assert_eq!(kernel.fetched[2..], [(104, 2), (106, 8)]);
}

#[test]
fn ara_counts_what_it_read_in_vain() {
    let mut kernel = ara_after(100);
    let (fetched, hit) = (AraEvent::Readahead, AraEvent::ReadaheadHit);
    let events = kernel.algorithm.events();
    assert_eq!(events.total(fetched).pages, kernel.pages_count);
    assert_eq!(events.total(hit).pages, 100);
    // At 14, 26 and 65: with memory enough the mark is far from the end.
    assert_eq!(events.total(AraEvent::LookaheadHit).count, 3);
    // A lost page is no hit when a later read brings it alone.
    kernel.lose(100, PAGES);
    kernel.algorithm.on_close(OBJECT, READER);
    kernel.read(100, 1);
    assert_eq!(kernel.algorithm.events().total(hit).pages, 100);
}

#[test]
fn context_merges_a_window_with_the_next() {
    let mut kernel = Loop::new(Box::new(OnDemand::linux_2_6_31(256)), PAGES);
    kernel.read(1000, 8);
    // Another handle's reads tell nothing of this one's, but the pages do.
    kernel.algorithm.on_close(OBJECT, READER);
    kernel.read(1008, 8);
    assert_eq!(kernel.fetched, [(1000, 8), (1008, 96)]);
}

#[test]
fn congestion_stops_early_kernels_at_marks_only() {
    for (mut kernel, windows) in [
        (Loop::new(Box::new(OnDemand::linux_2_6_23(256)), PAGES), 1),
        (Loop::new(Box::new(OnDemand::linux_6_12(256)), PAGES), 2),
    ] {
        kernel.cache.is_congested = true;
        read_each(&mut kernel, 0, 3);
        assert_eq!(kernel.window_count, windows);
    }
}
