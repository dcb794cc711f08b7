//! The invariants, checked in full. Too slow for every call on a large cache;
//! debug builds call it as often as the cache's size allows.

use alloc::vec;

use super::Cache;
use super::rows::{Queue, Row};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowStatus {
    Nowhere,
    Vacant,
    Indexed,
}

impl Cache {
    /// Rows to look at when auditing.
    pub(crate) fn audit_cost(&self) -> usize {
        self.rows.len()
    }

    /// Panics if any invariant does not hold.
    pub(crate) fn audit(&self) {
        let mut statuses = vec![RowStatus::Nowhere; self.rows.len()];
        for id in &self.vacant {
            assert_eq!(statuses[id.0 as usize], RowStatus::Nowhere, "row vacant twice");
            statuses[id.0 as usize] = RowStatus::Vacant;
        }
        for (object, index, id) in self.index.iter() {
            let row = &self.rows[id.0 as usize];
            assert_eq!(statuses[id.0 as usize], RowStatus::Nowhere, "row in two places");
            statuses[id.0 as usize] = RowStatus::Indexed;
            assert_eq!((row.object, row.index, row.detached), (object, index, false));
            assert!(row.pin_count > 0 || !row.is_empty(), "an empty row stayed");
            // A read changes rows that it has pinned; such a row changes its queue when the read unpins it.
            assert!(row.pin_count > 0 || row.queue == row.home(), "row in the wrong queue: {row:?}");
            assert!(
                row.pin_count > 0 || row.weight == row.spare().count_ones(),
                "row of wrong weight: {row:?}"
            );
        }
        let mut blocks = self.disowned_count;
        let mut weights = [0u64; 3];
        for (row, status) in self.rows.iter().zip(statuses) {
            match status {
                RowStatus::Vacant => continue,
                RowStatus::Indexed => {}
                RowStatus::Nowhere => assert!(row.detached && row.pin_count > 0, "a row got lost: {row:?}"),
            }
            audit_row(row);
            blocks += (row.resident | row.in_flight).count_ones();
            match row.queue {
                Queue::Read => weights[0] += u64::from(row.weight),
                Queue::Hot => weights[1] += u64::from(row.weight),
                Queue::Unread => weights[2] += u64::from(row.weight),
                Queue::Out => {}
            }
        }
        assert_eq!(blocks, self.slots.used_count(), "the ledger disagrees with the slots in use");
        let queues = [Queue::Read, Queue::Hot, Queue::Unread];
        assert_eq!(weights, queues.map(|queue| self.queues.weight(queue)));
    }
}

fn audit_row(row: &Row) {
    assert_eq!(row.resident & row.in_flight, 0, "a block in two states: {row:?}");
    assert_eq!(row.unread & !(row.resident | row.in_flight), 0, "unread, but not there: {row:?}");
    assert_eq!(row.begun & !(row.resident & !row.unread), 0, "begun, but not there or not read: {row:?}");
    assert_eq!(row.ahead & !row.unread, 0, "read, but still ahead: {row:?}");
}
