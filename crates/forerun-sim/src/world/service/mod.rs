//! The engine above a device: the product's run loop with time that only moves
//! when it is told to.

mod jobs;

use std::collections::VecDeque;

use forerun_engine::{
    ByClass, Cause, ClientId, Config, ConfigError, Counters, Engine, Event, Extent, Fetch, FetchError,
    FetchId, List, ListId, MemoryRange, ObjectId, ReadId, ReaderId,
};

use super::directories::Directories;
use super::learned::Learned;
use super::memory::Memory;
use crate::device::{Device, DeviceStats, Direction, Notice, Request, RequestId, Time};
use crate::map::Map;
use crate::source::{Directory, Placed};
pub(super) use jobs::{Job, JobKind};
use jobs::{PiecewiseRead, WRITES};

/// Is shown every event of the engine.
type Observer<'a> = Box<dyn FnMut(&Event) + 'a>;

/// See the module's page.
pub(super) struct Service<'a> {
    engine: Engine,
    device: Box<dyn Device + 'a>,
    pub(super) now: Time,
    placed: Vec<Placed>,
    directories: Directories,
    learned: Learned,
    /// Lists that programs have told; their files are numbered like the objects.
    list_count: u64,
    parked: Map<ReadId, PiecewiseRead>,
    ranges: Vec<MemoryRange>,
    writes: Map<RequestId, Job>,
    write_count: u64,
    done: VecDeque<(Job, JobKind)>,
    /// When the engine wants to be asked again at the latest.
    timeout: Option<Time>,
    memory: Memory,
    notices: Vec<Notice>,
    observer: Option<Observer<'a>>,
}

