use alloc::vec::Vec;

use super::*;
use crate::types::{ObjectId, ReaderId, Time};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const LARGE: u64 = 1 << 40;
/// A disk's wait is as long as 512 KiB take.
const PRICE: Price = Price {
    wait_bytes: 512 * KIB,
    hit_bytes: 512 * KIB,
    memory_bytes: 256 * MIB,
    unread_bytes: 0,
    is_far: true,
};

/// One object, of which all that is filled arrives at once.
#[derive(Default)]
struct World {
    fill: Fill,
    trust: Trust,
    filled: Vec<Extent>,
}

impl World {
    /// 4 KiB are read, which may have been filled.
    fn read(&mut self, offset: u64, size: u64) {
        let is_there = self.fill.wants(Extent::new(offset, 4 * KIB));
        let access = Access {
            time: Time(0),
            object: ObjectId(0),
            reader: ReaderId(0),
            extent: Extent::new(offset, 4 * KIB),
            size,
            late: !is_there,
            missing: !is_there,
            unread_bytes: if is_there { 4 * KIB } else { 0 },
            ahead: None,
        };
        // With what streams read meanwhile.
        self.fill.earn(24 * MIB);
        self.fill.note(&access, &PRICE, &mut self.trust);
        if self.fill.may_pay(&access, &PRICE)
            && let Some((extent, evidence)) = self.fill.next(&access, &PRICE, &self.trust, u64::MAX)
        {
            self.fill.begin(extent, size, evidence, extent.len, &PRICE, &mut self.trust);
            self.filled.push(extent);
        }
    }

    fn filled_bytes(&self) -> u64 {
        self.filled.iter().map(|extent| extent.len).sum()
    }
}

#[test]
fn a_place_is_filled_when_waiting_for_it_has_cost_as_much() {
    let mut world = World::default();
    for (count, place) in (0..).zip([20, 7, 30]) {
        world.read(MIB + place * 16 * KIB, LARGE);
        assert_eq!(world.filled_bytes(), 0, "after {count} reads");
    }
    world.read(MIB + 12 * 16 * KIB, LARGE);
    assert_eq!(world.filled, [Extent::new(MIB, 512 * KIB)]);
}

#[test]
fn where_it_paid_fewer_misses_are_enough() {
    let mut world = World::default();
    // Each area is read all over, in no order.
    let filled_before = |world: &mut World, area: u64| {
        let before = world.filled.len();
        (0..32).find(|at| {
            world.read(area * MIB + at * 13 % 32 * 16 * KIB, LARGE);
            world.filled.len() > before
        })
    };
    let needed: Vec<Option<u64>> = (0..8)
        .map(|area| {
            let needed = filled_before(&mut world, 100 * area);
            (0..128).for_each(|at| world.read(100 * area * MIB + at * 37 % 128 * 4 * KIB, LARGE));
            needed
        })
        .collect();
    assert_eq!(needed[0], Some(5));
    assert_eq!(needed[7], Some(1), "{needed:?}");
}

#[test]
fn where_nobody_came_it_ends() {
    let mut world = World::default();
    for area in 0..100 {
        (0..4).for_each(|at| world.read(area * MIB + at * 13 % 32 * 16 * KIB, LARGE));
    }
    assert!((1..8 * MIB).contains(&world.filled_bytes()), "{} filled in vain", world.filled_bytes());
}

#[test]
fn reads_all_over_a_large_object_fill_nothing() {
    let mut world = World::default();
    (0..10_000).for_each(|at| world.read(at * 7919 % (1 << 20) * MIB, LARGE));
    assert_eq!(world.filled_bytes(), 0);
}

#[test]
fn who_passes_over_an_object_leaves_nothing_to_fill() {
    for size in [100 * MIB, LARGE] {
        let mut world = World::default();
        (0..1000).for_each(|at| world.read(at * 80 * KIB, size));
        assert_eq!(world.filled_bytes(), 0, "of {size}");
    }
}

#[test]
fn an_object_that_fits_is_filled_whole() {
    let (mut world, size) = (World::default(), 100 * MIB);
    (0..300).for_each(|at| world.read(at * 7919 % 25_600 * 4 * KIB, size));
    assert!(world.fill.wants(Extent::new(0, 1)) && world.fill.wants(Extent::new(size - 1, 1)));
}

#[test]
fn of_one_that_fits_no_blocks_are_filled_that_were_missed_often_by_chance() {
    let (mut world, size) = (World::default(), 100 * MIB);
    let read = |world: &mut World, at: u64| world.read(at * 7919 % 25_600 * 4 * KIB, size);
    (0..190).for_each(|at| read(&mut world, at));
    let filled = world.filled_bytes();
    assert!(filled <= 4 * MIB, "{filled} bytes, and all of it takes 200 waits");
    (190..300).for_each(|at| read(&mut world, at));
    assert!(world.filled_bytes() >= size / 2, "{} bytes", world.filled_bytes());
}

#[test]
fn what_is_lost_is_not_there_any_more() {
    let mut world = World::default();
    (0..6).for_each(|at| world.read(MIB + at * 13 % 32 * 16 * KIB, LARGE));
    assert!(world.fill.wants(Extent::new(MIB, 4 * KIB)));
    world.fill.on_lost(Extent::new(MIB, 64 * KIB));
    assert!(!world.fill.wants(Extent::new(MIB, 4 * KIB)));
    assert!(world.fill.wants(Extent::new(MIB + 64 * KIB, 4 * KIB)));
}
