//! The writes and flushes of all writers, and the bytes that may be there after a failure.

use std::ops::Range;

use super::super::layout::{BLOCK_BYTES, PAGE_BLOCKS};

/// Writes may have a part of a block.
pub(super) const UNIT_BYTES: u64 = BLOCK_BYTES / 2;
/// The units of each writer.
pub(super) const UNITS: usize = 24;
/// The first block that each writer writes. The last writer's blocks are in two pages of the map.
pub(super) const FIRST_BLOCKS: [u64; 3] = [0, 40, PAGE_BLOCKS - 6];
/// The tag of zeros.
pub(super) const ZEROS: u64 = 0;
/// The tag of the base.
pub(super) const BASE: u64 = 1;

/// The bytes of `units` of `writer` with `tag`.
pub(super) fn content(writer: usize, units: Range<usize>, tag: u64) -> Vec<u8> {
    let [start, end] = [units.start, units.end].map(|unit| (writer * UNITS + unit) as u64 * UNIT_BYTES / 8);
    let word = |number: u64| (tag << 32 | number).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (start..end).flat_map(|number| if tag == ZEROS { 0 } else { word(number) }.to_le_bytes()).collect()
}

/// A half of a block.
#[derive(Clone)]
struct Unit {
    /// The writes, each with the step of the file before which it began.
    tags: Vec<(usize, u64)>,
    /// The last of them that was answered.
    answered: usize,
}

/// The writes to all units, and the flushes.
pub(super) struct History {
    units: Vec<Unit>,
    /// The step after which each flush was answered, and the last answered write to each unit before it.
    flushes: Vec<(usize, Vec<usize>)>,
}

impl History {
    pub(super) fn new() -> History {
        let unit = Unit { tags: vec![(0, BASE)], answered: 0 };
        History { units: vec![unit; FIRST_BLOCKS.len() * UNITS], flushes: Vec::new() }
    }

    /// Begins a write of `tag` before `step`.
    pub(super) fn begin(&mut self, writer: usize, units: &Range<usize>, step: usize, tag: u64) {
        self.of(writer, units).iter_mut().for_each(|unit| unit.tags.push((step, tag)));
    }

    /// The last write of `units` was answered.
    pub(super) fn end(&mut self, writer: usize, units: &Range<usize>) {
        self.of(writer, units).iter_mut().for_each(|unit| unit.answered = unit.tags.len() - 1);
    }

    /// The last answered write to each unit.
    pub(super) fn answered(&self) -> Vec<usize> {
        self.units.iter().map(|unit| unit.answered).collect()
    }

    /// A flush of the writes that were `answered` has been answered after `step`.
    pub(super) fn end_flush(&mut self, step: usize, answered: Vec<usize>) {
        self.flushes.push((step, answered));
    }

    /// The last write to each unit that has to last after `steps` steps.
    pub(super) fn flushed(&self, steps: usize) -> Vec<usize> {
        let ended = self.flushes.iter().filter(|(end, _)| *end <= steps);
        ended.fold(vec![0; self.units.len()], |most, (_, answered)| {
            most.iter().zip(answered).map(|(one, other)| *one.max(other)).collect()
        })
    }

    /// Compares the bytes of a writer's units after `steps` steps.
    pub(super) fn check(&self, writer: usize, bytes: &[u8], steps: usize, flushed: &[usize]) {
        for (number, found) in bytes.chunks(UNIT_BYTES as usize).enumerate() {
            let place = writer * UNITS + number;
            let tags = &self.units[place].tags[flushed[place]..];
            let mut possible = tags.iter().filter(|(begun, _)| *begun <= steps);
            assert!(
                possible.any(|(_, tag)| content(writer, number..number + 1, *tag) == found),
                "after {steps} steps, unit {number} of writer {writer} has none of {tags:?}"
            );
        }
    }

    fn of(&mut self, writer: usize, units: &Range<usize>) -> &mut [Unit] {
        &mut self.units[writer * UNITS..][units.clone()]
    }
}
