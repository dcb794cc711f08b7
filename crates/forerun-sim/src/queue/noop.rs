//! First come, first served. Neighbours are merged all the same.

use super::{Choice, Elevator, Pool};
use crate::device::Time;

/// First come, first served.
#[derive(Clone, Copy, Debug, Default)]
pub struct Noop;

impl Elevator for Noop {
    fn choose(&mut self, _now: Time, pool: &Pool) -> Choice {
        pool.first().map_or(Choice::Wait(None), |group| Choice::Dispatch(group.id))
    }
}
