//! What every format is read into.

use crate::FileId;

/// One recorded access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its name within the trace, for dependencies: the position where the format has none.
    pub id: u64,
    /// When it was issued, in nanoseconds from the first event.
    pub time_ns: u64,
    /// Who issued it: a thread or process of the recorded machine, 0 where unknown.
    pub thread: u64,
    /// What it did.
    pub op: Op,
    /// To which file or device.
    pub file: FileId,
    /// Which bytes were read, written or discarded.
    pub extent: Extent,
    /// The length asked for in bytes, where the answer was partial.
    pub asked: Option<u64>,
    /// Whether its thread waits for it before it does anything else.
    pub blocking: bool,
    /// What it waited for before it was issued.
    pub after: Vec<Dependency>,
    /// How long the recorded device took for it, in nanoseconds, where measured.
    pub service_ns: Option<u64>,
}

/// A range of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    /// The first byte.
    pub offset: u64,
    /// How many bytes.
    pub len: u64,
}

/// What an access did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Read bytes.
    Read,
    /// Wrote bytes.
    Write,
    /// Made earlier writes durable.
    Flush,
    /// Gave bytes back.
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

/// An access waits for another, and then for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The access waited for.
    pub id: u64,
    /// What of it.
    pub moment: Moment,
    /// How long after it, in nanoseconds.
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
    /// An access at `time_ns` of which nothing else is known.
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

    /// Whether less was delivered than was asked for.
    pub fn is_partial(&self) -> bool {
        self.asked.is_some_and(|asked| asked > self.extent.len)
    }
}

impl Extent {
    /// The first byte after it.
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
