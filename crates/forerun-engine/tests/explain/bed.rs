//! One object that is read, and what its engine tells of that.

use std::collections::BTreeSet;

use forerun_engine::*;

use super::{MIB, OBJECT, READER, SIZE};

/// An engine above storage that takes 5 ms for everything.
pub(crate) struct Bed {
    pub(crate) engine: Engine,
    pub(crate) now: u64,
    pub(crate) windows: Vec<(Class, Why)>,
    /// The streams of the windows, each once.
    pub(crate) streams: BTreeSet<StreamId>,
    pub(crate) ends: Vec<(StreamId, End)>,
}

impl Bed {
    pub(crate) fn new(memory: u64) -> Bed {
        Bed::with(Config { events_max: 1 << 16, ..Config::new(memory) })
    }

    pub(crate) fn with(config: Config) -> Bed {
        let mut engine = Engine::new(config).expect("a configuration that works");
        engine.open(OBJECT, SIZE);
        Bed { engine, now: 0, windows: Vec::new(), streams: BTreeSet::new(), ends: Vec::new() }
    }

    pub(crate) fn settle(&mut self) {
        loop {
            let mut fetches = Vec::new();
            while let Some(fetch) = self.engine.poll_fetch(Time(self.now)) {
                fetches.push(fetch.id);
            }
            if fetches.is_empty() {
                break;
            }
            self.now += 5_000_000;
            fetches.iter().for_each(|fetch| self.engine.handle_fetched(Time(self.now), *fetch));
        }
        while let Some(fetch) = self.engine.poll_cancel() {
            self.engine.handle_failed(Time(self.now), fetch, FetchError { code: 0 });
        }
        while self.engine.poll_reply().is_some() {}
        self.listen();
    }

    pub(crate) fn listen(&mut self) {
        while let Some(event) = self.engine.poll_event() {
            match event {
                Event::Window { class, why, stream, .. } => {
                    self.windows.push((class, why));
                    self.streams.extend(stream);
                }
                Event::StreamEnd { stream, end, .. } => self.ends.push((stream, end)),
                _ => {}
            }
        }
    }

    /// Why the only stream that wanted anything ended, each time that it did.
    pub(crate) fn ends_of_one(&mut self) -> Vec<End> {
        self.listen();
        assert_eq!(self.streams.len(), 1, "{:?}", self.streams);
        self.ends.iter().filter(|(stream, _)| self.streams.contains(stream)).map(|(_, end)| *end).collect()
    }

    pub(crate) fn read(&mut self, offset: u64, len: u64) {
        let extent = Extent::new(offset, len);
        let outcome = self.engine.read(Time(self.now), OBJECT, READER, extent, &mut Vec::new());
        self.settle();
        let (Outcome::Ready(read) | Outcome::Parked(read)) = outcome;
        self.engine.release(read);
        self.now += 1_000_000;
    }

    pub(crate) fn report(&self) -> ObjectReport {
        self.engine.explain(OBJECT).expect("it is open")
    }

    /// The report of the stream that was read last, after reads of `len` bytes at `offsets`.
    pub(crate) fn classify(offsets: impl Iterator<Item = u64>, len: u64) -> (StreamReport, Bed) {
        let mut bed = Bed::new(64 * MIB);
        offsets.for_each(|offset| bed.read(offset, len));
        (bed.report().streams[0], bed)
    }
}
