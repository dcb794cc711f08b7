//! The files that are fetched, or will be, before a walk opens them.

use alloc::collections::VecDeque;

use super::opened::Part;
use crate::types::ObjectId;

/// One of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct File {
    /// Counted along the walk's way.
    pub(crate) place: u32,
    pub(crate) object: ObjectId,
    pub(crate) part: Part,
}

/// See the module's page. `files` is in order of place, `bytes` the sum of their parts: asked
/// for with every file that is opened.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    files: VecDeque<File>,
    bytes: u64,
}

impl Ahead {
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many of them are at `place` or past it.
    pub(crate) fn count_from(&self, place: u32) -> u32 {
        (self.files.len() - self.place_of(place)) as u32
    }

    /// Whether none is at `place` or is `object`.
    pub(crate) fn has_neither(&self, place: u32, object: ObjectId) -> bool {
        self.files.iter().all(|file| file.place != place && file.object != object)
    }

    pub(crate) fn insert(&mut self, file: File) {
        self.files.insert(self.place_of(file.place), file);
        self.bytes += file.part.bytes();
    }

    /// The first of them, if it is before `place`.
    pub(crate) fn take_before(&mut self, place: u32) -> Option<File> {
        if self.files.front()?.place < place { self.remove(0) } else { None }
    }

    /// The file at `place`, if it is `object`.
    pub(crate) fn take_at(&mut self, place: u32, object: ObjectId) -> Option<File> {
        let at = self.place_of(place);
        let file = self.files.get(at)?;
        if (file.place, file.object) == (place, object) { self.remove(at) } else { None }
    }

    pub(crate) fn take(&mut self, object: ObjectId) -> Option<File> {
        let at = self.files.iter().position(|file| file.object == object)?;
        self.remove(at)
    }

    pub(crate) fn take_all(&mut self) -> VecDeque<File> {
        self.bytes = 0;
        core::mem::take(&mut self.files)
    }

    fn place_of(&self, place: u32) -> usize {
        self.files.partition_point(|file| file.place < place)
    }

    fn remove(&mut self, at: usize) -> Option<File> {
        let file = self.files.remove(at)?;
        self.bytes -= file.part.bytes();
        Some(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_by_place_and_by_object() {
        let mut ahead = Ahead::default();
        for place in [7, 3, 5] {
            let part = Part { head: u64::from(place), tail: 0 };
            ahead.insert(File { place, object: ObjectId(u64::from(place)), part });
        }
        assert_eq!((ahead.bytes(), ahead.count_from(4), ahead.count_from(8)), (15, 2, 0));
        assert!(ahead.take_at(5, ObjectId(3)).is_none() && ahead.take_before(3).is_none());
        assert_eq!(ahead.take_at(5, ObjectId(5)).map(|file| file.place), Some(5));
        assert_eq!(ahead.take_before(4).map(|file| file.place), Some(3));
        assert_eq!(ahead.take(ObjectId(7)).map(|file| file.place), Some(7));
        assert_eq!((ahead.bytes(), ahead.is_empty()), (0, true));
    }
}
