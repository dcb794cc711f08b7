//! What may be read ahead of one object: one account for every class of readahead.
//!
//! Bytes are reserved when they are wanted, and given back when somebody reads them. What is reserved and
//! not expected any more, or has gone unread, is lost. That is kept within two bounds. What was lost makes
//! every wait worth less: by half for each eighth of the *allowance*, which is what a few waits are worth
//! and a share of what was of use. And no more is ever reserved than the *room*, whatever comes of it.

use crate::config::Config;
use crate::device::Costs;
use crate::policy::{Access, View};

/// So many waits may be lost before anything is known; in bytes at least, and at most, where they are also
/// a share of the memory or this.
const START_WAITS: u64 = 8;
const START_BYTES_MIN: u64 = 64 << 10;
const START_BYTES_MAX: u64 = 8 << 20;
const START_MEMORY_SHARE: u64 = 8;
const START_MEMORY_MIN: u64 = 4 << 20;
/// Of so many bytes that were of use, and of so many that readers waited for, one may be lost.
const USEFUL_SHARE: u64 = 20;
const MISSED_SHARE: u64 = 256;
/// Each such a share of the allowance makes a wait worth half.
const PRICE_SHARE: u64 = 8;
const PRICE_MAX: u64 = 20;
/// What a stream may have ahead: so many times what it has read, and at first as much again,
const TRUST: u64 = 2;
const TRUST_AT_FIRST: u64 = 4;
/// where a read is no longer than so many waits; else as much less.
const READ_WAITS: u64 = 6;
/// It is trusted no more once it skipped one of so many bytes.
const SKIPPED_SHARE: u64 = 10;
/// Past the allowance it has one byte ahead for so many that it has read.
const OVERDRAWN_SHARE: u64 = 16;

/// See the module's page. As it is at the read under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    allowance: u64,
    lost: u64,
    most: u64,
    taken: u64,
}

/// What was reserved for an object that is not lost: expected by some stream, or passed over since a
/// request that leaves it out costs more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) ahead: u64,
    pub(crate) passed: u64,
}

impl Account {
    pub(crate) fn of(access: &Access, expected: Expected, view: &View<'_>) -> Account {
        let costs = view.device.costs();
        let spent = view.cache.spent(access.object);
        let reserved = spent.open + view.pending.bytes_of(access.object);
        let memory = view.config.memory_bytes_max / START_MEMORY_SHARE;
        let start_max = START_BYTES_MAX.min(memory.max(START_MEMORY_MIN));
        let start = (START_WAITS * costs.fill).clamp(START_BYTES_MIN, start_max);
        let of_use = spent.used + spent.missed;
        Account {
            allowance: start + spent.used / USEFUL_SHARE + spent.missed / MISSED_SHARE,
            lost: (spent.wasted + reserved).saturating_sub(expected.ahead + expected.passed),
            most: Config::waste_bytes_of(access.size) + of_use / Config::USEFUL_SHARE,
            taken: (spent.wasted + reserved).saturating_sub(expected.passed),
        }
    }

    /// Bytes are reserved; for a stream that is expected to read them, unless they are a bet.
    pub(crate) fn reserve(&mut self, bytes: u64, is_bet: bool) {
        self.taken += bytes;
        self.lost += if is_bet { bytes } else { 0 };
    }

    /// No more may be reserved, whatever comes of it.
    pub(crate) fn room(&self) -> u64 {
        self.most.saturating_sub(self.taken)
    }

    /// How much of the room is taken, in parts of `parts`.
    pub(crate) fn taken(&self, parts: u64) -> u64 {
        parts * self.taken.min(self.most) / self.most.max(1)
    }

    /// What of the allowance is not lost.
    pub(crate) fn left(&self) -> u64 {
        self.allowance.saturating_sub(self.lost)
    }

    /// What a wait is worth that is worth `wait` as long as nothing is lost.
    pub(crate) fn priced(&self, wait: u64) -> u64 {
        wait >> (PRICE_SHARE * self.lost / self.allowance.max(1)).min(PRICE_MAX)
    }

    /// How far ahead of a stream one may be that has read `own` bytes, `read_len` at a time, and skipped
    /// `skipped` of what was read ahead for it.
    pub(crate) fn trust(&self, own: u64, read_len: u64, skipped: u64, costs: &Costs) -> u64 {
        let worth = u128::from(own) * u128::from(READ_WAITS * costs.wait) / u128::from(read_len.max(1));
        let worth = u64::try_from(worth).unwrap_or(u64::MAX);
        let is_dear = costs.apart == 0 && worth < own;
        let at_first = costs.apart == 0 && 2 * self.lost < self.allowance;
        let own = if is_dear { worth } else { own };
        let trusted = if at_first && !is_dear {
            (worth / READ_WAITS).clamp(TRUST * own, TRUST_AT_FIRST * own)
        } else {
            TRUST * own
        };
        let debt = self.lost.saturating_sub(self.allowance);
        let ahead = if debt <= own && skipped <= own / SKIPPED_SHARE {
            trusted
        } else {
            (own / 2).min(costs.wait).max(own / OVERDRAWN_SHARE).saturating_sub(skipped)
        };
        ahead.max(self.left())
    }
}
