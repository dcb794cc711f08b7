//! The engine alone, with an object in memory: what it decides about a hit, without lock, clock and copy.

use forerun_engine::{Config, Engine, Extent, MemoryRange, ObjectId, Outcome, ReaderId, Time};

use crate::{OBJECT_BYTES, READ_BYTES};

const OBJECT: ObjectId = ObjectId(0);
const READER: ReaderId = ReaderId(0);
/// Between two reads.
const STEP_NS: u64 = 300;

pub(crate) struct Alone {
    engine: Engine,
    now: u64,
    ranges: Vec<MemoryRange>,
}

impl Alone {
    pub(crate) fn new() -> Alone {
        let engine =
            Engine::new(Config::new(forerun::Options::default().memory_bytes)).expect("the defaults");
        let mut alone = Alone { engine, now: 0, ranges: Vec::new() };
        alone.engine.open(OBJECT, OBJECT_BYTES as u64);
        for offset in (0..OBJECT_BYTES as u64).step_by(Config::READ_BYTES_MAX as usize) {
            alone.fill(Extent::new(offset, Config::READ_BYTES_MAX));
        }
        alone
    }

    fn fill(&mut self, extent: Extent) {
        let outcome = self.engine.read(Time(self.now), OBJECT, READER, extent, &mut self.ranges);
        while let Some(fetch) = self.engine.poll_fetch(Time(self.now)) {
            self.now += 100_000;
            self.engine.handle_fetched(Time(self.now), fetch.id);
        }
        while let Some(reply) = self.engine.poll_reply() {
            self.engine.release(reply.read);
        }
        if let Outcome::Ready(read) = outcome {
            self.engine.release(read);
        }
    }

    /// A turn of the driver: one hit, and the release of the one before.
    pub(crate) fn hit(&mut self, offset: usize) {
        self.now += STEP_NS;
        let (now, extent) = (Time(self.now), Extent::new(offset as u64, READ_BYTES as u64));
        let outcome = self.engine.read(now, OBJECT, READER, extent, &mut self.ranges);
        let Outcome::Ready(read) = outcome else { panic!("{extent:?} is not in memory") };
        assert!(self.engine.poll_fetch(now).is_none(), "all of the object is in memory");
        assert!(self.engine.poll_cancel().is_none() && self.engine.poll_reply().is_none());
        self.engine.poll_timeout();
        self.engine.release(read);
    }
}
