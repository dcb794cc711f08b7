//! A read that nobody has said anything of: whose it is, and what that asks for.

use alloc::vec::Vec;

use super::Adaptive;
use super::amounts::{Share, Terms, bet_bytes, fill_price, gap_bytes, near_bytes, wait_bytes};
use super::coast::Coast;
use super::lengths::Head;
use super::streams::Begun;
use crate::policy::{Access, View, Window};
use crate::types::{Extent, ObjectId};

impl Adaptive {
    /// A read that nobody has said anything of, unless it `is_announced` that its reader reads on.
    pub(super) fn follow(
        &mut self,
        access: &Access,
        is_announced: bool,
        view: &View<'_>,
        windows: &mut Vec<Window>,
    ) {
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
            self.coast = Some(Coast::after(access, stream.glides_until(access.size)));
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
                return [guess, bet, fill, tail].into_iter().for_each(|wanted| want(wanted, windows));
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
        want(bet, windows);
        // A start is no disorder.
        if !is_expected && access.extent.offset > 0 {
            let fill = streams.fill(access, &fill_price(view), &mut self.trust, view);
            want(fill, windows);
        }
        if is_head && access.extent.offset == 0 {
            let head = streams.head();
            self.begin_head(access.object, head);
        }
    }

    /// Tells the stream of who coasted what was read meanwhile.
    pub(super) fn land(&mut self) {
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

/// Wants `extent`, if there is any, for no stream.
fn want(extent: Option<Extent>, windows: &mut Vec<Window>) {
    windows.extend(extent.map(|extent| Window::of_none(extent, extent.offset)));
}
