//! Readahead by price. Detectors predict the next reads, evidence tells how likely they are, and one
//! account for each object decides whether they are worth a fetch.
//!
//! * [`detect`] finds streams, and reads near earlier ones;
//! * [`evidence`] remembers the outcome of such predictions;
//! * [`window_growth`] decides how much a stream keeps ahead ([`window_state`]), [`price`] which other bytes are worth a fetch;
//! * [`budget`] limits waste, memory and the share of the device;
//! * [`deal`] is the read under way; [`whose`] finds its stream, and [`object`] plans for it;
//! * [`report`] shows what is read ahead and why, [`ended`] which streams are over.
//!
//! The device's costs come as numbers from [`Costs`](crate::device::Costs). Nothing here asks for the kind
//! of device.

mod budget;
mod common;
mod deal;
mod detect;
mod ended_streams;
mod evidence;
mod object;
mod price;
mod report;
mod whose;
mod window_growth;
mod window_state;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::follower::{Follower, Grant, Habit, List, Lists};
use super::{Access, Ended, Hint, Policy, Rules, Said, View, Window};
use crate::ablation::Rule;
use crate::config::Config;
use crate::explain::{AccountReport, StreamReport};
use crate::scatter::Scattered;
use crate::types::{Extent, ListId, ObjectId, ReaderId, Time};
use budget::{Balance, Shares};
use common::Common;
use deal::Deal;
use object::Object;

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Adaptive {
    /// Boxed, since the table has more slots than objects.
    objects: Scattered<ObjectId, Box<Object>>,
    common: Common,
    follower: Follower,
    balance: Balance,
    /// The bytes that the last read's reader has passed.
    passed: Option<Extent>,
}

impl Adaptive {
    pub(crate) fn new(config: &Config) -> Adaptive {
        Adaptive {
            objects: Scattered::default(),
            common: Common::new(config),
            follower: Follower::default(),
            balance: Balance::default(),
            passed: None,
        }
    }

    /// A read that nobody has said anything of, unless it `is_announced` that its reader reads on.
    fn follow(&mut self, access: &Access, is_announced: bool, view: &View<'_>, windows: &mut Vec<Window>) {
        self.common.tails.record_read(access);
        let object = self.objects.get_or_default(access.object);
        let is_new_run = object.record_read(access, self.common.heads.count_read());
        let useful = access.unread_bytes.min(access.extent.len);
        let (found, is_expected) = object.find(access.extent, useful > 0);
        let is_guessed = useful > 0 && !object.awaits(found, access.extent);
        if is_guessed {
            object.come_back(useful);
        }
        let deal = &mut Deal {
            access,
            view,
            costs: view.device.costs(),
            expected: object.expected(),
            account: None,
            balance: &self.balance,
            is_new_run,
            is_guessed,
            is_announced,
            common: &mut self.common,
            windows,
        };
        let found = object.stream_of(found, deal);
        if !is_expected && access.extent.offset > 0 {
            object.nearby.get_or_insert_default();
            object.fill(deal);
        }
        object.bet_near(found, deal);
        let Some(at) = found else { return bet_on_index(deal) };
        self.passed = object.go_on(at, deal);
        if access.extent.offset == 0 && object.streams[at].start == 0 {
            let reading = self.common.shares.reading();
            let head_of = |object| self.objects.get(object).map(|object| object.head());
            self.common.heads.begin(access.object, reading, head_of);
        }
    }
}

/// Bets on the rest of the index that the read is the end of, if it is.
fn bet_on_index(deal: &mut Deal<'_>) {
    let wait = if deal.costs.step > 0 { 0 } else { deal.costs.wait };
    if let Some(before) = deal.common.tails.begin(deal.access, wait).filter(|_| !Rule::Tails.is_off()) {
        deal.bet(before, None);
    }
}

/// The grant of one followed order. Orders that are known beforehand may have half of the memory.
fn grant(shares: &Shares, followed: u64, view: &View<'_>) -> Grant {
    let shares = shares.beside(followed);
    Grant {
        bytes: shares.of_one(view),
        bytes_max: view.config.memory_bytes_max / 2 / shares.reading(),
        window_room: view.pending.room(),
        by_address: view.device.costs().step > 0,
    }
}

impl Policy for Adaptive {
    fn rules(&self, _: &Config) -> Rules {
        Rules::Engine
    }

    fn on_hint(&mut self, said: &Said, hint: &Hint<'_>, view: &View<'_>, windows: &mut Vec<Window>) {
        let shares = &self.common.shares;
        let grants = |followed| grant(shares, followed, view);
        self.follower.apply_hint(said, hint, &grants, windows);
    }

    fn on_list(&mut self, now: Time, id: ListId, list: List, view: &View<'_>) {
        let shares = &self.common.shares;
        let grants = |followed| grant(shares, followed, view);
        self.follower.begin_list(now, id, list, &grants);
    }

    fn lists(&self) -> Option<&Lists> {
        Some(&self.follower.lists)
    }

    fn lists_mut(&mut self) -> Option<&mut Lists> {
        Some(&mut self.follower.lists)
    }

    fn is_planned(&self, object: ObjectId) -> bool {
        self.follower.is_planned(object)
    }

    fn take_dropped(&mut self) -> bool {
        self.follower.take_dropped()
    }

    fn take_ended(&mut self) -> Vec<Ended> {
        self.common.ended.take_ended()
    }

    fn streams(&self, object: ObjectId, view: &View<'_>, tell: &mut dyn FnMut(StreamReport)) {
        self.tell_streams(object, view, tell);
    }

    fn account(&self, object: ObjectId, view: &View<'_>) -> Option<AccountReport> {
        self.account_of(object, view)
    }

    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>) {
        self.passed = None;
        self.balance.record_read(access, view);
        let shares = &self.common.shares;
        let grants = |followed| grant(shares, followed, view);
        if self.follower.on_read(access, &grants, windows) {
            return;
        }
        self.common.shares = self.common.shares.beside(self.follower.reading_count(access.time));
        match self.follower.habit(access) {
            Some(Habit::Random) => {}
            habit => self.follow(access, habit == Some(Habit::Sequential), view, windows),
        }
    }

    fn passed(&self, _: &Access) -> Option<Extent> {
        self.passed
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        self.follower.on_lost(object, extent);
        if let Some(object) = self.objects.get_mut(object) {
            object.on_lost(extent);
        }
    }

    fn on_failed(&mut self, object: ObjectId, extent: Extent) {
        if let Some(object) = self.objects.get_mut(object) {
            object.on_failed(extent);
        }
    }

    fn on_idle(&mut self, object: ObjectId) {
        self.follower.forget(object);
        self.common.tails.on_idle(object);
        if let Some(state) = self.objects.get_mut(object) {
            state.on_idle(object, &mut self.common);
        }
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.follower.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.follower.forget(object);
        self.follower.lists.forget(object);
        if let Some(mut state) = self.objects.remove(object) {
            state.end_all(object, &mut self.common.ended);
        }
    }
}