impl<'a> Service<'a> {
    pub(super) fn new(config: Config, device: Box<dyn Device + 'a>) -> Result<Service<'a>, ConfigError> {
        Ok(Service {
            memory: Memory::new(config.memory_bytes_max),
            engine: Engine::new(config)?,
            device,
            now: Time(0),
            placed: Vec::new(),
            directories: Directories::default(),
            learned: Learned::default(),
            list_count: 0,
            parked: Map::default(),
            ranges: Vec::new(),
            writes: Map::default(),
            write_count: 0,
            done: VecDeque::new(),
            timeout: None,
            notices: Vec::new(),
            observer: None,
        })
    }

    pub(super) fn observe(&mut self, observer: Observer<'a>) {
        self.observer = Some(observer);
    }

    /// Where the objects lie on the device.
    pub(super) fn place(&mut self, placed: &[Placed]) {
        self.placed = placed.to_vec();
    }

    /// Sets the directories that may be listed.
    pub(super) fn know(&mut self, directories: &[Directory]) {
        self.directories = Directories::new(directories);
    }

    pub(super) fn list(&mut self, directory: u64) {
        self.directories.list(&mut self.engine, self.now, directory, &self.placed);
        self.dispatch();
    }

    /// Sets the profiles and the trail of an earlier run.
    pub(super) fn learn(&mut self, learned: Learned) {
        learned.tell(&mut self.engine);
        self.learned = learned;
    }

    /// Sets the clients of readers, and their weights.
    pub(super) fn share(
        &mut self,
        readers: impl Iterator<Item = (ReaderId, ClientId)>,
        weights: &[(ClientId, u32)],
    ) {
        readers.for_each(|(reader, client)| self.engine.set_client(reader, client));
        weights.iter().for_each(|(client, weight)| self.engine.set_weight(*client, *weight));
    }

    pub(super) fn start_list(&mut self, list: List) {
        self.engine.start_list(self.now, ListId(self.list_count), list);
        self.list_count += 1;
    }

    pub(super) fn open(&mut self, object: ObjectId) {
        self.engine.open(object, self.placed[object.0 as usize].size);
        self.directories.enter(&mut self.engine, self.now, object);
        self.learned.open(&mut self.engine, self.now, object);
        (0..self.list_count).for_each(|list| self.engine.enter_list(ListId(list), object.0 as u32, object));
    }

    pub(super) fn close(&mut self, object: ObjectId, reader: ReaderId) {
        self.engine.close(self.now, object, reader);
        match self.directories.named_by(object) {
            Some(directory) => self.list(directory),
            None => self.dispatch(),
        }
    }

    /// Does what the engine says until it says no more.
    pub(super) fn obey(&mut self) {
        loop {
            self.dispatch();
            let mut replied = false;
            while let Some(reply) = self.engine.poll_reply() {
                replied = true;
                self.answer(reply);
            }
            while self.engine.poll_forgotten().is_some() {}
            self.show_events();
            if !replied {
                return;
            }
        }
    }

    /// The next job that is done, in order.
    pub(super) fn next_done(&mut self) -> Option<(Job, JobKind)> {
        self.done.pop_front()
    }

    pub(super) fn has_done(&self) -> bool {
        !self.done.is_empty()
    }

    pub(super) fn under_way(&self) -> usize {
        self.parked.len() + self.writes.len()
    }

    pub(super) fn next_time(&self) -> Option<Time> {
        self.device.next_time().into_iter().chain(self.timeout).min()
    }

    /// It is `now`: tells the engine what the device has done.
    pub(super) fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
        let mut notices = std::mem::take(&mut self.notices);
        self.device.advance(self.now, &mut notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Done { id } if id.0 >= WRITES => self.written(id),
                Notice::Progress { id, .. } if id.0 >= WRITES => {}
                Notice::Progress { id, bytes } => {
                    self.memory.arrive(FetchId(id.0), bytes);
                    self.engine.handle_progress(self.now, FetchId(id.0), bytes);
                }
                Notice::Done { id } => {
                    self.memory.end(FetchId(id.0));
                    self.engine.handle_fetched(self.now, FetchId(id.0));
                }
            }
        }
        self.notices = notices;
    }

    pub(super) fn device_stats(&self) -> DeviceStats {
        self.device.stats()
    }

    pub(super) fn counters(&self) -> Counters {
        self.engine.counters()
    }

    pub(super) fn readahead(&self) -> ByClass {
        self.engine.readahead().clone()
    }

    /// Waits for what is still under way, and drops everything.
    pub(super) fn drain(&mut self) {
        while let Some(time) = self.device.next_time() {
            self.advance(time);
        }
        for object in 0..self.placed.len() as u64 {
            self.engine.forget(self.now, ObjectId(object));
        }
        self.show_events();
    }

    /// Starts and cancels what the engine wants started and cancelled.
    fn dispatch(&mut self) {
        let mut submitted = false;
        self.directories.announce(&mut self.engine, self.now, &self.placed);
        self.learned.announce(&mut self.engine, self.now, &self.placed);
        while let Some((list, file)) = self.engine.poll_listed() {
            let (object, size) = (ObjectId(u64::from(file)), self.placed[file as usize].size);
            self.engine.announce_listed(self.now, list, file, object, size);
        }
        while self.engine.poll_ended().is_some() {}
        while let Some(fetch) = self.engine.poll_fetch(self.now) {
            self.start(&fetch);
            submitted = true;
        }
        while let Some(fetch) = self.engine.poll_cancel() {
            if self.device.cancel(self.now, RequestId(fetch.0)) {
                self.memory.forget(fetch);
                self.engine.handle_failed(self.now, fetch, FetchError { code: 0 });
            }
        }
        if submitted {
            self.device.unplug(self.now);
        }
        self.timeout = self.engine.poll_timeout();
    }

    fn start(&mut self, fetch: &Fetch) {
        self.memory.start(fetch);
        let urgent = fetch.cause == Cause::Demand;
        self.submit(RequestId(fetch.id.0), fetch.object, fetch.extent, Direction::Read, urgent);
    }

    fn submit(
        &mut self,
        id: RequestId,
        object: ObjectId,
        extent: Extent,
        direction: Direction,
        urgent: bool,
    ) {
        let address = self.placed[object.0 as usize].address + extent.offset;
        let request = Request { id, address, len: extent.len, direction, issuer: 0, urgent };
        self.device.submit(self.now, request);
    }

    fn show_events(&mut self) {
        if let Some(observer) = &mut self.observer {
            while let Some(event) = self.engine.poll_event() {
                observer(&event);
            }
        }
    }
}
