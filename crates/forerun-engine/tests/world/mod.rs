//! A small world for the engine: virtual time, a store with a latency and two
//! bandwidths, memory that remembers which block of which object each slot holds.
#![allow(dead_code, unreachable_pub)] // Every test binary uses its own part.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use forerun_engine::*;

/// A store on a link: each fetch waits `latency_us`, then takes at most
/// `connection` bytes per microsecond, all together at most `total`.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    pub latency_us: u64,
    pub connection: u64,
    pub total: u64,
}

/// The shape of the demo's store with another latency.
pub fn link(latency_ms: u64) -> Link {
    Link { latency_us: latency_ms * 1000, connection: 80, total: 400 }
}

/// Virtual time moves in steps of this many microseconds.
const STEP_US: u64 = 50;

struct Transfer {
    fetch: Fetch,
    starts_us: u64,
    done_bytes: u64,
}

/// Extents to read; readers that share one take turns.
pub type Work = Rc<RefCell<VecDeque<Extent>>>;

/// What one reader does: takes the next extent once it has the last.
pub struct Reader {
    pub object: ObjectId,
    pub id: ReaderId,
    work: Work,
    asked: Option<Extent>,
    /// Microseconds between having bytes and asking for more.
    pub think_us: u64,
    state: State,
}

enum State {
    ThinksUntil(u64),
    Waits(ReadId),
    Done,
}

impl Reader {
    pub fn new(object: u64, id: u64, extents: impl IntoIterator<Item = Extent>) -> Reader {
        Reader::sharing(object, id, &Rc::new(RefCell::new(extents.into_iter().collect())))
    }

    pub fn sharing(object: u64, id: u64, work: &Work) -> Reader {
        Reader {
            object: ObjectId(object),
            id: ReaderId(id),
            work: work.clone(),
            asked: None,
            think_us: 0,
            state: State::ThinksUntil(0),
        }
    }
}

pub struct World {
    pub engine: Engine,
    pub now_us: u64,
    link: Link,
    transfers: Vec<Transfer>,
    /// Which block of which object each slot holds.
    memory: BTreeMap<u64, (ObjectId, u64)>,
    pub asked_bytes: u64,
    pub fetched_bytes: u64,
    pub fetch_count: u64,
    pub memory_bytes_peak: u64,
}

impl World {
    pub fn new(config: Config, link: Link) -> World {
        World {
            engine: Engine::new(config).expect("a configuration that works"),
            now_us: 0,
            link,
            transfers: Vec::new(),
            memory: BTreeMap::new(),
            asked_bytes: 0,
            fetched_bytes: 0,
            fetch_count: 0,
            memory_bytes_peak: 0,
        }
    }

    /// Lets `readers` read all they want; how long it took, in microseconds.
    pub fn run(&mut self, readers: &mut [Reader]) -> u64 {
        let start = self.now_us;
        loop {
            for reader in readers.iter_mut() {
                self.let_read(reader);
            }
            self.start_fetches();
            self.give_replies(readers);
            if readers.iter().all(|reader| matches!(reader.state, State::Done)) {
                return self.now_us - start;
            }
            self.step();
            assert!(self.now_us - start < 1_000_000_000, "a reader hangs");
        }
    }

    /// Megabytes per second of what was asked for.
    pub fn megabytes_per_second(&self, took_us: u64) -> f64 {
        self.asked_bytes as f64 / took_us as f64
    }

    fn time(&self) -> Time {
        Time(self.now_us * 1000)
    }

    fn let_read(&mut self, reader: &mut Reader) {
        let State::ThinksUntil(until) = reader.state else { return };
        if until > self.now_us {
            return;
        }
        let mut memory = Vec::new();
        loop {
            reader.asked = reader.work.borrow_mut().pop_front();
            let Some(extent) = reader.asked else { break };
            let outcome = self.engine.read(self.time(), reader.object, reader.id, extent, &mut memory);
            self.asked_bytes += extent.len;
            match outcome {
                Outcome::Ready(read) => {
                    self.take(reader, read, &memory);
                    if reader.think_us > 0 {
                        reader.state = State::ThinksUntil(self.now_us + reader.think_us);
                        return;
                    }
                    self.start_fetches();
                }
                Outcome::Parked(read) => {
                    reader.state = State::Waits(read);
                    return;
                }
            }
        }
        reader.state = State::Done;
    }

