//! Terms for the class, the reason and the outcome of readahead.

mod class;

use alloc::vec::Vec;

use crate::types::{ListId, ObjectId, Time};
pub use class::Class;
pub(crate) use class::Classes;

/// The rule that decided how large a window is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// It is the first: only a few reads were seen.
    FirstWindow,
    /// The reader had to wait when it was reconsidered last: it grew.
    Growing,
    /// It covers the bytes that the reader consumes during one fetch.
    Steady,
    /// It is the most that one of the active streams may take of the device.
    LimitedByShare,
    /// It is the most that one of the active streams may take of the memory.
    LimitedByMemory,
    /// The account of its object allows no more ([`AccountReport`]), for as much as was read of the stream.
    LimitedByAccount,
    /// The object ends there, another stream began there, or streams used to end there.
    EndKnown,
    /// An earlier run read it.
    Planned,
    /// A program has said that it will be read.
    Advised,
    /// A walk through the directory comes to it.
    Listed,
    /// It may be used, and costs little if it is not.
    Bet,
    /// A policy other than `adaptive` has its own rules.
    #[default]
    Policy,
}

impl Why {
    /// One word for it, of lower-case letters and dashes.
    pub const fn name(self) -> &'static str {
        match self {
            Why::FirstWindow => "first-window",
            Why::Growing => "growing",
            Why::Steady => "steady",
            Why::LimitedByShare => "limited-by-share",
            Why::LimitedByMemory => "limited-by-memory",
            Why::LimitedByAccount => "limited-by-account",
            Why::EndKnown => "end-known",
            Why::Planned => "planned",
            Why::Advised => "advised",
            Why::Listed => "listed",
            Why::Bet => "bet",
            Why::Policy => "policy",
        }
    }
}

/// Why a stream is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum End {
    /// It was read to the end of its object; backward, to its start.
    ObjectEnd,
    /// Its reader skipped so much that it does not follow the prediction.
    LeftOut,
    /// Its reader went elsewhere: the object was read again and again, but not there.
    ReaderLeft,
    /// Another took its place: there were too many.
    PushedOut,
    /// The last reader of its object closed it.
    Closed,
    /// Its object is not known any more: it was replaced, say.
    Forgotten,
}

impl End {
    /// One word for it, of lower-case letters and dashes.
    pub const fn name(self) -> &'static str {
        match self {
            End::ObjectEnd => "object-end",
            End::LeftOut => "left-out",
            End::ReaderLeft => "reader-left",
            End::PushedOut => "pushed-out",
            End::Closed => "closed",
            End::Forgotten => "forgotten",
        }
    }
}

/// Outcomes of the readahead of one class, in bytes of whole blocks. Bytes that are in memory or in flight
/// and not read yet are in none of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassCounters {
    /// Was in memory when it was asked for.
    pub in_time_bytes: u64,
    /// Was in flight when it was asked for.
    pub late_bytes: u64,
    /// Left the memory before anybody asked for it.
    pub wasted_bytes: u64,
}

impl ClassCounters {
    /// Bytes whose outcome is known.
    pub const fn sum(&self) -> u64 {
        self.in_time_bytes + self.late_bytes + self.wasted_bytes
    }

    fn add(&mut self, other: ClassCounters) {
        self.in_time_bytes += other.in_time_bytes;
        self.late_bytes += other.late_bytes;
        self.wasted_bytes += other.wasted_bytes;
    }
}

/// [`ClassCounters`] of each class that there was anything of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByClass {
    // A handful at most, mostly one.
    counters: Vec<(Class, ClassCounters)>,
}

impl ByClass {
    /// Those of `class`.
    pub fn of(&self, class: Class) -> ClassCounters {
        self.iter()
            .find(|(other, _)| *other == class)
            .map_or(ClassCounters::default(), |(_, counters)| counters)
    }

    /// Of all classes together.
    pub fn total(&self) -> ClassCounters {
        let mut total = ClassCounters::default();
        self.iter().for_each(|(_, counters)| total.add(counters));
        total
    }

    /// Each class and its counters.
    pub fn iter(&self) -> impl Iterator<Item = (Class, ClassCounters)> + '_ {
        self.counters.iter().copied()
    }

    pub(crate) fn add(&mut self, class: Class, counters: ClassCounters) {
        match self.counters.iter_mut().find(|(other, _)| *other == class) {
            Some((_, sum)) => sum.add(counters),
            None => {
                if self.counters.is_empty() {
                    self.counters.reserve_exact(1);
                }
                self.counters.push((class, counters));
            }
        }
    }
}

/// Takes what [`ByClass::iter`] gives.
impl FromIterator<(Class, ClassCounters)> for ByClass {
    fn from_iter<I: IntoIterator<Item = (Class, ClassCounters)>>(counters: I) -> ByClass {
        let mut sums = ByClass::default();
        counters.into_iter().for_each(|(class, counters)| sums.add(class, counters));
        sums
    }
}

/// One stream, or one plan, as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamReport {
    /// The class of its readahead.
    pub class: Class,
    /// How far its reader is, as an offset in the object; of a plan, in bytes of the plan.
    pub offset: u64,
    /// How much it keeps ahead, in bytes.
    pub window_bytes: u64,
    /// The part of it that is already planned: in memory, in flight or queued.
    pub ahead_bytes: u64,
    /// The rule that decided the window.
    pub why: Why,
    /// How fast its reader was over the last window, in bytes per second; 0 before the
    /// first was consumed.
    pub rate_bytes_per_s: u64,
    /// From wanting bytes to having them, nearly always, in nanoseconds.
    pub service_ns: u64,
    /// How many streams share memory and device with it, itself included.
    pub active_count: u64,
    /// When it was read last.
    pub last_read: Time,
}

/// One list, as it is now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListReport {
    /// Which.
    pub list: ListId,
    /// How many bytes it has, in whole blocks.
    pub bytes: u64,
    /// How many of them were read that were fetched for the first time.
    pub read_bytes: u64,
    /// How many are in flight, in memory or about to be fetched, and not read yet.
    pub ahead_bytes: u64,
    /// Nothing more is read ahead of a list whose readers do something else, until they read it again.
    pub is_followed: bool,
}

/// The account that limits the readahead of one object, as the next decision there will find it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AccountReport {
    /// How many bytes may be lost before waits are hardly worth anything and streams get less ahead.
    pub allowance_bytes: u64,
    /// Lost bytes: bytes that left the memory unread, and bytes at risk. Bytes at risk are in memory, in
    /// flight or queued, and no stream is expected to read them.
    pub lost_bytes: u64,
    /// Bytes that may still be reserved, whether they are used or not.
    pub room_bytes: u64,
    /// Bytes that may be wasted to save one wait.
    pub wait_bytes: u64,
}

/// One object, its streams, and the outcomes of its readahead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectReport {
    /// Which.
    pub object: ObjectId,
    /// Its size in bytes.
    pub size: u64,
    /// How many readers have it open.
    pub reader_count: u32,
    /// Bytes of it in memory, in whole blocks.
    pub cached_bytes: u64,
    /// Bytes of readahead, in memory or in flight, that were not asked for yet.
    pub waiting_bytes: u64,
    /// Bytes that were neither in memory nor in flight when they were asked for.
    pub missed_bytes: u64,
    /// Its streams; the one that was read last first.
    pub streams: Vec<StreamReport>,
    /// The account that limits its readahead; none with policies other than `adaptive`, nor before a read that no plan
    /// or list expected.
    pub account: Option<AccountReport>,
    /// The outcomes of its readahead.
    pub readahead: ByClass,
}
