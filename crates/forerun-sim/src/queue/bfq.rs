//! Every issuer gets the same number of bytes, in the order of virtual time (BFQ).
//!
//! The issuer in service may use up a budget. Then comes the waiting issuer that was served least. An
//! issuer that comes back counts as served like the last one, so that no issuer saves up a share while
//! away.

use std::collections::BTreeMap;

use super::cfq::next_of;
use super::{Choice, Elevator, Group, GroupId, Pool};
use crate::device::{Direction, Time};

/// 16384 sectors, the largest budget of BFQ.
const BUDGET_BYTES: u64 = 16_384 * 512;
const IDLE_NS: u64 = 8_000_000;

/// A budget of 8 MiB for each issuer, least served first.
#[derive(Clone, Debug, Default)]
pub struct Bfq {
    /// Bytes that each issuer has had, and what counts as had.
    served_bytes: BTreeMap<u32, u64>,
    /// Of the one served last, when its budget began.
    virtual_time: u64,
    active: Option<InServiceQueue>,
    position: u64,
}

#[derive(Clone, Copy, Debug)]
struct InServiceQueue {
    issuer: u32,
    left_bytes: u64,
    in_flight: u32,
    idle_until: Time,
}

impl Bfq {
    /// The waiting issuer that was served least.
    fn least_served(&self, pool: &Pool) -> Option<u32> {
        let mut least: Option<(u64, u32)> = None;
        let mut next = pool.next_issuer(0);
        while let Some(issuer) = next {
            let served = self.served_bytes.get(&issuer).copied().unwrap_or(0);
            least = Some(least.map_or((served, issuer), |least| least.min((served, issuer))));
            next = issuer.checked_add(1).and_then(|behind| pool.next_issuer(behind));
        }
        least.map(|(_, issuer)| issuer)
    }
}

impl Elevator for Bfq {
    fn added(&mut self, _now: Time, pool: &Pool, id: GroupId) {
        let Some(group) = pool.get(id) else { return };
        let is_active = self.active.is_some_and(|active| active.issuer == group.issuer);
        let served = self.served_bytes.entry(group.issuer).or_insert(0);
        if !is_active {
            *served = (*served).max(self.virtual_time);
        }
    }

    fn choose(&mut self, now: Time, pool: &Pool) -> Choice {
        if let Some(active) = self.active.filter(|active| active.left_bytes > 0) {
            if let Some(id) = next_of(pool, active.issuer, self.position) {
                return Choice::Dispatch(id);
            }
            if active.in_flight > 0 {
                return Choice::Wait(None);
            }
            if now < active.idle_until {
                return Choice::Wait(Some(active.idle_until));
            }
        }
        let Some(issuer) = self.least_served(pool) else { return Choice::Wait(None) };
        let served = self.served_bytes.get(&issuer).copied().unwrap_or(0);
        self.virtual_time = self.virtual_time.max(served);
        let left_bytes = BUDGET_BYTES;
        self.active = Some(InServiceQueue { issuer, left_bytes, in_flight: 0, idle_until: Time(0) });
        next_of(pool, issuer, self.position).map_or(Choice::Wait(None), Choice::Dispatch)
    }

    fn dispatched(&mut self, _now: Time, group: &Group) {
        self.position = group.end();
        *self.served_bytes.entry(group.issuer).or_insert(0) += group.bytes();
        if let Some(active) = self.active.as_mut().filter(|active| active.issuer == group.issuer) {
            active.left_bytes = active.left_bytes.saturating_sub(group.bytes());
            active.in_flight += 1;
        }
    }

    fn completed(&mut self, now: Time, group: &Group) {
        if let Some(active) = self.active.as_mut().filter(|active| active.issuer == group.issuer) {
            active.in_flight = active.in_flight.saturating_sub(1);
            if group.direction == Direction::Read {
                active.idle_until = Time(now.0 + IDLE_NS);
            }
        }
    }
}
