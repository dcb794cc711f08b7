//! Fetches in flight: their bytes, and the reads that wait for them.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use super::Flight;
use crate::table::Table;
use crate::types::{BLOCK_BYTES, Cause, Extent, FetchId, ObjectId, ReadId, Time};

/// Invariants:
///
/// * the bytes that undoomed flights have still to bring never overlap;
/// * the index holds exactly the undoomed flights with bytes to bring, by object and end;
/// * `bytes` is the sum of all extents;
/// * `readahead_count` counts the flights without a waiting reader at dispatch.
#[derive(Debug)]
pub(crate) struct Flights {
    table: Table<Flight>,
    index: BTreeMap<(ObjectId, u64), FetchId>,
    bytes: u64,
    readahead_count: usize,
}

impl Flights {
    pub(crate) fn new() -> Flights {
        Flights { table: Table::new(), index: BTreeMap::new(), bytes: 0, readahead_count: 0 }
    }

    pub(crate) fn count(&self) -> usize {
        self.table.len()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Flights that nobody waited for when they were dispatched.
    pub(crate) fn readahead_count(&self) -> usize {
        self.readahead_count
    }

    pub(crate) fn insert(&mut self, flight: Flight) -> FetchId {
        let (object, extent, is_indexed) = (flight.object, flight.extent, flight.is_indexed());
        self.readahead_count += usize::from(flight.cause == Cause::Readahead);
        let twin = flight.twin;
        let id = FetchId(self.table.insert(flight));
        if let Some(twin) = twin.and_then(|twin| self.get_mut(twin)) {
            twin.twin = Some(id);
        }
        if is_indexed {
            self.index.insert((object, extent.end()), id);
        }
        self.bytes += extent.len;
        id
    }

    /// Whether the first bytes of `id`, or those after a stall, are still to come, and will be kept.
    pub(crate) fn is_awaited(&self, id: FetchId) -> bool {
        self.get(id).is_some_and(Flight::is_awaited)
    }

    /// How many there are of those.
    pub(crate) fn awaited_count(&self) -> usize {
        self.table.iter().filter(|(_, flight)| flight.is_awaited()).count()
    }

    /// Finds fetches that have stalled: no bytes came for `patience_ns` after the last ones. `found` gets
    /// them. Returns when the next fetch will have stalled, if it brings nothing until then.
    pub(crate) fn find_stalled(
        &mut self,
        now: Time,
        patience_ns: u64,
        mut found: impl FnMut(FetchId),
    ) -> Option<Time> {
        let mut next: Option<Time> = None;
        for (key, flight) in self.table.iter_mut().filter(|(_, flight)| flight.is_coming()) {
            let due = Time(flight.heard.0.saturating_add(patience_ns));
            if due <= now {
                flight.is_stalled = true;
                found(FetchId(key));
            } else {
                next = Some(next.map_or(due, |before| before.min(due)));
            }
        }
        next
    }

    /// `id` and its twin are not twins any more; the other one.
    pub(crate) fn part(&mut self, id: FetchId) -> Option<FetchId> {
        let twin = self.get_mut(id)?.twin.take()?;
        if let Some(other) = self.get_mut(twin) {
            other.twin = None;
        }
        Some(twin)
    }

    /// `new` brings all bytes that `old` was still to bring.
    pub(crate) fn replace(&mut self, old: FetchId, new: FetchId) {
        self.doom(old);
        let waiters = self.get_mut(old).map(|flight| core::mem::take(&mut flight.waiters));
        let Some(flight) = self.table.get_mut(new.0) else { return };
        flight.doomed = false;
        flight.waiters = waiters.unwrap_or_default();
        self.index.insert((flight.object, flight.extent.end()), new);
    }

    pub(crate) fn get(&self, id: FetchId) -> Option<&Flight> {
        self.table.get(id.0)
    }

    pub(crate) fn get_mut(&mut self, id: FetchId) -> Option<&mut Flight> {
        self.table.get_mut(id.0)
    }

    pub(crate) fn remove(&mut self, id: FetchId) -> Option<Flight> {
        let flight = self.table.remove(id.0)?;
        if flight.is_indexed() {
            self.index.remove(&(flight.object, flight.extent.end()));
        }
        self.bytes -= flight.extent.len;
        self.readahead_count -= usize::from(flight.cause == Cause::Readahead);
        Some(flight)
    }

    /// `bytes` of the flight have arrived in all; the whole blocks among them
    /// that are new.
    pub(crate) fn advance(&mut self, id: FetchId, bytes: u64) -> Extent {
        let Some(flight) = self.table.get_mut(id.0) else { return Extent::default() };
        let (indexed, start) = (flight.is_indexed(), flight.rest().offset);
        let all = bytes == flight.extent.len;
        flight.arrived_bytes = bytes;
        flight.arrived_blocks = if all { bytes.div_ceil(BLOCK_BYTES) } else { bytes / BLOCK_BYTES };
        let arrived = Extent::between(start, flight.rest().offset);
        if indexed && !flight.is_indexed() {
            self.index.remove(&(flight.object, flight.extent.end()));
        }
        arrived
    }

    /// Bytes that a flight still has to bring are to be dropped, so that they may be fetched again.
    pub(crate) fn doom(&mut self, id: FetchId) {
        let Some(flight) = self.table.get_mut(id.0) else { return };
        if flight.is_indexed() {
            self.index.remove(&(flight.object, flight.extent.end()));
        }
        flight.doomed = true;
    }

    /// `read` waits for all undoomed flights that still have to bring some of `extent`.
    pub(crate) fn join(&mut self, object: ObjectId, extent: Extent, read: ReadId) {
        for (_, id) in self.index.range((object, extent.offset + 1)..=(object, u64::MAX)) {
            match self.table.get_mut(id.0) {
                Some(flight) if flight.rest().offset < extent.end() => flight.waiters.push(read),
                _ => break,
            }
        }
    }

    /// Undoomed flights that still have to bring some of `extent`.
    pub(crate) fn overlapping(&self, object: ObjectId, extent: Extent) -> Vec<FetchId> {
        self.index
            .range((object, extent.offset + 1)..=(object, u64::MAX))
            .map(|(_, id)| *id)
            .take_while(|id| self.table.get(id.0).is_some_and(|flight| flight.rest().offset < extent.end()))
            .collect()
    }

    /// Undoomed flights of `object` that still have something to bring.
    pub(crate) fn of(&self, object: ObjectId) -> Vec<FetchId> {
        self.index.range((object, 0)..=(object, u64::MAX)).map(|(_, id)| *id).collect()
    }

    pub(crate) fn audit(&self) {
        let (mut bytes, mut readahead_count) = (0, 0);
        for (key, flight) in self.table.iter() {
            bytes += flight.extent.len;
            readahead_count += usize::from(flight.cause == Cause::Readahead);
            let indexed = self.index.get(&(flight.object, flight.extent.end())) == Some(&FetchId(key));
            assert_eq!(indexed, flight.is_indexed(), "a flight and its index disagree: {flight:?}");
            if let Some(twin) = flight.twin {
                let twin = self.table.get(twin.0).expect("a twin is in flight");
                assert_eq!((twin.twin, twin.rest()), (Some(FetchId(key)), flight.rest()), "no twins");
                assert!(twin.doomed != flight.doomed, "both or none of two twins bring blocks: {flight:?}");
                assert!(flight.arrived_bytes == 0 || flight.is_stalled, "a twin has won: {flight:?}");
            }
        }
        assert_eq!((bytes, readahead_count), (self.bytes, self.readahead_count), "flights do not add up");
        let mut last: Option<(ObjectId, Extent)> = None;
        for ((object, _), id) in &self.index {
            let extent = self.table.get(id.0).expect("indexed flight exists").rest();
            assert!(last.is_none_or(|(o, e)| o != *object || e.end() <= extent.offset), "flights overlap");
            last = Some((*object, extent));
        }
    }
}
