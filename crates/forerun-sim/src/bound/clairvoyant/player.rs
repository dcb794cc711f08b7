//! The source against the device, with somebody between them who knows the future.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::footprint::BLOCK_BYTES;
use super::super::future::{Future, Reference};
use super::Clairvoyance;
use super::cache::Cache;
use super::foresight::Foresight;
use super::requests::{Plan, Purpose, RequestShape};
use crate::device::{Device, Direction, Notice, Request, RequestId, Time};
use crate::map::Map;
use crate::source::{Deed, Next, Source, Step};
use crate::world::Stuck;

pub(super) struct Player<'a> {
    future: &'a Future,
    device: Box<dyn Device>,
    cache: Cache<'a>,
    shape: RequestShape,
    batch_blocks: usize,
    now: Time,
    /// Requests that have been decided on.
    plans: VecDeque<Plan>,
    flights: Map<RequestId, Purpose>,
    request_count: u64,
    /// Where the last request ended.
    head: u64,
    /// By block: tokens of the reads that wait for it.
    waiting: Map<u32, Vec<u64>>,
    /// By token: how many blocks a read waits for.
    missing: Map<u64, u32>,
    /// Somebody waits for what nobody foresaw.
    is_surprised: bool,
    finishing: BinaryHeap<Reverse<(Time, u64)>>,
    notices: Vec<Notice>,
}

