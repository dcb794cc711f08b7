//! Which bytes were fetched and have not been read, and by which fetch.

use std::collections::{BTreeMap, VecDeque};

use forerun_engine::{Extent, ObjectId};

/// Reads that wait for a fetch to be dispatched, at most; the oldest are forgotten.
const WANTED_COUNT_MAX: usize = 4096;

/// Unread extents; see the module's page. They are as many as the engine's memory
/// has blocks at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Unread {
    /// By object and first byte: one past the last byte, and the fetch's position.
    pieces: BTreeMap<(ObjectId, u64), (u64, u64)>,
    bytes: u64,
    /// Reads whose fetches are not all dispatched.
    wanted: VecDeque<Wish>,
}

/// A read that found bytes missing.
#[derive(Clone, Copy, Debug)]
struct Wish {
    object: ObjectId,
    extent: Extent,
    /// How many of its bytes are still to be fetched.
    missing_bytes: u64,
}

impl Unread {
    /// How many bytes are unread.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Somebody asked for `extent`, of which `missing_bytes` are still to be fetched.
    pub(super) fn read(&mut self, object: ObjectId, extent: Extent, missing_bytes: u64) {
        // The engine counts a block as read when any byte of it was.
        self.forget(object, extent.to_blocks());
        if missing_bytes > 0 {
            if self.wanted.len() == WANTED_COUNT_MAX {
                self.wanted.pop_front();
            }
            self.wanted.push_back(Wish { object, extent, missing_bytes });
        }
    }

    /// The fetch at position `index` gets `extent`.
    pub(super) fn fetch(&mut self, object: ObjectId, extent: Extent, index: u64) {
        self.forget(object, extent);
        self.add(object, extent, index);
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.retain_mut(|wish| {
            if wish.object == object && wish.extent.overlaps(&extent) {
                self.forget(object, wish.extent.to_blocks().intersection(&extent));
                wish.missing_bytes = wish.missing_bytes.saturating_sub(wish.extent.intersection(&extent).len);
            }
            wish.missing_bytes > 0
        });
        self.wanted = wanted;
    }

    /// `extent` was evicted unread: which fetches had brought which parts of it.
    pub(super) fn lose(&mut self, object: ObjectId, extent: Extent) -> Vec<(u64, Extent)> {
        let brought = self.touched(object, extent).into_iter();
        let brought = brought.map(|(piece, index)| (index, piece.intersection(&extent))).collect();
        self.forget(object, extent);
        brought
    }

    /// `extent` is not unread any more.
    pub(super) fn forget(&mut self, object: ObjectId, extent: Extent) {
        for (piece, index) in self.touched(object, extent) {
            self.remove(object, piece.offset);
            self.add(object, Extent::between(piece.offset, extent.offset.min(piece.end())), index);
            self.add(object, Extent::between(extent.end().max(piece.offset), piece.end()), index);
        }
    }

    /// The pieces that overlap `extent`, and the positions of their fetches.
    fn touched(&self, object: ObjectId, extent: Extent) -> Vec<(Extent, u64)> {
        let first = self.pieces.range((object, 0)..=(object, extent.offset)).next_back();
        let start = first.map_or(extent.offset, |((_, start), _)| *start);
        let pieces = self.pieces.range((object, start)..(object, extent.end().max(start)));
        let pieces = pieces.map(|((_, at), (end, index))| (Extent::between(*at, *end), *index));
        pieces.filter(|(piece, _)| piece.overlaps(&extent)).collect()
    }

    fn add(&mut self, object: ObjectId, extent: Extent, index: u64) {
        if !extent.is_empty() {
            self.pieces.insert((object, extent.offset), (extent.end(), index));
            self.bytes += extent.len;
        }
    }

    fn remove(&mut self, object: ObjectId, start: u64) {
        if let Some((end, _)) = self.pieces.remove(&(object, start)) {
            self.bytes -= end - start;
        }
    }
}
