//! A store that serves any number of fetches at once, the engine above it, and a reader.

use std::collections::{BTreeMap, VecDeque};

use forerun_engine::*;

pub(crate) const OBJECT: ObjectId = ObjectId(1);
pub(crate) const READER: ReaderId = ReaderId(1);
/// Of one fetch, once its first bytes are there: 100 MB/s.
const NS_PER_BYTE: u64 = 10;
/// The first bytes of a fetch, and the bytes that come at a time after them.
const FIRST_BYTES: u64 = 16 << 10;
const PIECE_BYTES: u64 = 64 << 10;

/// The store, the engine above it, and a reader.
pub(crate) struct Bed<F> {
    pub(crate) engine: Engine,
    pub(crate) budget: u64,
    pub(crate) now: Time,
    /// How long fetch after fetch waits for its first bytes, by number and time.
    pub(crate) latency_ns: F,
    pub(crate) count: u64,
    /// When how many bytes of which fetch will have come.
    pub(crate) coming: BTreeMap<(Time, FetchId), (u64, bool)>,
    /// How long the next ones wait instead, and whether they fail then.
    pub(crate) script: VecDeque<(u64, bool)>,
    pub(crate) failing: Vec<FetchId>,
    /// How long which fetches bring nothing once their first bytes are there, and the whole
    /// blocks that come after that.
    pub(crate) stalls: BTreeMap<u64, u64>,
    pub(crate) stalled_bytes: u64,
}

impl<F: FnMut(u64, Time) -> u64> Bed<F> {
    pub(crate) fn new(budget: u64, latency_ns: F) -> Bed<F> {
        Bed::under(PolicyChoice::Adaptive, budget, latency_ns)
    }

    pub(crate) fn under(policy: PolicyChoice, budget: u64, latency_ns: F) -> Bed<F> {
        let config = Config { policy, ..Config::new(budget) };
        let mut engine = Engine::new(config).expect("a configuration that works");
        engine.open(OBJECT, 1 << 40);
        let (coming, script, failing) = (BTreeMap::new(), VecDeque::new(), Vec::new());
        let (stalls, stalled_bytes) = (BTreeMap::new(), 0);
        let (now, count) = (Time(1), 0);
        Bed { engine, budget, now, latency_ns, count, coming, script, failing, stalls, stalled_bytes }
    }

    /// Reads `extent`: how long that took, in nanoseconds.
    pub(crate) fn read(&mut self, offset: u64, len: u64) -> u64 {
        let begun = self.now;
        let outcome = self.engine.read(self.now, OBJECT, READER, Extent::new(offset, len), &mut Vec::new());
        self.drain();
        let read = match outcome {
            Outcome::Ready(read) => read,
            Outcome::Parked(parked) => loop {
                self.pass_time();
                if let Some(reply) = self.engine.poll_reply() {
                    assert!(reply.read == parked && reply.result.is_ok(), "{reply:?}");
                    break parked;
                }
            },
        };
        self.engine.release(read);
        self.now.since(begun)
    }

    /// Handles the next event.
    pub(crate) fn pass_time(&mut self) {
        let coming = self.coming.keys().next().map(|(time, _)| *time);
        let next = coming.into_iter().chain(self.engine.poll_timeout()).min();
        self.now = self.now.max(next.expect("somebody waits for nothing"));
        if let Some(entry) = self.coming.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let ((_, fetch), (bytes, is_all)) = entry.remove_entry();
            if self.failing.contains(&fetch) {
                self.coming.retain(|(_, other), _| *other != fetch);
                self.engine.handle_failed(self.now, fetch, FetchError { code: 1 });
            } else if is_all {
                self.engine.handle_fetched(self.now, fetch);
            } else {
                self.engine.handle_progress(self.now, fetch, bytes);
            }
        }
        self.drain();
    }

    pub(crate) fn drain(&mut self) {
        while let Some(Fetch { id, extent, .. }) = self.engine.poll_fetch(self.now) {
            let usual = (self.latency_ns)(self.count, self.now);
            let (latency_ns, fails) = self.script.pop_front().unwrap_or((usual, false));
            self.failing.extend(fails.then_some(id));
            let first = Time(self.now.0 + latency_ns);
            let stall_ns = self.stalls.get(&self.count).copied().unwrap_or(0);
            self.count += 1;
            let first_bytes = FIRST_BYTES.min(extent.len - 1);
            self.stalled_bytes +=
                if stall_ns > 0 { extent.len - first_bytes / BLOCK_BYTES * BLOCK_BYTES } else { 0 };
            self.coming.insert((first, id), (first_bytes, false));
            let ends = (1..extent.len.div_ceil(PIECE_BYTES)).map(|piece| piece * PIECE_BYTES);
            for bytes in ends.chain([extent.len]) {
                let time = Time(first.0 + stall_ns + NS_PER_BYTE * bytes);
                self.coming.insert((time, id), (bytes, bytes == extent.len));
            }
        }
        while let Some(fetch) = self.engine.poll_cancel() {
            self.coming.retain(|(_, other), _| *other != fetch);
            self.engine.handle_failed(self.now, fetch, FetchError { code: 0 });
        }
        assert!(self.engine.memory_bytes() <= self.budget, "over budget");
    }

    /// The longest wait of somebody who reads `len` bytes from `offset` on.
    pub(crate) fn stream(&mut self, offset: u64, len: u64) -> u64 {
        (0..len / (64 << 10)).map(|at| self.read(offset + at * (64 << 10), 64 << 10)).max().unwrap_or(0)
    }

    /// The longest wait of somebody who makes `count` small reads in no order.
    pub(crate) fn random(&mut self, count: u64) -> u64 {
        let place = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 26 << 12;
        (0..count).map(|at| self.read(place(at) % (1 << 38), 4096)).max().unwrap_or(0)
    }

    pub(crate) fn repeated_count(&self) -> u64 {
        self.engine.counters().repeated_count
    }
}
