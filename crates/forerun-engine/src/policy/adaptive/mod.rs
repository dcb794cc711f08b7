//! The default: finds out what each reader does and what the device can do, and
//! keeps just enough ahead.
//!
//! * [`streams`] tells streams apart by where they read, not by who reads;
//! * [`candidate`] waits for evidence before there is a stream;
//! * [`guess`] bets a little on a candidate's first read;
//! * [`rhythm`] finds even steps in what is read;
//! * [`stream`] sizes and moves the window of one stream;
//! * [`shape`] and [`strides`] say which way it goes;
//! * [`density`] says how much of its way it reads;
//! * [`fill`] fetches the rest of an object that is read all over;
//! * [`ledger`] keeps what is read ahead in vain below a share of what is of use;
//! * [`activity`] counts the streams that share memory and device just now.

mod activity;
mod candidate;
mod density;
mod fill;
mod guess;
mod ledger;
mod rhythm;
mod shape;
mod stream;
mod streams;
mod strides;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Access, Policy, View, Window};
use crate::types::{Extent, ObjectId, ReaderId};
use streams::Begun;

/// The share of the memory that an object may take that is read all over.
const FILL_SHARE: u64 = 4;
/// The share of what is left of half the memory that one stream may take of it.
const SPARE_SHARE: u64 = 8;

#[derive(Debug)]
pub(crate) struct Adaptive {
    objects: BTreeMap<ObjectId, streams::Streams>,
    activity: activity::Activity,
}

impl Adaptive {
    pub(crate) fn new() -> Adaptive {
        Adaptive { objects: BTreeMap::new(), activity: activity::Activity::default() }
    }
}

/// What one stream may take.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// The largest window.
    window_bytes_max: u64,
    /// What may be wrong by a first guess.
    competitive_bytes: u64,
    /// What one fetch should have.
    fetch_bytes: u64,
    /// From wanting bytes to having them, nearly always.
    service_ns: u64,
    /// Streams that are being read just now.
    reading_count: u64,
    /// The device may do one thing at a time.
    is_serial: bool,
    /// What may be wasted.
    terms: ledger::Terms,
}

impl Share {
    /// Twice what keeps the device busy, so that it stays busy while the reader
    /// consumes, and at least enough for a few fetches; but together with all who
    /// hold memory no more than three quarters of it: the rest is for demand and
    /// for what was just read. While less than half of the memory is taken, those
    /// who are not being read just now leave room for more.
    fn of_one_in(activity: &activity::Activity, view: &View<'_>) -> Share {
        let busy = (2 * view.device.pipe_bytes() / activity.reading_count()).max(1 << 20);
        let all = view.config.memory_bytes_max;
        let fair = |count: u64| all / 4 * 3 / count;
        let spare = (all / 2).saturating_sub(view.cache.unread_bytes_all()) / SPARE_SHARE;
        let memory = fair(activity.holding_count()).max(spare).min(fair(activity.reading_count()));
        Share {
            window_bytes_max: busy.min(memory),
            competitive_bytes: view.device.competitive_bytes(),
            fetch_bytes: view.device.fetch_bytes(),
            service_ns: view.device.service_high_ns(),
            reading_count: activity.reading_count(),
            is_serial: view.device.is_serial(),
            terms: if view.device.is_far() { ledger::Terms::FAR } else { ledger::Terms::NEAR },
        }
    }
}

impl Policy for Adaptive {
    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>) {
        let streams = self.objects.entry(access.object).or_default();
        streams.note(access.extent);
        let found = streams.find(access).and_then(|index| streams.go_on(index, access));
        if found.is_none() && access.missing {
            streams.settle(access.object, view.cache);
        }
        let begun = found.map_or_else(|| streams.begin(access), Begun::Stream);
        let index = match begun {
            Begun::Stream(index) => index,
            Begun::Candidate(guess) => {
                let fill = streams.fill(access, view.config.memory_bytes_max / FILL_SHARE);
                let wanted = guess.into_iter().chain(fill);
                windows.extend(wanted.map(|extent| Window { extent, mark: extent.offset }));
                return;
            }
        };
        self.activity.note(access.time, streams.read_at(index).activity_mut());
        let share = Share::of_one_in(&self.activity, view);
        streams.read(index, access, &share, view.cache, windows);
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        if let Some(streams) = self.objects.get_mut(&object) {
            streams.on_lost(extent);
        }
    }

    fn on_failed(&mut self, object: ObjectId, extent: Extent) {
        if let Some(streams) = self.objects.get_mut(&object) {
            streams.on_failed(extent);
        }
    }

    fn on_idle(&mut self, object: ObjectId) {
        if let Some(streams) = self.objects.get_mut(&object) {
            streams.activity_mut().for_each(|counted| self.activity.leave(counted));
            streams.shrink();
        }
    }

    fn on_close(&mut self, _: ObjectId, _: ReaderId) {}

    fn on_forget(&mut self, object: ObjectId) {
        self.objects.remove(&object);
    }
}
