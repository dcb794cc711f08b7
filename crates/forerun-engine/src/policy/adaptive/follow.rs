//! A read that nobody has said anything of: whose it is, and what that asks for.

use alloc::vec::Vec;

use super::Adaptive;
use super::amounts::{Share, Terms, bet_bytes, gap_bytes, wait_bytes};
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
        let credit = self.balance.credit(view);
        streams.note(access, self.heads.note_reads(1), terms, view.device.through_bytes(), credit.room);
        let nearest = streams.find(access, terms.is_far(), view.cache);
        let is_expected = nearest.is_some_and(|nearest| streams.expects(&nearest));
        let found = nearest
            .and_then(|nearest| streams.go_on(&nearest, access, gap_bytes(view), &mut self.ends, view.cache));
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
            None => streams.begin(access, is_announced, bet_bytes(view), terms, &mut self.ends, view.cache),
        };
        let index = match begun {
            Begun::Stream(index) => index,
            Begun::Candidate(guess) => {
                let [bet, fill] = streams.beside_candidate(guess, access, &credit, &mut self.trust, view);
                let tail = self.tails.begin(access, wait_bytes(view), bet_bytes(view));
                let tail = tail.filter(|tail| tail.len <= credit.room);
                return want([guess, bet, fill, tail], windows);
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
        want(streams.beside_stream(index, is_expected, access, &credit, &mut self.trust, view), windows);
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
            let other = || self.objects.get(oldest).and_then(|streams| streams.head());
            let head = if oldest == object { own } else { other() };
            if !self.heads.settle(head, self.activity.reading_count()) {
                return;
            }
        }
    }
}

/// Wants what there is of `extents` for no stream.
fn want<const N: usize>(extents: [Option<Extent>; N], windows: &mut Vec<Window>) {
    windows.extend(extents.into_iter().flatten().map(|extent| Window::of_none(extent, extent.offset)));
}
