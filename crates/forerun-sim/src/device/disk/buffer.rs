//! The drive's buffer: a few places of the disk that were read lately.

use super::spec::{BufferSpec, SECTOR_BYTES};

/// Sectors `start .. end`, in the buffer.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    end: u64,
}

/// The segments, the one used last at the end.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    segments: Vec<Segment>,
    segment_count: usize,
    segment_sectors: u64,
}

impl Buffer {
    pub(super) fn new(spec: &BufferSpec) -> Buffer {
        Buffer {
            segments: Vec::new(),
            segment_count: spec.segment_count,
            segment_sectors: spec.segment_bytes / SECTOR_BYTES,
        }
    }

    /// One past the last sector that is there, if `sector` is; it counts as used.
    pub(super) fn find(&mut self, sector: u64) -> Option<u64> {
        let holds = |segment: &Segment| (segment.start..segment.end).contains(&sector);
        let at = self.segments.iter().rposition(holds)?;
        let segment = self.segments.remove(at);
        self.segments.push(segment);
        Some(segment.end)
    }

    /// Sectors `start .. end` have come: more of the segment that they follow, or a new one.
    pub(super) fn add(&mut self, start: u64, end: u64) {
        if end <= start || self.segment_count == 0 {
            return;
        }
        let follows = |segment: &Segment| segment.start <= start && start <= segment.end;
        let mut segment = match self.segments.iter().rposition(follows) {
            Some(at) => self.segments.remove(at),
            None => Segment { start, end },
        };
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.segment_sectors));
        if self.segments.len() == self.segment_count {
            self.segments.remove(0);
        }
        self.segments.push(segment);
    }

    /// Sectors `start .. end` are no longer what was read.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        self.segments.retain_mut(|segment| {
            if segment.start < start {
                segment.end = segment.end.min(start);
            } else {
                segment.start = segment.start.max(end.min(segment.end));
            }
            segment.start < segment.end
        });
    }
}
