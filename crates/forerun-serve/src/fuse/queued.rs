//! The jobs of the pushing thread, by the pages they touch.
//!
//! A store waits for the lock of a page that is being read, until that READ is answered. The thread
//! that stores also answers READs. It must never wait for itself: no store that is queued or under
//! way overlaps a READ that is queued to be answered.

use std::ops::Range;

/// Extents of inodes. There are few, so a linear search is cheap.
#[derive(Debug, Default)]
pub(super) struct Queued {
    stores: Vec<(u64, Range<u64>)>,
    replies: Vec<(u64, Range<u64>)>,
}

impl Queued {
    /// Adds a store, unless a READ of its pages waits to be answered.
    pub(super) fn add_store(&mut self, ino: u64, extent: &Range<u64>) -> bool {
        add(&mut self.stores, &self.replies, ino, extent)
    }

    /// Adds a READ, unless a store of its pages is queued or under way.
    pub(super) fn add_reply(&mut self, ino: u64, extent: &Range<u64>) -> bool {
        add(&mut self.replies, &self.stores, ino, extent)
    }

    pub(super) fn end_store(&mut self, ino: u64, extent: &Range<u64>) {
        remove(&mut self.stores, ino, extent);
    }

    pub(super) fn end_reply(&mut self, ino: u64, extent: &Range<u64>) {
        remove(&mut self.replies, ino, extent);
    }
}

fn add(
    list: &mut Vec<(u64, Range<u64>)>,
    others: &[(u64, Range<u64>)],
    ino: u64,
    extent: &Range<u64>,
) -> bool {
    let overlaps = |(other, range): &(u64, Range<u64>)| {
        *other == ino && range.start < extent.end && extent.start < range.end
    };
    if others.iter().any(overlaps) {
        return false;
    }
    list.push((ino, extent.clone()));
    true
}

fn remove(list: &mut Vec<(u64, Range<u64>)>, ino: u64, extent: &Range<u64>) {
    if let Some(place) = list.iter().position(|(other, range)| *other == ino && range == extent) {
        list.swap_remove(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_and_a_read_of_its_pages_are_never_queued_together() {
        let mut queued = Queued::default();
        assert!(queued.add_store(1, &(0..8)));
        assert!(!queued.add_reply(1, &(4..5)), "the store is queued");
        assert!(queued.add_reply(1, &(8..9)), "beside it");
        assert!(queued.add_reply(2, &(4..5)), "of another file");
        assert!(!queued.add_store(1, &(7..9)), "a READ waits");
        queued.end_reply(1, &(8..9));
        assert!(queued.add_store(1, &(7..9)));
        queued.end_store(1, &(0..8));
        queued.end_store(1, &(7..9));
        assert!(queued.add_reply(1, &(4..5)));
    }
}
