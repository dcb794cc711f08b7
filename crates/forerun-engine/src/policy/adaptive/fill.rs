//! Reads in no order that keep to a place: after a while the rest of it is fetched.
//!
//! Around each read that had to wait lie blocks of growing size. The largest is filled for
//! which readers have waited as long as fetching its rest takes: a skier who buys skis when he
//! has paid their price in rent never pays more than twice what he might have. Where that paid
//! by far, half the evidence is enough next time, and then a quarter; where nobody came, more
//! must be lost before it is tried again ([`Account`]).
//!
//! An object that fits in half of the memory is one such block, and what is filled of it stays:
//! there as much evidence is enough whatever came of it before, and an eighth of it far away.
//!
//! All this is for who comes back to what lies behind: who passes over an object, and leaves
//! out most of it, has no use for that ([`order`](super::order)).

use super::account::{Account, Evidence, Trust};
use super::areas::{Areas, Known};
use super::order::Order;
use crate::policy::Access;
use crate::types::Extent;

/// The least that is filled at once, in parts of an area.
const PARTS_MIN: u64 = 4;
/// The largest block of an object that does not fit.
const BLOCK_BYTES_MAX: u64 = 4 << 20;
/// An object fits that takes at most this share of the memory.
const FIT_SHARE: u64 = 2;
/// Of others this share of the memory may be read ahead and not read yet,
const UNREAD_SHARE: u64 = 4;
/// and of one of them this share of what was read of it, as long as nothing was gained,
const READ_SHARE_AT_FIRST: u64 = 128;
/// and afterwards this one, or that one where a wait is worth megabytes.
const READ_SHARE_NEAR: u64 = 64;
const READ_SHARE_FAR: u64 = 10;
/// Fewer misses may be neighbours by chance.
const MISSES_MIN: u64 = 4;

/// What filling costs, and may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Price {
    /// Bytes that could be fetched while a reader waits for one fetch.
    pub(super) wait_bytes: u64,
    pub(super) memory_bytes: u64,
    /// Of the memory, what was read ahead and not read yet.
    pub(super) unread_bytes: u64,
    pub(super) is_far: bool,
}

impl Price {
    fn is_small(&self, size: u64) -> bool {
        size <= self.memory_bytes / FIT_SHARE
    }
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Fill {
    areas: Areas,
    account: Account,
    /// Bytes of the object that were read, and of those filled, not read since.
    read: u64,
    unread: u64,
    /// Reads that had to wait and were of no stream.
    missed_count: u64,
    order: Order,
}

impl Fill {
    /// Bytes of the object were read that had been read ahead or had to be waited for.
    pub(super) fn earn(&mut self, bytes: u64) {
        self.read += bytes;
    }

    /// What was filled and not read since.
    pub(super) fn unread_bytes(&self) -> u64 {
        self.unread
    }

    /// So many readers had to wait in no order that it was not by chance: more may be filled.
    pub(super) fn is_sought(&self) -> bool {
        self.missed_count >= MISSES_MIN
    }

    /// Its readers pass over it, rather than come back to what lies behind.
    pub(super) fn is_passed(&self) -> bool {
        self.order.is_one_way()
    }

    /// A read that no stream expected.
    pub(super) fn note(&mut self, access: &Access, price: &Price, trust: &mut Trust) {
        let is_small = price.is_small(access.size);
        self.order.note(access.extent.offset);
        self.areas.fit(if is_small { access.size } else { 0 });
        if access.missing {
            self.areas.miss(access.extent.offset);
            self.missed_count += 1;
            trust.note(access.extent.len, price.wait_bytes);
            return;
        }
        trust.note(access.unread_bytes, 0);
        if access.unread_bytes > 0
            && let Some(evidence) = self.areas.mark(access.extent.offset)
        {
            self.unread = self.unread.saturating_sub(access.unread_bytes);
            self.gain(evidence, price.wait_bytes as i64, (!is_small).then_some(trust));
        }
    }

    /// Whether anything may be worth filling after a read.
    pub(super) fn may_pay(&self, access: &Access, price: &Price) -> bool {
        if !access.missing || !self.order.is_none() {
            return false;
        }
        // Most places have seen too little, and that is known at once of all blocks there.
        price.is_small(access.size)
            || self.account.has_proof()
            || self.areas.missed_around(access.extent.offset, BLOCK_BYTES_MAX) >= MISSES_MIN
    }

