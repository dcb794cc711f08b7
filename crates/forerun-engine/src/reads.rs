//! Reads that were asked for and are not over.

use alloc::vec::Vec;

use crate::cache::Pins;
use crate::table::Table;
use crate::types::{Extent, ObjectId, ReadId, ReaderId};

/// How far a read has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waits for memory or for a place in flight; holds nothing.
    Waiting,
    /// Holds its rows; its missing blocks are in flight.
    Admitted,
    /// Holds its rows; the reader may copy.
    Ready,
}

#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) object: ObjectId,
    pub(crate) reader: ReaderId,
    /// Within the object.
    pub(crate) extent: Extent,
    pub(crate) phase: Phase,
    /// Rows held; none while waiting.
    pub(crate) pins: Pins,
}

/// All reads.
#[derive(Debug)]
pub(crate) struct Reads {
    table: Table<Read>,
}

impl Reads {
    pub(crate) fn new() -> Reads {
        Reads { table: Table::new() }
    }

    pub(crate) fn insert(&mut self, read: Read) -> ReadId {
        ReadId(self.table.insert(read))
    }

    pub(crate) fn count(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn get(&self, id: ReadId) -> Option<&Read> {
        self.table.get(id.0)
    }

    pub(crate) fn get_mut(&mut self, id: ReadId) -> Option<&mut Read> {
        self.table.get_mut(id.0)
    }

    pub(crate) fn remove(&mut self, id: ReadId) -> Option<Read> {
        self.table.remove(id.0)
    }

    /// Bytes of the reads that hold their bytes, and the number of those that still wait.
    pub(crate) fn lent_and_waiting(&self) -> (u64, usize) {
        let ready = self.table.iter().filter(|(_, read)| read.phase == Phase::Ready);
        let (bytes, count) =
            ready.fold((0, 0), |(bytes, count), (_, read)| (bytes + read.extent.len, count + 1));
        (bytes, self.count() - count)
    }

    /// Whether somebody waits for bytes of `object` or copies them.
    pub(crate) fn any_of(&self, object: ObjectId) -> bool {
        self.table.iter().any(|(_, read)| read.object == object)
    }

    /// Waiting reads of `object` that go past `size`.
    pub(crate) fn waiting_past(&self, object: ObjectId, size: u64) -> Vec<ReadId> {
        let past =
            |read: &Read| read.phase == Phase::Waiting && read.object == object && read.extent.end() > size;
        self.table.iter().filter(|(_, read)| past(read)).map(|(id, _)| ReadId(id)).collect()
    }

    /// Admitted reads of `object` that touch `extent`.
    pub(crate) fn admitted(&self, object: ObjectId, extent: Extent) -> Vec<ReadId> {
        let touched = |read: &Read| {
            read.phase == Phase::Admitted && read.object == object && read.extent.overlaps(&extent)
        };
        self.table.iter().filter(|(_, read)| touched(read)).map(|(id, _)| ReadId(id)).collect()
    }
}
