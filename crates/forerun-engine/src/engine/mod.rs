//! The engine's state, its commands from readers and its answers to the driver. It has only the control
//! flow; its parts decide.

mod ahead;
mod arrivals;
mod changes;
mod clients;
mod dispatch;
mod hedge;
mod inspect;
mod launch;
mod memory_budget;
mod reading;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::ablation::Rule;
use crate::cache::Cache;
use crate::config::{Config, ConfigError};
use crate::device::Device;
use crate::events::{Counters, Event};
use crate::objects::Objects;
use crate::policy::{self, Custom, CustomPolicy, Policy, Rules, Window};
use crate::reads::Reads;
use crate::scheduler::{Contention, Fair, Flights, Overdue, Pending, StoreLimit};
use crate::types::*;
use crate::walk::Walks;

pub use inspect::Usage;

/// See the crate's page.
///
/// Invariants, beside those of its parts:
///
/// * a read is in a queue of `fair` exactly while its phase is `Waiting`;
/// * an admitted read waits for every flight that brings some of it, and there is at least one;
/// * of two fetches of the same bytes one is doomed;
/// * memory charged never exceeds the budget.
#[derive(Debug)]
pub struct Engine {
    config: Config,
    objects: Objects,
    reads: Reads,
    cache: Cache,
    device: Device,
    policy: Box<dyn Policy>,
    /// Those of `policy`.
    rules: Rules,
    /// None where the policy does not read ahead across files.
    walks: Option<Walks>,
    flights: Flights,
    store_limit: StoreLimit,
    pending: Pending,
    contention: Contention,
    overdue: Overdue,
    /// Reads that need a fetch, and whose turn it is.
    fair: Fair,
    /// Whether readahead has found no memory since the last `poll_fetch`.
    is_crowded: bool,
    fetches: VecDeque<Fetch>,
    cancels: VecDeque<FetchId>,
    replies: VecDeque<(ReadId, Result<(), FetchError>)>,
    forgotten: VecDeque<ObjectId>,
    windows: Vec<Window>,
    counters: Counters,
    events: VecDeque<Event>,
    calls_since_audit: usize,
    /// The most memory that there ever is.
    region_bytes: u64,
}

impl Engine {
    /// An engine with nothing in it.
    ///
    /// # Errors
    /// A configuration that cannot be kept.
    pub fn new(config: Config) -> Result<Engine, ConfigError> {
        config.check()?;
        let policy = policy::build(&config);
        let walks = (config.policy.is_told() && !Rule::Walks.is_off()).then(Walks::default);
        Ok(Engine::build(config, policy, walks))
    }

    /// An engine that reads ahead as `policy` says; [`Config::policy`] does not matter.
    ///
    /// # Errors
    /// A configuration that cannot be kept.
    pub fn with_policy(config: Config, policy: Box<dyn CustomPolicy>) -> Result<Engine, ConfigError> {
        config.check()?;
        Ok(Engine::build(config, Box::new(Custom::new(policy)), None))
    }

    fn build(config: Config, policy: Box<dyn Policy>, walks: Option<Walks>) -> Engine {
        let rules = policy.rules(&config);
        Engine {
            objects: Objects::new(),
            reads: Reads::new(),
            cache: Cache::new(config.memory_bytes_max, rules.reclaim()),
            device: Device::new(&config),
            policy,
            rules,
            walks,
            flights: Flights::new(),
            store_limit: StoreLimit::new(config.in_flight_count_max),
            pending: Pending::new(),
            contention: Contention::default(),
            overdue: Overdue::new(),
            fair: Fair::default(),
            is_crowded: false,
            fetches: VecDeque::new(),
            cancels: VecDeque::new(),
            replies: VecDeque::new(),
            forgotten: VecDeque::new(),
            windows: Vec::new(),
            counters: Counters::default(),
            events: VecDeque::new(),
            calls_since_audit: 0,
            region_bytes: config.memory_bytes_max,
            config,
        }
    }

