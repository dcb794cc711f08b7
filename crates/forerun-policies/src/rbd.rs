//! Ceph RBD's readahead (librbd and its Readahead class): one detector for a
//! whole object, however many read it.
//= seed 003

use alloc::collections::BTreeMap;

use forerun_engine::{CustomPolicy, Extent, ObjectId, PolicyRead, PolicyRules, PolicyView, Wishes};

/// Sequential requests before the first readahead.
//= seed 003: "trigger after 10 sequential requests"
const TRIGGER_REQUESTS: u64 = 10;

/// Consecutive requests seen, and the window.
#[derive(Clone, Copy, Debug, Default)]
struct Detector {
    count: u64,
    bytes: u64,
    last_position: u64,
    readahead_position: u64,
    trigger_position: u64,
    readahead_bytes: u64,
}

impl Detector {
    fn observe(&mut self, extent: Extent) {
        if extent.offset == self.last_position {
            self.count += 1;
            self.bytes += extent.len;
        } else {
            *self = Detector::default();
        }
        self.last_position = extent.end();
    }

    /// The next window and its trigger, once `trigger` requests came in sequence and the reader
    /// is past the middle of the last one.
    fn next_window(
        &mut self,
        trigger: u64,
        max: u64,
        alignment: Option<u64>,
        limit: u64,
    ) -> Option<(Extent, u64)> {
        if self.count < trigger || self.last_position < self.trigger_position {
            return None;
        }
        if self.readahead_bytes == 0 {
            self.readahead_bytes = self.bytes;
            self.readahead_position = self.last_position;
        } else {
            self.readahead_bytes *= 2;
            self.readahead_position = self.readahead_position.max(self.last_position);
        }
        self.readahead_bytes = self.readahead_bytes.min(max);
        let offset = self.readahead_position;
        let len = aligned(offset, self.readahead_bytes, alignment).min(limit.saturating_sub(offset));
        self.trigger_position = offset + len / 2;
        self.readahead_position = offset + len;
        (len > 0).then_some((Extent::new(offset, len), self.trigger_position))
    }
}

/// `len` cut or grown by less than half so that the window ends at a multiple of
/// `alignment`, if it can.
fn aligned(offset: u64, len: u64, alignment: Option<u64>) -> u64 {
    let Some(alignment) = alignment else { return len };
    let end = offset + len;
    let previous = end / alignment * alignment;
    let (cut, grow) = (end - previous, previous + alignment - end);
    if cut < len / 2 && cut < grow {
        previous - offset
    } else if grow < len / 2 {
        previous + alignment - offset
    } else {
        len
    }
}

/// `plain` and `aligned`.
#[derive(Debug)]
pub(crate) struct Rbd {
    window_bytes_max: u64,
    /// Where windows should end at multiples of it.
    alignment: Option<u64>,
    detectors: BTreeMap<ObjectId, Detector>,
}

impl Rbd {
    pub(crate) fn plain(window_bytes_max: u64) -> Rbd {
        Rbd { window_bytes_max, alignment: None, detectors: BTreeMap::new() }
    }

    pub(crate) fn aligned(window_bytes_max: u64, storage_object_bytes: u64) -> Rbd {
        Rbd { alignment: Some(storage_object_bytes), ..Rbd::plain(window_bytes_max) }
    }
}

impl CustomPolicy for Rbd {
    fn rules(&self) -> PolicyRules {
        PolicyRules::Librbd
    }

    fn on_read(&mut self, read: &PolicyRead, _: &PolicyView<'_>, wishes: &mut Wishes) {
        let detector = self.detectors.entry(read.object).or_default();
        detector.observe(read.extent);
        let window = detector.next_window(TRIGGER_REQUESTS, self.window_bytes_max, self.alignment, read.size);
        if let Some((extent, trigger)) = window {
            wishes.read_ahead_with_trigger(extent, trigger);
        }
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.detectors.remove(&object);
    }
}

/// `eager`: once triggered, to the end of the storage object, once for each.
#[derive(Debug)]
pub(crate) struct Eager {
    storage_object_bytes: u64,
    detectors: BTreeMap<ObjectId, (Detector, Option<u64>)>,
}

impl Eager {
    pub(crate) fn new(storage_object_bytes: u64) -> Eager {
        Eager { storage_object_bytes, detectors: BTreeMap::new() }
    }
}

impl CustomPolicy for Eager {
    fn rules(&self) -> PolicyRules {
        PolicyRules::Librbd
    }

    fn on_read(&mut self, read: &PolicyRead, _: &PolicyView<'_>, wishes: &mut Wishes) {
        let (detector, done) = self.detectors.entry(read.object).or_default();
        detector.observe(read.extent);
        let start = detector.last_position;
        let storage_object = start / self.storage_object_bytes;
        if detector.count < TRIGGER_REQUESTS || *done == Some(storage_object) {
            return;
        }
        *done = Some(storage_object);
        let end = ((storage_object + 1) * self.storage_object_bytes).min(read.size);
        wishes.read_ahead_with_trigger(Extent::between(start, end), end);
    }

    fn on_forget(&mut self, object: ObjectId) {
        self.detectors.remove(&object);
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    /// Ten-byte reads from 1000 on, trigger 2, windows of at most 50 bytes.
    fn windows(alignment: Option<u64>, max: u64) -> Vec<(u64, u64, u64)> {
        let mut detector = Detector::default();
        let mut seen = Vec::new();
        for i in 0..45 {
            let extent = Extent::new(1000 + i * 10, 10);
            detector.observe(extent);
            if let Some((window, _)) = detector.next_window(2, max, alignment, u64::MAX) {
                seen.push((extent.offset, window.offset, window.len));
            }
        }
        seen
    }

    #[test]
    fn librbd_test_vectors_plain() {
        assert_eq!(
            windows(None, 50)[..4],
            [(1020, 1030, 20), (1030, 1050, 40), (1060, 1090, 50), (1110, 1140, 50)]
        );
    }

    #[test]
    fn librbd_test_vectors_aligned() {
        let windows: Vec<_> = windows(Some(100), 1 << 30).into_iter().map(|(_, o, l)| (o, l)).collect();
        assert_eq!(windows[..5], [(1030, 20), (1050, 50), (1100, 100), (1200, 200), (1400, 300)]);
    }
}
