//! Readahead across files: walkers that open one file of a directory after the other.
//!
//! The engine is told of listings and of which of their entries were opened, and knows
//! no names.
//!
//! * [`directories`] keeps the listings;
//! * [`candidate`] waits for evidence before there is a walk, [`begin`] begins and ends them;
//! * [`one`] follows a walk and keeps files [`ahead`] of it, [`lead`] says how many;
//! * [`opened`] sees which parts of a file its reader wants;
//! * [`habits`] learns which files a walker opens, and [`parts`] how much of them it reads;
//! * [`ledger`] keeps what is fetched in vain below a share of what is of use.
//!
//! A walker that came through one directory most likely goes through the next that is
//! listed: that is begun without waiting for an opening.

mod ahead;
mod begin;
mod candidate;
mod directories;
mod habits;
mod lead;
mod ledger;
mod one;
mod opened;
mod parts;

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;

use crate::types::{DirectoryId, Extent, ListedFile, ObjectId, Time};
pub(crate) use ahead::{Ahead, File};
use candidate::Candidate;
use directories::{Directories, Listing};
use ledger::Ledger;
use one::Walk;
use opened::Opened;
pub(crate) use opened::Part;

/// A walk that rested so long takes no share from others, and nothing is guessed from it.
const ACTIVE_NS: u64 = 2_000_000_000;
/// A guess that nobody confirmed after so long was wrong.
const GUESS_NS: u64 = 10_000_000_000;

/// What a walk may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// Files ahead.
    pub(crate) files_max: u32,
    /// Their bytes.
    pub(crate) bytes_max: u64,
    /// From wanting bytes to having them, nearly always.
    pub(crate) service_ns: u64,
}

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    directories: Directories,
    candidates: VecDeque<Candidate>,
    walks: Vec<Walk>,
    ledger: Ledger,
    opened: BTreeMap<ObjectId, Opened>,
    /// Entries to ask the driver for.
    wanted: VecDeque<(DirectoryId, u32)>,
    /// Files that were announced and that nobody comes for any more.
    dropped: Vec<ObjectId>,
}

impl Walks {
    /// `directory` was listed; `share` is for all walks together.
    pub(crate) fn list(
        &mut self,
        now: Time,
        directory: DirectoryId,
        files: impl Iterator<Item = ListedFile>,
        share: &Share,
    ) {
        if self.directories.tell(directory, Listing::new(files)) {
            self.candidates.retain(|candidate| candidate.directory() != directory);
            self.end(|walk| walk.directory == directory);
        }
        self.end(|walk| walk.is_guess && now.since(walk.last) > GUESS_NS);
        self.guess(now, directory, share);
    }

    /// The file at `index` of `directory` was opened as `object`.
    pub(crate) fn enter(
        &mut self,
        now: Time,
        directory: DirectoryId,
        index: u32,
        object: ObjectId,
        share: &Share,
    ) {
        let Some(listing) = self.directories.get(directory) else { return };
        if index >= listing.len() {
            return;
        }
        let near = self.walks.iter().enumerate().filter(|(_, walk)| walk.directory == directory);
        let near = near.filter_map(|(at, walk)| Some((walk.distance(index, listing)?, at)));
        let Some((_, at)) = near.min() else {
            self.estrange(directory);
            return self.begin(now, directory, index, object, share);
        };
        let walk = &mut self.walks[at];
        let opening = walk.open(now, index, object, listing);
        self.ledger.earn(opening.expected);
        let (kind, size) = (listing.kind(index), listing.size(index));
        while let Some(file) = walk.take_passed() {
            self.ledger.lose(file.part.bytes());
            self.dropped.push(file.object);
        }
        let stop = walk.habits.stop(kind).unwrap_or(u64::MAX);
        let mut opened = Opened::new(directory, kind, size);
        (opened.fetched, opened.stop) = (opening.fetched, stop);
        self.opened.insert(object, opened);
        self.top_up(now, at, share);
    }

    /// The next entry that the driver should number.
    pub(crate) fn next_wanted(&mut self) -> Option<(DirectoryId, u32)> {
        let wanted = self.wanted.pop_front();
        if wanted.is_none() {
            self.walks.iter_mut().for_each(Walk::on_asked);
        }
        wanted
    }

