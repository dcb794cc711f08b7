use super::*;

fn cache(config: fn(u64) -> KernelConfig, pages_max: u64) -> Pages {
    Pages::new(&config(pages_max))
}

const FILE: ObjectId = ObjectId(0);

fn read(pages: &mut Pages, index: u64) {
    let slot = pages.find(FILE, index).or_else(|| pages.allocate(FILE, index, true));
    pages.touch(slot.expect("a page"), true);
}

#[test]
fn pages_read_once_leave_in_order() {
    let mut pages = cache(KernelConfig::linux_2_6, 1000);
    (0..2000).for_each(|index| read(&mut pages, index));
    let evicted: Vec<_> = pages.take_evicted().iter().map(|page| page.index).collect();
    assert_eq!(evicted, (0..evicted.len() as u64).collect::<Vec<_>>());
    assert!(evicted.len() >= 1000 && evicted.len() < 1200, "{}", evicted.len());
    assert_eq!(pages.scanned_count(), evicted.len() as u64);
}

#[test]
fn pages_read_twice_outlive_a_stream() {
    for (config, reads) in
        [(KernelConfig::linux_2_6 as fn(u64) -> KernelConfig, 2), (KernelConfig::linux_2_4, 2)]
    {
        let mut pages = cache(config, 1000);
        for _ in 0..reads {
            (0..100).for_each(|index| read(&mut pages, index));
        }
        (1000..1950).for_each(|index| read(&mut pages, index));
        let kept = (0..100).filter(|index| pages.find(FILE, *index).is_some()).count();
        assert_eq!(kept, 100, "{:?}", pages.reclaim);
    }
}

#[test]
fn dirty_and_coming_pages_stay() {
    for config in [KernelConfig::linux_2_6 as fn(u64) -> KernelConfig, KernelConfig::linux_2_4] {
        let mut pages = cache(config, 64);
        for index in 0..20 {
            let slot = pages.allocate(FILE, index, true).expect("a page");
            pages.page_mut(slot).is_dirty = index % 2 == 0;
            pages.page_mut(slot).is_coming = index % 2 == 1;
        }
        (100..300).for_each(|index| read(&mut pages, index));
        assert!((0..20).all(|index| pages.find(FILE, index).is_some()));
        assert!(pages.take_laundry() > 0);
    }
}

#[test]
fn a_cache_of_held_pages_refuses() {
    for config in [KernelConfig::linux_2_6 as fn(u64) -> KernelConfig, KernelConfig::linux_2_4] {
        let mut pages = cache(config, 64);
        let taken = (0..100).map_while(|index| {
            let slot = pages.allocate(FILE, index, true)?;
            pages.page_mut(slot).is_coming = true;
            Some(slot)
        });
        assert_eq!(taken.count(), 64);
    }
}

#[test]
fn readahead_that_was_lost_is_remembered() {
    let mut pages = cache(KernelConfig::linux_2_6, 64);
    pages.allocate(FILE, 0, false).expect("a page");
    (100..300).for_each(|index| read(&mut pages, index));
    assert!(pages.find(FILE, 0).is_none());
    assert!(pages.take_lost(FILE, 0));
    assert!(!pages.take_lost(FILE, 0));
    assert!(!pages.take_lost(FILE, 100));
}
