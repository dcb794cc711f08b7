//! The reads of one run, or of several runs after one another.

use std::collections::HashMap;
use std::hash::Hash;

use forerun_engine::profile::Recorder;
use forerun_engine::{Config, Extent};

use super::touched::Touched;
use crate::driver::Name;

/// Objects, and extents of all of them, that are kept: some tens of MiB, besides the budget.
pub(super) const OBJECTS_MAX: usize = 16_384;
const EXTENTS_MAX: usize = 1 << 19;

/// Objects in the order of their first read, with the bytes that were touched first of each. A `Key` tells
/// objects apart.
#[derive(Debug)]
pub(super) struct RunRecord<Key> {
    objects: HashMap<Key, ObjectRecord>,
    extent_count: usize,
    is_full: bool,
}

#[derive(Debug)]
struct ObjectRecord {
    /// How many objects were there before it.
    place: usize,
    name: Name,
    recorder: Recorder,
    /// One for each extent of the recorder.
    times_ms: Vec<u32>,
}

impl<Key> Default for RunRecord<Key> {
    fn default() -> RunRecord<Key> {
        RunRecord { objects: HashMap::new(), extent_count: 0, is_full: false }
    }
}

impl<Key: Eq + Hash> RunRecord<Key> {
    /// Somebody opens and reads an object, whose bytes [`RunRecord::record`] takes. Nothing if there is no
    /// room for one more.
    pub(super) fn enter(&mut self, key: Key, name: &Name) -> bool {
        let place = self.objects.len();
        if place == OBJECTS_MAX && !self.objects.contains_key(&key) {
            self.is_full = true;
            return false;
        }
        self.objects.entry(key).or_insert_with(|| ObjectRecord {
            place,
            name: name.clone(),
            recorder: Recorder::new(),
            times_ms: Vec::new(),
        });
        true
    }

    /// Somebody reads `extent` of an object that was entered. Whether a byte of it is recorded for the first
    /// time.
    pub(super) fn record(&mut self, key: &Key, extent: Extent, time_ms: u32) -> bool {
        let Some(object) = self.objects.get_mut(key) else { return false };
        if self.extent_count >= EXTENTS_MAX {
            self.is_full = true;
            return false;
        }
        let bytes = object.recorder.bytes();
        object.recorder.record(extent);
        let count = object.recorder.extents().len();
        self.extent_count += count - object.times_ms.len();
        object.times_ms.resize(count, time_ms);
        self.is_full |= count == Config::PLAN_EXTENTS_MAX;
        object.recorder.bytes() > bytes
    }

    /// Whether a bound is reached, so that bytes may be missing.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }

    /// The objects in order.
    pub(super) fn objects(&self) -> Vec<(&Name, Touched)> {
        let mut objects: Vec<&ObjectRecord> = self.objects.values().collect();
        objects.sort_by_key(|object| object.place);
        let touched = |object: &ObjectRecord| {
            object.recorder.extents().iter().copied().zip(object.times_ms.iter().copied()).collect()
        };
        objects.into_iter().map(|object| (&object.name, touched(object))).collect()
    }
}

#[cfg(test)]
mod tests {
    use forerun_backend::Version;

    use super::*;

    fn name(path: &str) -> Name {
        Name { path: path.into(), version: Version("1".into()), size: 1 << 40 }
    }

    #[test]
    fn an_extent_has_the_time_of_its_first_touch() {
        let mut run = RunRecord::default();
        run.enter(1, &name("a"));
        for (block, time_ms) in [(8, 0), (2, 5), (3, 7), (8, 9)] {
            run.record(&1, Extent::new(block * 4096, 4096), time_ms);
        }
        let touched: Touched =
            [(Extent::new(8 * 4096, 4096), 0), (Extent::new(2 * 4096, 8192), 5)].into_iter().collect();
        assert_eq!(run.objects(), [(&name("a"), touched)]);
        assert!(!run.is_full());
    }

    #[test]
    fn objects_and_extents_have_bounds() {
        let mut run = RunRecord::default();
        let entered = (0..=OBJECTS_MAX).filter(|index| run.enter(*index, &name(&index.to_string()))).count();
        assert_eq!((entered, run.is_full()), (OBJECTS_MAX, true));
        let mut run = RunRecord::default();
        for index in 0..9 {
            run.enter(index, &name(&index.to_string()));
            for block in 0..Config::PLAN_EXTENTS_MAX as u64 {
                run.record(&index, Extent::new(2 * block * 4096, 4096), 0);
            }
        }
        let counts = run.objects().iter().map(|(_, touched)| touched.extents().len()).collect::<Vec<_>>();
        assert_eq!((counts.iter().sum::<usize>(), counts[8], run.is_full()), (EXTENTS_MAX, 0, true));
    }
}
