//! The state that the driver's lock guards: the engine, and the tasks that its decisions concern.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use forerun_backend::{Entry, Error, ErrorKind, Result};
use forerun_engine::{
    Advice, ClientId, Engine, Extent, FetchId, MemoryRange, ObjectId, ObjectReport, Outcome, ReadId,
    ReaderId, Time,
};
use futures::future::AbortHandle;

use super::closed;
use super::failures::Failures;
use super::fetch::Start;
use super::listings::{Listing, Listings};
use super::lists::Lists;
use super::lock::Loans;
use super::objects::{Object, Objects};
use super::waiter::Waiter;
use super::work::{Begun, Work};
use crate::profile::Profile;

pub(crate) struct State {
    pub(crate) engine: Engine,
    pub(super) objects: Objects,
    /// Of programs that have said what they will read.
    pub(super) lists: Lists,
    listings: Listings,
    /// Of earlier runs.
    known: Arc<Profile>,
    /// Objects that are read ahead before they are opened, until their first bytes are fetched.
    pub(super) expected: HashSet<ObjectId>,
    // In order, so that equal runs end waits in the same order.
    pub(super) waiters: BTreeMap<ReadId, (ObjectId, Waiter)>,
    pub(super) loans: Loans,
    fetches: BTreeMap<FetchId, AbortHandle>,
    failures: Failures,
    reader_count: u64,
    /// When the engine will be drained though nothing happens, if it will.
    alarm: Option<Time>,
    /// The latest time the engine was told: threads read the clock before they
    /// get the lock, in another order.
    pub(super) now: Time,
    pub(super) closed: bool,
}

impl State {
    pub(crate) fn new(mut engine: Engine, known: Arc<Profile>) -> State {
        engine.set_trail(known.iter().map(|(_, touched)| touched.bytes()));
        State {
            engine,
            known,
            expected: HashSet::new(),
            objects: Objects::default(),
            lists: Lists::default(),
            listings: Listings::default(),
            waiters: BTreeMap::new(),
            loans: Loans::default(),
            fetches: BTreeMap::new(),
            failures: Failures::default(),
            reader_count: 0,
            alarm: None,
            now: Time(0),
            closed: false,
        }
    }

    /// An object, and what the engine says of it.
    pub(crate) fn explain(&self, id: ObjectId) -> Option<(Arc<Object>, ObjectReport)> {
        Some((Arc::clone(self.objects.get(id)?), self.engine.explain(id)?))
    }

    /// Time never goes back for the engine.
    pub(crate) fn advance(&mut self, now: Time) {
        self.now = self.now.max(now);
    }

    pub(crate) fn open(&mut self, entry: &Entry, client: ClientId) -> (Arc<Object>, ReaderId) {
        let reader = ReaderId(self.reader_count);
        self.reader_count += 1;
        self.engine.set_client(reader, client);
        let object = self.objects.of(entry);
        self.expected.remove(&object.id);
        let is_first = self.engine.open(object.id, entry.size);
        if let Some((directory, index)) = self.listings.find(&entry.path) {
            self.engine.enter(self.now, directory, index, object.id);
        }
        if let Some((place, touched)) = self.known.get(&object.name)
            && is_first
            && !self.closed
            && object.changed.get().is_none()
        {
            self.engine.plan(self.now, object.id, touched.extents());
            self.engine.enter_step(self.now, place, object.id);
        }
        self.enter_lists(entry, object.id);
        (object, reader)
    }

    pub(crate) fn advise(&mut self, object: &Object, reader: ReaderId, advice: Advice<'_>) {
        if !self.closed && object.changed.get().is_none() {
            self.engine.advise(self.now, object.id, reader, advice);
        }
    }

    pub(crate) fn list(&mut self, listing: Listing) {
        let directory = self.listings.put(listing);
        if let Some(listing) = self.listings.get(directory) {
            self.engine.list(self.now, directory, listing.files());
        }
    }

    /// Numbers the entries of listings, and the steps of earlier runs, that the engine wants to read ahead.
    fn announce(&mut self) {
        while let Some((directory, index)) = self.engine.poll_entry() {
            if let Some(entry) = self.listings.file(directory, index) {
                let (object, size) = (self.objects.of(entry), entry.size);
                self.engine.announce(self.now, directory, index, object.id, size);
            }
        }
        while let Some(place) = self.engine.poll_step() {
            if let Some((name, touched)) = self.known.at(place) {
                let object = self.objects.named(name.clone());
                if self.engine.announce_step(self.now, place, object.id, name.size, touched.extents()) {
                    self.expected.insert(object.id);
                }
            }
        }
    }

