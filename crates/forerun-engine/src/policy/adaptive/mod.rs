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
//! * [`hints`] keeps what was said of reads to come, [`plan`] fetches it, [`route`] says
//!   where and when;
//! * [`activity`] counts the streams that share memory and device just now.

mod activity;
mod candidate;
mod density;
mod fill;
mod guess;
mod hints;
mod ledger;
mod plan;
mod rhythm;
mod route;
mod shape;
mod stream;
mod streams;
mod strides;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::{Access, Hint, Policy, Said, View, Window};
use crate::types::{Extent, ObjectId, ReaderId};
use hints::Habit;
use streams::Begun;

/// The share of the memory that an object may take that is read all over.
const FILL_SHARE: u64 = 4;

#[derive(Debug)]
pub(crate) struct Adaptive {
    objects: BTreeMap<ObjectId, streams::Streams>,
    activity: activity::Activity,
    hints: hints::Hints,
}

impl Adaptive {
    pub(crate) fn new() -> Adaptive {
        Adaptive {
            objects: BTreeMap::new(),
            activity: activity::Activity::new(),
            hints: hints::Hints::default(),
        }
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
    /// The device may do one thing at a time.
    is_serial: bool,
    /// If it does: how much is read of a stream before it goes elsewhere.
    turn_bytes: Option<u64>,
    /// How much may be wanted of a plan that is read in order of address.
    sweep_bytes_max: u64,
    /// What is read through rather than left out.
    gap_bytes: u64,
    /// What may be wasted.
    terms: ledger::Terms,
}

impl Share {
    /// Twice what keeps the device busy, so that it stays busy while the reader
    /// consumes, and at least enough for a few fetches; but together no more
    /// than three quarters of the memory: the rest is for demand and for what
    /// was just read.
    fn of_one_in(count: u64, view: &View<'_>) -> Share {
        let busy = (2 * view.device.pipe_bytes() / count).max(1 << 20);
        let memory = view.config.memory_bytes_max / 4 * 3 / count;
        Share {
            window_bytes_max: busy.min(memory),
            competitive_bytes: view.device.competitive_bytes(),
            fetch_bytes: view.device.fetch_bytes(),
            service_ns: view.device.service_high_ns(),
            is_serial: view.device.is_serial(),
            turn_bytes: view.device.turn_bytes(),
            sweep_bytes_max: view.config.memory_bytes_max / 2 / count,
            gap_bytes: plan::gap_bytes(view.device.pipe_bytes(), view.device.turn_bytes()),
            terms: if view.device.is_far() { ledger::Terms::FAR } else { ledger::Terms::NEAR },
        }
    }
}

impl Policy for Adaptive {
    fn on_hint(&mut self, said: &Said, hint: &Hint<'_>, view: &View<'_>, windows: &mut Vec<Window>) {
        self.hints.note(said, hint, &mut self.activity, view, windows);
    }

    fn is_planned(&self, object: ObjectId) -> bool {
        self.hints.is_planned(object)
    }

    fn take_dropped(&mut self) -> bool {
        self.hints.take_dropped()
    }

    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>) {
        if self.hints.on_read(access, &mut self.activity, view, windows) {
            return;
        }
        let habit = self.hints.habit(access);
        if habit == Some(Habit::Random) {
            return;
        }
        let streams = self.objects.entry(access.object).or_default();
        streams.note(access.extent);
        let found = streams.find(access).and_then(|index| streams.go_on(index, access));
        if found.is_none() && access.missing {
            streams.settle(access.object, view.cache);
        }
        let begun =
            found.map_or_else(|| streams.begin(access, habit == Some(Habit::Sequential)), Begun::Stream);
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
        let share = Share::of_one_in(self.activity.count(), view);
        if habit == Some(Habit::Sequential) {
            streams.read_at(index).announce();
        }
        streams.read(index, access, &share, view.cache, windows);
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        self.hints.on_lost(object, extent);
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
        self.hints.forget(object);
        if let Some(streams) = self.objects.get_mut(&object) {
            streams.shrink();
        }
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.hints.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.hints.forget(object);
        self.objects.remove(&object);
    }
}