    fn take(&mut self, reader: &mut Reader, read: ReadId, memory: &[MemoryRange]) {
        let extent = reader.asked.take().expect("a read that was asked for");
        assert_eq!(memory.iter().map(|range| range.len).sum::<u64>(), extent.len);
        let mut offset = extent.offset;
        for range in memory {
            let mut start = range.start;
            while start < range.start + range.len {
                let held = self.memory.get(&(start / BLOCK_BYTES));
                assert_eq!(held, Some(&(reader.object, offset / BLOCK_BYTES)), "wrong bytes");
                let step = (BLOCK_BYTES - start % BLOCK_BYTES).min(range.start + range.len - start);
                start += step;
                offset += step;
            }
        }
        self.engine.release(read);
    }

    fn start_fetches(&mut self) {
        while let Some(fetch) = self.engine.poll_fetch(self.time()) {
            self.fetched_bytes += fetch.extent.len;
            self.fetch_count += 1;
            let starts_us = self.now_us + self.link.latency_us;
            self.transfers.push(Transfer { fetch, starts_us, done_bytes: 0 });
        }
        self.memory_bytes_peak = self.memory_bytes_peak.max(self.engine.memory_bytes());
    }

    fn give_replies(&mut self, readers: &mut [Reader]) {
        while let Some(reply) = self.engine.poll_reply() {
            let reader = readers
                .iter_mut()
                .find(|reader| matches!(reader.state, State::Waits(read) if read == reply.read))
                .expect("a reply for somebody who waits");
            self.take(reader, reply.read, &reply.result.expect("this store never fails"));
            reader.state = State::ThinksUntil(self.now_us + reader.think_us);
        }
    }

    /// Moves bytes for one step of time.
    fn step(&mut self) {
        self.now_us += STEP_US;
        let now = self.time();
        let active = self.transfers.iter().filter(|t| t.starts_us <= self.now_us).count() as u64;
        if active == 0 {
            return;
        }
        let share = (self.link.connection * STEP_US).min((self.link.total * STEP_US) / active);
        let mut ended = Vec::new();
        for (index, transfer) in self.transfers.iter_mut().enumerate() {
            if transfer.starts_us > self.now_us {
                continue;
            }
            let bytes = (transfer.done_bytes + share).min(transfer.fetch.extent.len);
            note(&mut self.memory, &transfer.fetch, transfer.done_bytes, bytes);
            transfer.done_bytes = bytes;
            if bytes == transfer.fetch.extent.len {
                ended.push(index);
            } else {
                self.engine.handle_progress(now, transfer.fetch.id, bytes);
            }
        }
        for index in ended.into_iter().rev() {
            let transfer = self.transfers.swap_remove(index);
            self.engine.handle_fetched(now, transfer.fetch.id);
        }
    }
}

/// Bytes `from .. to` of the fetch are in memory now.
fn note(memory: &mut BTreeMap<u64, (ObjectId, u64)>, fetch: &Fetch, from: u64, to: u64) {
    let mut position = 0;
    for range in &fetch.memory {
        for slot in range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES) {
            if position < to && position + BLOCK_BYTES > from {
                memory.insert(slot, (fetch.object, (fetch.extent.offset + position) / BLOCK_BYTES));
            }
            position += BLOCK_BYTES;
        }
    }
}

/// `len` bytes at a time from `start` to `end`.
pub fn sequential(start: u64, end: u64, len: u64) -> impl Iterator<Item = Extent> {
    (start..end).step_by(len as usize).map(move |offset| Extent::between(offset, (offset + len).min(end)))
}

/// A small generator of numbers (xorshift64*), the same everywhere.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) % bound
    }
}