    pub(crate) fn close(&mut self, object: &Object, reader: ReaderId) {
        self.engine.close(self.now, object.id, reader);
        if object.changed.get().is_some() {
            self.engine.forget(self.now, object.id);
        }
    }

    pub(crate) fn read(
        &mut self,
        object: &Object,
        reader: ReaderId,
        extent: Extent,
        ranges: &mut Vec<MemoryRange>,
        waiter: impl FnOnce() -> Waiter,
    ) -> Result<Begun> {
        if let Some(error) = object.changed.get() {
            return Err(error.clone());
        }
        if self.closed {
            return Err(closed());
        }
        match self.engine.read(self.now, object.id, reader, extent, ranges) {
            Outcome::Ready(read) => Ok(Begun::Hit(self.loans.lend(read))),
            Outcome::Parked(read) => {
                self.waiters.insert(read, (object.id, waiter()));
                Ok(Begun::Waits(read))
            }
        }
    }

    pub(crate) fn progress(&mut self, fetch: FetchId, bytes: u64) {
        self.engine.handle_progress(self.now, fetch, bytes);
    }

    /// The fetch is over: nothing is written to its memory any more.
    pub(crate) fn end(&mut self, fetch: FetchId, object: &Object, result: Result<()>, work: &mut Work) {
        self.fetches.remove(&fetch);
        let Err(error) = result else {
            return self.engine.handle_fetched(self.now, fetch);
        };
        if error.kind == ErrorKind::Changed {
            self.change(object, &error, work);
        }
        let failure = self.failures.add(error);
        self.engine.handle_failed(self.now, fetch, failure);
    }

    /// Asks the engine what to do until it has nothing more.
    pub(crate) fn drain(&mut self, work: &mut Work) {
        if self.closed {
            return;
        }
        self.announce();
        self.announce_listed();
        while let Some(fetch) = self.engine.poll_fetch(self.now) {
            let Some(object) = self.objects.get(fetch.object) else {
                let gone = Error::new(ErrorKind::Changed, "the object has changed; open it again");
                let failure = self.failures.add(gone);
                self.engine.handle_failed(self.now, fetch.id, failure);
                continue;
            };
            // An opening asks for metadata first, so that is fetched too, at the same pace.
            if self.expected.remove(&fetch.object) {
                work.expected.push(Arc::clone(&object.name.path));
            }
            let (abort, registration) = AbortHandle::new_pair();
            self.fetches.insert(fetch.id, abort);
            work.starts.push(Start { fetch, object: Arc::clone(object), registration });
        }
        while let Some(fetch) = self.engine.poll_cancel() {
            work.cancels.extend(self.fetches.get(&fetch).cloned());
        }
        while let Some(reply) = self.engine.poll_reply() {
            if let Some((_, waiter)) = self.waiters.remove(&reply.read) {
                let answer = match reply.result {
                    Ok(ranges) => Ok((self.loans.lend(reply.read), ranges)),
                    Err(failure) => Err(self.failures.get(failure)),
                };
                work.answers.push((waiter, answer));
            }
        }
        while let Some(object) = self.engine.poll_forgotten() {
            self.objects.remove(object);
            self.expected.remove(&object);
        }
        let timeout = self.engine.poll_timeout();
        if let Some(due) = timeout.filter(|due| self.alarm.is_none_or(|alarm| *due < alarm)) {
            (work.alarm, self.alarm) = (Some(due), Some(due));
        }
    }

    /// The alarm of `due` goes off.
    pub(crate) fn wake(&mut self, due: Time) {
        self.alarm = self.alarm.filter(|alarm| *alarm != due);
    }

    /// Ends the wait of the parked `read`, and returns its waiter. Its fetches go on.
    pub(crate) fn give_up(&mut self, read: ReadId) -> Option<Waiter> {
        let (_, waiter) = self.waiters.remove(&read)?;
        self.engine.abandon(read);
        Some(waiter)
    }

    /// Nothing is fetched from now on; gives back who waits and what runs.
    pub(crate) fn shut_down(&mut self) -> (Vec<Waiter>, Vec<AbortHandle>) {
        self.closed = true;
        let waiters = std::mem::take(&mut self.waiters).into_values().map(|(_, waiter)| waiter).collect();
        (waiters, self.fetches.values().cloned().collect())
    }
}
