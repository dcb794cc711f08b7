//! The order in which waiting requests are carried out.

use super::pool::{Group, GroupId, Pool};
use crate::device::Time;

/// An elevator's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// This group goes to the device.
    Dispatch(GroupId),
    /// Nothing does for now: until a request arrives or completes, or until then.
    Wait(Option<Time>),
}

/// An order of requests. It is told what comes and goes, and looks at the [`Pool`].
pub trait Elevator {
    /// A request arrived that was not merged with another.
    fn added(&mut self, _now: Time, _pool: &Pool, _id: GroupId) {}

    /// Chooses the next group for the device. Some group waits in `pool`, and the device has room.
    fn choose(&mut self, now: Time, pool: &Pool) -> Choice;

    /// The group that it chose went to the device.
    fn dispatched(&mut self, _now: Time, _group: &Group) {}

    /// The device completed it.
    fn completed(&mut self, _now: Time, _group: &Group) {}

    /// It was given up while it waited.
    fn removed(&mut self, _id: GroupId) {}
}
