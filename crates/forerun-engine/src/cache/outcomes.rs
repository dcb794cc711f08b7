//! Outcomes of readahead: used or wasted, by the class that fetched it.
//!
//! Each block of readahead is counted once: when a reader asks for it first, or when it is evicted before
//! that.

use super::lookup::Rows;
use super::rows::{Row, rows_of};
use super::{Cache, RowId};
use crate::explain::{ByClass, Class, ClassCounters};
use crate::scatter::Scattered;
use crate::types::{BLOCK_BYTES, Extent, ObjectId};

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    all: ByClass,
    guess_bytes: u64,
    /// Bytes of all objects that are here or in flight, and that nobody has asked for yet.
    open_bytes: u64,
    objects: Scattered<ObjectId, ObjectOutcomes>,
}

/// Of one object. In blocks, up to 16 TiB, since thousands of objects are remembered.
#[derive(Debug, Default)]
struct ObjectOutcomes {
    by_class: ByClass,
    open_blocks: u32,
    missed_blocks: u32,
}

/// The outcome of one object's readahead, in bytes of whole blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    /// Bytes in memory or in flight that no reader has asked for yet.
    pub(crate) open: u64,
    /// Bytes that a reader asked for.
    pub(crate) used: u64,
    /// Bytes that left the memory before a reader asked for them.
    pub(crate) wasted: u64,
    /// Bytes that a reader asked for while they were neither in memory nor in flight.
    pub(crate) missed: u64,
}

impl ObjectOutcomes {
    fn missed_bytes(&self) -> u64 {
        u64::from(self.missed_blocks) * BLOCK_BYTES
    }
}

impl Outcomes {
    pub(super) fn forget(&mut self, object: ObjectId) {
        self.objects.remove(object);
    }

    /// Blocks `bits` of `row` are not ahead of anybody any more.
    pub(super) fn close(&mut self, row: &mut Row, bits: u64) {
        let closed = bytes_of(row.ahead & bits);
        row.ahead &= !bits;
        self.open_bytes -= closed;
        if closed > 0
            && let Some(account) = self.objects.get_mut(row.object)
        {
            account.open_blocks = account.open_blocks.saturating_sub(blocks_of(closed));
        }
    }

    /// Blocks `gone` of `row` leave the memory.
    pub(super) fn on_gone(&mut self, row: &mut Row, gone: u64) {
        let wasted = |blocks| ClassCounters { wasted_bytes: bytes_of(blocks), ..ClassCounters::default() };
        self.settle(row, gone, wasted);
    }

    /// Blocks `bits` of `row` are read by somebody who asked for them before they were fetched.
    pub(super) fn on_awaited(&mut self, row: &mut Row, bits: u64) {
        self.settle(row, bits, |blocks| ClassCounters {
            late_bytes: bytes_of(blocks),
            ..ClassCounters::default()
        });
    }

    /// The outcome of those of `bits` that are ahead is known; `outcome` counts blocks of one class. The class
    /// of the first of them.
    fn settle(&mut self, row: &mut Row, bits: u64, outcome: impl Fn(u64) -> ClassCounters) -> Option<Class> {
        let (mut left, mut first) = (row.ahead & bits, None);
        self.close(row, left);
        while left != 0 {
            let (class, blocks) = row.classes.first(left);
            let counters = outcome(blocks);
            if class.is_guess() {
                self.guess_bytes -= counters.in_time_bytes + counters.late_bytes;
            }
            self.add(row.object, class, counters);
            first = first.or(Some(class));
            left &= !blocks;
        }
        first
    }

    fn add(&mut self, object: ObjectId, class: Class, counters: ClassCounters) {
        self.all.add(class, counters);
        // None of an object that was forgotten meanwhile.
        if let Some(account) = self.objects.get_mut(object) {
            account.by_class.add(class, counters);
        }
    }
}