    /// The entry at `index` of `directory` is `object`, of `size` bytes: what to fetch
    /// of it.
    pub(crate) fn announce(
        &mut self,
        directory: DirectoryId,
        index: u32,
        object: ObjectId,
        size: u64,
    ) -> Option<Part> {
        let listing = self.directories.get(directory)?;
        let mut walks = self.walks.iter_mut().filter(|walk| walk.directory == directory);
        walks.find_map(|walk| walk.announce(index, object, size, listing))
    }

    /// Whether somebody has `object` open who walks.
    pub(crate) fn follows(&self, object: ObjectId) -> bool {
        !self.opened.is_empty() && self.opened.contains_key(&object)
    }

    /// Somebody asks for `extent` of `object`, and has to wait if it is `late`.
    pub(crate) fn on_read(&mut self, now: Time, object: ObjectId, extent: Extent, late: bool, share: &Share) {
        let Some(opened) = self.opened.get_mut(&object) else { return };
        let is_first = opened.is_new();
        opened.read(extent);
        // Who had to wait for what was not read ahead does not say how far ahead to be.
        if !late || !is_first || opened.fetched.bytes() == 0 {
            return;
        }
        let directory = opened.directory;
        if let Some(at) = self.latest_in(directory) {
            let share = self.share_of_one(now, share);
            self.walks[at].wait(&share);
            self.top_up_with(now, at, &share);
        }
    }

    /// How far readahead of `object` should go, of which `extent` is being read.
    pub(crate) fn stop_of(&self, object: ObjectId, extent: Extent) -> u64 {
        let stop = self.opened.get(&object).map_or(u64::MAX, |opened| opened.stop);
        if extent.end() <= stop { stop } else { u64::MAX }
    }

    /// Nobody has `object` open any more.
    pub(crate) fn on_close(&mut self, object: ObjectId) {
        let Some(opened) = self.opened.remove(&object) else { return };
        self.ledger.lose(opened.wasted_bytes());
        let directory = opened.directory;
        if let Some(at) = self.latest_in(directory) {
            self.walks[at].habits.close(&opened);
        } else if let Some(candidate) =
            self.candidates.iter_mut().rfind(|known| known.directory() == directory)
        {
            candidate.habits.close(&opened);
        }
    }

    /// Some of `object` was evicted before anybody read it.
    pub(crate) fn on_lost(&mut self, object: ObjectId) {
        if let Some((walk, file)) = self.take(object) {
            walk.shorten();
            self.ledger.lose(file.part.bytes());
        }
    }

    /// `object` cannot be fetched, or is not known any more.
    pub(crate) fn on_gone(&mut self, object: ObjectId) {
        self.take(object);
    }

    /// Nothing of `object` matters any more.
    pub(crate) fn on_forget(&mut self, object: ObjectId) {
        self.opened.remove(&object);
        self.on_gone(object);
    }

    /// The next file whose readahead should stop.
    pub(crate) fn next_dropped(&mut self) -> Option<ObjectId> {
        self.dropped.pop()
    }

    fn take(&mut self, object: ObjectId) -> Option<(&mut Walk, File)> {
        self.walks.iter_mut().find_map(|walk| walk.take(object).map(|file| (walk, file)))
    }

    fn latest_in(&self, directory: DirectoryId) -> Option<usize> {
        let walks = self.walks.iter().enumerate().filter(|(_, walk)| walk.directory == directory);
        walks.max_by_key(|(_, walk)| walk.last).map(|(at, _)| at)
    }

    fn top_up(&mut self, now: Time, at: usize, share: &Share) {
        let share = self.share_of_one(now, share);
        self.top_up_with(now, at, &share);
    }

    fn top_up_with(&mut self, now: Time, at: usize, share: &Share) {
        let Walks { walks, directories, ledger, wanted, .. } = self;
        let walk = &mut walks[at];
        let Some(listing) = directories.get(walk.directory) else { return };
        let (directory, bytes_max) = (walk.directory, share.bytes_max.min(ledger.ahead_bytes_max()));
        walk.top_up(now, share, bytes_max, listing, |index| wanted.push_back((directory, index)));
    }

    fn share_of_one(&self, now: Time, share: &Share) -> Share {
        let is_active = |walk: &&Walk| {
            let is_done = || self.directories.get(walk.directory).is_none_or(|listing| walk.is_done(listing));
            now.since(walk.last) < ACTIVE_NS && !walk.is_guess && !is_done()
        };
        let count = (self.walks.iter().filter(is_active).count() as u64).max(1);
        Share {
            files_max: (u64::from(share.files_max) / count).max(4) as u32,
            bytes_max: share.bytes_max / count,
            ..*share
        }
    }
}
