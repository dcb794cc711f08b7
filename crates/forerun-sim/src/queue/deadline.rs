//! Sorted by address in batches, unless somebody has waited too long.

use super::{Choice, Elevator, Group, Pool};
use crate::device::{Direction, Time};

/// Reads and writes expire after so long; a batch is so long; so many batches of reads
/// may go before one of writes (Linux `mq-deadline`).
const READ_EXPIRE_NS: u64 = 500_000_000;
const WRITE_EXPIRE_NS: u64 = 5_000_000_000;
const BATCH: u32 = 16;
const WRITES_STARVED: u32 = 2;

/// By address in batches of 16, but reads within 500 ms and writes within 5 s.
#[derive(Clone, Debug)]
pub struct Deadline {
    direction: Direction,
    /// Where the last request ended.
    position: u64,
    /// How many of the batch have gone; none is under way if it is full.
    batched: u32,
    /// How many batches of reads have gone while writes waited.
    starved: u32,
}

impl Default for Deadline {
    fn default() -> Deadline {
        Deadline { direction: Direction::Read, position: 0, batched: BATCH, starved: 0 }
    }
}

impl Deadline {
    /// Begins a batch: in which direction, and from where.
    fn begin(&mut self, now: Time, pool: &Pool) {
        let (reads, writes) = (pool.oldest(Direction::Read), pool.oldest(Direction::Write));
        let is_reading = reads.is_some() && (writes.is_none() || self.starved < WRITES_STARVED);
        let (direction, oldest, expire_ns) = if is_reading {
            self.starved += u32::from(writes.is_some());
            (Direction::Read, reads, READ_EXPIRE_NS)
        } else {
            self.starved = 0;
            (Direction::Write, writes, WRITE_EXPIRE_NS)
        };
        let Some(oldest) = oldest else { return };
        let turned = direction != self.direction;
        if turned
            || now.since(oldest.arrived) >= expire_ns
            || pool.next_at(direction, self.position).is_none()
        {
            self.position = oldest.address();
        }
        (self.direction, self.batched) = (direction, 0);
    }
}

impl Elevator for Deadline {
    fn choose(&mut self, now: Time, pool: &Pool) -> Choice {
        if self.batched >= BATCH || pool.next_at(self.direction, self.position).is_none() {
            self.begin(now, pool);
        }
        let next = pool.next_at(self.direction, self.position);
        next.map_or(Choice::Wait(None), |group| Choice::Dispatch(group.id))
    }

    fn dispatched(&mut self, _now: Time, group: &Group) {
        self.position = group.end();
        self.batched += 1;
    }
}
