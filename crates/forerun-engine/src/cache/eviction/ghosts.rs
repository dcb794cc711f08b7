//! Rows that were evicted after they had been read once. A refault of such a row shows that its reader reads
//! more than the memory holds. The row is then kept like one that was read again.

use alloc::collections::{BTreeSet, VecDeque};

use crate::types::ObjectId;

/// Rows remembered at most, of about 40 bytes each.
const GHOSTS_MAX: usize = 8192;
/// Rows remembered for each that fits into memory.
const GHOSTS_PER_ROW: usize = 4;

/// The rows evicted last. `rows` is a part of `order`.
#[derive(Debug)]
pub(crate) struct Ghosts {
    rows: BTreeSet<(ObjectId, u64)>,
    order: VecDeque<(ObjectId, u64)>,
    count_max: usize,
}

impl Ghosts {
    /// For a memory of `row_count` rows.
    pub(crate) fn new(row_count: usize) -> Ghosts {
        let count_max = row_count.saturating_mul(GHOSTS_PER_ROW).min(GHOSTS_MAX);
        Ghosts { rows: BTreeSet::new(), order: VecDeque::new(), count_max }
    }

    /// The row was evicted.
    pub(crate) fn add(&mut self, object: ObjectId, index: u64) {
        if self.order.len() == self.count_max
            && let Some(oldest) = self.order.pop_front()
        {
            self.rows.remove(&oldest);
        }
        self.order.push_back((object, index));
        self.rows.insert((object, index));
    }

    /// Somebody comes back for the row: whether it is remembered. No longer, then.
    pub(crate) fn remove(&mut self, object: ObjectId, index: u64) -> bool {
        self.rows.remove(&(object, index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_rows_are_remembered_until_taken() {
        let mut ghosts = Ghosts::new(1);
        (0..5).for_each(|index| ghosts.add(ObjectId(1), index));
        assert!(!ghosts.remove(ObjectId(1), 0), "four are remembered");
        assert!(ghosts.remove(ObjectId(1), 1));
        assert!(!ghosts.remove(ObjectId(1), 1));
    }
}
