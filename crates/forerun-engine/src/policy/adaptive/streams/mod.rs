//! The streams of one object, told apart by where they read.
//!
//! State is kept per object, not per handle: reopening, threads, forks, reordered
//! requests and several streams on one handle all find their stream again. [`find`] says
//! whose read it is, [`begin`] when there is a new one, [`insert`] whose place that takes,
//! [`read`] what is wanted for them, [`bets`] what else is fetched, [`ends`] when they are
//! over. [`brief`] holds what every read asks of all of them side by side.

mod begin;
mod bets;
mod brief;
mod ends;
mod find;
mod insert;
mod read;
mod report;

use super::amounts::{Counted, Ledger, Terms};
use super::evidence::{Candidate, Chance, Guesses, Procession, Rhythm, Zone};
use super::fill::Fill;
use super::lengths::{Runs, Ways};
use super::nearby::Nearby;
use super::stream::Stream;
use crate::cache::Cache;
use crate::explain::End;
use crate::policy::Access;
use crate::types::{BLOCK_BYTES, Extent, ObjectId};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use brief::Briefs;
pub(super) use ends::Ends;

/// Candidates of one object: as many, since 128 streams may begin at once.
const CANDIDATES_MAX: usize = 128;
/// Streams kept of an object that nobody has open.
const STREAMS_IDLE_MAX: usize = 4;

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
    ways: Ways,
    procession: Procession,
    zone: Zone,
    /// Wanted besides what a stream wants: those in line, and what was left behind.
    aside: Vec<Extent>,
    /// The read under way began a new run.
    is_new_run: bool,
    /// What every request costs at the last read, see [`crate::device::Device::through_bytes`].
    through_bytes: u64,
    /// What may be fetched on a guess of all objects then, see [`Credit`](crate::policy::balance::Credit).
    guess_room: u64,
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
            ways: Ways::default(),
            procession: Procession::default(),
            zone: Zone::default(),
            aside: Vec::new(),
            is_new_run: false,
            through_bytes: 0,
            guess_room: u64::MAX,
        }
    }
}

impl Streams {
    /// Somebody reads: it is the read of all objects with number `index`, every request
    /// costs as much as `through_bytes`, and so much as `guess_room` may be guessed.
    pub(super) fn note(
        &mut self,
        access: &Access,
        index: u64,
        terms: &Terms,
        through_bytes: u64,
        guess_room: u64,
    ) {
        self.through_bytes = through_bytes;
        self.guess_room = guess_room;
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

    /// What all streams remember of being counted.
    pub(super) fn activity_mut(&mut self) -> impl Iterator<Item = &mut Counted> {
        self.streams.iter_mut().map(Stream::activity_mut)
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
