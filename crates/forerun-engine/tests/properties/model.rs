//! The engine, and what is known of it by somebody who only follows its rules.

use std::collections::{BTreeMap, BTreeSet};

use forerun_engine::*;

use super::bytes::{Content, InFlight, Waiting};
use super::calls::Call;
use super::{CLIENTS, OBJECTS, SIZE, SIZE_MAX, STEPS};

pub(super) const BLOCKS: usize = (SIZE_MAX / BLOCK_BYTES) as usize + 1;

pub(crate) struct Model {
    pub(crate) engine: Engine,
    budget: u64,
    /// The memory that is wanted.
    wanted: u64,
    /// The memory at the last call.
    kept: u64,
    /// The slots out of use.
    withdrawn: BTreeSet<u64>,
    /// All calls use offsets from here on in each object.
    pub(super) base: u64,
    now: Time,
    /// Between two calls.
    step_ns: u64,
    pub(super) slots: BTreeMap<u64, Content>,
    /// Counts the changes of each object.
    pub(super) versions: [u64; OBJECTS as usize],
    /// The last change of each block.
    pub(super) block_versions: Vec<[u64; BLOCKS]>,
    sizes: [u64; OBJECTS as usize],
    positions: [u64; OBJECTS as usize],
    open_count: [u64; OBJECTS as usize],
    pub(super) in_flight: Vec<InFlight>,
    waiting: Vec<Waiting>,
    pub(super) copying: Vec<(ReadId, Vec<MemoryRange>, Vec<Content>)>,
}

impl Model {
    pub(crate) fn new(policy: PolicyChoice, extra_bytes: u64, step_ns: u64, base: u64) -> Model {
        let mut config = Config::new(Config::MEMORY_BYTES_MIN + extra_bytes);
        config.policy = policy;
        config.in_flight_count_max = 6;
        config.closed_objects_max = 1;
        Model {
            budget: config.memory_bytes_max,
            wanted: config.memory_bytes_max,
            kept: config.memory_bytes_max,
            withdrawn: BTreeSet::new(),
            engine: Engine::new(config).expect("a configuration that works"),
            base,
            now: Time(1),
            step_ns,
            slots: BTreeMap::new(),
            versions: [0; OBJECTS as usize],
            block_versions: vec![[0; BLOCKS]; OBJECTS as usize],
            sizes: [base + SIZE; OBJECTS as usize],
            positions: [base; OBJECTS as usize],
            open_count: [0; OBJECTS as usize],
            in_flight: Vec::new(),
            waiting: Vec::new(),
            copying: Vec::new(),
        }
    }

    fn advise(&mut self, object: u64, what: u64, extents: &[(u64, u64)]) {
        let extents: Vec<Extent> =
            extents.iter().map(|(offset, len)| Extent::new(self.base + offset, *len)).collect();
        let advice = match what {
            0 => Advice::Normal,
            1 => Advice::Sequential,
            2 => Advice::Random,
            3 => Advice::WillNeed(&extents),
            4 => Advice::DontNeed(extents[0]),
            _ => return self.engine.plan(self.now, ObjectId(object), &extents),
        };
        self.engine.advise(self.now, ObjectId(object), ReaderId(object), advice);
    }

