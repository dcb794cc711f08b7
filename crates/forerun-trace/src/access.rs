//! The common form of all formats' accesses.

use crate::FileId;

/// One recorded access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its id within the trace, for dependencies: its position if the format has no ids.
    pub id: u64,
    /// Its time of submission, in nanoseconds from the first event.
    pub time_ns: u64,
    /// The thread or process of the recorded machine that issued it; 0 if unknown.
    pub thread: u64,
    /// Its operation.
    pub op: Op,
    /// Its file or device.
    pub file: FileId,
    /// The bytes that were read, written or discarded.
    pub extent: Extent,
    /// The length asked for in bytes, if the answer was shorter.
    pub asked: Option<u64>,
    /// Whether its thread waits for it before it does anything else.
    pub blocking: bool,
    /// The accesses that it waited for.
    pub after: Vec<Dependency>,
    /// The recorded device's time for it, in nanoseconds, if measured.
    pub service_ns: Option<u64>,
}

/// A range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub len: u64,
}

/// The operation of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Read bytes.
    Read,
    /// Wrote bytes.
    Write,
    /// Made earlier writes durable.
    Flush,
    /// Discarded bytes.
    Discard,
    /// Opened the file.
    Open {
        /// Whether for reading only.
        read_only: bool,
    },
    /// Closed the file.
    Close,
    /// The thread began; the file means nothing.
    Start,
    /// The thread ended; the file means nothing.
    Stop,
}

/// A wait for another access, and then for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The access waited for.
    pub id: u64,
    /// The moment of that access.
    pub moment: Moment,
    /// The delay after it, in nanoseconds.
    pub delta_ns: u64,
}

/// The two moments of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// It was issued.
    Submitted,
    /// It was answered.
    Completed,
}

impl Access {
    /// An access at `time_ns` with no other attributes.
    pub fn new(time_ns: u64, op: Op, file: FileId, offset: u64, len: u64) -> Access {
        Access {
            id: 0,
            time_ns,
            thread: 0,
            op,
            file,
            extent: Extent { offset, len },
            asked: None,
            blocking: false,
            after: Vec::new(),
            service_ns: None,
        }
    }

    /// Whether it got less than it asked for.
    pub fn is_partial(&self) -> bool {
        self.asked.is_some_and(|asked| asked > self.extent.len)
    }
}

impl Extent {
    /// The byte after its last one.
    pub fn end(self) -> u64 {
        self.offset.saturating_add(self.len)
    }
}

impl Op {
    /// Whether it has an extent.
    pub fn has_extent(self) -> bool {
        matches!(self, Op::Read | Op::Write | Op::Discard)
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Op::Read => "read",
            Op::Write => "write",
            Op::Flush => "flush",
            Op::Discard => "discard",
            Op::Open { .. } => "open",
            Op::Close => "close",
            Op::Start => "start of a thread",
            Op::Stop => "end of a thread",
        }
    }
}
