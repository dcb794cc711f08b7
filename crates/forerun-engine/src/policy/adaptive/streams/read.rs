//! A read of a stream: what it says of what was read ahead, and what is wanted next.

use alloc::vec::Vec;

use super::brief::Brief;
use super::{Streams, missing_bytes};
use crate::cache::Cache;
use crate::policy::adaptive::amounts::Share;
use crate::policy::adaptive::lengths::Runs;
use crate::policy::adaptive::stream::Stream;
use crate::policy::{Access, Window};
use crate::types::{BLOCK_BYTES, Extent};

/// So much is read through at a time, rather than left out, and not counted at all; and as much as any
/// request costs, wherever it is.
const THROUGH_BYTES_MAX: u64 = 64 << 10;
/// What disorder left behind is fetched until so much was wasted too much.
const CLEARING_BYTES_MAX: u64 = 8 << 20;
/// How far ahead of who reads again what is in memory it is looked for what is not.
const LOOK_BYTES: u64 = 8 << 20;
/// Of what may be wasted where others read in no order, a stream may have one byte of so many ahead.
const SOUGHT_SHARE: u64 = 2;
/// Quarters of a wait that what lies ahead saves who comes back to a stream each time: the way there is his
/// all the same.
const RETURNED_QUARTERS: u64 = 3;
/// A stream that was not read for so long does not stop others at its start.
const LIVE_NS: u64 = 10_000_000_000;

/// How far a stream most likely goes.
#[derive(Clone, Copy, Debug)]
struct Reach {
    /// From where its run began.
    bytes: u64,
    /// So little is wasted by that that it may be, whatever was before.
    is_sure: bool,
}

impl Streams {
    /// The stream at `index`, which is being read.
    pub(crate) fn read_at(&mut self, index: usize) -> &mut Stream {
        self.briefs.follow(usize::from(self.last), index);
        self.last = index as u16;
        &mut self.streams[index]
    }

    /// The reader of the stream at `index` asks for `access.extent`; adds what to
    /// read ahead to `windows`.
    pub(crate) fn read(
        &mut self,
        index: usize,
        access: &Access,
        share: &mut Share,
        heads: &Runs,
        cache: &Cache,
        windows: &mut Vec<Window>,
    ) {
        self.size = access.size;
        let guess_room = self.guess_room;
        let is_within = |extent: &Extent| extent.len <= guess_room;
        for extent in self.aside.drain(..).filter(is_within) {
            self.ledger.lose(missing_bytes(access.object, extent, cache));
            windows.push(Window::of_none(extent, extent.offset));
        }
        let positions = self.streams[index].positions(access.extent);
        self.account_for(index, access, positions, share, cache);
        let reach = self.reach_of(index, access, share, heads);
        if reach.is_some() {
            share.know_end();
        }
        let stream = &mut self.streams[index];
        let may_clear = self.ledger.debt(&share.terms) <= CLEARING_BYTES_MAX;
        if let Some(extent) = stream.left_out(access).filter(is_within)
            && may_clear
        {
            self.ledger.lose(missing_bytes(access.object, extent, cache));
            windows.push(Window { extent, mark: extent.offset, stream: Some(stream.id()) });
        }
        if stream.on_read(access, positions, share, reach.map(|reach| reach.bytes)) {
            self.top_up(index, access, share, reach, cache, windows);
        }
        let stream = &mut self.streams[index];
        stream.settle_turn();
        rest(stream, access, cache);
        self.briefs.note(index, stream);
    }

    /// What the read says of what was read ahead: skipped, or of use after all.
    fn account_for(
        &mut self,
        index: usize,
        access: &Access,
        positions: Option<Extent>,
        share: &Share,
        cache: &Cache,
    ) {
        let stream = &mut self.streams[index];
        let was_over = stream.resume(self.read_count);
        if was_over {
            self.ledger.regain(stream.unread_bytes(stream.ahead(), access.object, cache));
        }
        let skipped = stream.skipped(positions);
        let is_cheap = skipped.len <= share.gap_bytes && stream.shape().is_dense();
        if !is_cheap {
            let bytes = stream.unread_bytes(skipped, access.object, cache);
            // Whoever comes to what is left of a stream did not leave it.
            stream.note_skipped(if was_over { 0 } else { bytes });
            self.ledger.lose(bytes);
        } else if skipped.len > THROUGH_BYTES_MAX.max(self.through_bytes) {
            self.ledger.pass(stream.unread_bytes(skipped, access.object, cache));
        }
        // What was skipped, or left behind by another, was not in vain after all.
        self.regain(access);
    }

    /// How far from its beginning the stream most likely goes, if that is known.
    fn reach_of(&self, index: usize, access: &Access, share: &Share, heads: &Runs) -> Option<Reach> {
        let stream = &self.streams[index];
        if !stream.shape().is_dense() {
            return None;
        }
        let is_head = stream.start() == 0;
        let known = if is_head { heads } else { &self.runs };
        let own = stream.run_bytes_with(access.extent);
        if self.ledger.has_lost()
            && share.terms.is_far()
            && let Some(bytes) = known.reach(own, share.wait_bytes, 0)
            && known.is_sure(own, bytes, 0)
        {
            return Some(Reach { bytes, is_sure: true });
        }
        let wait_bytes = self.ledger.priced(share.wait_bytes, &share.terms);
        Some(Reach { bytes: known.reach(own, wait_bytes, 0)?, is_sure: false })
    }

