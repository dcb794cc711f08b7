//! The limit of one object's waste, which stops readahead that is wrong: one account for every class of it.
//!
//! Bytes are reserved when they are planned, and given back when a reader reads them. Reserved bytes are
//! lost once no stream expects them, or once they have gone unread. Two bounds limit that:
//!
//! * Lost bytes lower the [price](super::super::price) of a wait: each eighth of the *allowance* halves it. The
//!   allowance is the worth of a few waits and a share of the used bytes.
//! * No more is ever reserved than the *room*.

use super::super::detect::Stream;
use super::super::price;
use crate::ablation::Rule;
use crate::config::Config;
use crate::explain::AccountReport;
use crate::policy::View;
use crate::types::ObjectId;

/// An object may lose this many waits before anything is known of it. That is at most this many bytes, and
/// this share of the memory.
const START_WAITS: u64 = 8;
const START_BYTES_MAX: u64 = 8 << 20;
const START_MEMORY_SHARE: u64 = 4;
/// All objects together may lose this many starts, and one byte for this many that were used.
const ALL_STARTS: u64 = 4;
const ALL_USEFUL_SHARE: u64 = 4;
/// An object may lose one byte for this many that were used.
const USEFUL_SHARE: u64 = 20;
/// The policy reserves at most this share of that, since a fetch may bring more than was reserved for it.
const ROOM_EIGHTHS: u64 = 7;
/// A stream may have this many times as much ahead as it has read.
const TRUST: u64 = 2;
/// A stream that skips one byte of this many is doubted, and so is every stream past the allowance. It may have only as
/// much ahead as it has read and not skipped, or half of its bytes since the last skip. A wait is the most.
const SKIPPED_SHARE: u64 = 10;

/// See the module's page. As it is at the read under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Account {
    allowance: u64,
    lost: u64,
    most: u64,
    taken: u64,
}

/// Reserved bytes of an object that are not lost. Some stream expects them, or passed them because a fetch
/// that leaves them out costs more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) ahead: u64,
    pub(crate) passed: u64,
}

/// The part of an allowance that does not depend on the object's readers. Thousands of objects that are
/// each read a little would waste it thousands of times. So all objects together waste a few such parts at
/// most, and a share of the used bytes.
fn start(view: &View<'_>) -> u64 {
    let most = START_BYTES_MAX.min(view.config.memory_bytes_max / START_MEMORY_SHARE);
    let start = (START_WAITS * view.device.costs().fill).min(most);
    let all = view.cache.spent_by_all();
    let of_all = (ALL_STARTS * start + all.used / ALL_USEFUL_SHARE).saturating_sub(all.wasted + all.open);
    if Rule::AllLosses.is_off() { start } else { start.min(of_all) }
}

impl Account {
    /// That of `object`, which has `size` bytes.
    pub(crate) fn of(object: ObjectId, size: u64, expected: Expected, view: &View<'_>) -> Account {
        let spent = view.cache.spent(object);
        let reserved = spent.open + view.pending.bytes_of(object);
        let of_use = spent.used + spent.missed;
        Account {
            allowance: start(view) + spent.used / USEFUL_SHARE,
            lost: (spent.wasted + reserved).saturating_sub(expected.ahead + expected.passed),
            most: ROOM_EIGHTHS * (view.config.waste_bytes_of(size) / 8) + of_use / Config::USEFUL_SHARE,
            taken: (spent.wasted + reserved).saturating_sub(expected.passed),
        }
    }

    /// Bytes are reserved, for a stream that is expected to read them, unless they are a bet.
    pub(crate) fn reserve(&mut self, bytes: u64, is_bet: bool) {
        self.taken += bytes;
        self.lost += if is_bet { bytes } else { 0 };
    }

    /// Bytes that may still be reserved, whether they are used or not.
    pub(crate) fn room(&self) -> u64 {
        if Rule::Room.is_off() { u64::MAX / 2 } else { self.most.saturating_sub(self.taken) }
    }

    /// How much of the room is taken, in parts of `parts`.
    pub(crate) fn taken(&self, parts: u64) -> u64 {
        parts * self.taken.min(self.most) / self.most.max(1)
    }

    /// The part of the allowance that is not lost.
    pub(crate) fn left(&self) -> u64 {
        self.allowance.saturating_sub(self.lost)
    }

    /// The worth of a wait, which is `wait` bytes as long as nothing is lost.
    pub(crate) fn priced(&self, wait: u64) -> u64 {
        price::of(wait, self.lost, self.allowance)
    }

    /// How far ahead of `stream` one may be. A wait costs as much as `wait` bytes.
    pub(crate) fn trust(&self, stream: &Stream, wait: u64) -> u64 {
        let (own, debt) = (stream.trusted(), self.lost.saturating_sub(self.allowance));
        let is_trusted = debt <= own && stream.skipped <= own / SKIPPED_SHARE;
        let since = (stream.in_row / TRUST).min(wait);
        let doubted = own.min(wait).saturating_sub(stream.skipped).max(since);
        let ahead = if is_trusted { TRUST * own } else { doubted };
        ahead.max(self.left())
    }

    /// The report of it, where a wait costs as much as `wait` bytes.
    pub(crate) fn report(&self, wait: u64) -> AccountReport {
        AccountReport {
            allowance_bytes: self.allowance,
            lost_bytes: self.lost,
            room_bytes: self.room(),
            wait_bytes: self.priced(wait),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::detect::Shape;
    use super::*;
    use crate::policy::Access;
    use crate::types::{Extent, ReaderId, Time};

    #[test]
    fn a_stream_past_the_allowance_is_trusted_with_what_it_has_read_since_it_skipped() {
        let read = |extent| Access {
            time: Time(0),
            object: ObjectId(0),
            reader: ReaderId(0),
            extent,
            size: 1 << 30,
            late: false,
            missing: true,
            unread_bytes: 0,
            ahead: None,
        };
        let first = Extent::new(0, 4096);
        let mut stream = Stream::new(Shape::FORWARD, first, 4096, 0, &read(first));
        (stream.skipped, stream.in_row) = (8 << 20, 0);
        let account = Account { allowance: 1 << 20, lost: 9 << 20, most: 64 << 20, taken: 9 << 20 };
        assert_eq!(account.trust(&stream, 4 << 20), 0);
        for block in 1..=16 {
            let extent = Extent::new(block * 4096, 4096);
            stream.advance(&read(extent), extent);
        }
        assert_eq!(account.trust(&stream, 4 << 20), 32 << 10);
        assert_eq!(account.trust(&stream, 16 << 10), 16 << 10, "a wait at most");
    }
}
