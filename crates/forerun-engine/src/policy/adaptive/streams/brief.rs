//! What every read asks of every stream, side by side: most streams have nothing to do
//! with it, and that is seen without looking at more of them.

use alloc::vec::Vec;
use core::{iter, mem};

use crate::objects::OBJECT_BYTES_MAX;
use crate::policy::adaptive::stream::{REORDER_BYTES_MAX, Stream, Way};
use crate::types::{Extent, Time};

/// One stream's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Brief {
    /// Where reads of at most `len` bytes may be that belong to it, or that are of what
    /// it has wanted; longer ones also a little before or after that.
    reach: Extent,
    len: u64,
    pub(super) way: Way,
    pub(super) start: u64,
    pub(super) last_read: Time,
    /// What it has wanted and nobody has come for, unless that is counted as wasted.
    ahead: u64,
    /// It may be no stream at all.
    is_doubtful: bool,
    /// The object's read after which it is over, unless it goes on before.
    over_after: u64,
    links: Links,
}

/// Places of other streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Links {
    /// The stream that was read next after it lately.
    next: u16,
    /// And the one that begins next above where it begins.
    above: u16,
}

/// No stream's place.
const NONE: u16 = u16::MAX;

impl Brief {
    fn of(stream: &Stream, links: Links) -> Brief {
        let (reach, len) = stream.reach();
        let ahead = if stream.is_settled() { 0 } else { stream.at_risk_bytes() };
        Brief {
            reach,
            len,
            way: stream.shape().way(),
            start: stream.start(),
            last_read: stream.last_read(),
            ahead,
            is_doubtful: !stream.is_proven(),
            over_after: stream.over_after(),
            links,
        }
    }

    fn at_risk(&self) -> u64 {
        if self.is_doubtful { self.ahead } else { 0 }
    }

    fn may_concern(&self, extent: Extent) -> bool {
        let slack = match self.way {
            _ if extent.len <= self.len => 0,
            Way::Up | Way::Down => REORDER_BYTES_MAX,
            // Where it leaves out what it leaves out, positions say little of offsets.
            Way::Leaps => OBJECT_BYTES_MAX,
        };
        extent.end() + slack >= self.reach.offset && extent.offset <= self.reach.end() + slack
    }
}

/// Of all streams of an object, in their order.
#[derive(Debug)]
pub(super) struct Briefs {
    all: Vec<Brief>,
    /// No stream is over before that read of the object, if none goes on.
    over_after_min: u64,
    /// What they have wanted and nobody has come for yet, and how much of that for what may
    /// be no streams at all.
    ahead: u64,
    at_risk: u64,
    /// The one that begins at the lowest position.
    lowest: u16,
}

impl Default for Briefs {
    fn default() -> Briefs {
        Briefs { all: Vec::new(), over_after_min: u64::MAX, ahead: 0, at_risk: 0, lowest: NONE }
    }
}

impl Briefs {
    /// The stream at `index`, which may be new, is as it is now.
    pub(super) fn note(&mut self, index: usize, stream: &Stream) {
        let Some(before) = self.all.get_mut(index) else { return self.add(stream) };
        let brief = Brief::of(stream, before.links);
        self.ahead = self.ahead - before.ahead + brief.ahead;
        self.at_risk = self.at_risk - before.at_risk() + brief.at_risk();
        self.over_after_min = self.over_after_min.min(brief.over_after);
        let has_moved = before.start != brief.start;
        if has_moved {
            self.unlink(index);
        }
        self.all[index] = brief;
        if has_moved {
            self.link(index);
        }
    }

    /// All of them have changed.
    pub(super) fn renew(&mut self, streams: &[Stream]) {
        let before = mem::take(self);
        self.all.reserve_exact(streams.len());
        for (stream, before) in streams.iter().zip(before.all) {
            self.add(stream);
            if let Some(last) = self.all.last_mut() {
                last.links.next = before.links.next;
            }
        }
    }

    fn add(&mut self, stream: &Stream) {
        if self.all.len() == self.all.capacity() {
            self.all.reserve_exact(self.all.len().max(1));
        }
        let brief = Brief::of(stream, Links::default());
        self.ahead += brief.ahead;
        self.at_risk += brief.at_risk();
        self.over_after_min = self.over_after_min.min(brief.over_after);
        self.all.push(brief);
        self.link(self.all.len() - 1);
    }

