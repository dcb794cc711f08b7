//! The streams of one object, told apart by where they read.
//!
//! State is kept per object, not per handle: reopening, threads, forks, reordered
//! requests and several streams on one handle all find their stream again. [`begin`]
//! makes streams, [`ends`] tells when they are over, [`bets`] says what else is fetched.

mod begin;
mod bets;
mod brief;
mod ends;
mod report;

use super::Share;
use super::activity::Counted;
use super::candidate::Candidate;
use super::chance::Chance;
use super::coast::Coast;
use super::fill::Fill;
use super::guess::Guesses;
use super::ledger::{Ledger, Terms};
use super::nearby::Nearby;
use super::procession::Procession;
use super::rhythm::{DOUBT_MAX, Rhythm};
use super::runs::Runs;
use super::shape::Shape;
use super::stream::Stream;
use super::zone::Zone;
use crate::cache::Cache;
use crate::explain::End;
use crate::policy::{Access, Window};
use crate::types::{BLOCK_BYTES, Extent, ObjectId};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use brief::{Brief, Briefs};
pub(super) use ends::Ends;

/// Candidates of one object: as many, since 128 streams may begin at once.
const CANDIDATES_MAX: usize = 128;
/// Streams kept of an object that nobody has open.
const STREAMS_IDLE_MAX: usize = 4;
/// What disorder left behind is fetched until so much was wasted too much.
const CLEARING_BYTES_MAX: u64 = 8 << 20;
/// How far ahead of who reads again what is in memory it is looked for what is not.
const LOOK_BYTES: u64 = 8 << 20;
/// A stream that was not read for so long does not stop others at its start.
const LIVE_NS: u64 = 10_000_000_000;

#[derive(Debug)]
pub(super) struct Streams {
    streams: Vec<Stream>,
    briefs: Briefs,
    /// The stream that was read last.
    last: u16,
    candidates: VecDeque<Candidate>,
    /// Candidates kept: fewer, the more of them came to nothing, since among many
    /// reads at random some are neighbours by chance.
    patience: u16,
    /// Equal steps that it takes besides, the more of them were so by chance.
    doubt: u8,
    chance: Chance,
    /// Candidates that a guess was made for, or a bet.
    guessed_count: u8,
    guesses: Guesses,
    ledger: Ledger,
    /// Boxed, since most objects are read in order.
    fill: Option<Box<Fill>>,
    nearby: Option<Box<Nearby>>,
    /// Reads of the object so far.
    read_count: u64,
    /// Which of all objects' reads was its last.
    last_read_index: u64,
    /// The object's size in bytes at its last read.
    size: u64,
    rhythm: Rhythm,
    runs: Runs,
    procession: Procession,
    zone: Zone,
    /// Wanted besides what a stream wants: those in line, and what was left behind.
    aside: Vec<Extent>,
    /// The read under way began a new run.
    is_new_run: bool,
    /// What every request costs at the last read, see [`crate::device::Device::through_bytes`].
    through_bytes: u64,
}

/// What a read that belongs to no stream started.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begun {
    /// The stream at this place.
    Stream(usize),
    /// No more than a candidate, and perhaps a guess at what it reads next.
    Candidate(Option<Extent>),
}

impl Default for Streams {
    fn default() -> Streams {
        Streams {
            streams: Vec::new(),
            briefs: Briefs::default(),
            last: 0,
            candidates: VecDeque::new(),
            patience: CANDIDATES_MAX as u16,
            doubt: 0,
            chance: Chance::default(),
            guessed_count: 0,
            guesses: Guesses::default(),
            ledger: Ledger::default(),
            fill: None,
            nearby: None,
            read_count: 0,
            last_read_index: 0,
            size: 0,
            rhythm: Rhythm::default(),
            runs: Runs::default(),
            procession: Procession::default(),
            zone: Zone::default(),
            aside: Vec::new(),
            is_new_run: false,
            through_bytes: 0,
        }
    }
}

impl Streams {
    /// Somebody reads: it is the read of all objects with number `index`, and every request
    /// costs as much as `through_bytes`.
    pub(super) fn note(&mut self, access: &Access, index: u64, terms: Terms, through_bytes: u64) {
        self.through_bytes = through_bytes;
        let extent = access.extent;
        self.last_read_index = index;
        let useful = access.unread_bytes.min(extent.len);
        let missed = if access.missing { extent.len - useful } else { 0 };
        self.guesses.earn(useful);
        self.fill.iter_mut().for_each(|fill| fill.earn(useful + missed));
        self.ledger.earn(useful, missed, terms);
        self.read_count += 1;
        self.is_new_run = !self.rhythm.goes_on(extent);
        self.nearby.iter_mut().for_each(|nearby| nearby.note(extent, access.size));
    }

