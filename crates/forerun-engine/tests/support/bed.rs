//! An engine above a store 10 ms away that delivers 400 MB/s, and readers who never
//! wait for one another. Time is virtual and costs nothing.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

use forerun_engine::*;

const LATENCY_NS: u64 = 10_000_000;
const NS_PER_BYTE_FRACTION: (u64, u64) = (5, 2);
/// The pause of a reader between two reads.
const THINK_NS: u64 = 20_000;

/// See the module's page.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    now: Time,
    /// When the link has delivered all that was asked for.
    link_free: Time,
    in_flight: BinaryHeap<Reverse<(Time, u64)>>,
    memory: Vec<MemoryRange>,
    sizes: Vec<u64>,
}

#[allow(dead_code, reason = "a test needs only some")]
impl Bed {
    pub(crate) fn new(policy: PolicyChoice, memory_bytes: u64) -> Bed {
        Bed::with(Config { policy, ..Config::new(memory_bytes) })
    }

    pub(crate) fn with(config: Config) -> Bed {
        Bed {
            engine: Engine::new(config).expect("a configuration that works"),
            now: Time(1),
            link_free: Time(1),
            in_flight: BinaryHeap::new(),
            memory: Vec::new(),
            sizes: Vec::new(),
        }
    }

    /// How late it is.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

    /// A directory whose files have `sizes`, each the object of its index.
    pub(crate) fn list(&mut self, sizes: Vec<u64>) {
        let files = sizes.iter().map(|size| ListedFile { size: *size, class: 0 });
        self.engine.list(self.now, DirectoryId(0), files);
        self.sizes = sizes;
        self.drain();
    }

    /// Opens the listed file at `index`.
    pub(crate) fn enter(&mut self, index: u32) {
        let object = ObjectId(u64::from(index));
        self.engine.open(object, self.sizes[index as usize]);
        self.engine.enter(self.now, DirectoryId(0), index, object);
        self.drain();
    }

    pub(crate) fn close(&mut self, object: ObjectId) {
        self.engine.close(self.now, object, ReaderId(0));
        self.drain();
    }

    /// Reads `extent` to its end: the nanoseconds of real time that deciding took.
    pub(crate) fn read(&mut self, object: ObjectId, extent: Extent) -> u64 {
        self.read_as(ReaderId(0), object, extent)
    }

    /// The same by `reader`.
    pub(crate) fn read_as(&mut self, reader: ReaderId, object: ObjectId, extent: Extent) -> u64 {
        let begun = Instant::now();
        let outcome = self.engine.read(self.now, object, reader, extent, &mut self.memory);
        let took = begun.elapsed().as_nanos() as u64;
        self.drain();
        let read = match outcome {
            Outcome::Ready(read) => read,
            Outcome::Parked(parked) => {
                while !self.arrive().contains(&parked) {}
                parked
            }
        };
        self.engine.release(read);
        self.now.0 += THINK_NS;
        while self.in_flight.peek().is_some_and(|Reverse((done, _))| *done <= self.now) {
            self.arrive();
        }
        took
    }

    /// Everything that is on its way arrives.
    pub(crate) fn land(&mut self) {
        while !self.in_flight.is_empty() {
            self.arrive();
        }
    }

    /// The next fetch ends; who is answered by that.
    fn arrive(&mut self) -> Vec<ReadId> {
        let Reverse((done, fetch)) = self.in_flight.pop().expect("something is on its way");
        self.now = self.now.max(done);
        self.engine.handle_fetched(self.now, FetchId(fetch));
        self.drain();
        std::iter::from_fn(|| self.engine.poll_reply()).map(|reply| reply.read).collect()
    }

    fn drain(&mut self) {
        while let Some((directory, index)) = self.engine.poll_entry() {
            let (object, size) = (ObjectId(u64::from(index)), self.sizes[index as usize]);
            self.engine.announce(self.now, directory, index, object, size);
        }
        while let Some(fetch) = self.engine.poll_fetch(self.now) {
            let first = Time(self.now.0 + LATENCY_NS).max(self.link_free);
            let done = Time(first.0 + fetch.extent.len * NS_PER_BYTE_FRACTION.0 / NS_PER_BYTE_FRACTION.1);
            self.link_free = done;
            self.in_flight.push(Reverse((done, fetch.id.0)));
        }
        while self.engine.poll_cancel().is_some() {}
        while self.engine.poll_forgotten().is_some() {}
    }
}