    pub(crate) fn call(&mut self, call: Call) {
        let now = self.now;
        match call {
            Call::Open(object) => {
                self.open_count[object as usize] += 1;
                self.engine.open(ObjectId(object), self.sizes[object as usize]);
                if self.waiting.iter().all(|waiting| waiting.object != object) {
                    self.engine.set_client(ReaderId(object), ClientId(object % CLIENTS));
                }
            }
            Call::Close(object) if self.open_count[object as usize] > 0 => {
                self.open_count[object as usize] -= 1;
                self.engine.close(now, ObjectId(object), ReaderId(object));
            }
            Call::Close(_) => {}
            Call::Advise { object, what, extents } => self.advise(object, what, &extents),
            Call::Read { object, offset, len } => self.read(object, self.base + offset, len),
            Call::ReadOn { object, len } => {
                let offset = self.positions[object as usize];
                self.read(object, offset, len);
            }
            Call::Release(index) if !self.copying.is_empty() => {
                let index = index % self.copying.len();
                self.release(index);
            }
            Call::Abandon(index) if !self.waiting.is_empty() => {
                let waiting = self.waiting.swap_remove(index % self.waiting.len());
                self.engine.abandon(waiting.read);
            }
            Call::Progress { fetch, percent } if !self.in_flight.is_empty() => {
                let index = fetch % self.in_flight.len();
                let bytes = self.in_flight[index].fetch.extent.len * percent.min(99) / 100;
                self.fill(index, bytes);
                let id = self.in_flight[index].fetch.id;
                self.engine.handle_progress(now, id, bytes);
            }
            Call::Fetched(index) if !self.in_flight.is_empty() => {
                let index = index % self.in_flight.len();
                self.finish(index);
            }
            Call::Failed(index) if !self.in_flight.is_empty() => {
                let failed = self.in_flight.swap_remove(index % self.in_flight.len());
                self.engine.handle_failed(now, failed.fetch.id, FetchError { code: 5 });
            }
            Call::Invalidate { object, offset, len } => {
                self.change(object, offset, offset + len);
                self.engine.invalidate(now, ObjectId(object), Extent::new(self.base + offset, len));
            }
            Call::Resize { object, size } => {
                let size = self.base + size;
                let old = std::mem::replace(&mut self.sizes[object as usize], size);
                self.change(object, old.min(size) - self.base, SIZE_MAX);
                self.engine.resize(now, ObjectId(object), size);
                for waiting in self.waiting.iter_mut().filter(|waiting| waiting.object == object) {
                    waiting.extent = waiting.extent.intersection(&Extent::new(0, size));
                }
            }
            Call::Forget(object) => {
                self.change(object, 0, SIZE_MAX);
                self.engine.forget(now, ObjectId(object));
            }
            Call::Memory { percent } => self.set_memory(percent),
            Call::Client { client, weight, bytes_per_s } => {
                self.engine.set_weight(ClientId(client), weight);
                // The last stands for all clients.
                let client = Some(ClientId(client)).filter(|_| client < CLIENTS - 1);
                self.engine.set_rate(client, Some(bytes_per_s).filter(|rate| *rate > 0));
            }
            Call::List { directory, class } => {
                let file =
                    |object: usize| ListedFile { size: self.sizes[object], class: object as u8 % 2 * class };
                // Longer than there are objects: each is in it more than once.
                let files: Vec<ListedFile> =
                    (0..3 * OBJECTS as usize).map(|at| file(at % OBJECTS as usize)).collect();
                self.engine.list(now, DirectoryId(directory), files.into_iter());
            }
            Call::Enter { directory, index } => {
                let object = u64::from(index) % OBJECTS;
                self.open_count[object as usize] += 1;
                self.engine.open(ObjectId(object), self.sizes[object as usize]);
                self.engine.enter(now, DirectoryId(directory), index, ObjectId(object));
            }
            Call::Trail { touched } => self.engine.set_trail((0..STEPS).map(|_| touched)),
            Call::Step { place } => {
                let object = u64::from(place) % OBJECTS;
                self.open_count[object as usize] += 1;
                self.engine.open(ObjectId(object), self.sizes[object as usize]);
                self.engine.enter_step(now, place, ObjectId(object));
            }
            Call::Wait(ns) => self.now.0 += ns,
            Call::Sleep => self.now = self.engine.poll_timeout().unwrap_or(now),
            Call::Land { slow } => self.land(slow),
            Call::Release(_)
            | Call::Abandon(_)
            | Call::Progress { .. }
            | Call::Fetched(_)
            | Call::Failed(_) => {}
        }
        self.now.0 += self.step_ns;
        self.drain();
    }

    fn set_memory(&mut self, percent: u64) {
        let extra_bytes = (self.budget - Config::MEMORY_BYTES_MIN) * percent / 100;
        let wanted = (Config::MEMORY_BYTES_MIN + extra_bytes) / BLOCK_BYTES * BLOCK_BYTES;
        if wanted > self.wanted {
            self.withdrawn.clear();
        }
        self.wanted = wanted;
        self.engine.set_memory_bytes(self.now, wanted);
    }

    /// One stays in flight if there are enough, and of those half bring a block first.
    fn land(&mut self, slow: usize) {
        let (slow, stalls) = (slow % 4, (slow / 4).is_multiple_of(2));
        let is_begun = |index: &usize| stalls || *index != slow;
        for index in (0..self.in_flight.len()).rev().filter(is_begun) {
            self.fill(index, BLOCK_BYTES.min(self.in_flight[index].fetch.extent.len));
            self.engine.handle_progress(self.now, self.in_flight[index].fetch.id, BLOCK_BYTES);
        }
        self.now.0 += self.step_ns;
        for index in (0..self.in_flight.len()).rev().filter(|index| *index != slow) {
            self.finish(index);
        }
    }

    fn read(&mut self, object: u64, offset: u64, len: u64) {
        if self.open_count[object as usize] == 0 {
            return;
        }
        let size = self.sizes[object as usize];
        self.positions[object as usize] = if offset + len >= size { self.base } else { offset + len };
        let extent = Extent::new(offset, len);
        let versions = self.block_versions[object as usize].to_vec();
        let mut memory = Vec::new();
        let outcome = self.engine.read(self.now, ObjectId(object), ReaderId(object), extent, &mut memory);
        let extent = extent.intersection(&Extent::new(0, size));
        match outcome {
            Outcome::Ready(read) => self.copy(Waiting { read, object, extent, versions }, memory),
            Outcome::Parked(read) => self.waiting.push(Waiting { read, object, extent, versions }),
        }
    }

