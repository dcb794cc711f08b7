//! Results of fetches: bytes that arrive, ends and failures.

use super::Engine;
use crate::events::Event;
use crate::reads::Phase;
use crate::scheduler::Flight;
use crate::types::*;

impl Engine {
    /// The first `bytes` bytes of the fetch, in total, are in its memory.
    pub fn handle_progress(&mut self, now: Time, fetch: FetchId, bytes: u64) {
        let Some(flight) = self.flights.get_mut(fetch) else { return };
        let bytes = bytes.min(flight.extent.len);
        if bytes <= flight.arrived_bytes {
            return;
        }
        if flight.arrived_bytes == 0 {
            flight.sample.first_arrived = now;
            flight.sample.first_bytes = bytes;
            self.device.on_first_bytes(now, &flight.sample);
            self.overdue.record_come(flight.sample.dispatched);
        } else {
            flight.pause_ns = flight.pause_ns.max(now.since(flight.heard));
        }
        flight.heard = now;
        flight.come_before = self.overdue.come_count();
        if self.rules.are_ours()
            && let Some(patience_ns) = self.device.pause_patience_ns()
        {
            self.overdue.watch(Time(now.0.saturating_add(patience_ns)));
        }
        self.win(now, fetch);
        let Some(flight) = self.flights.get_mut(fetch) else { return };
        flight.is_stalled = false;
        self.device.on_bytes(bytes - flight.arrived_bytes);
        let (object, doomed) = (flight.object, flight.doomed);
        if doomed {
            // Its slots stay its own: arrived blocks are those it shares.
            flight.arrived_bytes = bytes;
            return;
        }
        let arrived = self.flights.advance(fetch, bytes);
        self.cache.arrive(object, arrived);
        self.wake(fetch, arrived);
        self.audit();
    }

    /// The store asked for fewer requests while `fetch` was in flight. The driver reports this before the
    /// end of the fetch.
    pub fn handle_busy(&mut self, now: Time, fetch: FetchId) {
        if let Some(flight) = self.flights.get(fetch) {
            self.store_limit.lower(now, flight.sample.dispatched, self.flights.count());
        }
    }

    /// All bytes of the fetch are in its memory.
    pub fn handle_fetched(&mut self, now: Time, fetch: FetchId) {
        let Some(len) = self.flights.get(fetch).map(|flight| flight.extent.len) else { return };
        self.handle_progress(now, fetch, len);
        let Some(flight) = self.remove_flight(now, fetch) else { return };
        self.device.on_fetched(now, &flight.sample, flight.pause_ns);
        self.store_limit.record_fetched();
        if flight.doomed {
            self.cache.give_disowned(&flight.runs, flight.arrived_blocks);
        }
        self.emit(Event::Fetched { time: now, id: fetch });
        self.audit();
    }

    /// The fetch failed, or was cancelled; the driver does not write its memory any more. Readers that
    /// waited for a fetch of exactly their bytes get `error`. Readers of a fetch that also read ahead wait
    /// for a fetch of their own.
    pub fn handle_failed(&mut self, now: Time, fetch: FetchId, error: FetchError) {
        self.lose_to_twin(fetch);
        let Some(flight) = self.remove_flight(now, fetch) else { return };
        if !flight.cancelled {
            self.overdue.record_failed();
        }
        let rest = flight.rest();
        if flight.doomed {
            self.cache.give_disowned(&flight.runs, flight.arrived_blocks);
        } else {
            self.cache.give_up(flight.object, rest);
            self.pending.cut(flight.object, rest, &mut self.fair);
            if flight.cancelled {
                self.policy.on_lost(flight.object, rest);
            } else {
                self.policy.on_failed(flight.object, rest);
                self.tell_walks_gone(flight.object);
            }
        }
        self.emit(Event::Failed { time: now, id: fetch, cancelled: flight.cancelled, bytes: rest.len });
        for id in flight.waiters {
            let needs_it = self.reads.get(id).is_some_and(|read| {
                read.phase == Phase::Admitted && read.extent.overlaps(&rest) && !flight.doomed
            });
            if !needs_it {
                continue;
            }
            if flight.rides_along || flight.cancelled {
                self.wait_again(id);
            } else {
                self.fail(id, error);
            }
        }
        self.audit();
    }

    /// Takes `fetch` out of those in flight.
    fn remove_flight(&mut self, now: Time, fetch: FetchId) -> Option<Flight> {
        let flight = self.flights.remove(fetch)?;
        if flight.is_alone {
            self.contention.end_alone(now);
        }
        self.device.on_ended(now);
        Some(flight)
    }

    /// Answers reads that waited for the bytes that `fetch` just brought.
    fn wake(&mut self, fetch: FetchId, arrived: Extent) {
        let Some(flight) = self.flights.get_mut(fetch) else { return };
        if flight.waiters.is_empty() {
            return;
        }
        let mut waiters = core::mem::take(&mut flight.waiters);
        waiters.retain(|id| {
            let touched = self.reads.get(*id).is_some_and(|read| read.extent.overlaps(&arrived));
            !(touched && self.reply_if_complete(*id))
        });
        if let Some(flight) = self.flights.get_mut(fetch) {
            flight.waiters = waiters;
        }
    }

    /// Answers an admitted read all of whose bytes are resident.
    pub(super) fn reply_if_complete(&mut self, id: ReadId) -> bool {
        let Some(read) = self.reads.get_mut(id) else { return true };
        if read.phase != Phase::Admitted {
            return true;
        }
        if !self.cache.is_complete(read.extent, &read.pins) {
            return false;
        }
        read.phase = Phase::Ready;
        self.cache.mark_read(read.extent, &read.pins);
        self.replies.push_back((id, Ok(())));
        true
    }

    fn fail(&mut self, id: ReadId, error: FetchError) {
        self.end_read(id);
        self.replies.push_back((id, Err(error)));
    }

    /// An admitted read lost bytes that it waited for. It releases its rows and waits again, before the other reads of its
    /// reader, since it came before them.
    pub(super) fn wait_again(&mut self, id: ReadId) {
        let Some(read) = self.reads.get_mut(id) else { return };
        let pins = core::mem::take(&mut read.pins);
        read.phase = Phase::Waiting;
        self.fair.begin_wait(read.reader, id, true);
        self.cache.unpin(&pins);
    }
}
