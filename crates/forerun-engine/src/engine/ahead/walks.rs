//! Readahead across objects. The driver reports listings, the trail of an earlier run, and openings. The
//! engine asks for objects that are not open yet, and reads them ahead.

use crate::engine::Engine;
use crate::explain::{Class, Why};
use crate::policy::{Hint, Reason, Window};
use crate::scheduler::{Payer, Queued};
use crate::types::*;
use crate::walk::{OrderId, Walks};

impl Engine {
    /// `directory` was listed, and holds `files` in this order, which is the one that
    /// walkers are expected to go by. Telling the same again changes nothing.
    pub fn list(&mut self, now: Time, directory: DirectoryId, files: impl Iterator<Item = ListedFile>) {
        self.update_walks(|walks, bytes_max| walks.list(now, directory, files, bytes_max));
    }

    /// Sets the trail: objects that an earlier run opened one after another, with the bytes that it touched
    /// of each. It replaces the trail before. Policies of other software ignore it.
    pub fn set_trail(&mut self, touched: impl IntoIterator<Item = u64>) {
        self.update_walks(|walks, _| walks.set_trail(touched.into_iter()));
    }

    /// `object`, which was opened just now, is the entry at `index` of the listing of
    /// `directory`.
    pub fn enter(&mut self, now: Time, directory: DirectoryId, index: u32, object: ObjectId) {
        let order = OrderId::Directory(directory);
        self.update_walks(|walks, bytes_max| walks.enter(now, order, index, object, bytes_max));
    }

    /// `object`, which was opened just now, is the step at `place`.
    pub fn enter_step(&mut self, now: Time, place: u32, object: ObjectId) {
        self.update_walks(|walks, bytes_max| walks.enter(now, OrderId::Trail, place, object, bytes_max));
    }

    /// The index of the next entry of a listing that is to be read ahead. The driver answers at once with
    /// [`Engine::announce`], or not at all.
    pub fn poll_entry(&mut self) -> Option<(DirectoryId, u32)> {
        match self.walks.as_mut()?.next_wanted(false)? {
            (OrderId::Directory(directory), index) => Some((directory, index)),
            (OrderId::Trail, _) => None,
        }
    }

    /// The next step, by its place, whose object is to be read ahead: the driver answers
    /// at once with [`Engine::announce_step`], or not at all.
    pub fn poll_step(&mut self) -> Option<u32> {
        // The remaining steps are asked for when the queue has room for them.
        if self.pending.is_half_full() {
            return None;
        }
        self.walks.as_mut()?.next_wanted(true).map(|(_, place)| place)
    }

    /// The entry at `index` of `directory` is `object`, of `size` bytes. It is
    /// remembered as if it had been closed just now.
    pub fn announce(&mut self, now: Time, directory: DirectoryId, index: u32, object: ObjectId, size: u64) {
        let Some(walks) = &mut self.walks else { return };
        let is_open = self.objects.is_open(object);
        let part =
            if is_open { None } else { walks.announce(OrderId::Directory(directory), index, object, size) };
        let extents = part.unwrap_or_default().extents(size).map(Extent::to_blocks);
        let is_missing = |extent: &Extent| self.cache.first_missing(object, *extent, extent.len).is_some();
        let wanted = extents.map(|extent| Some(extent).filter(is_missing));
        if wanted == [None; 2] {
            self.tell_walks_gone(object);
            if !self.objects.is_known(object) {
                self.forgotten.push_back(object);
            }
            return;
        }
        let payer = self.walker(OrderId::Directory(directory));
        self.objects.announce(object, size);
        self.cache.expect(now, object);
        for extent in wanted.into_iter().flatten() {
            let reason = Reason { class: Class::Walk, why: Why::Listed };
            self.emit_window(now, object, &Window::new(extent, reason));
            if !self.pending.push(Queued { object, extent, class: reason.class, payer }, &mut self.fair) {
                self.tell_walks_gone(object);
            }
        }
        self.forget_surplus(now);
        self.audit();
    }

    /// The step at `place` is `object`, of `size` bytes, of which `extents` were touched
    /// first, in that order. True if some of it is read ahead because of that; it is then
    /// remembered as if it had been closed just now.
    pub fn announce_step(
        &mut self,
        now: Time,
        place: u32,
        object: ObjectId,
        size: u64,
        extents: &[Extent],
    ) -> bool {
        let is_missing = |extent: &Extent| self.cache.first_missing(object, *extent, extent.len).is_some();
        let is_wanted = !self.objects.is_open(object) && extents.iter().any(is_missing);
        let walks = self.walks.as_mut().filter(|_| is_wanted);
        let part = walks.and_then(|walks| walks.announce(OrderId::Trail, place, object, size));
        if let Some(part) = part {
            self.objects.announce(object, size);
            self.cache.expect(now, object);
            let payer = self.walker(OrderId::Trail);
            self.say(now, object, payer, &Hint::Expected(extents, part.bytes()));
            self.forget_surplus(now);
        } else if !self.objects.is_known(object) {
            self.forgotten.push_back(object);
        }
        self.audit();
        part.is_some()
    }

    /// The readahead of a walk in `order` is for the client that walks, and for no reader yet.
    pub(crate) fn walker(&self, order: OrderId) -> Payer {
        let client = self.walks.as_ref().map(|walks| walks.client_of(order)).unwrap_or_default();
        Payer { client, reader: ReaderId::NOBODY }
    }

    /// The last reader of `object` has closed it.
    pub(crate) fn tell_walks_closed(&mut self, object: ObjectId) {
        if let Some(walks) = &mut self.walks {
            walks.on_close(object);
        }
    }

    /// Some of `object` was evicted unread.
    pub(crate) fn tell_walks_lost(&mut self, object: ObjectId) {
        if let Some(walks) = &mut self.walks {
            walks.on_lost(object);
        }
    }

    /// Some of `object` could not be fetched, or not be queued.
    pub(crate) fn tell_walks_gone(&mut self, object: ObjectId) {
        if let Some(walks) = &mut self.walks {
            walks.on_gone(object);
        }
    }

    /// Nothing of `object` matters any more.
    pub(crate) fn tell_walks_forgotten(&mut self, object: ObjectId) {
        if let Some(walks) = &mut self.walks {
            walks.on_forget(object);
        }
    }

    /// Tells the walks of an event, and stops the readahead that they have given up. All walks share twice
    /// the bytes that keep the device busy, and at most a quarter of the memory.
    fn update_walks(&mut self, tell: impl FnOnce(&mut Walks, u64)) {
        let bytes_max = (2 * self.device.pipe_bytes()).min(self.config.memory_bytes_max / 4);
        let Some(walks) = &mut self.walks else { return };
        tell(walks, bytes_max);
        while let Some(object) = self.walks.as_mut().and_then(Walks::next_dropped) {
            if !self.objects.is_open(object) {
                self.stop_readahead(object);
                self.policy.on_idle(object);
                self.pending.set_sweep(object, false);
            }
        }
        self.audit();
    }
}