    /// A reader opened `object`, which has `size` bytes (at most 2^63 - 1 count). The engine remembers an
    /// object beyond its last close. True if no other reader has it open.
    pub fn open(&mut self, object: ObjectId, size: u64) -> bool {
        let is_first = self.objects.open(object, size);
        self.cache.reclaim_unread(object);
        is_first
    }

    /// `reader` is done with `object`. When it was the last, readahead that
    /// nobody waits for is cancelled.
    pub fn close(&mut self, now: Time, object: ObjectId, reader: ReaderId) {
        self.policy.on_close(object, reader);
        self.fair.leave(reader);
        if self.objects.close(object) {
            // A list still reads the rest of it.
            if !self.is_listed(object) {
                self.stop_readahead(object);
            }
            self.policy.on_idle(object);
            self.pending.set_sweep(object, false);
            self.emit_ends(now);
            self.tell_walks_closed(object);
            self.forget_surplus(now);
        }
        self.audit();
    }

    /// The next fetch to start.
    pub fn poll_fetch(&mut self, now: Time) -> Option<Fetch> {
        self.cache.is_short = false;
        self.is_crowded = false;
        self.fair.advance(now);
        self.cache.shrink(now);
        while self.fetches.is_empty()
            && (self.admit(now) || self.ask_again(now) || self.dispatch_readahead(now))
        {}
        let fetch = self.fetches.pop_front();
        self.report_lost(now);
        self.audit();
        fetch
    }

    /// The next fetch to cancel; it still ends in `handle_fetched` or
    /// `handle_failed`.
    pub fn poll_cancel(&mut self) -> Option<FetchId> {
        while let Some(fetch) = self.cancels.pop_front() {
            // It may have ended before anybody asked.
            if self.flights.get(fetch).is_some() {
                return Some(fetch);
            }
        }
        None
    }

    /// The next reply to give.
    pub fn poll_reply(&mut self) -> Option<Reply> {
        let (read, result) = self.replies.pop_front()?;
        let result = result.map(|()| {
            let mut memory = Vec::new();
            if let Some(state) = self.reads.get(read) {
                self.cache.memory(state.extent, &state.pins, &mut memory);
            }
            memory
        });
        Some(Reply { read, result })
    }

    /// The next object whose state was dropped, so that the driver can drop its
    /// own.
    pub fn poll_forgotten(&mut self) -> Option<ObjectId> {
        self.forgotten.pop_front()
    }

    /// The next event, if [`Config::events_max`] keeps any.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Sums since the start.
    pub fn counters(&self) -> Counters {
        Counters { memory_bytes_peak: self.cache.used_bytes_peak(), ..self.counters }
    }

    /// Measurements of the backend.
    pub fn device(&self) -> DeviceEstimate {
        self.device.estimate()
    }

    /// Tells of readahead that was evicted unread.
    fn report_lost(&mut self, now: Time) {
        if !self.cache.has_lost() {
            return;
        }
        for (object, extent) in self.cache.take_lost() {
            self.policy.on_lost(object, extent);
            self.tell_walks_lost(object);
            self.emit(Event::Wasted { time: now, object, extent });
        }
    }

    fn emit(&mut self, event: Event) {
        self.counters.add(&event);
        if self.config.events_max > 0 {
            if self.events.len() == self.config.events_max {
                self.events.pop_front();
            }
            self.events.push_back(event);
        }
    }

    /// Checks every invariant in debug builds: after each call while the cache
    /// is small, less often the longer it takes.
    fn audit(&mut self) {
        if cfg!(debug_assertions) {
            self.calls_since_audit += 1;
            if self.calls_since_audit * 64 < self.cache.audit_cost() {
                return;
            }
            self.calls_since_audit = 0;
            self.cache.audit();
            self.flights.audit();
            assert!(self.cache.used_bytes() <= self.cache.kept_bytes(), "over budget");
        }
    }
}
