//! Which page of which object is in which slot.

use crate::source::ObjectId;

const LEAF_PAGES: u64 = 64;
const EMPTY: u32 = u32::MAX;
/// Evicted before anybody used it.
const LOST: u32 = u32::MAX - 1;

/// Two levels per object, so that a large object of which little is cached costs
/// little.
#[derive(Debug, Default)]
pub(super) struct Table {
    objects: Vec<Vec<Option<Box<Leaf>>>>,
}

#[derive(Debug)]
struct Leaf {
    /// Entries that are not [`EMPTY`].
    used: u64,
    slots: [u32; LEAF_PAGES as usize],
}

impl Table {
    pub(super) fn get(&self, object: ObjectId, page: u64) -> Option<u32> {
        self.entry(object, page).filter(|slot| *slot < LOST)
    }

    pub(super) fn insert(&mut self, object: ObjectId, page: u64, slot: u32) {
        self.set(object, page, slot);
    }

    pub(super) fn remove(&mut self, object: ObjectId, page: u64, is_lost: bool) {
        self.set(object, page, if is_lost { LOST } else { EMPTY });
    }

    /// Whether the page was lost; it is then no longer.
    pub(super) fn take_lost(&mut self, object: ObjectId, page: u64) -> bool {
        let is_lost = self.entry(object, page) == Some(LOST);
        if is_lost {
            self.set(object, page, EMPTY);
        }
        is_lost
    }

    fn entry(&self, object: ObjectId, page: u64) -> Option<u32> {
        let leaf = self.objects.get(object.0 as usize)?.get((page / LEAF_PAGES) as usize)?.as_ref()?;
        Some(leaf.slots[(page % LEAF_PAGES) as usize])
    }

    fn set(&mut self, object: ObjectId, page: u64, entry: u32) {
        let (object, leaf) = (object.0 as usize, (page / LEAF_PAGES) as usize);
        if self.objects.len() <= object {
            self.objects.resize_with(object + 1, Vec::new);
        }
        let leaves = &mut self.objects[object];
        if leaves.len() <= leaf {
            leaves.resize_with(leaf + 1, || None);
        }
        let place = &mut leaves[leaf];
        let filled =
            place.get_or_insert_with(|| Box::new(Leaf { used: 0, slots: [EMPTY; LEAF_PAGES as usize] }));
        let before = std::mem::replace(&mut filled.slots[(page % LEAF_PAGES) as usize], entry);
        filled.used += u64::from(before == EMPTY);
        filled.used -= u64::from(entry == EMPTY);
        if filled.used == 0 {
            *place = None;
        }
    }
}
