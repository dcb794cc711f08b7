//! Bytes lent to readers.

use std::borrow::Cow;
use std::mem;
use std::sync::Arc;

use bytes::Bytes;

use forerun_engine::MemoryRange;

use crate::driver::{Driver, Loan};

/// The bytes of a read, lent until this is dropped. They stay in the memory of the budget that all readers
/// share.
///
/// A `Lease<'static>` ([`Reader::lease`](crate::Reader::lease), [`Lease::into_owned`]) may be kept and
/// sent to other threads, and outlives its reader. Reads wait while leases hold the memory that they
/// need, so a program should keep leases of less than half of the budget.
#[derive(Debug)]
pub struct Lease<'a> {
    bytes: Lent<'a>,
    len: usize,
}

#[derive(Debug)]
enum Lent<'a> {
    /// In the engine's memory.
    Held { driver: Cow<'a, Arc<Driver>>, loan: Loan, ranges: Cow<'a, [MemoryRange]> },
    /// Gathered, because the read was longer than the engine takes at once.
    Gathered(Vec<u8>),
}

impl<'a> Lease<'a> {
    pub(crate) fn held(driver: &'a Arc<Driver>, loan: Loan, ranges: &'a [MemoryRange]) -> Lease<'a> {
        Lease::of(Cow::Borrowed(driver), loan, Cow::Borrowed(ranges))
    }

    pub(crate) fn owned(driver: &Arc<Driver>, loan: Loan, ranges: Vec<MemoryRange>) -> Lease<'static> {
        Lease::of(Cow::Owned(Arc::clone(driver)), loan, Cow::Owned(ranges))
    }

    fn of(driver: Cow<'a, Arc<Driver>>, loan: Loan, ranges: Cow<'a, [MemoryRange]>) -> Lease<'a> {
        let len = ranges.iter().map(|range| range.len as usize).sum();
        Lease { bytes: Lent::Held { driver, loan, ranges }, len }
    }

    pub(crate) fn gathered(bytes: Vec<u8>) -> Lease<'a> {
        Lease { len: bytes.len(), bytes: Lent::Gathered(bytes) }
    }

    /// The same bytes, to be kept for as long as the program wants. Copies none of them.
    pub fn into_owned(self) -> Lease<'static> {
        let (len, bytes) = (self.len, self.into_lent());
        let bytes = match bytes {
            Lent::Held { driver, loan, ranges } => {
                let (driver, ranges) = (Cow::Owned(driver.into_owned()), Cow::Owned(ranges.into_owned()));
                Lent::Held { driver, loan, ranges }
            }
            Lent::Gathered(bytes) => Lent::Gathered(bytes),
        };
        Lease { bytes, len }
    }

    /// The bytes, in order, as they lie in memory, for interfaces that take [`Bytes`]. Copies none of
    /// them. The memory is lent until all of them are dropped.
    pub fn into_bytes(self) -> Vec<Bytes> {
        let lease = Arc::new(self.into_owned());
        let slice = |index| Bytes::from_owner(Slice { lease: Arc::clone(&lease), index });
        (0..lease.slices().count()).map(slice).collect()
    }

    /// Takes the bytes out of the lease, so that dropping the lease does not release them.
    fn into_lent(mut self) -> Lent<'a> {
        mem::replace(&mut self.bytes, Lent::Gathered(Vec::new()))
    }

    /// Copies the bytes to `buf`, which is as long.
    pub(crate) fn copy_to(&self, buf: &mut [u8]) {
        match &self.bytes {
            Lent::Held { driver, ranges, .. } => driver.memory.copy(ranges, buf),
            Lent::Gathered(bytes) => buf.copy_from_slice(bytes),
        }
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
            Lent::Held { driver, ranges, .. } => match &**ranges {
                [] => Cow::Borrowed(&[]),
                [range] => Cow::Borrowed(driver.memory.slice(*range)),
                _ => {
                    let mut bytes = Vec::with_capacity(self.len);
                    self.slices().for_each(|slice| bytes.extend_from_slice(slice));
                    Cow::Owned(bytes)
                }
            },
        }
    }
}

/// One slice of a lease that several share.
struct Slice {
    lease: Arc<Lease<'static>>,
    index: usize,
}

impl AsRef<[u8]> for Slice {
    fn as_ref(&self) -> &[u8] {
        match &self.lease.bytes {
            Lent::Held { driver, ranges, .. } => driver.memory.slice(ranges[self.index]),
            Lent::Gathered(bytes) => bytes,
        }
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Lent::Held { driver, loan, .. } = &self.bytes {
            driver.release(loan);
        }
    }
}
