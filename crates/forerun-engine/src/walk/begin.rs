//! Where walks come from, and when they are over.

use super::candidate::Candidate;
use super::one::Walk;
use super::opened::Opened;
use super::{ACTIVE_NS, Share, Walks};
use crate::types::{DirectoryId, ObjectId, Time};

/// Walks followed at once; the one that rested longest gives way.
const WALKS_MAX: usize = 32;
/// Few: among many openings in no order, some are neighbours by chance.
const CANDIDATES_MAX: usize = 8;
/// Guesses that nobody has confirmed, at most: two trees may be walked together.
const GUESSES_MAX: usize = 2;
/// Openings elsewhere in its directory, for each walk there, after which a walk is over.
const STRANGERS_MAX: usize = 4;

impl Walks {
    /// An opening in `directory` that is no walk's: walks that are met by too many such
    /// have been left.
    pub(super) fn estrange(&mut self, directory: DirectoryId) {
        let mut walks = 0;
        for walk in self.walks.iter_mut().filter(|walk| walk.directory == directory) {
            walk.stranger_count += 1;
            walks += 1;
        }
        self.end(|walk| walk.directory == directory && walk.stranger_count > STRANGERS_MAX * walks);
    }

    /// Takes an opening as evidence, which may be enough for a walk.
    pub(super) fn begin(
        &mut self,
        now: Time,
        directory: DirectoryId,
        index: u32,
        object: ObjectId,
        share: &Share,
    ) {
        let Some(listing) = self.directories.get(directory) else { return };
        let mut candidates = self.candidates.iter_mut();
        let found = candidates
            .position(|candidate| candidate.directory() == directory && candidate.takes(index, listing));
        let candidate = found.and_then(|at| self.candidates.remove(at));
        let candidate = candidate.unwrap_or_else(|| Candidate::new(directory, index));
        let (kind, size) = (listing.kind(index), listing.size(index));
        self.opened.insert(object, Opened::new(directory, kind, size));
        let Some(way) = candidate.walk(listing) else {
            if self.candidates.len() == CANDIDATES_MAX {
                self.candidates.pop_front();
            }
            return self.candidates.push_back(candidate);
        };
        let walk = Walk::new(now, directory, way, index, listing, candidate.into_habits(listing));
        let at = self.insert(walk);
        self.top_up(now, at, share);
    }

    /// Begins a walk in a directory that was just listed, if somebody walks.
    pub(super) fn guess(&mut self, now: Time, directory: DirectoryId, share: &Share) {
        let Some(listing) = self.directories.get(directory) else { return };
        let is_known = self.walks.iter().any(|walk| walk.directory == directory && !walk.is_done(listing));
        let guess_count = self.walks.iter().filter(|walk| walk.is_guess).count();
        if is_known || guess_count >= GUESSES_MAX || !listing.has_files() {
            return;
        }
        let walkers = self.walks.iter().filter(|walk| walk.is_proven() && now.since(walk.last) < ACTIVE_NS);
        let Some(walker) = walkers.max_by_key(|walk| walk.last) else { return };
        let guess = walker.guess(now, directory);
        let at = self.insert(guess);
        self.top_up(now, at, share);
    }

    fn insert(&mut self, walk: Walk) -> usize {
        if self.walks.len() == WALKS_MAX {
            let rested = self.walks.iter().enumerate().min_by_key(|(_, walk)| walk.last).map(|(at, _)| at);
            let mut at = 0..;
            self.end(|_| at.next() == rested);
        }
        self.walks.push(walk);
        self.walks.len() - 1
    }

    /// Ends the walks that are `over`, and what was read ahead of them.
    pub(super) fn end(&mut self, mut over: impl FnMut(&Walk) -> bool) {
        let Walks { walks, ledger, dropped, .. } = self;
        walks.retain_mut(|walk| {
            if !over(walk) {
                return true;
            }
            for file in walk.take_ahead() {
                ledger.lose(file.part.bytes());
                dropped.push(file.object);
            }
            false
        });
    }
}