    /// The stream whose reader this is: of those near enough, the nearest; those
    /// that leave something out only if there is no other.
    pub(super) fn find(&self, access: &Access) -> Option<usize> {
        // The one that was read last, or next after that the last time.
        let last = usize::from(self.last);
        for index in [last, self.briefs.next_after(last)] {
            if self.streams.get(index).is_some_and(|stream| stream.expects(access.extent)) {
                return Some(index);
            }
        }
        debug_assert!(self.briefs.are_of(&self.streams), "a stream changed and its brief did not");
        let near = self.briefs.concerned(access.extent).filter_map(|index| {
            let stream = &self.streams[index];
            Some(((!stream.shape().is_dense(), stream.distance(access.extent, self.through_bytes)?), index))
        });
        near.min().map(|(_, index)| index)
    }

    /// The stream that goes on with a read that belongs to the one at `index`: that
    /// one, unless it leaves out too much, where `gap_bytes` are as dear as a request, or
    /// one that begins here beside it.
    pub(super) fn go_on(
        &mut self,
        index: usize,
        access: &Access,
        gap_bytes: u64,
        ends: &mut Ends,
    ) -> Option<usize> {
        let stream = &mut self.streams[index];
        let goes_on = stream.passes(access.extent, gap_bytes, self.through_bytes);
        if !goes_on {
            self.briefs.note(index, stream);
        }
        if stream.shape().is_dense() {
            self.patience = if stream.is_proven() { CANDIDATES_MAX as u16 } else { self.patience };
            return goes_on.then_some(index);
        }
        if !goes_on {
            self.doubt = (self.doubt + 2).min(DOUBT_MAX);
            return None;
        } else if stream.keeps_step() {
            self.doubt = 0;
        }
        self.begin_run(access.extent);
        Some(self.begin_beside(access, ends).unwrap_or(index))
    }

    /// A read of nothing but what was read before, in a stream at `index` that wants no
    /// more: most reads of what is in memory are, and should cost next to nothing. The
    /// stream, if it is one.
    pub(super) fn glide(&mut self, index: usize, access: &Access) -> Option<&mut Stream> {
        let is_new = access.late || access.unread_bytes > 0 || access.extent.offset == 0;
        if is_new
            || index != usize::from(self.last)
            || !self.aside.is_empty()
            || !self.streams[index].glides(access)
        {
            return None;
        }
        self.size = access.size;
        let stream = &mut self.streams[index];
        stream.resume(self.read_count);
        stream.advance(access, access.extent);
        stream.note_limits(access.size, u64::MAX);
        self.briefs.note(index, stream);
        Some(stream)
    }

    /// The stream that was read last has coasted; the last of those reads is that of all
    /// objects with number `index`.
    pub(super) fn land(&mut self, coast: &Coast, index: u64) {
        self.last_read_index = index;
        self.read_count += coast.count;
        self.rhythm.goes_on(coast.extent());
        let last = usize::from(self.last);
        if let Some(stream) = self.streams.get_mut(last) {
            stream.land(coast);
            self.briefs.note(last, stream);
        }
    }

    /// Whether a read of `extent` is just what comes next of the stream at `index`.
    pub(super) fn expects(&self, index: usize, extent: Extent) -> bool {
        self.streams[index].expects(extent)
    }

    /// What all streams remember of being counted.
    pub(super) fn activity_mut(&mut self) -> impl Iterator<Item = &mut Counted> {
        self.streams.iter_mut().map(Stream::activity_mut)
    }

    /// The stream at `index`, which is being read.
    pub(super) fn read_at(&mut self, index: usize) -> &mut Stream {
        self.briefs.follow(usize::from(self.last), index);
        self.last = index as u16;
        &mut self.streams[index]
    }

