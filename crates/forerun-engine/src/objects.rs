//! Objects that are open, or were.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::scatter::Scattered;
use crate::types::ObjectId;

/// Where no object reaches: file systems keep sizes in signed 64 bits. A sum of two offsets fits
/// into 64 bits, and so does their difference with a sign.
pub(crate) const OBJECT_BYTES_MAX: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, Default)]
struct KnownObject {
    size: u64,
    reader_count: u32,
    /// When it was closed last, counted in closes.
    closed: u64,
}

/// Sizes and reader counts; closed objects oldest first.
#[derive(Debug)]
pub(crate) struct Objects {
    objects: Scattered<ObjectId, KnownObject>,
    closed: BTreeMap<u64, ObjectId>,
    close_count: u64,
}

impl Objects {
    pub(crate) fn new() -> Objects {
        Objects { objects: Scattered::default(), closed: BTreeMap::new(), close_count: 0 }
    }

    /// True if that is the only reader.
    pub(crate) fn open(&mut self, id: ObjectId, size: u64) -> bool {
        let object = self.objects.get_or_default(id);
        object.size = size.min(OBJECT_BYTES_MAX - 1);
        object.reader_count += 1;
        self.closed.remove(&object.closed);
        object.reader_count == 1
    }

    /// `id` may be opened soon: until then it counts as closed just now. False if
    /// somebody has it open.
    pub(crate) fn announce(&mut self, id: ObjectId, size: u64) -> bool {
        let size = size.min(OBJECT_BYTES_MAX - 1);
        let is_new = !self.is_known(id);
        let object = self.objects.get_or_default(id);
        if is_new {
            object.size = size;
        }
        if object.reader_count > 0 {
            return false;
        }
        self.closed.remove(&object.closed);
        self.close_count += 1;
        object.closed = self.close_count;
        self.closed.insert(object.closed, id);
        true
    }

    /// Whether anything is known of it.
    pub(crate) fn is_known(&self, id: ObjectId) -> bool {
        self.objects.get(id).is_some()
    }

    /// Whether somebody has it open.
    pub(crate) fn is_open(&self, id: ObjectId) -> bool {
        self.objects.get(id).is_some_and(|object| object.reader_count > 0)
    }

    /// Every one of them, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ObjectId> {
        let mut ids: Vec<ObjectId> = self.objects.keys().collect();
        ids.sort_unstable();
        ids.into_iter()
    }

    /// How many have it open, if it is known.
    pub(crate) fn reader_count(&self, id: ObjectId) -> Option<u32> {
        self.objects.get(id).map(|object| object.reader_count)
    }

    /// True if that was the last reader.
    pub(crate) fn close(&mut self, id: ObjectId) -> bool {
        let Some(object) = self.objects.get_mut(id) else { return false };
        object.reader_count = object.reader_count.saturating_sub(1);
        if object.reader_count > 0 {
            return false;
        }
        self.close_count += 1;
        object.closed = self.close_count;
        self.closed.insert(object.closed, id);
        true
    }

    /// The object closed longest ago, if more than `max` are closed.
    pub(crate) fn surplus(&self, max: usize) -> Option<ObjectId> {
        if self.closed.len() <= max {
            return None;
        }
        self.closed.first_key_value().map(|(_, id)| *id)
    }

    /// The closed object `id` counts as closed just now.
    pub(crate) fn renew(&mut self, id: ObjectId) {
        let Some(object) = self.objects.get_mut(id) else { return };
        if self.closed.remove(&object.closed).is_some() {
            self.close_count += 1;
            object.closed = self.close_count;
            self.closed.insert(object.closed, id);
        }
    }

    pub(crate) fn size(&self, id: ObjectId) -> u64 {
        self.objects.get(id).map_or(0, |object| object.size)
    }

    pub(crate) fn resize(&mut self, id: ObjectId, size: u64) {
        if let Some(object) = self.objects.get_mut(id) {
            object.size = size.min(OBJECT_BYTES_MAX - 1);
        }
    }

    /// Drops an object that has no reader; false if it has one.
    pub(crate) fn drop_closed(&mut self, id: ObjectId) -> bool {
        let closed = self.objects.get(id).is_some_and(|object| object.reader_count == 0);
        if closed && let Some(object) = self.objects.remove(id) {
            self.closed.remove(&object.closed);
        }
        closed
    }
}