    fn finish(&mut self, index: usize) {
        let len = self.in_flight[index].fetch.extent.len;
        self.fill(index, len);
        let finished = self.in_flight.swap_remove(index);
        self.engine.handle_fetched(self.now, finished.fetch.id);
    }

    fn drain(&mut self) {
        while let Some((directory, index)) = self.engine.poll_entry() {
            let object = u64::from(index) % OBJECTS;
            // Of one directory the driver has lost the names.
            if directory == DirectoryId(0) || index % 2 == 0 {
                let size = self.sizes[object as usize];
                self.engine.announce(self.now, directory, index, ObjectId(object), size);
            }
        }
        while let Some(place) = self.engine.poll_step() {
            let object = u64::from(place) % OBJECTS;
            // Of one object the driver has lost the name; what was touched of others may be past their ends.
            if object > 0 {
                let size = self.sizes[object as usize];
                let touched = [(BLOCK_BYTES, 9 * BLOCK_BYTES), (SIZE_MAX / 2, 65536)]
                    .map(|(offset, len)| Extent::new(self.base + offset, len));
                self.engine.announce_step(self.now, place, ObjectId(object), size, &touched);
            }
        }
        // The driver asks again whenever a fetch has ended.
        while self.start_fetches() {}
        while let Some(reply) = self.engine.poll_reply() {
            let index = self.waiting.iter().position(|waiting| waiting.read == reply.read);
            let waiting = self.waiting.swap_remove(index.expect("one reply for each who waits"));
            if let Ok(memory) = reply.result {
                self.copy(waiting, memory);
            }
        }
        for slot in self.engine.take_withdrawn().iter().flat_map(slots) {
            // A read there finds nothing.
            self.slots.remove(&slot);
            self.withdrawn.insert(slot);
        }
        let (used, kept) = (self.engine.memory_bytes(), self.engine.usage().memory_bytes_max);
        assert!(kept <= self.wanted.max(self.kept), "the memory grows although less is wanted");
        assert!(used <= kept && (kept <= self.wanted || used == kept), "more memory than is wanted is free");
        self.kept = kept;
        let timeout = self.engine.poll_timeout();
        assert!(timeout.is_none_or(|due| due > self.now), "what is late was passed over");
    }

    /// Starts fetches, and ends those that are cancelled. True if there was one.
    fn start_fetches(&mut self) -> bool {
        let mut has_cancelled = false;
        while let Some(fetch) = self.engine.poll_fetch(self.now) {
            let is_withdrawn = fetch.memory.iter().flat_map(slots).any(|slot| self.withdrawn.contains(&slot));
            assert!(!is_withdrawn, "memory is used that is out of use");
            assert_eq!(fetch.memory.iter().map(|range| range.len).sum::<u64>(), fetch.extent.len);
            assert_eq!(fetch.extent.offset % BLOCK_BYTES, 0);
            let size = self.sizes[fetch.object.0 as usize];
            assert!(fetch.extent.end() <= size && !fetch.extent.is_empty(), "{fetch:?}");
            assert!(fetch.extent.end() == size || fetch.extent.end() % BLOCK_BYTES == 0, "half a block");
            let version = self.versions[fetch.object.0 as usize];
            self.in_flight.push(InFlight { fetch, version, done: 0 });
            // A read of 200 KB has at most 25 holes between the blocks that are there.
            assert!(self.in_flight.len() <= 6 + 25, "too many fetches in flight");
        }
        while let Some(id) = self.engine.poll_cancel() {
            let index = self.in_flight.iter().position(|flight| flight.fetch.id == id);
            let cancelled = self.in_flight.swap_remove(index.expect("only what is in flight is cancelled"));
            self.engine.handle_failed(self.now, cancelled.fetch.id, FetchError { code: 0 });
            has_cancelled = true;
        }
        has_cancelled
    }

    /// Once all fetches end well and all readers release, nobody waits.
    pub(crate) fn settle(&mut self) {
        (0..CLIENTS - 1)
            .map(ClientId)
            .map(Some)
            .chain([None])
            .for_each(|client| self.engine.set_rate(client, None));
        for _ in 0..10_000 {
            while !self.copying.is_empty() {
                self.release(0);
            }
            self.drain();
            if self.in_flight.is_empty() && self.copying.is_empty() {
                break;
            }
            if !self.in_flight.is_empty() {
                self.finish(0);
            }
            self.now.0 += 1000;
        }
        assert!(self.waiting.is_empty(), "{} readers hang", self.waiting.len());
        let kept = self.engine.usage().memory_bytes_max;
        assert_eq!(kept, self.wanted / BLOCK_BYTES * BLOCK_BYTES, "the memory has another size");
    }
}

/// The slots of a range of memory.
fn slots(range: &MemoryRange) -> impl Iterator<Item = u64> {
    range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES)
}
