//! Reads in no order that keep to a place: after a while the rest of it is fetched.
//!
//! Around each read that had to wait lie blocks of growing size. The largest is filled for
//! which readers have waited as long as fetching its rest takes: a skier who buys skis when he
//! has paid their price in rent never pays more than twice what he might have. Where nobody
//! came, more must be lost before it is tried again ([`Account`]).
//!
//! An object that fits in half of the memory is one such block, and what is filled of it stays:
//! once readers have waited for it as long as all of it takes, as much evidence is enough for its
//! blocks whatever came of it before; and an eighth of both far away if it is so small that all
//! of it may be wasted. Before that a few of its blocks were missed more often by chance alone.
//!
//! All this is for who comes back to what lies behind: who passes over an object, and leaves
//! out most of it, has no use for that ([`order`]). [`areas`] remembers where an object was
//! missed and filled, [`account`] what came of it.

mod account;
mod areas;
mod order;

use crate::config::Config;
use crate::policy::Access;
use crate::types::Extent;
pub(super) use account::Trust;
use account::{Account, Evidence};
use areas::{Areas, Known};
use order::Order;

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
    /// What one saved is worth to who comes from the last read, which may be near.
    pub(super) hit_bytes: u64,
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
            self.gain(evidence, price.hit_bytes as i64, is_small, trust);
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
        let enough = |missed_count: u64, bytes: u64| {
            Evidence::of(missed_count * price.wait_bytes, bytes + price.wait_bytes)
        };
        let of_whole = enough(self.missed_count, access.size);
        let is_bold = price.is_far && access.size <= Config::WASTE_BYTES_PER_OBJECT;
        let may_fill = !is_small || self.account.may_keep(trust);
        let may_keep = is_small && of_whole.is_some_and(|evidence| evidence.is_enough_to_keep(is_bold));
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
            if rest > 0
                && may_fill
                && let Some(evidence) = enough(known.missed_count, rest)
                && (known.missed_count >= MISSES_MIN || self.account.is_proven(evidence))
                && (may_keep && evidence.is_enough_to_keep(is_bold) || self.account.allows(evidence, trust))
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
        self.gain(evidence, -cost, price.is_small(size), trust);
    }

    /// Whether the bytes at `extent` were to be filled.
    pub(super) fn wants(&self, extent: Extent) -> bool {
        self.areas.mark(extent.offset).is_some()
    }

    /// Some of it went before anybody came: that costs twice. How much.
    pub(super) fn on_lost(&mut self, extent: Extent) -> u64 {
        let Some(evidence) = self.areas.lose(extent) else { return 0 };
        self.account.gain(evidence, -(extent.len as i64));
        extent.len
    }

    /// Nobody has the object open any more.
    pub(super) fn on_idle(&mut self) {
        self.areas.clear();
        self.unread = 0;
    }

    fn gain(&mut self, evidence: Evidence, bytes: i64, is_small: bool, trust: &mut Trust) {
        self.account.gain(evidence, bytes);
        if is_small { trust.keep(bytes) } else { trust.gain(bytes) }
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
mod tests;
