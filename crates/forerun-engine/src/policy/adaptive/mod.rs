//! The default: finds out what each reader does and what the device can do, and
//! keeps just enough ahead.
//!
//! * [`streams`] tells streams apart by where they read, not by who reads;
//! * [`coast`] lets those pass who read what is in memory anyway;
//! * [`evidence`] waits before there is a stream, and guesses meanwhile;
//! * [`nearby`] bets on what is read soon near what was;
//! * [`recent`] finds what is known of a place, as long as it is remembered;
//! * [`lengths`] remembers how far streams went, and how far objects are read from either end;
//! * [`stream`] sizes and moves the window of one stream;
//! * [`fill`] fetches the rest of what is read all over;
//! * [`hints`] keeps what was said of reads to come, and fetches it in time;
//! * [`amounts`] says how much each of them may take, and what may be wasted;
//! * [`report`] says in which class and why.

mod amounts;
mod coast;
mod evidence;
mod fill;
mod hints;
mod lengths;
mod nearby;
mod recent;
mod report;
mod stream;
mod streams;

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::{Access, Ended, Hint, Policy, Reason, Rules, Said, View, Window};
use crate::config::Config;
use crate::explain::{End, StreamReport};
use crate::scatter::Scattered;
use crate::types::{Extent, ObjectId, ReaderId};
use amounts::{Activity, Share, Terms, bet_bytes, fill_price, gap_bytes, near_bytes, wait_bytes};
use fill::Trust;
use hints::Habit;
use lengths::{Head, Heads, Tails};
use streams::{Begun, Ends};

#[derive(Debug)]
pub(crate) struct Adaptive {
    /// Boxed, since there is room for more than there are.
    objects: Scattered<ObjectId, Box<streams::Streams>>,
    activity: Activity,
    hints: hints::Hints,
    heads: Heads,
    tails: Tails,
    coast: Option<coast::Coast>,
    /// What came of filling.
    trust: Trust,
    /// What the last read's reader has behind it.
    passed: Option<Extent>,
    ends: Ends,
}

impl Adaptive {
    pub(crate) fn new(config: &Config) -> Adaptive {
        Adaptive {
            objects: Scattered::default(),
            activity: Activity::default(),
            hints: hints::Hints::default(),
            heads: Heads::default(),
            tails: Tails::default(),
            coast: None,
            trust: Trust::default(),
            passed: None,
            ends: Ends::new(config),
        }
    }

    /// A read that nobody has said anything of, unless it `is_announced` that its reader reads on.
    fn follow(&mut self, access: &Access, is_announced: bool, view: &View<'_>, windows: &mut Vec<Window>) {
        self.tails.note(access);
        let streams = self.objects.get_or_default(access.object);
        let terms = &Terms::of(view);
        streams.note(access, self.heads.note_reads(1), terms, view.device.through_bytes());
        let nearest = streams.find(access);
        // What streams want is surer.
        let is_expected = nearest.is_some_and(|nearest| streams.expects(&nearest));
        let found =
            nearest.and_then(|nearest| streams.go_on(&nearest, access, gap_bytes(view), &mut self.ends));
        if found.is_none() && access.missing {
            streams.settle(access.object, access.size, view.cache, &mut self.ends);
        }
        if let Some(stream) = found.and_then(|index| streams.glide(index, access)) {
            self.passed = Some(access.extent);
            self.activity.note(access.time, stream.activity_mut());
            self.coast = Some(coast::Coast::after(access, stream.glides_until(access.size)));
            return;
        }
        let begun = match found {
            Some(index) => Begun::Stream(index),
            None => streams.begin(access, is_announced, bet_bytes(view), terms, &mut self.ends),
        };
        let index = match begun {
            Begun::Stream(index) => index,
            Begun::Candidate(guess) => {
                let fill = streams.fill(access, &fill_price(view), &mut self.trust, view);
                let bet = match guess {
                    None => streams.bet_on_candidate(access, near_bytes(view), view),
                    Some(_) => None,
                };
                let tail = self.tails.begin(access, wait_bytes(view), bet_bytes(view));
                for wanted in [guess, bet, fill, tail] {
                    windows.extend(wanted.map(|extent| Window::of_none(extent, extent.offset)));
                }
                return;
            }
        };
        let stream = streams.read_at(index);
        self.passed = stream.passed(access.extent);
        self.activity.note(access.time, stream.activity_mut());
        let is_head = stream.start() == 0;
        let mut share = Share::of_one_in(&self.activity, view);
        if is_announced {
            streams.read_at(index).announce();
        }
        streams.read(index, access, &mut share, self.heads.runs(), view.cache, windows);
        let bet = streams.bet_beside(index, access, near_bytes(view), view);
        windows.extend(bet.map(|extent| Window::of_none(extent, extent.offset)));
        // A start is no disorder.
        if !is_expected && access.extent.offset > 0 {
            let fill = streams.fill(access, &fill_price(view), &mut self.trust, view);
            windows.extend(fill.map(|extent| Window::of_none(extent, extent.offset)));
        }
        if is_head && access.extent.offset == 0 {
            let head = streams.head();
            self.begin_head(access.object, head);
        }
    }

    /// Tells the stream of who coasted what was read meanwhile.
    fn land(&mut self) {
        let Some(coast) = self.coast.take().filter(|coast| coast.count > 0) else { return };
        if let Some(streams) = self.objects.get_mut(coast.object) {
            streams.land(&coast, self.heads.note_reads(coast.count));
        }
    }

    /// Somebody reads `object`, which was read as far as `own`, from its start: those that were
    /// read so before may be over.
    fn begin_head(&mut self, object: ObjectId, own: Option<Head>) {
        self.heads.begin(object);
        for _ in 0..2 {
            let Some(oldest) = self.heads.oldest() else { return };
            let head = if oldest == object {
                own
            } else {
                self.objects.get(oldest).and_then(|streams| streams.head())
            };
            if !self.heads.settle(head, self.activity.reading_count()) {
                return;
            }
        }
    }
}

impl Policy for Adaptive {
    fn rules(&self, _: &Config) -> Rules {
        Rules::Engine
    }

    fn on_hint(&mut self, said: &Said, hint: &Hint<'_>, view: &View<'_>, windows: &mut Vec<Window>) {
        self.land();
        self.hints.note(said, hint, &mut self.activity, view, windows);
    }

    fn is_planned(&self, object: ObjectId) -> bool {
        self.hints.is_planned(object)
    }

    fn take_dropped(&mut self) -> bool {
        self.hints.take_dropped()
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
        self.passed = None;
        if self.hints.on_read(access, &mut self.activity, view, windows) {
            return;
        }
        match self.hints.habit(access) {
            Some(Habit::Random) => {}
            habit => self.follow(access, habit == Some(Habit::Sequential), view, windows),
        }
    }

    fn passed(&self, _: &Access) -> Option<Extent> {
        self.passed
    }

    fn on_lost(&mut self, object: ObjectId, extent: Extent) {
        self.land();
        self.hints.on_lost(object, extent);
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
        self.hints.forget(object);
        self.tails.on_idle(object);
        if let Some(streams) = self.objects.get_mut(object) {
            self.heads.on_idle(object, streams.head());
            streams.activity_mut().for_each(|counted| self.activity.leave(counted));
            streams.shrink(object, &mut self.ends);
        }
    }

    fn on_close(&mut self, object: ObjectId, reader: ReaderId) {
        self.hints.on_close(object, reader);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.land();
        self.hints.forget(object);
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
