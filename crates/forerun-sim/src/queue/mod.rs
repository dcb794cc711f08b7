//! The request queue of an operating system, between the engine and a device. Requests are merged with
//! their neighbours, put in order by an elevator, and held back by a plug.
//!
//! A [`Queue`] is a device over a device. Its elevators are a file each, behind [`Elevator`]. All of them
//! see the same [`Pool`] of waiting requests.

mod bfq;
mod cfq;
mod deadline;
mod elevator;
mod linus;
mod noop;
mod plug;
mod pool;

use std::collections::BTreeMap;

use crate::device::{Device, DeviceStats, Notice, Request, RequestId, Time};
pub use bfq::Bfq;
pub use cfq::Cfq;
pub use deadline::Deadline;
pub use elevator::{Choice, Elevator};
pub use linus::Linus;
pub use noop::Noop;
pub use plug::Plug;
pub use pool::{Group, GroupId, Pool};

/// The most bytes that neighbours are merged to: 2048 sectors, as in seed 001.
pub const MERGE_BYTES_MAX: u64 = 1 << 20;

/// The elevators' names, for help.
pub const ELEVATORS: &[&str] = &["noop", "linus", "deadline", "cfq", "bfq"];

/// The elevator called `name`.
///
/// # Errors
/// No elevator has that name. The message lists the names.
pub fn elevator(name: &str) -> Result<Box<dyn Elevator>, String> {
    Ok(match name {
        "noop" => Box::new(Noop),
        "linus" => Box::new(Linus::default()),
        "deadline" => Box::new(Deadline::default()),
        "cfq" => Box::new(Cfq::default()),
        "bfq" => Box::new(Bfq::default()),
        _ => return Err(format!("no elevator is called {name:?}; there are {}", ELEVATORS.join(", "))),
    })
}

/// A device below an elevator.
pub struct Queue {
    device: Box<dyn Device>,
    elevator: Box<dyn Elevator>,
    plug: Plug,
    pool: Pool,
    in_flight: BTreeMap<RequestId, Group>,
    /// When the plug lets go by itself, while it holds.
    plugged_until: Option<Time>,
    /// When the elevator wants to be asked again.
    wait_until: Option<Time>,
    device_notices: Vec<Notice>,
}

impl Queue {
    /// A queue in front of `device`.
    pub fn new(device: Box<dyn Device>, elevator: Box<dyn Elevator>, plug: Plug) -> Queue {
        Queue {
            device,
            elevator,
            plug,
            pool: Pool::new(MERGE_BYTES_MAX),
            in_flight: BTreeMap::new(),
            plugged_until: None,
            wait_until: None,
            device_notices: Vec::new(),
        }
    }

    /// Hands over what the device has room for.
    fn dispatch(&mut self, now: Time) {
        self.wait_until = None;
        while self.plugged_until.is_none()
            && !self.pool.is_empty()
            && self.in_flight.len() < self.device.slot_count()
        {
            match self.elevator.choose(now, &self.pool) {
                Choice::Dispatch(id) => {
                    let Some(group) = self.pool.take(id) else { return };
                    self.elevator.dispatched(now, &group);
                    let id = RequestId(id.0);
                    self.device.submit(now, group.request(id));
                    self.in_flight.insert(id, group);
                }
                Choice::Wait(until) => {
                    self.wait_until = until;
                    return;
                }
            }
        }
    }

    /// Tells those whose requests were merged what the device says.
    fn tell(&mut self, now: Time, notice: Notice, notices: &mut Vec<Notice>) {
        match notice {
            Notice::Progress { id, bytes } => {
                if let Some([part]) = self.in_flight.get(&id).map(Group::parts) {
                    notices.push(Notice::Progress { id: part.id, bytes });
                }
            }
            Notice::Done { id } => {
                let Some(group) = self.in_flight.remove(&id) else { return };
                notices.extend(group.parts().iter().map(|part| Notice::Done { id: part.id }));
                self.elevator.completed(now, &group);
            }
        }
    }
}

impl Device for Queue {
    fn submit(&mut self, now: Time, request: Request) {
        if self.pool.is_empty() && self.plugged_until.is_none() {
            self.plugged_until = self.plug.holds_until(now);
        }
        if let Some(id) = self.pool.add(now, request) {
            self.elevator.added(now, &self.pool, id);
        }
        if self.pool.len() >= self.plug.threshold() {
            self.plugged_until = None;
        }
        self.dispatch(now);
    }

    /// A request that was merged with others is carried out all the same.
    fn cancel(&mut self, now: Time, id: RequestId) -> bool {
        if let Some(group) = self.pool.remove(id) {
            self.elevator.removed(group);
            return true;
        }
        let single = |group: &Group| matches!(group.parts(), [part] if part.id == id);
        let Some(flying) = self.in_flight.iter().find(|(_, group)| single(group)).map(|(id, _)| *id) else {
            return false;
        };
        if !self.device.cancel(now, flying) {
            return false;
        }
        if let Some(group) = self.in_flight.remove(&flying) {
            self.elevator.completed(now, &group);
        }
        self.dispatch(now);
        true
    }

    fn next_time(&self) -> Option<Time> {
        [self.device.next_time(), self.plugged_until, self.wait_until].into_iter().flatten().min()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let mut arrived = std::mem::take(&mut self.device_notices);
        self.device.advance(now, &mut arrived);
        for notice in arrived.drain(..) {
            self.tell(now, notice, notices);
        }
        self.device_notices = arrived;
        self.plugged_until = self.plugged_until.filter(|until| *until > now);
        self.dispatch(now);
    }

    fn slot_count(&self) -> usize {
        self.device.slot_count()
    }

    fn unplug(&mut self, now: Time) {
        self.plugged_until = None;
        self.dispatch(now);
        self.device.unplug(now);
    }

    fn stats(&self) -> DeviceStats {
        self.device.stats()
    }
}
