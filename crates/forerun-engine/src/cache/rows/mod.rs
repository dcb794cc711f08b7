//! The table of the cache: its rows, the index that finds them, the queues through them, and their memory.

mod index;
mod queue;
mod row;
mod slots;
mod withdrawn;

pub(super) use index::Index;
pub(super) use queue::Queues;
pub(crate) use row::ROW_BYTES;
pub(super) use row::{NONE, Queue, ROW_BLOCKS, Row, RowId, rows_of};
pub(crate) use slots::SlotRun;
pub(super) use slots::{Slots, mask};
