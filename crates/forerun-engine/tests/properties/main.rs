//! Any calls in any order, checked against a model that is too simple to be
//! wrong: every slot remembers which version of which block it holds.

#[path = "support/calls.rs"]
mod calls;

use std::collections::BTreeMap;

use calls::{Call, calls, far_calls};
use forerun_engine::*;
use proptest::prelude::*;

const OBJECTS: u64 = 4;
const SIZE: u64 = 3 * (1 << 20) + 777;
const SIZE_MAX: u64 = 4 << 20;
const BLOCKS: usize = (SIZE_MAX / BLOCK_BYTES) as usize + 1;

/// What a slot holds: object, block, version of the object when it was fetched.
type Content = (u64, u64, u64);

struct InFlight {
    fetch: Fetch,
    version: u64,
    done: u64,
}

struct Waiting {
    read: ReadId,
    object: u64,
    extent: Extent,
    /// For each block the version when the read was asked for: nothing older
    /// will do.
    versions: Vec<u64>,
}

struct Model {
    engine: Engine,
    budget: u64,
    now: Time,
    /// Between two calls.
    step_ns: u64,
    slots: BTreeMap<u64, Content>,
    /// Counts the changes of each object.
    versions: [u64; OBJECTS as usize],
    /// The last change of each block.
    block_versions: Vec<[u64; BLOCKS]>,
    sizes: [u64; OBJECTS as usize],
    positions: [u64; OBJECTS as usize],
    open_count: [u64; OBJECTS as usize],
    in_flight: Vec<InFlight>,
    waiting: Vec<Waiting>,
    copying: Vec<(ReadId, Vec<MemoryRange>, Vec<Content>)>,
}

impl Model {
    fn new(policy: PolicyKind, extra_bytes: u64, step_ns: u64) -> Model {
        let mut config = Config::new(Config::MEMORY_BYTES_MIN + extra_bytes);
        config.policy = policy;
        config.in_flight_count_max = 6;
        config.closed_objects_max = 1;
        Model {
            budget: config.memory_bytes_max,
            engine: Engine::new(config).expect("a configuration that works"),
            now: Time(1),
            step_ns,
            slots: BTreeMap::new(),
            versions: [0; OBJECTS as usize],
            block_versions: vec![[0; BLOCKS]; OBJECTS as usize],
            sizes: [SIZE; OBJECTS as usize],
            positions: [0; OBJECTS as usize],
            open_count: [0; OBJECTS as usize],
            in_flight: Vec::new(),
            waiting: Vec::new(),
            copying: Vec::new(),
        }
    }

