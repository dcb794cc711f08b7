//! The default: finds out what each reader does and what the device can do, and
//! keeps just enough ahead.
//!
//! * [`follow`] takes all reads that the follower knows nothing of from one question to the next;
//! * [`streams`] tells streams apart by where they read, not by who reads; [`coast`] lets
//!   those pass who read what is in memory anyway;
//! * [`evidence`] says when reads that belong to no stream are one;
//! * [`stream`] sizes and moves the window of one stream;
//! * [`amounts`] says how much each of them may have ahead, and what may be wasted;
//! * [`lengths`] remembers how far readers go, and so where to stop;
//! * [`nearby`] bets on what is read soon near what was, [`fill`] fetches the rest of what is
//!   read all over; [`recent`](crate::recent) finds what both know of a place, and forgets it;
//! * [`report`] says in which class and why.

mod amounts;
mod coast;
mod evidence;
mod fill;
mod follow;
mod lengths;
mod nearby;
mod report;
mod stream;
mod streams;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::balance::Balance;
use super::tails::Tails;
use super::{Access, Ended, Follower, Habit, Hint, List, Lists, Policy, Reason, Rules, Said, View, Window};
use crate::config::Config;
use crate::explain::{End, StreamReport};
use crate::scatter::Scattered;
use crate::types::{Extent, ListId, ObjectId, ReaderId, Time};
use amounts::{Activity, Share};
use coast::Coast;
use fill::Trust;
use lengths::Heads;
pub(super) use lengths::Runs;
use streams::{Ends, Streams};

#[derive(Debug)]
pub(crate) struct Adaptive {
    /// Boxed, since there is room for more than there are.
    objects: Scattered<ObjectId, Box<Streams>>,
    activity: Activity,
    /// What was said of reads to come.
    follower: Follower,
    heads: Heads,
    tails: Tails,
    coast: Option<Coast>,
    /// What came of filling.
    trust: Trust,
    balance: Balance,
    /// What the last read's reader has behind it.
    passed: Option<Extent>,
    ends: Ends,
}

impl Adaptive {
    pub(crate) fn new(config: &Config) -> Adaptive {
        Adaptive {
            objects: Scattered::default(),
            activity: Activity::default(),
            follower: Follower::default(),
            heads: Heads::default(),
            tails: Tails::default(),
            coast: None,
            trust: Trust::default(),
            balance: Balance::default(),
            passed: None,
            ends: Ends::new(config),
        }
    }
}

impl Policy for Adaptive {
    fn rules(&self, _: &Config) -> Rules {
        Rules::Engine
    }

    fn on_hint(&mut self, said: &Said, hint: &Hint<'_>, view: &View<'_>, windows: &mut Vec<Window>) {
        self.land();
        let grants = |followed| Share::beside(&self.activity, followed, view).grant();
        self.follower.note(said, hint, &grants, windows);
    }

    fn on_list(&mut self, now: Time, id: ListId, list: List, view: &View<'_>) {
        self.land();
        let grants = |followed| Share::beside(&self.activity, followed, view).grant();
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

    fn reason(&self, object: ObjectId, extent: Extent, view: &View<'_>) -> Option<Reason> {
        report::reason(self, object, extent, view)
    }

    fn reason_of(&self, object: ObjectId, window: &Window, view: &View<'_>) -> Option<Reason> {
        report::reason_of(self, object, window, view)
    }

    fn take_ended(&mut self) -> Vec<Ended> {
        self.ends.take()
    }

    fn streams(&self, object: ObjectId, view: &View<'_>, tell: &mut dyn FnMut(StreamReport)) {
        report::streams(self, object, view, tell);
    }

    fn on_read(&mut self, access: &Access, view: &View<'_>, windows: &mut Vec<Window>) {
        if self.coast.as_mut().is_some_and(|coast| coast.goes_on(access)) {
            self.passed = Some(access.extent);
            return;
        }
        self.land();
        self.balance.note(access, view);
        self.passed = None;
        let grants = |followed| Share::beside(&self.activity, followed, view).grant();
        if self.follower.on_read(access, &grants, windows) {
            return;
        }
        self.activity.set_followed(self.follower.reading_count(access.time));
        match self.follower.habit(access) {
            Some(Habit::Random) => {}
            habit => self.follow(access, habit == Some(Habit::Sequential), view, windows),
        }
    }

    fn passed(&self, _: &Access) -> Option<Extent> {
        self.passed
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        self.land();
        self.follower.on_lost(object, extent);
        if let Some(streams) = self.objects.get_mut(object) {
            streams.on_lost(extent);
        }
    }

    fn on_failed(&mut self, object: ObjectId, extent: Extent) {
        self.land();
        if let Some(streams) = self.objects.get_mut(object) {
            streams.on_failed(extent);
        }
    }

    fn on_idle(&mut self, object: ObjectId) {
        self.land();
        self.follower.forget(object);
        self.tails.on_idle(object);
        if let Some(streams) = self.objects.get_mut(object) {
            self.heads.on_idle(object, streams.head());
            streams.activity_mut().for_each(|counted| self.activity.leave(counted));
            streams.shrink(object, &mut self.ends);
        }
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.follower.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.land();
        self.follower.forget(object);
        self.follower.lists.forget(object);
        if let Some(mut streams) = self.objects.remove(object) {
            streams.end_all(object, End::Forgotten, &mut self.ends);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{stream, streams};

    #[test]
    fn state_is_small() {
        assert!(size_of::<stream::Stream>() <= 384, "of a stream");
        assert!(size_of::<streams::Streams>() <= 448, "of an object that nobody reads");
    }
}
