//! Readahead across objects, for readers that open objects in a known order. That is the listing of a
//! directory, or the trail: the objects that an earlier run opened.
//!
//! The driver tells the engine of orders and of opened objects by number, without names. The engine asks the
//! driver for the objects that it wants, and the driver names them.
//!
//! * [`directories`] keeps the listings, and [`orders`] all orders;
//! * [`one`] is one walk: a [`cursor`] in [`places`];
//! * [`opened`] sees which parts of a file its reader wants;
//! * [`habits`] learns which files a walker opens, and how much of them is read;
//! * [`ledger`] keeps wasted bytes below a share of the used bytes.
//!
//! A walker that came through one directory most likely goes through the next that is listed. The walk there
//! begins without waiting for an opening.

mod cursor;
mod directories;
mod habits;
mod ledger;
mod opened;
mod orders;
mod places;
#[cfg(test)]
mod tests;
mod walker;

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::types::{ClientId, DirectoryId, Extent, ListedFile, ObjectId, Time};
use directories::Listing;
pub(crate) use directories::OrderId;
use ledger::Ledger;
use opened::{Opened, Part};
use orders::Orders;
use walker::Walk;

/// Walks followed at once; the one that rested longest gives way.
const WALKS_MAX: usize = 32;
/// A walk that rested so long takes no share from others. Nothing is guessed from it, and if it is a
/// guess it was wrong.
const ACTIVE_NS: u64 = 2_000_000_000;
/// Guesses that nobody has confirmed, at most: two trees may be walked together.
const GUESSES_MAX: usize = 2;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Walks {
    orders: Orders,
    walks: Vec<Walk>,
    ledger: Ledger,
    /// Files of directories that somebody has open.
    opened: BTreeMap<ObjectId, Opened>,
    /// Announced objects that no reader will open any more.
    dropped: Vec<ObjectId>,
    /// The client that has opened something last.
    pub(crate) opener: ClientId,
}

impl Walks {
    /// `directory` was listed; all walks together may have `bytes_max` ahead.
    pub(crate) fn list(
        &mut self,
        now: Time,
        directory: DirectoryId,
        files: impl Iterator<Item = ListedFile>,
        bytes_max: u64,
    ) {
        if self.orders.directories.tell(directory, Listing::new(files)) {
            self.end(|walk| walk.manner.order == OrderId::Directory(directory));
        }
        self.end(|walk| walk.is_guess && now.since(walk.cursor.last) > ACTIVE_NS);
        if let Some(guess) = self.guess(now, directory) {
            let at = self.insert(guess);
            self.top_up(now, at, bytes_max);
        }
    }

    /// Sets the trail: the bytes that an earlier run touched of each object, in the order of opening.
    pub(crate) fn set_trail(&mut self, touched: impl Iterator<Item = u64>) {
        self.orders.trail = Listing::new(touched.map(|size| ListedFile { size: size.max(1), class: 0 }));
        self.end(|walk| walk.manner.order == OrderId::Trail);
    }

    /// A reader opened the entry at `index` of the order, as `object`.
    pub(crate) fn enter(&mut self, now: Time, order: OrderId, index: u32, object: ObjectId, bytes_max: u64) {
        let Some(at) = self.walk_of(now, order, index) else { return };
        let Some(known) = self.orders.known(order) else { return };
        let walk = &mut self.walks[at];
        walk.manner.client = self.opener;
        let fetched = walk.cursor.remove(object).unwrap_or_default();
        self.ledger.earn(walk.open(now, index, known));
        if order != OrderId::Trail {
            let opened = Opened::new(known.listing.kind(index), known.listing.size(index), fetched);
            self.opened.insert(object, opened);
        }
        self.drop_passed(at, false);
        self.top_up(now, at, bytes_max);
    }

    /// The next index of a directory's listing, or of the trail, that the driver should name.
    pub(crate) fn next_wanted(&mut self, is_trail: bool) -> Option<(OrderId, u32)> {
        let Walks { walks, orders, .. } = self;
        let mut walks = walks.iter_mut().filter(|walk| (walk.manner.order == OrderId::Trail) == is_trail);
        walks.find_map(|walk| {
            let order = walk.manner.order;
            Some((order, walk.next_wanted(orders.known(order)?)?))
        })
    }

    /// The entry at `index` is `object`, of `size` bytes. Returns the part to fetch.
    pub(crate) fn announce(
        &mut self,
        order: OrderId,
        index: u32,
        object: ObjectId,
        size: u64,
    ) -> Option<Part> {
        let known = self.orders.known(order)?;
        let mut walks = self.walks.iter_mut().filter(|walk| walk.manner.order == order);
        walks.find_map(|walk| walk.announce(index, object, size, known))
    }

    /// The client that walks in `order`.
    pub(crate) fn client_of(&self, order: OrderId) -> ClientId {
        let walk = self.walks.iter().find(|walk| walk.manner.order == order);
        walk.map_or(self.opener, |walk| walk.manner.client)
    }

