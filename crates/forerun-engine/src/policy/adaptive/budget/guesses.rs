//! The gain of guesses for the readers of all objects, against their cost.
//!
//! Near by, on a device that is busy nearly all the time, both are counted in bytes. A saved wait is worth
//! the bytes that arrive meanwhile. Each wasted byte makes a reader wait.
//!
//! The account of an object keeps its waste below a share of the bytes read. Of thousands of objects that
//! are read a little, each may be within its account, and all together cost more than they save.

use crate::ablation::Rule;
use crate::explain::Class;
use crate::policy::{Access, View};
use crate::types::ObjectId;

/// Before anything was saved, guesses may cost this many waits and bytes. The bytes ahead of streams count until
/// they are read.
const START_WAITS: u64 = 32;
const START_BYTES: u64 = 1 << 20;
/// A saved wait pays for this share of the bytes that it is worth. On a busy device, most of it comes back
/// as a wait of other readers.
const SAVED_SHARE: u64 = 4;

/// At the read under way, in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    /// The worth of a hit to the reader, by where its last read ended.
    pub(crate) hit_bytes: u64,
    /// How much may be fetched on a guess.
    pub(crate) room: u64,
    /// Readers that wait for wasted fetches as well as for used ones.
    pub(crate) sharers: u64,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Balance {
    /// Saved bytes, besides the start. The cache counts the cost of guesses.
    saved_bytes: u64,
    /// The worth of a hit to a reader that goes on from the last read to this one.
    hit_bytes: u64,
    /// Where the last read ended.
    last_end: Option<(ObjectId, u64)>,
}

impl Balance {
    /// Somebody reads.
    pub(crate) fn record_read(&mut self, access: &Access, view: &View<'_>) {
        let last = self.last_end.filter(|(object, _)| *object == access.object);
        let gap = last.and_then(|(_, end)| access.extent.offset.checked_sub(end));
        self.last_end = Some((access.object, access.extent.end()));
        self.hit_bytes = hit_bytes(gap, view);
        if !view.device.is_vain_dear() {
            // It was carried while nobody waited.
            self.saved_bytes = view.cache.guess_bytes();
            return;
        }
        let was_guessed = access.ahead.is_some_and(Class::is_guess) && !access.missing;
        let wait_bytes = self.hit_bytes / SAVED_SHARE / view.device.waiters(view.others_count);
        self.saved_bytes += if was_guessed { wait_bytes } else { 0 };
    }

    /// See [`Credit`].
    pub(crate) fn credit(&self, view: &View<'_>) -> Credit {
        let sharers = view.device.waiters(view.others_count);
        Credit { hit_bytes: self.hit_bytes, room: self.room(view), sharers }
    }

    fn room(&self, view: &View<'_>) -> u64 {
        if Rule::Balance.is_off() || !view.device.is_vain_dear() {
            return u64::MAX;
        }
        let start_bytes = START_BYTES + view.device.carried_while(START_WAITS * view.device.wait_ns());
        (start_bytes + self.saved_bytes).saturating_sub(view.cache.guess_bytes())
    }
}

/// The worth of a saved wait to a reader that goes on `gap` bytes after where the last read ended. A single
/// reader takes the device from no one.
fn hit_bytes(gap: Option<u64>, view: &View<'_>) -> u64 {
    let ns = view.device.wait_after_ns(gap);
    if view.others_count == 0 { view.device.bytes_while(ns) } else { view.device.carried_while(ns) }
}