    /// The reader of the stream at `index` asks for `access.extent`; adds what to
    /// read ahead to `windows`.
    pub(super) fn read(
        &mut self,
        index: usize,
        access: &Access,
        share: &Share,
        heads: &Runs,
        cache: &Cache,
        windows: &mut Vec<Window>,
    ) {
        self.size = access.size;
        for extent in self.aside.drain(..) {
            self.ledger.lose(missing_bytes(access.object, extent, cache));
            windows.push(Window::of_none(extent, extent.offset));
        }
        let stream = &mut self.streams[index];
        let was_over = stream.resume(self.read_count);
        if was_over {
            self.ledger.regain(stream.unread_bytes(stream.ahead(), access.object, cache));
        }
        let skipped = stream.skipped(access.extent);
        // What is cheaper to read than to leave out is not wasted.
        if skipped.len > share.gap_bytes || !stream.shape().is_dense() {
            let bytes = stream.unread_bytes(skipped, access.object, cache);
            // Whoever comes to what is left of a stream did not leave it.
            stream.note_skipped(if was_over { 0 } else { bytes });
            self.ledger.lose(bytes);
        }
        // What was skipped, or left behind by another, was not in vain after all.
        self.regain(access);
        let stream = &self.streams[index];
        let known = if stream.start() == 0 { heads } else { &self.runs };
        let is_forward = matches!(stream.shape(), Shape::Forward);
        let own = stream.own_bytes_with(access.extent);
        let reach = if is_forward {
            known.reach(own, self.ledger.priced(share.wait_bytes, share.terms), 0)
        } else {
            None
        };
        let share = &if reach.is_some() { share.with_known_end() } else { *share };
        let stream = &mut self.streams[index];
        let may_clear = self.ledger.debt(share.terms) <= CLEARING_BYTES_MAX;
        if let Some(extent) = stream.left_out(access)
            && may_clear
        {
            self.ledger.lose(missing_bytes(access.object, extent, cache));
            windows.push(Window { extent, mark: extent.offset, stream: Some(stream.id()) });
        }
        if stream.on_read(access, share, reach) {
            let (own, skipped) = (
                stream.trusted_bytes(self.through_bytes, share.turn_bytes.is_some()),
                stream.skipped_bytes(),
            );
            // Others bet as well.
            let filled = self.fill.as_ref().map_or(0, |fill| fill.unread_bytes());
            let at_risk = self.briefs.at_risk_beside(index) + filled;
            let terms = if stream.shape().is_dense() { share.terms } else { share.terms.in_elements() };
            let allowed = self.ledger.window_bytes_max(own, skipped, at_risk, terms);
            // How far a stream goes whose end is known, its price has decided.
            let is_known = reach.is_some_and(|end| end < u64::MAX);
            let is_decided = is_known && self.ledger.trusts_known_ends(share.terms);
            let room = self.ledger.room(self.briefs.ahead_beside(index) + filled, access.size);
            let allowed = if is_decided { room } else { allowed.min(room) };
            let likely_end = self.streams[index].start().saturating_add(reach.unwrap_or(u64::MAX));
            let limit = self.clear_until(index, access).min(likely_end);
            self.streams[index].top_up(share, limit, allowed, windows);
        }
        let stream = &mut self.streams[index];
        stream.settle_turn();
        let ahead = Extent::between(stream.frontier(), stream.frontier() + LOOK_BYTES).to_blocks();
        let is_back = !access.late && access.unread_bytes == 0 && access.extent.end() == stream.frontier();
        if is_back && stream.may_rest(ahead.end()) {
            // What was read before is most likely there for long.
            let missing = cache.first_missing(access.object, ahead, BLOCK_BYTES);
            stream.rest_until(missing.map_or(ahead.end(), |missing| missing.offset));
        }
        self.briefs.note(index, stream);
    }

    /// Somebody came for what had been counted as wasted: what no stream awaits.
    fn regain(&mut self, access: &Access) {
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

    pub(super) fn on_lost(&mut self, extent: Extent) {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            if self.briefs.may_concern(index, extent)
                && let Some((lost, forgotten)) = stream.on_lost(extent)
            {
                self.ledger.lose(lost);
                self.ledger.forget(forgotten);
                self.briefs.note(index, stream);
            }
        }
        if let Some(fill) = &mut self.fill {
            self.ledger.forget(fill.on_lost(extent));
        }
    }

    pub(super) fn on_failed(&mut self, extent: Extent) {
        for (index, stream) in self.streams.iter_mut().enumerate() {
            stream.on_failed(extent);
            self.briefs.note(index, stream);
        }
        if let Some(fill) = &mut self.fill {
            fill.on_lost(extent);
        }
    }

    /// Keeps little of an object that nobody reads: thousands are remembered.
    pub(super) fn shrink(&mut self, object: ObjectId, ends: &mut Ends) {
        self.end_all(object, End::Closed, ends);
        self.streams.sort_by_key(|stream| core::cmp::Reverse(stream.last_read()));
        self.streams.truncate(STREAMS_IDLE_MAX);
        self.streams.shrink_to_fit();
        self.briefs.renew(&self.streams);
        self.last = 0;
        self.candidates = VecDeque::new();
        self.guessed_count = 0;
        self.rhythm.clear();
        self.zone.clear();
        self.fill.iter_mut().for_each(|fill| fill.on_idle());
        self.nearby = None;
    }
}

/// Bytes of `extent` that fetching it would bring.
fn missing_bytes(object: ObjectId, extent: Extent, cache: &Cache) -> u64 {
    cache.missing(object, extent.to_blocks()) * BLOCK_BYTES
}
