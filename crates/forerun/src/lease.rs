//! Bytes lent to a front end.

use std::borrow::Cow;
use std::sync::Arc;

use forerun_engine::{MemoryRange, ReadId};

use crate::driver::Driver;

/// The bytes of a read, lent until dropped: as long as a lease lives, so does
/// the memory it shows, out of the one budget that all readers share.
#[derive(Debug)]
pub struct Lease<'a> {
    bytes: Lent<'a>,
    len: usize,
}

#[derive(Debug)]
enum Lent<'a> {
    /// In the engine's memory.
    Held { driver: &'a Arc<Driver>, read: ReadId, ranges: &'a [MemoryRange] },
    /// Gathered, because the read was longer than the engine takes at once.
    Gathered(Vec<u8>),
}

impl<'a> Lease<'a> {
    pub(crate) fn held(driver: &'a Arc<Driver>, read: ReadId, ranges: &'a [MemoryRange]) -> Lease<'a> {
        let len = ranges.iter().map(|range| range.len as usize).sum();
        Lease { bytes: Lent::Held { driver, read, ranges }, len }
    }

    pub(crate) fn gathered(bytes: Vec<u8>) -> Lease<'a> {
        Lease { len: bytes.len(), bytes: Lent::Gathered(bytes) }
    }

    /// How many bytes: as many as were asked for, or up to the object's end.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none: the read began at the object's end or past it.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bytes, in order, as they lie in memory.
    pub fn slices(&self) -> impl Iterator<Item = &[u8]> {
        let (ranges, gathered) = match &self.bytes {
            Lent::Held { driver, ranges, .. } => (Some((driver, ranges)), None),
            Lent::Gathered(bytes) => (None, Some(bytes.as_slice())),
        };
        let held = ranges
            .into_iter()
            .flat_map(|(driver, ranges)| ranges.iter().map(|range| driver.memory.slice(*range)));
        held.chain(gathered)
    }

    /// The bytes in one piece, copied only where they do not lie in one.
    pub fn to_contiguous(&self) -> Cow<'_, [u8]> {
        match &self.bytes {
            Lent::Gathered(bytes) => Cow::Borrowed(bytes),
            Lent::Held { ranges: [], .. } => Cow::Borrowed(&[]),
            Lent::Held { driver, ranges: [range], .. } => Cow::Borrowed(driver.memory.slice(*range)),
            Lent::Held { .. } => {
                let mut bytes = Vec::with_capacity(self.len);
                self.slices().for_each(|slice| bytes.extend_from_slice(slice));
                Cow::Owned(bytes)
            }
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Lent::Held { driver, read, .. } = self.bytes {
            driver.release(read);
        }
    }
}