    /// Puts the stream at `index` among the others, by where it begins.
    fn link(&mut self, index: usize) {
        let start = self.all[index].start;
        let (mut below, mut above) = (NONE, self.lowest);
        while let Some(brief) = self.all.get(usize::from(above)).filter(|brief| brief.start <= start) {
            (below, above) = (above, brief.links.above);
        }
        self.all[index].links.above = above;
        *self.above_mut(below) = index as u16;
    }

    fn unlink(&mut self, index: usize) {
        let (mut below, mut at) = (NONE, self.lowest);
        while usize::from(at) != index {
            (below, at) = (at, self.all[usize::from(at)].links.above);
        }
        *self.above_mut(below) = self.all[index].links.above;
    }

    /// What is above the stream at `place`, or above none.
    fn above_mut(&mut self, place: u16) -> &mut u16 {
        match self.all.get_mut(usize::from(place)) {
            Some(brief) => &mut brief.links.above,
            None => &mut self.lowest,
        }
    }

    /// Those that were over first have been counted.
    pub(super) fn recount(&mut self) {
        self.over_after_min = self.all.iter().map(|brief| brief.over_after).min().unwrap_or(u64::MAX);
    }

    /// The stream at `next` is read after the one at `index`.
    pub(super) fn follow(&mut self, index: usize, next: usize) {
        if let Some(brief) = self.all.get_mut(index) {
            brief.links.next = next as u16;
        }
    }

    /// The place of the stream that was read after the one at `index` the last time.
    pub(super) fn next_after(&self, index: usize) -> usize {
        self.all.get(index).map_or(0, |brief| usize::from(brief.links.next))
    }

    /// Whether `extent` may have to do with the stream at `index`.
    pub(super) fn may_concern(&self, index: usize, extent: Extent) -> bool {
        self.all[index].may_concern(extent)
    }

    /// The places of the streams that `extent` may have to do with.
    pub(super) fn concerned(&self, extent: Extent) -> impl Iterator<Item = usize> {
        let all = self.all.iter().enumerate();
        all.filter(move |(_, brief)| brief.may_concern(extent)).map(|(index, _)| index)
    }

    /// Those that begin above where the one at `index` begins, from the lowest up.
    pub(super) fn above(&self, index: usize) -> impl Iterator<Item = &Brief> {
        self.upward(self.all[index].links.above)
    }

    /// The one at `place`, if there is one, and those that begin above that.
    fn upward(&self, place: u16) -> impl Iterator<Item = &Brief> {
        let at = |place: u16| self.all.get(usize::from(place));
        iter::successors(at(place), move |brief| at(brief.links.above))
    }

    /// What they have wanted and nobody has come for yet.
    pub(super) fn ahead(&self) -> u64 {
        self.ahead
    }

    /// The same without the one at `index`.
    pub(super) fn ahead_beside(&self, index: usize) -> u64 {
        self.ahead - self.all[index].ahead
    }

    /// What all but the one at `index` have wanted that may be no streams at all.
    pub(super) fn at_risk_beside(&self, index: usize) -> u64 {
        self.at_risk - self.all[index].at_risk()
    }

    /// Whether a stream may be over by the object's read number `index`.
    pub(super) fn may_be_over(&self, index: u64) -> bool {
        index > self.over_after_min
    }

    /// Whether they are what `streams` are.
    pub(super) fn are_of(&self, streams: &[Stream]) -> bool {
        let as_they_are = streams.iter().zip(&self.all).map(|(stream, brief)| Brief::of(stream, brief.links));
        streams.len() == self.all.len()
            && as_they_are.eq(self.all.iter().copied())
            && self.upward(self.lowest).count() == self.all.len()
            && self.upward(self.lowest).map(|brief| brief.start).is_sorted()
            && self.ahead == self.all.iter().map(|brief| brief.ahead).sum::<u64>()
            && self.at_risk == self.all.iter().map(Brief::at_risk).sum::<u64>()
    }
}
