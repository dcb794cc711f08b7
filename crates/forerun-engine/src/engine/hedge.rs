//! Fetches that are asked for again because their bytes are late, the first ones or, of one that
//! has stalled, the rest.
//!
//! Both are on their way then, and the first to bring bytes wins: the other one is
//! cancelled. Until it has ended the memory of both is charged.

use super::Engine;
use super::launch::Departure;
use crate::cache::Room;
use crate::events::Event;
use crate::reads::Phase;
use crate::scheduler::Flight;
use crate::types::*;

impl Engine {
    /// When to drain the engine again if nothing happens before. A fetch in flight will be late then, or the rate of a client
    /// allows another.
    pub fn poll_timeout(&mut self) -> Option<Time> {
        let is_wanted = self.fair.has_waiting() || self.pending.count() > 0;
        let ready = self.fair.next_ready().filter(|_| is_wanted);
        let patience_ns = self.device.patience_ns();
        let late =
            patience_ns.and_then(|ns| self.overdue.next_time(ns, |fetch| self.flights.is_awaited(fetch)));
        ready.into_iter().chain(late).min()
    }

    /// Hedges one late fetch, first one that a reader waits for. False if there is none, or hedging is not
    /// worth it.
    pub(super) fn ask_again(&mut self, now: Time) -> bool {
        self.find_stalled(now);
        let patience_ns = self.device.patience_ns().unwrap_or(u64::MAX);
        let late = self.overdue.take_changed(now, patience_ns, |fetch| self.flights.is_awaited(fetch));
        if late.is_empty() {
            return false;
        }
        let late = late.to_vec();
        // Room that a waiting reader could not use yet is kept for it.
        if self.next_waiting().is_some() || self.flights.count() >= self.store_limit.in_flight_max() {
            self.overdue.record_busy();
            return false;
        }
        [true, false].into_iter().any(|is_waited_for| {
            self.overdue.can_pay(is_waited_for)
                && late.iter().any(|fetch| {
                    self.is_to_repeat(*fetch, is_waited_for) && self.repeat(now, *fetch, is_waited_for)
                })
        })
    }

    fn find_stalled(&mut self, now: Time) {
        if !self.overdue.take_stall_due(now) {
            return;
        }
        let Some(patience_ns) = self.device.pause_patience_ns() else { return };
        let overdue = &mut self.overdue;
        if let Some(next) = self.flights.find_stalled(now, patience_ns, |fetch| overdue.record_stalled(fetch))
        {
            overdue.watch(next);
        }
    }

    fn is_to_repeat(&self, fetch: FetchId, is_waited_for: bool) -> bool {
        let Some(flight) = self.flights.get(fetch) else { return false };
        if flight.is_repeated || self.is_waited_for(flight) != is_waited_for {
            return false;
        }
        // A fetch without others cannot be compared.
        self.overdue.is_exception(flight.heard, flight.come_before) || self.flights.awaited_count() == 1
    }

    fn is_waited_for(&self, flight: &Flight) -> bool {
        let waits = |id: &ReadId| self.reads.get(*id).is_some_and(|read| read.phase == Phase::Admitted);
        flight.waiters.iter().any(waits)
    }

    /// Dispatches a second fetch of the bytes that `fetch` has not brought. False if there is no memory for
    /// it, or if the first may still come in time. For a waiting reader it may evict readahead.
    fn repeat(&mut self, now: Time, fetch: FetchId, is_waited_for: bool) -> bool {
        let excuse_ns = self.device.excuse_ns(self.flights.awaited_count(), self.flights.bytes());
        let Some(flight) = self.flights.get_mut(fetch) else { return false };
        let excused = Time(flight.heard.0.saturating_add(excuse_ns));
        if now < excused {
            self.overdue.put_off(excused);
            return false;
        }
        let Flight { object, rides_along, is_alone, cause, .. } = *flight;
        let extent = flight.rest();
        let room = if is_waited_for { Room::Demand } else { Room::Readahead };
        let Some(runs) = self.cache.reserve_spare(now, extent, room) else { return false };
        flight.is_repeated = true;
        let spare_of = Some(fetch);
        let twin =
            self.depart(now, Departure { object, extent, runs, rides_along, is_alone, cause, spare_of });
        self.overdue.pay();
        self.emit(Event::Repeated { time: now, id: twin, of: fetch, object, extent, cause });
        true
    }

    /// Bytes of `fetch` are here: if it has a twin, it has won.
    pub(super) fn win(&mut self, now: Time, fetch: FetchId) {
        let Some(twin) = self.flights.part(fetch) else { return };
        if self.flights.get(fetch).is_some_and(|flight| flight.doomed) {
            if let Some(loser) = self.flights.get(twin) {
                self.device.on_given_up(now.since(loser.heard), loser.is_stalled);
            }
            self.hand_over(twin, fetch);
            self.emit(Event::Won { time: now, id: fetch });
        } else {
            self.overdue.record_vain();
        }
        self.cancel(twin);
    }

    /// `fetch` will not bring its bytes: its twin does, if it has one.
    pub(super) fn lose_to_twin(&mut self, fetch: FetchId) {
        let Some(twin) = self.flights.part(fetch) else { return };
        if self.flights.get(fetch).is_some_and(|flight| !flight.doomed) {
            self.hand_over(fetch, twin);
        }
    }

    /// The bytes of `fetch` are not wanted any more, nor those of its twin.
    pub(super) fn drop_twin(&mut self, fetch: FetchId) {
        if let Some(twin) = self.flights.part(fetch) {
            self.cancel(twin);
        }
    }

    /// `new` brings the bytes that `old` was to bring.
    fn hand_over(&mut self, old: FetchId, new: FetchId) {
        self.flights.replace(old, new);
        if let Some(flight) = self.flights.get(new) {
            self.cache.exchange(flight.object, flight.extent, &flight.runs);
        }
    }

    /// Tells the driver that nobody wants `fetch` any more.
    pub(super) fn cancel(&mut self, fetch: FetchId) {
        let Some(flight) = self.flights.get_mut(fetch) else { return };
        if !flight.cancelled {
            flight.cancelled = true;
            self.cancels.push_back(fetch);
        }
    }
}
