//! The words the engine and its driver speak.

use alloc::vec::Vec;
use core::fmt;

/// The cache unit: fetches start at multiples of it. 4 KiB is the kernel's page
/// and the smallest random read worth its own fetch.
pub const BLOCK_BYTES: u64 = 4096;

/// Nanoseconds since a moment of the driver's choosing. Never decreases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    /// Nanoseconds from `earlier` to here; 0 if `earlier` is later.
    pub fn since(self, earlier: Time) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// One version of one object's bytes. The driver numbers them and never uses a
/// number for two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(pub u64);

/// A directory whose listing the driver tells of. The driver numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DirectoryId(pub u64);

/// A list of parts of many objects that a program will read. The driver numbers them upward.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ListId(pub u64);

/// An entry of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFile {
    /// Its size in bytes; 0 if it is no file.
    pub size: u64,
    /// The driver's kind of file, such as its name's ending. Walkers often leave out some kinds.
    pub class: u8,
}

/// A reader: an open handle, a connection or a process. Policies of other software keep their state per
/// reader; `adaptive` does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReaderId(pub u64);

impl ReaderId {
    /// The reader of what is read ahead before anybody reads it.
    pub(crate) const NOBODY: ReaderId = ReaderId(u64::MAX);
}

/// Those that share the storage fairly: a user, a credential or a connection, as the front end decides. The default one has
/// every reader that belongs to no other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u64);

/// One read, from [`Engine::read`](crate::Engine::read) to
/// [`Engine::release`](crate::Engine::release).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReadId(pub u64);

/// One fetch, from `poll_fetch` to `handle_fetched` or `handle_failed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FetchId(pub u64);

/// One stream, by the number of the read that it began with, among those of all objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u64);

/// Bytes `offset .. offset + len` of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Extent {
    /// First byte.
    pub offset: u64,
    /// Length in bytes.
    pub len: u64,
}

impl Extent {
    /// `offset .. offset + len`.
    pub const fn new(offset: u64, len: u64) -> Extent {
        Extent { offset, len }
    }

    /// `start .. end`; empty where `end` is not past `start`.
    pub const fn between(start: u64, end: u64) -> Extent {
        Extent { offset: start, len: end.saturating_sub(start) }
    }

    /// One past the last byte.
    pub const fn end(&self) -> u64 {
        self.offset.saturating_add(self.len)
    }

    /// No bytes at all.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// At least one byte in common.
    pub const fn overlaps(&self, other: &Extent) -> bool {
        self.offset < other.end() && other.offset < self.end()
    }

    /// The bytes both have.
    pub fn intersection(&self, other: &Extent) -> Extent {
        Extent::between(self.offset.max(other.offset), self.end().min(other.end()))
    }

    /// The same bytes, grown outwards to whole blocks; no bytes remain none.
    pub const fn to_blocks(self) -> Extent {
        if self.is_empty() {
            return self;
        }
        let start = self.offset / BLOCK_BYTES * BLOCK_BYTES;
        Extent::between(start, self.end().div_ceil(BLOCK_BYTES).saturating_mul(BLOCK_BYTES))
    }
}

impl fmt::Debug for Extent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.offset, self.len)
    }
}

/// Bytes `start .. start + len` of the engine's memory region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRange {
    /// First byte in the region.
    pub start: u64,
    /// Length in bytes.
    pub len: u64,
}

/// Why a fetch is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// A reader waits for it.
    Demand,
    /// Nobody has asked yet.
    Readahead,
}

/// I/O to start now: read `extent` of `object` into `memory`, front to back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fetch {
    /// To name it by in `handle_*`.
    pub id: FetchId,
    /// The object to read from.
    pub object: ObjectId,
    /// Which bytes; starts on a block, ends on one or at the object's end.
    pub extent: Extent,
    /// Where they go, in order; the lengths add up to `extent.len`.
    pub memory: Vec<MemoryRange>,
    /// Why.
    pub cause: Cause,
}

/// The first answer to a read.
//
// Exhaustive: a driver must act on each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All bytes are in memory: copy them, then release the read.
    Ready(ReadId),
    /// A [`Reply`] will come.
    Parked(ReadId),
}

/// The end of a parked read's wait.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reply {
    /// Whose wait it was.
    pub read: ReadId,
    /// The memory that holds the bytes, to be copied and then released; or the
    /// failure, after which the read is over and needs no release.
    pub result: Result<Vec<MemoryRange>, FetchError>,
}

/// Why a fetch failed. The engine only passes it on: `code` is the driver's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchError {
    /// A number that the driver gave in `handle_failed`.
    pub code: u32,
}

/// Measurements of the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceEstimate {
    /// From dispatch to the first bytes, smoothed, in nanoseconds.
    pub latency_ns: u64,
    /// The highest recent throughput of all fetches together, in bytes per second.
    pub throughput_bytes_per_s: u64,
    /// The size of a fetch, in bytes.
    pub fetch_bytes: u64,
    /// Bytes in flight that are worth it.
    pub pipe_bytes: u64,
}
