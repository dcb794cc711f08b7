//! The reads of each row.

use clap::ValueEnum;

use crate::demo::process::BlockServer;
use crate::demo::reader::{in_turns, random, steps};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;
const SECTOR_BYTES: u64 = 512;
const PAGE_BYTES: u64 = 4 * KIB;
/// Reads in order, of 8 MiB. Without readahead they take 5 s.
const ORDERED_READS: usize = 2048;
const SECTORS_BYTES: u64 = 4 * MIB;
const STRIDE_BYTES: u64 = 64 * KIB;
const STRIDES: u64 = 1024;
const RANDOM_READS: usize = 1000;
const DEEP_READ_BYTES: u64 = 64 * KIB;
const DEEP_READS: usize = 512;
/// Requests in flight in the rows that have several.
const DEPTH: usize = 16;
/// How often each page in memory is read, on average: enough to take seconds.
const CACHED_ROUNDS: u64 = 4;
/// The same reads in every run.
const SEED: u64 = 2025;

/// The size of the demo's `one.bin` here, and of the image that is copied.
pub(super) const IMAGE_BYTES: u64 = 1 << 30;

/// A part of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) offset: u64,
    pub(super) len: u32,
}

/// The reads of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum DiskReads {
    /// 512 B each, in order
    Sectors,
    /// 4 KiB each, in order
    Sequential,
    /// Two streams in turn, 4 KiB each
    Two,
    /// Eight streams in turn, 4 KiB each
    Eight,
    /// 4 KiB each, from the end to the begin
    Backward,
    /// 4 KiB of every 64 KiB
    Strided,
    /// 4 KiB each, anywhere
    Random,
    /// 64 KiB each, anywhere, 16 at once
    Deep,
    /// All of an image, by qemu-img
    Copy,
    /// 4 KiB each, anywhere, of bytes in memory
    Cached,
    /// The same, 16 at once
    CachedDeep,
}

impl DiskReads {
    /// The name in the table.
    pub(super) fn title(self) -> &'static str {
        match self {
            DiskReads::Sectors => "512 B in order",
            DiskReads::Sequential => "4 KiB in order",
            DiskReads::Two => "2 streams, 4 KiB in turn",
            DiskReads::Eight => "8 streams, 4 KiB in turn",
            DiskReads::Backward => "4 KiB backward",
            DiskReads::Strided => "4 KiB of every 64 KiB",
            DiskReads::Random => "4 KiB at random",
            DiskReads::Deep => "64 KiB at random, 16 at once",
            DiskReads::Copy => "`qemu-img convert` of 1 GiB",
            DiskReads::Cached => "4 KiB at random, in memory",
            DiskReads::CachedDeep => "4 KiB at random, in memory, 16 at once",
        }
    }

    /// The servers to compare, Forerun first. The second is the one without a cache, where there is one.
    pub(super) fn servers(self) -> &'static [BlockServer] {
        use BlockServer::{Curl, CurlCache, CurlReadahead, Forerun, Memory};
        match self {
            DiskReads::Cached | DiskReads::CachedDeep => &[Forerun, Memory],
            // Filters gain nothing, since qemu-img reads nothing twice and the plugin one part at a time.
            DiskReads::Copy => &[Forerun, Curl],
            _ => &[Forerun, Curl, CurlCache, CurlReadahead],
        }
    }

    /// Whether all bytes are in memory before they are read.
    pub(super) fn is_cached(self) -> bool {
        matches!(self, DiskReads::Cached | DiskReads::CachedDeep)
    }

    /// The object of the store that is read.
    pub(super) fn object(self) -> &'static str {
        match self {
            DiskReads::Random | DiskReads::Deep => "random.bin",
            DiskReads::Cached | DiskReads::CachedDeep => "shuffled.bin",
            _ => "one.bin",
        }
    }

    /// How many requests are in flight.
    pub(super) fn depth(self) -> usize {
        match self {
            DiskReads::Deep | DiskReads::CachedDeep => DEPTH,
            _ => 1,
        }
    }

    /// The extents to read of an object of `size` bytes. qemu-img chooses its own.
    pub(super) fn extents(self, size: u64) -> Vec<Extent> {
        let pages = |offsets: Vec<u64>| of_len(PAGE_BYTES, offsets);
        let some = |offsets: Vec<u64>| pages(offsets.into_iter().take(ORDERED_READS).collect());
        let random_pages =
            |count, seed| random(count, size / PAGE_BYTES, seed).into_iter().map(|page| page * PAGE_BYTES);
        match self {
            DiskReads::Sectors => of_len(SECTOR_BYTES, steps(0..SECTORS_BYTES, SECTOR_BYTES)),
            DiskReads::Sequential => some(steps(0..size, PAGE_BYTES)),
            DiskReads::Two => some(in_turns(2, size, PAGE_BYTES)),
            DiskReads::Eight => some(in_turns(8, size, PAGE_BYTES)),
            DiskReads::Backward => some(steps(0..size, PAGE_BYTES).into_iter().rev().collect()),
            DiskReads::Strided => pages(steps(0..STRIDES * STRIDE_BYTES, STRIDE_BYTES)),
            DiskReads::Random => pages(random_pages(RANDOM_READS, SEED).collect()),
            DiskReads::Deep => {
                let places = random(DEEP_READS, size / DEEP_READ_BYTES, SEED);
                of_len(DEEP_READ_BYTES, places.into_iter().map(|place| place * DEEP_READ_BYTES).collect())
            }
            DiskReads::Cached | DiskReads::CachedDeep => {
                let count = (size / PAGE_BYTES) as usize;
                pages((0..CACHED_ROUNDS).flat_map(|round| random_pages(count, SEED + round)).collect())
            }
            DiskReads::Copy => Vec::new(),
        }
    }
}

/// The whole of an object of `size` bytes, in order, in pieces of 1 MiB.
pub(super) fn whole(size: u64) -> Vec<Extent> {
    of_len(MIB, steps(0..size, MIB))
}

fn of_len(len: u64, offsets: Vec<u64>) -> Vec<Extent> {
    offsets.into_iter().map(|offset| Extent { offset, len: len as u32 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads_distinct_extents_within_its_object() {
        let size = 64 * MIB;
        for reads in DiskReads::value_variants() {
            let extents = reads.extents(size);
            assert!(extents.iter().all(|extent| extent.offset + u64::from(extent.len) <= size), "{reads:?}");
            let mut offsets: Vec<_> = extents.iter().map(|extent| extent.offset).collect();
            let read_count = offsets.len();
            offsets.sort_unstable();
            offsets.dedup();
            let rounds = if reads.is_cached() { CACHED_ROUNDS as usize } else { 1 };
            assert_eq!(read_count, rounds * offsets.len(), "{reads:?}");
            assert_eq!(read_count == 0, *reads == DiskReads::Copy, "{reads:?}");
        }
    }

    #[test]
    fn streams_take_turns_and_a_backward_reader_ends_earlier() {
        let offsets = |reads: DiskReads| {
            let extents = reads.extents(64 * MIB);
            extents.into_iter().take(4).map(|extent| extent.offset / PAGE_BYTES).collect::<Vec<_>>()
        };
        assert_eq!(offsets(DiskReads::Two), [0, 8192, 1, 8193]);
        assert_eq!(offsets(DiskReads::Backward), [16383, 16382, 16381, 16380]);
        assert_eq!(offsets(DiskReads::Strided), [0, 16, 32, 48]);
    }
}