    fn advise(&mut self, object: u64, what: u64, extents: &[(u64, u64)]) {
        let extents: Vec<Extent> = extents.iter().map(|(offset, len)| Extent::new(*offset, *len)).collect();
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

    fn call(&mut self, call: Call) {
        let now = self.now;
        match call {
            Call::Open(object) => {
                self.open_count[object as usize] += 1;
                self.engine.open(ObjectId(object), self.sizes[object as usize]);
            }
            Call::Close(object) if self.open_count[object as usize] > 0 => {
                self.open_count[object as usize] -= 1;
                self.engine.close(now, ObjectId(object), ReaderId(object));
            }
            Call::Close(_) => {}
            Call::Advise { object, what, extents } => self.advise(object, what, &extents),
            Call::Read { object, offset, len } => self.read(object, offset, len),
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
                self.engine.invalidate(now, ObjectId(object), Extent::new(offset, len));
            }
            Call::Resize { object, size } => {
                let old = std::mem::replace(&mut self.sizes[object as usize], size);
                self.change(object, old.min(size), SIZE_MAX);
                self.engine.resize(now, ObjectId(object), size);
                for waiting in self.waiting.iter_mut().filter(|waiting| waiting.object == object) {
                    waiting.extent = waiting.extent.intersection(&Extent::new(0, size));
                }
            }
            Call::Forget(object) => {
                self.change(object, 0, SIZE_MAX);
                self.engine.forget(now, ObjectId(object));
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

    /// Bytes `start .. end` are others from now on.
    fn change(&mut self, object: u64, start: u64, end: u64) {
        if start == end {
            return;
        }
        let object = object as usize;
        self.versions[object] += 1;
        for block in start / BLOCK_BYTES..end.div_ceil(BLOCK_BYTES).min(BLOCKS as u64) {
            self.block_versions[object][block as usize] = self.versions[object];
        }
    }

    fn read(&mut self, object: u64, offset: u64, len: u64) {
        if self.open_count[object as usize] == 0 {
            return;
        }
        let size = self.sizes[object as usize];
        self.positions[object as usize] = if offset + len >= size { 0 } else { offset + len };
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

    /// A reader was told where its bytes are: they must be the right ones, and
    /// stay so until it releases them.
    fn copy(&mut self, waited: Waiting, memory: Vec<MemoryRange>) {
        let Waiting { read, object, extent, versions } = waited;
        assert_eq!(memory.iter().map(|range| range.len).sum::<u64>(), extent.len);
        let mut offset = extent.offset;
        let mut contents = Vec::new();
        for range in &memory {
            assert_eq!(range.start % BLOCK_BYTES, offset % BLOCK_BYTES);
            for slot in range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES) {
                let content = self.slots[&slot];
                let block = (offset + slot * BLOCK_BYTES).saturating_sub(range.start) / BLOCK_BYTES;
                assert_eq!((content.0, content.1), (object, block.max(offset / BLOCK_BYTES)), "wrong block");
                assert!(content.2 >= versions[content.1 as usize], "bytes from before a change");
                contents.push(content);
            }
            offset += range.len;
        }
        self.copying.push((read, memory, contents));
    }

    fn release(&mut self, index: usize) {
        let (read, memory, contents) = self.copying.swap_remove(index);
        let now: Vec<Content> = memory
            .iter()
            .flat_map(|range| range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES))
            .map(|slot| self.slots[&slot])
            .collect();
        assert_eq!(now, contents, "memory changed under a reader");
        self.engine.release(read);
    }

    /// The first `bytes` of a fetch are written to its memory.
    fn fill(&mut self, index: usize, bytes: u64) {
        let InFlight { fetch, version, done } = &mut self.in_flight[index];
        // What was reported is not written again, half a block at the end neither.
        if bytes <= *done {
            return;
        }
        let mut position = 0;
        for range in &fetch.memory {
            for slot in range.start / BLOCK_BYTES..(range.start + range.len).div_ceil(BLOCK_BYTES) {
                if position < bytes && position + BLOCK_BYTES > *done {
                    let block = (fetch.extent.offset + position) / BLOCK_BYTES;
                    self.slots.insert(slot, (fetch.object.0, block, *version));
                }
                position += BLOCK_BYTES;
            }
        }
        *done = bytes;
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
        while let Some(fetch) = self.engine.poll_fetch(self.now) {
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
        }
        while let Some(reply) = self.engine.poll_reply() {
            let index = self.waiting.iter().position(|waiting| waiting.read == reply.read);
            let waiting = self.waiting.swap_remove(index.expect("one reply for each who waits"));
            if let Ok(memory) = reply.result {
                self.copy(waiting, memory);
            }
        }
        assert!(self.engine.memory_bytes() <= self.budget, "over budget");
        let timeout = self.engine.poll_timeout();
        assert!(timeout.is_none_or(|due| due > self.now), "what is late was passed over");
    }

    /// Once all fetches end well and all readers release, nobody waits.
    fn settle(&mut self) {
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
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1500) })]

    #[test]
    fn any_calls_keep_every_promise(
        calls in calls(),
        policy in 0..PolicyKind::ALL.len(),
        extra_bytes in prop_oneof![Just(0), 1..4_000_000u64],
        step_ns in prop_oneof![Just(1000), Just(2_000_000)],
    ) {
        let mut model = Model::new(PolicyKind::ALL[policy], extra_bytes, step_ns);
        for call in calls {
            model.call(call);
        }
        model.settle();
    }

    #[test]
    fn what_is_asked_for_again_keeps_every_promise(
        calls in far_calls(),
        extra_bytes in 0..8_000_000u64,
    ) {
        let mut model = Model::new(PolicyKind::Adaptive, extra_bytes, 2_000_000);
        (0..2).for_each(|object| model.call(Call::Open(object)));
        for call in calls {
            model.call(call);
        }
        model.settle();
        let counters = model.engine.counters();
        let (made, again) = (counters.demand_count + counters.readahead_count, counters.repeated_count);
        prop_assert!(20 * again <= made + 20, "{again} of {made} were asked for again");
    }
}
