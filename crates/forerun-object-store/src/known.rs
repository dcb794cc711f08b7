//! Descriptions of objects, which are believed for a while.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forerun::Reader;
use object_store::path::Path;
use object_store::{Attributes, ObjectMeta};

/// Half of the objects that are known at most. Each has a reader, about 1 KiB.
const OBJECTS_MAX: usize = 2048;

/// An object as the store described it.
#[derive(Debug)]
pub(crate) struct KnownObject {
    pub(crate) meta: ObjectMeta,
    pub(crate) attributes: Attributes,
    /// All gets share it, so that the engine sees the whole order of reads.
    pub(crate) reader: Reader,
    /// When the store was asked.
    pub(crate) described: Instant,
}

/// The place of an object. The lock is held while the store is asked, so that many gets ask once.
pub(crate) type Slot = Arc<futures::lock::Mutex<Option<Arc<KnownObject>>>>;

/// The objects that were read lately.
#[derive(Debug)]
pub(crate) struct KnownObjects {
    ttl: Duration,
    write_count: AtomicU64,
    slots: Mutex<Generations>,
}

/// The older generation is dropped whenever the younger one is full, so the objects used last stay.
#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Path, Slot>,
    old: HashMap<Path, Slot>,
}

impl KnownObjects {
    pub(crate) fn new(ttl: Duration) -> KnownObjects {
        KnownObjects { ttl, write_count: AtomicU64::new(0), slots: Mutex::default() }
    }

    /// The place of the object at `location`. Once a write is over, nobody finds a place that is older.
    pub(crate) fn slot(&self, location: &Path) -> Slot {
        let slots = &mut *self.lock();
        if let Some(slot) = slots.young.get(location) {
            return Arc::clone(slot);
        }
        let slot = slots.old.remove(location).unwrap_or_default();
        if slots.young.len() >= OBJECTS_MAX {
            slots.old = std::mem::take(&mut slots.young);
        }
        slots.young.insert(location.clone(), Arc::clone(&slot));
        slot
    }

    /// Whether `object` may be described without asking the store again.
    pub(crate) fn is_fresh(&self, object: &KnownObject) -> bool {
        object.described.elapsed() < self.ttl
    }

    pub(crate) fn write_count(&self) -> u64 {
        self.write_count.load(Ordering::Acquire)
    }

    /// The object at `location` was written.
    pub(crate) fn forget(&self, location: &Path) {
        self.write_count.fetch_add(1, Ordering::AcqRel);
        let slots = &mut *self.lock();
        slots.young.remove(location);
        slots.old.remove(location);
    }

    /// Some object was written.
    pub(crate) fn forget_all(&self) {
        self.write_count.fetch_add(1, Ordering::AcqRel);
        *self.lock() = Generations::default();
    }

    fn lock(&self) -> MutexGuard<'_, Generations> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_objects_that_were_used_last() {
        let known = KnownObjects::new(Duration::ZERO);
        let location = |index: usize| Path::from(format!("{index}"));
        let used = known.slot(&location(0));
        for index in 1..10 * OBJECTS_MAX {
            known.slot(&location(index));
            assert!(Arc::ptr_eq(&used, &known.slot(&location(0))));
        }
        let slots = known.lock();
        assert!(slots.young.len() + slots.old.len() <= 2 * OBJECTS_MAX);
        assert!(!slots.old.contains_key(&location(1)) && !slots.young.contains_key(&location(1)));
    }

    #[test]
    fn a_written_object_has_a_new_place() {
        let known = KnownObjects::new(Duration::ZERO);
        let location = Path::from("a");
        let before = known.slot(&location);
        known.forget(&location);
        let between = known.slot(&location);
        assert!(!Arc::ptr_eq(&before, &between));
        known.forget_all();
        assert!(!Arc::ptr_eq(&between, &known.slot(&location)));
        assert_eq!(known.write_count(), 2);
    }
}