    /// Somebody reads `extent` of `object`.
    pub(crate) fn on_read(&mut self, object: ObjectId, extent: Extent) {
        if !self.opened.is_empty()
            && let Some(opened) = self.opened.get_mut(&object)
        {
            opened.read(extent);
        }
    }

    /// Nobody has `object` open any more.
    pub(crate) fn on_close(&mut self, object: ObjectId) {
        let Some(opened) = self.opened.remove(&object) else { return };
        self.ledger.lose(opened.wasted_bytes());
        self.orders.lengths.close(&opened);
    }

    /// Some of `object` was evicted before anybody read it.
    pub(crate) fn on_lost(&mut self, object: ObjectId) {
        let Walks { walks, ledger, .. } = self;
        for walk in walks {
            if let Some(part) = walk.cursor.remove(object) {
                walk.cursor.shorten();
                ledger.lose(part.bytes());
            }
        }
    }

    /// `object` cannot be fetched, or is not known any more.
    pub(crate) fn on_gone(&mut self, object: ObjectId) {
        self.walks.iter_mut().for_each(|walk| _ = walk.cursor.remove(object));
    }

    /// Nothing of `object` matters any more.
    pub(crate) fn on_forget(&mut self, object: ObjectId) {
        self.opened.remove(&object);
        self.on_gone(object);
    }

    /// The next object whose readahead should stop.
    pub(crate) fn next_dropped(&mut self) -> Option<ObjectId> {
        self.dropped.pop()
    }

    /// The walk whose reader opened the object at `index`: the nearest, else a new one.
    fn walk_of(&mut self, now: Time, order: OrderId, index: u32) -> Option<usize> {
        let known = self.orders.known(order).filter(|known| index < known.listing.len())?;
        let walks = || (0..).zip(&self.walks).filter(|(_, walk)| walk.manner.order == order);
        let near = walks().filter_map(|(at, walk)| Some((walk.distance(index, known)?, at)));
        if let Some((_, at)) = near.min() {
            return Some(at);
        }
        if let Some((at, walk)) = walks().find_map(|(at, walk)| Some((at, walk.turned(index, known)?))) {
            self.walks[at] = walk;
            return Some(at);
        }
        Some(self.insert(Walk::new(now, order, index, known)))
    }

    /// A walk in a directory that was just listed, if somebody walks.
    fn guess(&self, now: Time, directory: DirectoryId) -> Option<Walk> {
        let is_known =
            |walk: &Walk| walk.manner.order == OrderId::Directory(directory) && !self.is_done(walk);
        let guess_count = self.walks.iter().filter(|walk| walk.is_guess).count();
        if self.walks.iter().any(is_known) || guess_count >= GUESSES_MAX {
            return None;
        }
        let is_walker = |walk: &&Walk| walk.manner.order != OrderId::Trail && self.is_active(now, walk);
        let walker = self.walks.iter().filter(is_walker).max_by_key(|walk| walk.cursor.last)?;
        Some(walker.guess(now, directory))
    }

    /// Whether it says how others go on, and may want a share.
    fn is_active(&self, now: Time, walk: &Walk) -> bool {
        now.since(walk.cursor.last) < ACTIVE_NS && !walk.is_guess && walk.cursor.is_proven()
    }

    fn is_done(&self, walk: &Walk) -> bool {
        self.orders.known(walk.manner.order).is_none_or(|known| walk.cursor.is_done(known.listing.len()))
    }

    fn insert(&mut self, walk: Walk) -> usize {
        let rested = (0..self.walks.len()).min_by_key(|at| self.walks[*at].cursor.last);
        if let Some(rested) = rested.filter(|_| self.walks.len() == WALKS_MAX) {
            self.drop_passed(rested, true);
            self.walks.remove(rested);
        }
        self.walks.push(walk);
        self.walks.len() - 1
    }

    /// Ends the walks that are `over`.
    fn end(&mut self, over: impl Fn(&Walk) -> bool) {
        while let Some(at) = self.walks.iter().position(&over) {
            self.drop_passed(at, true);
            self.walks.remove(at);
        }
    }

    /// Drops objects that a walk has passed long ago, or all of them if it `is_over`.
    fn drop_passed(&mut self, at: usize, is_over: bool) {
        for (object, part) in self.walks[at].cursor.take_passed(is_over) {
            self.ledger.lose(part.bytes());
            self.dropped.push(object);
        }
    }

    fn top_up(&mut self, now: Time, at: usize, bytes_max: u64) {
        let sharers = self.walks.iter().filter(|walk| self.is_active(now, walk) && !self.is_done(walk));
        let share = bytes_max / sharers.count().max(1) as u64;
        let walk = &mut self.walks[at];
        let bytes_max = match walk.manner.order {
            OrderId::Trail => share,
            OrderId::Directory(_) => share.min(self.ledger.ahead_bytes_max()),
        };
        if let Some(known) = self.orders.known(walk.manner.order) {
            walk.top_up(bytes_max, known);
        }
    }
}
