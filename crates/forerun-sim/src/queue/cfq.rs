//! Everybody in turn, each for a slice of time (CFQ).

use super::{Choice, Elevator, Group, Pool};
use crate::device::{Direction, Time};

/// Slices of readers, and how long the disk idles for the next read of the one whose
/// slice it is (Linux's `slice_sync` and `slice_idle`).
const SLICE_NS: u64 = 100_000_000;
const IDLE_NS: u64 = 8_000_000;

/// A slice of 100 ms for each issuer in turn; the disk waits 8 ms for its next request.
#[derive(Clone, Debug, Default)]
pub struct Cfq {
    active: Option<Slice>,
    /// Where the last request ended.
    position: u64,
}

#[derive(Clone, Copy, Debug)]
struct Slice {
    issuer: u32,
    end: Time,
    /// Its requests at the device.
    in_flight: u32,
    idle_until: Time,
}

impl Elevator for Cfq {
    fn choose(&mut self, now: Time, pool: &Pool) -> Choice {
        if let Some(slice) = self.active.filter(|slice| now < slice.end) {
            if let Some(id) = next_of(pool, slice.issuer, self.position) {
                return Choice::Dispatch(id);
            }
            if slice.in_flight > 0 {
                return Choice::Wait(Some(slice.end));
            }
            if now < slice.idle_until {
                return Choice::Wait(Some(slice.idle_until.min(slice.end)));
            }
        }
        let from = self.active.map_or(0, |slice| slice.issuer.wrapping_add(1));
        let Some(issuer) = pool.next_issuer(from).or_else(|| pool.next_issuer(0)) else {
            return Choice::Wait(None);
        };
        let end = Time(now.0 + SLICE_NS);
        self.active = Some(Slice { issuer, end, in_flight: 0, idle_until: Time(0) });
        next_of(pool, issuer, self.position).map_or(Choice::Wait(None), Choice::Dispatch)
    }

    fn dispatched(&mut self, _now: Time, group: &Group) {
        self.position = group.end();
        if let Some(slice) = self.active.as_mut().filter(|slice| slice.issuer == group.issuer) {
            slice.in_flight += 1;
        }
    }

    fn completed(&mut self, now: Time, group: &Group) {
        if let Some(slice) = self.active.as_mut().filter(|slice| slice.issuer == group.issuer) {
            slice.in_flight = slice.in_flight.saturating_sub(1);
            if group.direction == Direction::Read {
                slice.idle_until = Time(now.0 + IDLE_NS);
            }
        }
    }
}

/// Of the groups of `issuer` that wait: reads first, the nearest behind `position`, else the first.
pub(super) fn next_of(pool: &Pool, issuer: u32, position: u64) -> Option<super::GroupId> {
    let in_direction = |direction| {
        let next = pool.next_of(issuer, direction, position);
        next.or_else(|| pool.next_of(issuer, direction, 0))
    };
    let next = in_direction(Direction::Read).or_else(|| in_direction(Direction::Write));
    next.map(|group| group.id)
}