    /// More may be wanted of the stream, as far as is allowed.
    fn top_up(
        &mut self,
        index: usize,
        access: &Access,
        share: &Share,
        reach: Option<Reach>,
        cache: &Cache,
        windows: &mut Vec<Window>,
    ) {
        let stream = &self.streams[index];
        let own = stream.trusted_bytes(self.through_bytes, share.turn_bytes.is_some());
        // Others bet as well.
        let filled = self.fill.as_ref().map_or(0, |fill| fill.unread_bytes());
        let at_risk = self.briefs.at_risk_beside(index) + filled;
        let in_elements = (!stream.shape().is_dense()).then(|| share.terms.in_elements());
        let terms = in_elements.as_ref().unwrap_or(&share.terms);
        // Each time a disk's head comes back as well.
        let is_returned_to = share.is_disk && share.turn_bytes.is_some() && stream.is_returned_to();
        let returned_to = is_returned_to.then(|| terms.returned_to(share.wait_bytes / 4 * RETURNED_QUARTERS));
        let terms = returned_to.as_ref().unwrap_or(terms);
        let allowed = self.ledger.window_bytes_max(own, stream.skipped_bytes(), at_risk, terms);
        // How far a stream goes whose end is known, its price has decided.
        let is_known = reach.is_some_and(|reach| reach.bytes < u64::MAX);
        let is_sure = reach.is_some_and(|reach| reach.is_sure);
        let is_decided = is_known && (is_sure || self.ledger.trusts_known_ends(&share.terms));
        let room = self.ledger.room(self.briefs.ahead_beside(index) + filled, access.size);
        let room = if self.is_sought() { room / SOUGHT_SHARE } else { room };
        let allowed = if is_decided { room } else { allowed.min(room) };
        let allowed = if in_elements.is_some() && share.is_alone_at_head { 0 } else { allowed };
        let allowed = allowed.min(self.guess_room);
        let likely_end = stream.run_start().saturating_add(reach.map_or(u64::MAX, |reach| reach.bytes));
        let limit = self.clear_until(index, access).min(likely_end);
        let before = windows.len();
        self.streams[index].top_up(share, limit, allowed, windows);
        if is_sure && self.ways.are_looked_at() && windows.len() > before {
            windows.insert(before, self.streams[index].last_block());
        }
        let added = windows[before..].iter();
        let bytes = added.map(|window| missing_bytes(access.object, window.extent, cache)).sum();
        self.streams[index].put_at_risk(bytes);
    }

    /// Whether others read in no order: what streams have ahead is not filled for them.
    fn is_sought(&self) -> bool {
        self.fill.as_ref().is_some_and(|fill| fill.is_sought())
    }

    /// Somebody came for what had been counted as wasted: what no stream awaits.
    pub(super) fn regain(&mut self, access: &Access) {
        if access.unread_bytes == 0 || !self.ledger.has_lost() {
            return;
        }
        let blocks = access.extent.to_blocks();
        let is_awaited = |stream: &Stream| {
            !stream.is_settled() && stream.unread_bytes_of(access.extent) >= access.unread_bytes
        };
        // Nearly always the stream that reads awaits all of it.
        if self.streams.get(usize::from(self.last)).is_some_and(is_awaited) {
            return;
        }
        let concerned = self.briefs.concerned(blocks).map(|index| &self.streams[index]);
        let live = concerned.filter(|stream| !stream.is_settled());
        let awaited: u64 = live.map(|stream| stream.unread_bytes_of(access.extent)).sum();
        let bytes = access.unread_bytes.saturating_sub(awaited);
        self.ledger.regain(bytes);
        if self.fill.as_ref().is_some_and(|fill| fill.wants(access.extent)) {
            // Where filling makes up for what streams lost, that was wasted all the same.
            self.ledger.forget(bytes);
        }
    }

    /// The position at which the stream has to stop reading ahead: at the end of
    /// the object, or where another stream that is being read began. The reader
    /// most likely stops there too; if it goes on, it passes that start and is
    /// free again.
    pub(super) fn clear_until(&self, index: usize, access: &Access) -> u64 {
        let stream = &self.streams[index];
        let limit = stream.shape().limit(access.size);
        if !stream.shape().is_dense() {
            return limit;
        }
        let (way, frontier) = (stream.shape().way(), stream.frontier());
        let others = self.briefs.above(index).skip_while(|other| other.start < frontier);
        let is_live = |other: &&Brief| other.way == way && access.time.since(other.last_read) < LIVE_NS;
        others.take_while(|other| other.start < limit).find(is_live).map_or(limit, |other| other.start)
    }
}

/// Who reads again what is in memory wants nothing for as far as it is there.
fn rest(stream: &mut Stream, access: &Access, cache: &Cache) {
    let ahead = Extent::between(stream.frontier(), stream.frontier() + LOOK_BYTES).to_blocks();
    let is_back = !access.late && access.unread_bytes == 0 && access.extent.end() == stream.frontier();
    if is_back && stream.may_rest(ahead.end()) {
        // What was read before is most likely there for long.
        let missing = cache.first_missing(access.object, ahead, BLOCK_BYTES);
        stream.rest_until(missing.map_or(ahead.end(), |missing| missing.offset));
    }
}