impl Cache {
    /// The blocks of `extent`, which are in flight, are fetched ahead of reading of `class`.
    pub(crate) fn mark_ahead(&mut self, object: ObjectId, extent: Extent, class: Class) {
        let account = self.outcomes.objects.get_or_default(object);
        for (_, bits, id) in self.index.rows(object, extent) {
            let Some(id) = id else { continue };
            let row = &mut self.rows[id.0 as usize];
            let new = bits & row.in_flight & !row.ahead;
            if class.is_guess() {
                self.outcomes.guess_bytes += bytes_of(new);
            }
            account.open_blocks = account.open_blocks.saturating_add(new.count_ones());
            row.ahead |= new;
            self.outcomes.open_bytes += bytes_of(new);
            row.classes.set(new, class);
        }
    }

    /// A reader asks for `extent`, whose rows are `rows`; `missing_bytes` are neither resident nor in
    /// flight. Returns the class of the first block of readahead that is asked for the first time.
    pub(crate) fn record_outcome(
        &mut self,
        object: ObjectId,
        extent: Extent,
        rows: &Rows,
        missing_bytes: u64,
    ) -> Option<Class> {
        let mut first = None;
        if missing_bytes > 0 {
            let account = self.outcomes.objects.get_or_default(object);
            account.missed_blocks = account.missed_blocks.saturating_add(blocks_of(missing_bytes));
        }
        for ((_, bits), id) in rows_of(extent).zip(rows.iter()) {
            let Some(RowId(id)) = id else { continue };
            let row = &mut self.rows[id as usize];
            let (resident, in_flight) = (row.resident, row.in_flight);
            let first_of_row = self.outcomes.settle(row, bits, |asked| ClassCounters {
                in_time_bytes: bytes_of(asked & resident),
                late_bytes: bytes_of(asked & in_flight),
                wasted_bytes: 0,
            });
            first = first.or(first_of_row);
        }
        first
    }

    /// Bytes that were read ahead on a guess and not read, in memory or evicted.
    pub(crate) fn guess_bytes(&self) -> u64 {
        self.outcomes.guess_bytes
    }

    /// The outcome of the readahead of all objects; `missed` is not counted.
    pub(crate) fn spent_by_all(&self) -> Spent {
        let ClassCounters { in_time_bytes, late_bytes, wasted_bytes } = self.outcomes.all.total();
        let used = in_time_bytes + late_bytes;
        Spent { open: self.outcomes.open_bytes, used, wasted: wasted_bytes, missed: 0 }
    }

    /// The outcomes of the readahead of all objects.
    pub(crate) fn outcomes(&self) -> &ByClass {
        &self.outcomes.all
    }

    /// The outcomes of the readahead of `object`, and its bytes that were missing when a reader asked for
    /// them.
    pub(crate) fn outcomes_of(&self, object: ObjectId) -> (ByClass, u64) {
        let account = self.outcomes.objects.get(object);
        account.map_or_else(Default::default, |account| (account.by_class.clone(), account.missed_bytes()))
    }

    /// The outcome of the readahead of `object`.
    pub(crate) fn spent(&self, object: ObjectId) -> Spent {
        let Some(account) = self.outcomes.objects.get(object) else { return Spent::default() };
        let ClassCounters { in_time_bytes, late_bytes, wasted_bytes } = account.by_class.total();
        Spent {
            open: u64::from(account.open_blocks) * BLOCK_BYTES,
            used: in_time_bytes + late_bytes,
            wasted: wasted_bytes,
            missed: account.missed_bytes(),
        }
    }

    /// Bytes of `object` that are resident; and bytes here or in flight that were read
    /// ahead and that nobody has asked for.
    pub(crate) fn held_bytes(&self, object: ObjectId) -> (u64, u64) {
        let rows = self.index.of(object).map(|id| &self.rows[id.0 as usize]);
        rows.fold((0, 0), |(cached, waiting), row| {
            (cached + bytes_of(row.resident), waiting + bytes_of(row.ahead))
        })
    }
}

fn bytes_of(blocks: u64) -> u64 {
    u64::from(blocks.count_ones()) * BLOCK_BYTES
}

fn blocks_of(bytes: u64) -> u32 {
    u32::try_from(bytes / BLOCK_BYTES).unwrap_or(u32::MAX)
}
