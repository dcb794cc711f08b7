//! The bytes behind the engine's numbers, and the only unsafe code of the library.
//!
//! Everything here relies on the engine's contract about memory:
//! * The ranges of a fetch belong to that fetch alone until it has ended. Only bytes that
//!   `handle_progress` has reported may be lent to reads before.
//! * Nobody writes the ranges of a ready or replied read until its release.
//! * Nobody has withdrawn ranges until the memory becomes larger.
//!
//! The driver keeps its side of it. All ranges come from the engine. A fetch ends only when
//! its [`Filling`] is gone, and a read is released only when its slices are gone. The memory becomes larger only
//! when the pages of withdrawn ranges are back at the system.

use std::io;
use std::sync::Arc;

use forerun_engine::MemoryRange;
use memmap2::{MmapOptions, MmapRaw, UncheckedAdvice};

/// The region that the engine numbers. Pages that were never filled cost
/// nothing, however large it is.
#[derive(Debug)]
pub(crate) struct Memory {
    map: MmapRaw,
}

impl Memory {
    pub(crate) fn new(bytes: usize) -> io::Result<Memory> {
        let map = MmapOptions::new().len(bytes).no_reserve_swap().map_anon()?;
        Ok(Memory { map: map.into() })
    }

    /// The bytes of a range that the engine gave to a read, which is released
    /// only after the slice's last use.
    pub(crate) fn slice(&self, range: MemoryRange) -> &[u8] {
        let (start, len) = self.place(range);
        // SAFETY: `place` checked that the range lies in the mapping, which lives
        // as long as `self` and is readable and initialised (anonymous pages are
        // zero). Nobody writes the range before its read is released: that is the
        // engine's contract for ready and replied reads.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().add(start), len) }
    }

    /// Copies the `ranges` of a read, in order, into `buf`, which is as long as
    /// they are together.
    pub(crate) fn copy(&self, ranges: &[MemoryRange], buf: &mut [u8]) {
        let mut rest = buf;
        for range in ranges {
            let bytes = self.slice(*range);
            let (part, after) = rest.split_at_mut(bytes.len());
            part.copy_from_slice(bytes);
            rest = after;
        }
        assert!(rest.is_empty(), "the engine gave fewer bytes than were asked for");
    }

    /// To fill the `ranges` of a fetch with, front to back.
    pub(crate) fn filling(self: &Arc<Memory>, ranges: Vec<MemoryRange>) -> Filling {
        Filling { memory: Arc::clone(self), ranges: ranges.into_iter(), current: None, filled_bytes: 0 }
    }

    /// Gives the pages of `range`, which the engine has withdrawn, back to the system. Parts of pages stay.
    pub(crate) fn discard(&self, range: MemoryRange) -> io::Result<()> {
        let (start, len) = self.place(range);
        let page = rustix::param::page_size();
        let (first, end) = (start.next_multiple_of(page), (start + len) / page * page);
        if first >= end {
            return Ok(());
        }
        // SAFETY: `place` checked that the range lies in the mapping, which is anonymous. No slice and no `Filling` has
        // any of it: that is the engine's contract for withdrawn ranges. Its bytes are zeros from now on.
        unsafe { self.map.unchecked_advise_range(UncheckedAdvice::DontNeed, first, end - first) }
    }

    /// Where `range` lies; outside the region would be a bug in the engine.
    fn place(&self, range: MemoryRange) -> (usize, usize) {
        let end = range.start.checked_add(range.len);
        assert!(end.is_some_and(|end| end <= self.map.len() as u64), "{range:?} is outside the memory");
        (range.start as usize, range.len as usize)
    }

    fn fill(&self, range: MemoryRange, bytes: &[u8]) {
        let (start, len) = self.place(range);
        assert_eq!(len, bytes.len(), "bytes and their place differ in length");
        // SAFETY: `place` checked that the range lies in the mapping, which is
        // writable. It is apart from `bytes`, since slices of the mapping are lent
        // only to readers. Only the one `Filling` of a fetch comes here, with
        // ranges it has not filled yet. Until it reports them, the engine gives them
        // to no other fetch and to no read.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.map.as_mut_ptr().add(start), len) }
    }
}

/// The right to fill the memory of one fetch, each byte once.
#[derive(Debug)]
pub(crate) struct Filling {
    memory: Arc<Memory>,
    ranges: std::vec::IntoIter<MemoryRange>,
    current: Option<MemoryRange>,
    filled_bytes: u64,
}

impl Filling {
    /// How many bytes were filled so far.
    pub(crate) fn filled_bytes(&self) -> u64 {
        self.filled_bytes
    }

    /// Puts `bytes` where the last ones ended; says how many did not fit.
    pub(crate) fn append(&mut self, mut bytes: &[u8]) -> usize {
        while !bytes.is_empty() {
            let Some(place) = self.current.take().or_else(|| self.ranges.next()) else { break };
            let (part, after) = bytes.split_at(bytes.len().min(place.len as usize));
            let len = part.len() as u64;
            self.memory.fill(MemoryRange { start: place.start, len }, part);
            if len < place.len {
                self.current = Some(MemoryRange { start: place.start + len, len: place.len - len });
            }
            self.filled_bytes += len;
            bytes = after;
        }
        bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: u64, len: u64) -> MemoryRange {
        MemoryRange { start, len }
    }

    #[test]
    fn what_is_filled_in_pieces_is_read_in_order() {
        let memory = Arc::new(Memory::new(64 << 10).unwrap());
        let mut filling = memory.filling(vec![range(8192, 4), range(0, 3)]);
        assert_eq!(filling.append(b"ab"), 0);
        assert_eq!(filling.append(b"cdef"), 0);
        assert_eq!((filling.append(b"gX"), filling.filled_bytes()), (1, 7));
        let mut buf = [0; 7];
        memory.copy(&[range(8192, 4), range(0, 3)], &mut buf);
        assert_eq!(&buf, b"abcdefg");
        assert_eq!(memory.slice(range(8193, 2)), b"bc");
    }

    #[test]
    fn threads_fill_and_read_disjoint_ranges() {
        let memory = Arc::new(Memory::new(1 << 20).unwrap());
        std::thread::scope(|scope| {
            for index in 0..4u64 {
                let memory = &memory;
                scope.spawn(move || {
                    let own = range(index * 4096, 4096);
                    memory.filling(vec![own]).append(&[index as u8; 4096]);
                    assert!(memory.slice(own).iter().all(|byte| u64::from(*byte) == index));
                });
            }
        });
    }

    #[test]
    fn discarded_pages_are_gone_and_no_others() {
        let memory = Arc::new(Memory::new(64 << 10).unwrap());
        memory.filling(vec![range(0, 64 << 10)]).append(&[7; 64 << 10]);
        memory.discard(range(16 << 10, 32 << 10)).unwrap();
        memory.discard(range(100, 200)).unwrap();
        assert_eq!(memory.slice(range((16 << 10) - 1, 2)), [7, 0]);
        assert_eq!(memory.slice(range((48 << 10) - 1, 2)), [0, 7]);
        assert_eq!(memory.slice(range(0, 4096)), [7; 4096]);
    }

    #[test]
    #[should_panic(expected = "outside the memory")]
    fn a_range_outside_is_refused() {
        Memory::new(4096).unwrap().slice(range(4096, 1));
    }
}