    /// What to fill now that a read had to wait for which that may pay, and on what evidence; no
    /// more than `bytes_max`.
    pub(super) fn next(
        &self,
        access: &Access,
        price: &Price,
        trust: &Trust,
        bytes_max: u64,
    ) -> Option<(Extent, Evidence)> {
        let is_small = price.is_small(access.size);
        let len_max = if is_small { access.size.next_power_of_two() } else { BLOCK_BYTES_MAX };
        let whole = Extent::new(0, access.size);
        let block_of = |len: u64| Extent::new(access.extent.offset & !(len - 1), len);
        let room = self.room(is_small, price).min(bytes_max);
        let mut len = PARTS_MIN * self.areas.part_bytes();
        let (mut known, mut found) = (Known::default(), None);
        let mut new = block_of(len);
        while len <= len_max {
            let block = block_of(len).intersection(&whole);
            known += self.areas.known(new.intersection(&whole));
            let rest = block.len.saturating_sub(known.filled_bytes);
            if rest > room {
                break;
            }
            let waited = known.missed_count * price.wait_bytes;
            if rest > 0
                && let Some(evidence) = Evidence::of(waited, rest + price.wait_bytes)
                && (known.missed_count >= MISSES_MIN || self.account.is_proven(evidence))
                && (is_small && evidence.is_enough_to_keep(price.is_far)
                    || self.account.allows(evidence, trust))
            {
                found = Some((block, evidence));
            }
            // The next is this one and the one beside it.
            new = Extent::new(block.offset ^ len, len);
            len *= 2;
        }
        found
    }

    /// `extent` of an object of `size` bytes is going to be fetched, which brings `bytes`.
    pub(super) fn begin(
        &mut self,
        extent: Extent,
        size: u64,
        evidence: Evidence,
        bytes: u64,
        price: &Price,
        trust: &mut Trust,
    ) {
        self.areas.fill(extent, evidence);
        self.unread += bytes;
        let cost = (bytes + price.wait_bytes) as i64;
        self.gain(evidence, -cost, (!price.is_small(size)).then_some(trust));
    }

    /// Whether the bytes at `extent` were to be filled.
    pub(super) fn wants(&self, extent: Extent) -> bool {
        self.areas.mark(extent.offset).is_some()
    }

    /// Some of it went before anybody came: that costs twice. How much.
    pub(super) fn on_lost(&mut self, extent: Extent) -> u64 {
        let Some(evidence) = self.areas.lose(extent) else { return 0 };
        self.gain(evidence, -(extent.len as i64), None);
        extent.len
    }

    /// Nobody has the object open any more.
    pub(super) fn on_idle(&mut self) {
        self.areas.clear();
        self.unread = 0;
    }

    fn gain(&mut self, evidence: Evidence, bytes: i64, trust: Option<&mut Trust>) {
        self.account.gain(evidence, bytes);
        if let Some(trust) = trust {
            trust.gain(bytes);
        }
    }

    /// How much may be filled still.
    fn room(&self, is_small: bool, price: &Price) -> u64 {
        let share = if is_small { FIT_SHARE } else { UNREAD_SHARE };
        let room = (price.memory_bytes / share).saturating_sub(price.unread_bytes);
        let read_share = match (self.account.is_ahead(), price.is_far) {
            (false, _) => READ_SHARE_AT_FIRST,
            (true, false) => READ_SHARE_NEAR,
            (true, true) => READ_SHARE_FAR,
        };
        let own = (self.read / read_share).saturating_sub(self.unread);
        if is_small { room } else { room.min(own) }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::types::{ObjectId, ReaderId, Time};

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;
    const LARGE: u64 = 1 << 40;
    /// A disk's wait is as long as 512 KiB take.
    const PRICE: Price =
        Price { wait_bytes: 512 * KIB, memory_bytes: 256 * MIB, unread_bytes: 0, is_far: true };

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
    fn where_it_paid_less_is_enough() {
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
        assert_eq!(needed[7], Some(0), "{needed:?}");
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
    fn what_is_lost_is_not_there_any_more() {
        let mut world = World::default();
        (0..6).for_each(|at| world.read(MIB + at * 13 % 32 * 16 * KIB, LARGE));
        assert!(world.fill.wants(Extent::new(MIB, 4 * KIB)));
        world.fill.on_lost(Extent::new(MIB, 64 * KIB));
        assert!(!world.fill.wants(Extent::new(MIB, 4 * KIB)));
        assert!(world.fill.wants(Extent::new(MIB + 64 * KIB, 4 * KIB)));
    }
}
