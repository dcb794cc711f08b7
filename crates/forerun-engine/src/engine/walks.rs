//! Readahead across files: what the engine is told of listings and openings, and what
//! it does about files that nobody has opened yet.

use super::Engine;
use crate::policy::{Access, Window};
use crate::types::*;
use crate::walk::{Share, Walks};

impl Engine {
    /// `directory` was listed, and holds `files` in this order, which is the one that
    /// walkers are expected to go by. Telling the same again changes nothing.
    pub fn list(&mut self, now: Time, directory: DirectoryId, files: impl Iterator<Item = ListedFile>) {
        self.walk(|walks, share| walks.list(now, directory, files, share));
    }

    /// `object`, which was opened just now, is the entry at `index` of the listing of
    /// `directory`.
    pub fn enter(&mut self, now: Time, directory: DirectoryId, index: u32, object: ObjectId) {
        self.walk(|walks, share| walks.enter(now, directory, index, object, share));
    }

    /// The next entry of a listing, by its index, that is to be read ahead: the driver
    /// answers at once with [`Engine::announce`], or not at all.
    pub fn poll_entry(&mut self) -> Option<(DirectoryId, u32)> {
        self.walks.as_mut()?.next_wanted()
    }

    /// The entry at `index` of `directory` is `object`, of `size` bytes. It is
    /// remembered as if it had been closed just now.
    pub fn announce(&mut self, now: Time, directory: DirectoryId, index: u32, object: ObjectId, size: u64) {
        let Some(walks) = &mut self.walks else { return };
        let is_open = self.objects.is_open(object);
        let part = if is_open { None } else { walks.announce(directory, index, object, size) };
        let extents = part.unwrap_or_default().extents(size).map(Extent::to_blocks);
        let is_missing = |extent: &Extent| self.cache.first_missing(object, *extent, extent.len).is_some();
        let wanted = extents.map(|extent| Some(extent).filter(is_missing));
        if wanted == [None; 2] {
            self.miss(object);
            if !self.objects.is_known(object) {
                self.forgotten.push_back(object);
            }
            return;
        }
        self.objects.announce(object, size);
        self.cache.expect(now, object);
        for extent in wanted.into_iter().flatten() {
            self.emit_window(now, object, &Window::of_none(extent, extent.offset));
            if !self.pending.push(object, extent) {
                self.miss(object);
            }
        }
        self.forget_surplus(now);
        self.audit();
    }

    /// Drops what was closed longest ago, if too much is remembered.
    pub(super) fn forget_surplus(&mut self, now: Time) {
        if let Some(surplus) = self.objects.surplus(self.config.closed_objects_max) {
            self.forget(now, surplus);
        }
    }

    /// Tells walks of a read.
    pub(super) fn follow(&mut self, access: &Access) {
        let Access { time, object, extent, late, .. } = *access;
        if self.walks.as_ref().is_some_and(|walks| walks.follows(object)) {
            self.walk(|walks, share| walks.on_read(time, object, extent, late, share));
        }
    }

    /// Where readahead of what is being read must stop: at the object's end, or where
    /// whoever walks from file to file stops in each.
    pub(super) fn readahead_end(&self, access: &Access) -> u64 {
        let stop = self.walks.as_ref().map_or(u64::MAX, |walks| walks.stop_of(access.object, access.extent));
        access.size.min(stop)
    }

    /// The last reader of `object` has closed it.
    pub(super) fn leave(&mut self, object: ObjectId) {
        if let Some(walks) = &mut self.walks {
            walks.on_close(object);
        }
    }

    /// Some of `object` was evicted unread.
    pub(super) fn lose(&mut self, object: ObjectId) {
        self.trail.on_lost(object);
        if let Some(walks) = &mut self.walks {
            walks.on_lost(object);
        }
    }

    /// Some of `object` could not be fetched, or not be queued.
    pub(super) fn miss(&mut self, object: ObjectId) {
        self.trail.on_gone(object);
        if let Some(walks) = &mut self.walks {
            walks.on_gone(object);
        }
    }

    /// Nothing of `object` matters any more.
    pub(super) fn unfollow(&mut self, object: ObjectId) {
        self.trail.on_gone(object);
        if let Some(walks) = &mut self.walks {
            walks.on_forget(object);
        }
    }

    /// Tells walks something, and stops what they have given up.
    fn walk(&mut self, tell: impl FnOnce(&mut Walks, &Share)) {
        let share = self.share_of_walks();
        let Some(walks) = &mut self.walks else { return };
        tell(walks, &share);
        while let Some(object) = self.walks.as_mut().and_then(Walks::next_dropped) {
            if !self.objects.is_open(object) {
                self.stop_readahead(object);
            }
        }
        self.audit();
    }

    /// Twice what keeps the device busy, so that it stays busy while a walker consumes,
    /// and at most a quarter of the memory.
    fn share_of_walks(&self) -> Share {
        let places = (self.config.in_flight_count_max / 4 * 3).max(1);
        Share {
            files_max: 2 * u32::try_from(places).unwrap_or(u32::MAX / 2),
            bytes_max: (2 * self.device.pipe_bytes()).min(self.config.memory_bytes_max / 4),
            service_ns: self.device.service_high_ns(),
        }
    }
}
