//! The elevator of Linux 2.4: sorted by address, with a bound on being overtaken.
//!
//! A request goes to where the addresses around it rise, as near the end as possible. Each request lets a
//! bounded number pass. The bound is so high that a sequential reader can keep others waiting for long: the
//! starvation of seed 004.

use super::{Choice, Elevator, Group, GroupId, Pool};
use crate::device::{Direction, Time};

/// How many may pass a read and a write (`elvtune`'s defaults in Linux 2.4).
const READ_PASSES: u32 = 2048;
const WRITE_PASSES: u32 = 8192;

/// The elevator of Linux 2.4.
#[derive(Clone, Debug, Default)]
pub struct Linus {
    /// In the order of service, with how many may still pass each.
    order: Vec<(GroupId, u32)>,
}

impl Elevator for Linus {
    fn added(&mut self, _now: Time, pool: &Pool, id: GroupId) {
        let Some(new) = pool.get(id) else { return };
        let is_behind = |(other, passes): &(GroupId, u32)| {
            *passes == 0 || pool.get(*other).is_none_or(|other| other.address() <= new.address())
        };
        let at = self.order.iter().rposition(is_behind).map_or(0, |last| last + 1);
        self.order[at..].iter_mut().for_each(|(_, passes)| *passes -= 1);
        let passes = if new.direction == Direction::Read { READ_PASSES } else { WRITE_PASSES };
        self.order.insert(at, (id, passes));
    }

    fn choose(&mut self, _now: Time, _pool: &Pool) -> Choice {
        self.order.first().map_or(Choice::Wait(None), |(id, _)| Choice::Dispatch(*id))
    }

    fn dispatched(&mut self, _now: Time, group: &Group) {
        self.removed(group.id);
    }

    fn removed(&mut self, id: GroupId) {
        self.order.retain(|(other, _)| *other != id);
    }
}
