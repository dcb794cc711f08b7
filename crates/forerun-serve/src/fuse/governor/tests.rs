use super::*;

const SIZE: u64 = 1 << 30;

fn page(index: u64) -> Range<u64> {
    index * PAGE_BYTES..(index + 1) * PAGE_BYTES
}

/// Starts and ends, in pages.
type Pages = Vec<(u64, u64)>;

fn pages(extents: &[Range<u64>]) -> Pages {
    extents.iter().map(|extent| (extent.start / PAGE_BYTES, extent.end.div_ceil(PAGE_BYTES))).collect()
}

/// The kernel asks for one page, and the governor pushes all the room it offers. Returns the
/// extents that the reader passed, and those to store.
fn touch(runs: &mut Runs, index: u64, size: u64) -> (Pages, Pages) {
    let Step { passed, room } = runs.read(&page(index), size);
    let stored = room.map_or(Vec::new(), |(room, way)| runs.push(&room, way, room.end - room.start));
    (pages(&passed), pages(&stored))
}

#[test]
fn a_push_leaves_out_its_last_page() {
    let mut runs = Runs::default();
    assert_eq!(touch(&mut runs, 0, SIZE), (vec![], vec![]));
    assert_eq!(touch(&mut runs, 1, SIZE), (vec![], vec![]));
    assert_eq!(touch(&mut runs, 2, SIZE), (vec![], vec![(3, 18)]));
    assert_eq!(touch(&mut runs, 18, SIZE), (vec![(3, 18)], vec![(19, 34)]));
}

#[test]
fn a_page_that_was_read_before_its_block_joins_the_run_that_reaches_it() {
    let mut runs = Runs::default();
    (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
    assert_eq!(runs.read(&(2 * PAGE_BYTES..254 * PAGE_BYTES), SIZE), Step::default(), "a large READ");
    assert_eq!(touch(&mut runs, 255, SIZE), (vec![], vec![]), "the end of the block");
    assert_eq!(touch(&mut runs, 254, SIZE), (vec![], vec![(256, 287)]), "an eighth of 256 pages");
    assert_eq!(touch(&mut runs, 287, SIZE).0, [(256, 287)]);
    let mut runs = Runs::default();
    let steps: Vec<_> = [9, 8, 4, 7, 6, 5].map(|index| runs.read(&page(index), SIZE)).into();
    let room = steps.into_iter().next_back().and_then(|step| step.room).map(|(room, way)| (room.end, way));
    assert_eq!(room, Some((4 * PAGE_BYTES, Way::Down)), "the next push is below page 4");
}

#[test]
fn at_the_middle_of_a_large_push_the_next_one_follows_its_end() {
    let mut runs = Runs::default();
    (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
    assert_eq!(runs.read(&(2 * PAGE_BYTES..600 * PAGE_BYTES), SIZE), Step::default(), "a large READ");
    assert_eq!(touch(&mut runs, 600, SIZE).1, [(601, 633), (633, 639), (640, 672), (672, 675)]);
    let (passed, stored) = touch(&mut runs, 639, SIZE);
    assert_eq!(passed, [(601, 633), (633, 639)]);
    assert_eq!(stored.first(), Some(&(676, 708)));
}

#[test]
fn a_downward_run_is_pushed_downward() {
    let mut runs = Runs::default();
    touch(&mut runs, 102, SIZE);
    touch(&mut runs, 101, SIZE);
    assert_eq!(touch(&mut runs, 100, SIZE), (vec![], vec![(85, 100)]));
    assert_eq!(touch(&mut runs, 84, SIZE), (vec![(85, 100)], vec![(69, 84)]));
}

#[test]
fn pushes_stay_within_the_file() {
    let mut runs = Runs::default();
    (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
    let size = 9 * PAGE_BYTES + 5;
    assert_eq!(touch(&mut runs, 2, size), (vec![], vec![(3, 8)]), "the last two pages are left out");
    let mut runs = Runs::default();
    (8..10).rev().for_each(|index| _ = touch(&mut runs, index, SIZE));
    assert_eq!(touch(&mut runs, 7, SIZE).1, [(2, 7)]);
}

#[test]
fn pushes_grow_with_the_run_up_to_a_bound() {
    let mut runs = Runs::default();
    let mut largest = 0;
    let mut next = 0;
    while next < SIZE / PAGE_BYTES / 8 {
        let (_, stored) = touch(&mut runs, next, SIZE);
        largest = largest.max(stored.iter().map(|(start, end)| end - start).sum::<u64>());
        let hole = runs.runs[0].pushed.iter().find(|piece| piece.is_hole);
        next = hole.map_or(next + 1, |hole| hole.extent.start / PAGE_BYTES);
    }
    assert_eq!(largest, WINDOW_BYTES_MAX / PAGE_BYTES - 2);
}

#[test]
fn no_more_is_pushed_than_is_in_memory() {
    let mut runs = Runs::default();
    (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
    let Step { room, .. } = runs.read(&page(2), SIZE);
    let (room, way) = room.expect("it is time");
    assert_eq!(runs.push(&room, way, 0), [], "nothing was read ahead");
    assert_eq!(pages(&runs.push(&room, way, 8 * PAGE_BYTES)), [(3, 9)]);
}

#[test]
fn a_reader_that_ends_a_page_before_its_readahead_shows_that_it_came_that_far() {
    let mut runs = Runs::default();
    (0..2).for_each(|index| _ = touch(&mut runs, index, SIZE));
    let Step { room, .. } = runs.read(&page(2), SIZE);
    let (room, way) = room.expect("it is time");
    assert_eq!(pages(&runs.push(&room, way, 10 * PAGE_BYTES)), [(3, 11)], "pages 3 to 12 are in memory");
    let Step { passed, room } = runs.read(&page(11), SIZE);
    assert_eq!(pages(&passed), [(3, 11)]);
    let (room, way) = room.expect("it is time");
    assert_eq!(runs.push(&room, way, PAGE_BYTES), [], "page 12 is not worth a push");
}

#[test]
fn a_late_push_does_not_hide_how_far_the_reader_has_come() {
    let mut runs = Runs::default();
    (0..3).for_each(|index| _ = touch(&mut runs, index, SIZE));
    // The kernel has none of these pages yet, and asks for each.
    assert_eq!(touch(&mut runs, 3, SIZE), (vec![], vec![]));
    assert_eq!(touch(&mut runs, 4, SIZE), (vec![], vec![]));
    assert_eq!(touch(&mut runs, 11, SIZE).0, [(5, 11)]);
}

#[test]
fn runs_in_turns_are_told_apart_whichever_way_they_go() {
    let mut runs = Runs::default();
    let run =
        |index: u64, step: u64| 1000 * (index + 1) + if index.is_multiple_of(2) { step } else { 10 - step };
    for step in 0..2 {
        (0..RUNS_MAX as u64).for_each(|index| _ = touch(&mut runs, run(index, step), SIZE));
    }
    assert!((0..RUNS_MAX as u64).all(|index| touch(&mut runs, run(index, 2), SIZE).1.len() == 1));
}

#[test]
fn large_reads_and_reads_in_no_order_push_nothing() {
    let mut runs = Runs::default();
    for step in 0..100 {
        let read = step * LARGE_READ_BYTES..(step + 1) * LARGE_READ_BYTES;
        assert_eq!(runs.read(&read, SIZE), Step::default());
    }
    let mut runs = Runs::default();
    let touched = (0..2000).map(|index| touch(&mut runs, index * 7919 % 262_144, SIZE));
    assert!(touched.into_iter().all(|step| step == (vec![], vec![])));
}
