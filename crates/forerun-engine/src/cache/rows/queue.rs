//! Eviction queues: intrusive lists through the row table, oldest first.

use super::row::{NONE, Queue, Row, RowId};

/// One list of `count` rows; `weight` is the sum of their weights, in blocks.
#[derive(Debug)]
struct RowList {
    head: u32,
    tail: u32,
    count: usize,
    weight: u64,
}

/// The three lists rows wait in.
#[derive(Debug)]
pub(crate) struct Queues {
    lists: [RowList; 3],
}

impl Queues {
    pub(crate) fn new() -> Queues {
        Queues { lists: core::array::from_fn(|_| RowList { head: NONE, tail: NONE, count: 0, weight: 0 }) }
    }

    pub(crate) fn weight(&self, queue: Queue) -> u64 {
        place(queue).map_or(0, |list| self.lists[list].weight)
    }

    /// Rows in the queue.
    pub(crate) fn count(&self, queue: Queue) -> usize {
        place(queue).map_or(0, |list| self.lists[list].count)
    }

    /// The row that waited longest.
    pub(crate) fn oldest(&self, queue: Queue) -> Option<RowId> {
        place(queue).and_then(|list| row_id(self.lists[list].head))
    }

    /// The row behind `row` in its queue.
    pub(crate) fn after(rows: &[Row], row: RowId) -> Option<RowId> {
        row_id(rows[row.0 as usize].next)
    }

    /// Puts the row where its state belongs, as its newest.
    pub(crate) fn requeue(&mut self, rows: &mut [Row], row: RowId) {
        self.unlink(rows, row);
        let home = rows[row.0 as usize].home();
        let Some(list) = place(home) else { return };
        let tail = self.lists[list].tail;
        let this = &mut rows[row.0 as usize];
        this.queue = home;
        this.prev = tail;
        this.next = NONE;
        this.weight = this.spare().count_ones();
        self.lists[list].weight += u64::from(this.weight);
        self.lists[list].count += 1;
        match tail {
            NONE => self.lists[list].head = row.0,
            tail => rows[tail as usize].next = row.0,
        }
        self.lists[list].tail = row.0;
    }

    /// Brings weight and queue up to date, keeping the row's place if its queue
    /// is still the right one.
    pub(crate) fn refresh(&mut self, rows: &mut [Row], row: RowId) {
        let this = &mut rows[row.0 as usize];
        let home = this.home();
        if home != this.queue {
            return self.requeue(rows, row);
        }
        if let Some(list) = place(home) {
            let weight = this.spare().count_ones();
            self.lists[list].weight = self.lists[list].weight - u64::from(this.weight) + u64::from(weight);
            this.weight = weight;
        }
    }

    pub(crate) fn unlink(&mut self, rows: &mut [Row], row: RowId) {
        let this = &mut rows[row.0 as usize];
        let Some(list) = place(this.queue) else { return };
        let (prev, next) = (this.prev, this.next);
        this.queue = Queue::Out;
        self.lists[list].weight -= u64::from(this.weight);
        self.lists[list].count -= 1;
        match prev {
            NONE => self.lists[list].head = next,
            prev => rows[prev as usize].next = next,
        }
        match next {
            NONE => self.lists[list].tail = prev,
            next => rows[next as usize].prev = prev,
        }
    }
}

fn place(queue: Queue) -> Option<usize> {
    match queue {
        Queue::Read => Some(0),
        Queue::Hot => Some(1),
        Queue::Unread => Some(2),
        Queue::Out => None,
    }
}

fn row_id(index: u32) -> Option<RowId> {
    (index != NONE).then_some(RowId(index))
}
