//! What one stream may take of memory and device.

use super::activity::Activity;
use super::terms::Terms;
use super::worth::{gap_bytes, wait_bytes};
use crate::policy::{Grant, View};

/// A few fetches.
const WINDOW_BYTES_MIN: u64 = 1 << 20;
/// So few streams may grow fast far away.
const STEEP_COUNT_MAX: u64 = 16;
/// The share of what is left of half the memory that one stream may take of it.
const SPARE_SHARE: u64 = 8;

/// What one stream may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// The largest window.
    pub(crate) window_bytes_max: u64,
    /// And of a stream whose end is known: it does not take that for long.
    pub(super) known_bytes_max: u64,
    /// What may be wrong by a first guess.
    pub(crate) competitive_bytes: u64,
    /// What one fetch should have.
    pub(crate) fetch_bytes: u64,
    /// From wanting bytes to having them, nearly always.
    pub(crate) service_ns: u64,
    /// Bytes a second of all fetches together, at best; asked of disks alone.
    pub(crate) rate: u64,
    /// Streams that are being read just now.
    pub(crate) reading_count: u64,
    /// The device may do one thing at a time.
    pub(crate) is_serial: bool,
    /// If it does: how much is read of a stream before it goes elsewhere.
    pub(crate) turn_bytes: Option<u64>,
    /// Each element of a strided way may be a movement of its own.
    pub(crate) is_disk: bool,
    /// Its head moves to each element all the same, whoever asks for it, and nobody else waits for it.
    pub(crate) is_alone_at_head: bool,
    /// Each step of a window costs so long a wait that one should lead to a large one.
    pub(crate) is_steep: bool,
    /// Of the whole memory.
    memory_bytes_max: u64,
    /// What is read through rather than left out.
    pub(crate) gap_bytes: u64,
    /// Bytes that cost as much as a wait.
    pub(crate) wait_bytes: u64,
    /// How many windows there is room for.
    pub(crate) window_room: usize,
    /// What may be wasted.
    pub(crate) terms: Terms,
}

impl Share {
    /// Twice what keeps the device busy, so that it stays busy while the reader
    /// consumes, and at least enough for a few fetches, or for going there to be worth it
    /// unless somebody waits meanwhile; but together with all who hold memory no more than
    /// three quarters of it: the rest is for demand and for what was just read. While less
    /// than half of the memory is taken, those who are not being read just now leave room
    /// for more.
    pub(crate) fn of_one_in(activity: &Activity, view: &View<'_>) -> Share {
        Share::among(activity.reading_count(), activity.holding_count(), view)
    }

    /// The same of one of so many that are `followed`.
    pub(crate) fn beside(activity: &Activity, followed: u64, view: &View<'_>) -> Share {
        let (reading_count, holding_count) = activity.counts_with(followed);
        Share::among(reading_count, holding_count, view)
    }

    fn among(reading_count: u64, holding_count: u64, view: &View<'_>) -> Share {
        let least = view.device.visit_bytes().max(WINDOW_BYTES_MIN);
        let busy = (2 * view.device.pipe_bytes() / reading_count).max(least);
        let all = view.config.memory_bytes_max;
        let fair = |count: u64| all / 4 * 3 / count;
        let spare = view.cache.spare_bytes() / SPARE_SHARE;
        let is_disk = view.device.may_be_disk() && !view.device.is_far();
        let memory = fair(holding_count).max(spare).min(fair(reading_count));
        Share {
            window_bytes_max: busy.min(memory),
            competitive_bytes: view.device.competitive_bytes(),
            fetch_bytes: view.device.fetch_bytes(),
            service_ns: view.device.service_high_ns(),
            rate: if is_disk { view.device.estimate().throughput_bytes_per_s } else { 0 },
            reading_count,
            is_serial: view.device.is_serial(),
            is_disk,
            is_alone_at_head: is_disk
                && view.device.turn_bytes().is_some()
                && view.device.is_full()
                && view.others_count == 0,
            is_steep: view.device.is_far_link() && reading_count <= STEEP_COUNT_MAX,
            turn_bytes: view.device.turn_bytes(),
            memory_bytes_max: all,
            gap_bytes: gap_bytes(view),
            window_room: view.pending.room(),
            wait_bytes: wait_bytes(view),
            known_bytes_max: if view.device.turn_bytes().is_some() {
                0
            } else {
                2 * view.device.pipe_bytes()
            }
            .min(memory),
            terms: Terms::of(view),
        }
    }

    /// The same of what is followed: what is known beforehand may have half of the memory.
    pub(crate) fn grant(&self) -> Grant {
        Grant {
            bytes: self.window_bytes_max,
            bytes_max: self.memory_bytes_max / 2 / self.reading_count,
            window_room: self.window_room,
            by_address: self.turn_bytes.is_some(),
        }
    }

    /// It is of a stream whose end is known.
    pub(crate) fn know_end(&mut self) {
        self.window_bytes_max = self.window_bytes_max.max(self.known_bytes_max);
    }
}