impl<'a> Player<'a> {
    pub(super) fn new(
        device: Box<dyn Device>,
        future: &'a Future,
        clairvoyance: &Clairvoyance,
        batch_blocks: u64,
    ) -> Player<'a> {
        let foresight = Foresight::new(future, clairvoyance.look_ahead);
        Player {
            future,
            device,
            cache: Cache::new(foresight, clairvoyance.memory_bytes / BLOCK_BYTES),
            shape: RequestShape::new(&clairvoyance.costs, batch_blocks),
            batch_blocks: batch_blocks as usize,
            now: Time(0),
            plans: VecDeque::new(),
            flights: Map::default(),
            request_count: 0,
            head: 0,
            waiting: Map::default(),
            missing: Map::default(),
            is_surprised: false,
            finishing: BinaryHeap::new(),
            notices: Vec::new(),
        }
    }

    /// When the last step is done; `None` if that is after `limit_ns`.
    pub(super) fn play(
        mut self,
        source: &mut dyn Source,
        limit_ns: &AtomicU64,
    ) -> Result<Option<u64>, Stuck> {
        loop {
            let next = self.let_act(source);
            self.fetch();
            let later = match next {
                Next::End => return Ok(Some(self.now.0)),
                Next::Later(time) => Some(time),
                _ => None,
            };
            self.pass_time(source, later)?;
            if self.now.0 > limit_ns.load(Ordering::Relaxed) {
                return Ok(None);
            }
        }
    }

    fn let_act(&mut self, source: &mut dyn Source) -> Next {
        loop {
            match source.next(self.now) {
                Next::Step(step) => self.start_step(source, step),
                next => return next,
            }
        }
    }

    fn start_step(&mut self, source: &mut dyn Source, step: Step) {
        let footprint = &self.future.footprint;
        let run = footprint.layout.run(step.object, step.extent);
        let blocks = run.and_then(|run| footprint.numbers(run));
        match step.deed {
            Deed::Close | Deed::List => source.done(self.now, step.token),
            Deed::Write => {
                let reference = blocks.map(|blocks| Reference::new(blocks, true));
                if let Some(reference) = reference {
                    self.cache.foresight.make(reference);
                    self.cache.write_begins(reference);
                }
                self.submit_step(step, Direction::Write, Purpose::Write(step, reference));
            }
            Deed::Read { .. } if run.is_none() => self.finish(source, step.token),
            Deed::Read { .. } => match blocks {
                Some(blocks) => self.read(source, step.token, Reference::new(blocks, false)),
                None => self.submit_step(step, Direction::Read, Purpose::Read(step)),
            },
        }
    }

    fn read(&mut self, source: &mut dyn Source, token: u64, reference: Reference) {
        let is_foreseen = self.cache.foresight.make(reference);
        let mut missing = 0;
        for block in reference.blocks() {
            if !self.cache.used(block) {
                self.waiting.entry(block).or_default().push(token);
                missing += 1;
            }
        }
        if missing == 0 {
            return self.finish(source, token);
        }
        self.missing.insert(token, missing);
        self.is_surprised |= !is_foreseen;
    }

    fn finish(&mut self, source: &mut dyn Source, token: u64) {
        match self.future.read_cost_ns {
            0 => source.done(self.now, token),
            cost_ns => self.finishing.push(Reverse((Time(self.now.0 + cost_ns), token))),
        }
    }

    /// Keeps the device busy.
    fn fetch(&mut self) {
        if std::mem::take(&mut self.is_surprised) {
            let mut wanted = Vec::new();
            self.cache.take_wanted(usize::MAX, &mut wanted);
            for plan in self.shape.plan(&self.future.footprint, wanted, self.head) {
                self.submit_plan(plan);
            }
        }
        while self.flights.len() < self.device.slot_count() {
            if self.plans.is_empty() {
                let batch = self.cache.take_batch(self.batch_blocks);
                self.plans = self.shape.plan(&self.future.footprint, batch, self.head);
            }
            let Some(plan) = self.plans.pop_front() else { break };
            self.submit_plan(plan);
        }
        self.device.unplug(self.now);
    }

    fn submit_plan(&mut self, plan: Plan) {
        self.head = plan.end;
        let len = plan.end - plan.address;
        self.submit(plan.address, len, Direction::Read, 0, Purpose::Blocks(plan, 0));
    }

    fn submit_step(&mut self, step: Step, direction: Direction, flight: Purpose) {
        let address = self.future.footprint.layout.address(step.object, step.extent);
        self.submit(address, step.extent.len, direction, step.client, flight);
    }

    fn submit(&mut self, address: u64, len: u64, direction: Direction, issuer: u32, flight: Purpose) {
        let id = RequestId(self.request_count);
        self.request_count += 1;
        self.flights.insert(id, flight);
        self.device.submit(self.now, Request { id, address, len, direction, issuer, urgent: true });
    }

    fn pass_time(&mut self, source: &mut dyn Source, later: Option<Time>) -> Result<(), Stuck> {
        let finishing = self.finishing.peek().map(|Reverse((time, _))| *time);
        let next = [later, finishing, self.device.next_time()].into_iter().flatten().min();
        let Some(next) = next else {
            return Err(Stuck { time: self.now, under_way: self.missing.len() + self.flights.len() });
        };
        self.now = self.now.max(next);
        while let Some(Reverse((time, token))) = self.finishing.peek().copied() {
            if time > self.now {
                break;
            }
            self.finishing.pop();
            source.done(self.now, token);
        }
        self.listen(source);
        Ok(())
    }

    fn listen(&mut self, source: &mut dyn Source) {
        let mut notices = std::mem::take(&mut self.notices);
        self.device.advance(self.now, &mut notices);
        for notice in notices.drain(..) {
            match notice {
                Notice::Progress { id, bytes } => self.progress(source, id, bytes),
                Notice::Done { id } => {
                    self.progress(source, id, u64::MAX);
                    match self.flights.remove(&id) {
                        Some(Purpose::Write(step, reference)) => {
                            reference.into_iter().for_each(|reference| self.cache.write_ends(reference));
                            source.done(self.now, step.token);
                        }
                        Some(Purpose::Read(step)) => self.finish(source, step.token),
                        _ => {}
                    }
                }
            }
        }
        self.notices = notices;
    }

    /// The first `bytes` of a request have come.
    fn progress(&mut self, source: &mut dyn Source, id: RequestId, bytes: u64) {
        let Some(Purpose::Blocks(plan, arrived)) = self.flights.get_mut(&id) else { return };
        let until = plan.address.saturating_add(bytes);
        let rest = &plan.blocks[*arrived..];
        let footprint = &self.future.footprint;
        let come = rest.partition_point(|block| footprint.addresses(*block).end <= until);
        let blocks = rest[..come].to_vec();
        *arrived += come;
        for block in blocks {
            self.arrive(source, block);
        }
    }

    fn arrive(&mut self, source: &mut dyn Source, block: u32) {
        if !self.cache.arrived(block, self.waiting.contains_key(&block)) {
            return;
        }
        for token in self.waiting.remove(&block).unwrap_or_default() {
            let Some(missing) = self.missing.get_mut(&token) else { continue };
            *missing -= 1;
            if *missing == 0 {
                self.missing.remove(&token);
                self.finish(source, token);
            }
        }
    }
}
