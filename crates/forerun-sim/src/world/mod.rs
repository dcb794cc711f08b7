//! The unmodified engine between a source and a device, in virtual time.

mod directories;
mod learned;
mod memory;
mod served;
mod service;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fmt;

use forerun_engine::{ClientId, Config, ConfigError, Event, Extent, List, ReaderId};

use crate::device::{Device, Time};
use crate::run::{ClientRun, Run};
use crate::source::{Deed, Next, ObjectId, Source, Step};
use learned::Learned;
pub use served::Served;
use service::{Job, JobKind, Service};

/// A world; see the module's page.
pub struct World<'a> {
    service: Service<'a>,
    /// The time of every read for its client besides waiting, in nanoseconds.
    read_cost_ns: u64,
    opened: BTreeSet<(ObjectId, u32)>,
    /// Nearly always whose step comes next.
    last_opened: Option<(ObjectId, u32)>,
    /// Steps that are done but for their cost, by token.
    finishing: BinaryHeap<Reverse<(Time, u64)>>,
    run: Run,
}

/// A reader waits for what will never come: a defect of the engine or the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// When.
    pub time: Time,
    /// Reads and writes that were under way.
    pub under_way: usize,
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck { time, under_way } = self;
        write!(f, "nothing happens after {} ns of virtual time, and {under_way} steps wait", time.0)
    }
}

impl std::error::Error for Stuck {}

impl<'a> World<'a> {
    /// An engine with `config` above `device`.
    ///
    /// # Errors
    /// A configuration that no engine can keep.
    pub fn new(config: Config, device: Box<dyn Device + 'a>) -> Result<World<'a>, ConfigError> {
        Ok(World {
            service: Service::new(config, device)?,
            read_cost_ns: 0,
            opened: BTreeSet::new(),
            last_opened: None,
            finishing: BinaryHeap::new(),
            run: Run::default(),
        })
    }

    /// Every read costs its client `ns` nanoseconds besides waiting.
    pub fn read_cost_ns(mut self, ns: u64) -> World<'a> {
        self.read_cost_ns = ns;
        self
    }

    /// An earlier run read the objects of `profiles` for the first time in this order. Of each it touched
    /// these extents first, in their order.
    pub fn learned(mut self, profiles: impl IntoIterator<Item = (ObjectId, Vec<Extent>)>) -> World<'a> {
        self.service.learn(Learned::new(profiles));
        self
    }

    /// A program has said that it will read `parts`, in this order. Several lists may be told.
    pub fn listed(mut self, parts: impl IntoIterator<Item = (ObjectId, Extent)>) -> World<'a> {
        self.service.start_list(List::new(parts.into_iter().map(|(object, part)| (object.0 as u32, part))));
        self
    }

    /// Client `index` of the source belongs to `owners[index]`, and those share by these weights.
    pub fn shared(mut self, owners: &[ClientId], weights: &[(ClientId, u32)]) -> World<'a> {
        let readers = (0..).map(ReaderId).zip(owners.iter().copied());
        self.service.share(readers, weights);
        self
    }

    /// Shows every event of the engine to `observer`; the configuration must keep
    /// some ([`Config::events_max`]).
    pub fn observe(mut self, observer: impl FnMut(&Event) + 'a) -> World<'a> {
        self.service.observe(Box::new(observer));
        self
    }

    /// Lets `source` do all it wants, then drops the cache, so that readahead
    /// that nobody came for counts as wasted. A world runs once.
    ///
    /// # Errors
    /// Somebody waits and nothing will happen.
    pub fn run(mut self, source: &mut dyn Source) -> Result<Run, Stuck> {
        self.service.place(source.objects());
        self.service.know(source.directories());
        self.run.clients = vec![ClientRun::default(); source.client_count()];
        loop {
            let next = self.let_act(source);
            self.service.obey();
            if self.finish_done(source) {
                continue;
            }
            match next {
                Next::End => break,
                Next::Later(time) => self.pass_time(source, Some(time))?,
                _ => self.pass_time(source, None)?,
            }
        }
        self.run.elapsed_ns = self.service.now.0;
        self.run.device = self.service.device_stats();
        self.service.drain();
        Ok(self.tally())
    }

    /// Takes every step that is due; what the source says then.
    fn let_act(&mut self, source: &mut dyn Source) -> Next {
        loop {
            match source.next(self.service.now) {
                Next::Step(step) => self.start_step(source, step),
                next => return next,
            }
            self.finish_done(source);
        }
    }

    fn start_step(&mut self, source: &mut dyn Source, step: Step) {
        let Step { token, client, deed, object, extent } = step;
        let reader = ReaderId(u64::from(client));
        let job = Job { token, reader, object, extent, asked: self.service.now };
        match deed {
            Deed::Read { .. } => {
                self.open(object, client);
                self.service.read(job);
            }
            Deed::Write => self.service.write(job),
            Deed::List => {
                self.service.list(object.0);
                source.done(self.service.now, token);
            }
            Deed::Close => {
                if self.opened.remove(&(object, client)) {
                    self.last_opened = None;
                    self.service.close(object, reader);
                }
                source.done(self.service.now, token);
            }
        }
    }

    fn open(&mut self, object: ObjectId, client: u32) {
        if self.last_opened == Some((object, client)) {
            return;
        }
        self.last_opened = Some((object, client));
        if self.opened.insert((object, client)) {
            self.service.open(object);
        }
    }

    /// Tells the source what is done. True if anything was.
    fn finish_done(&mut self, source: &mut dyn Source) -> bool {
        let mut any = false;
        while let Some((job, kind)) = self.service.next_done() {
            any = true;
            let cost_ns = self.account(&job, kind);
            if cost_ns == 0 {
                source.done(self.service.now, job.token);
            } else {
                self.finishing.push(Reverse((Time(self.service.now.0 + cost_ns), job.token)));
            }
        }
        any
    }

    /// Counts what a client has done; what that costs it besides.
    fn account(&mut self, job: &Job, kind: JobKind) -> u64 {
        let now = self.service.now;
        let client = &mut self.run.clients[job.reader.0 as usize];
        if kind == JobKind::Write {
            client.write_bytes += job.extent.len;
            client.finished_ns = now.0;
            return 0;
        }
        let waited_ns = now.since(job.asked);
        self.run.read_count += 1;
        self.run.waits.add(waited_ns);
        client.read_bytes += job.extent.len;
        client.waited_ns += waited_ns;
        client.finished_ns = now.0 + self.read_cost_ns;
        self.read_cost_ns
    }

    /// Moves to the next moment at which something happens.
    fn pass_time(&mut self, source: &mut dyn Source, later: Option<Time>) -> Result<(), Stuck> {
        let finishing = self.finishing.peek().map(|Reverse((time, _))| *time);
        let next = [later, finishing, self.service.next_time()].into_iter().flatten().min();
        let Some(next) = next else {
            return Err(Stuck { time: self.service.now, under_way: self.service.under_way() });
        };
        self.service.advance(next);
        while let Some(Reverse((time, token))) = self.finishing.peek().copied() {
            if time > self.service.now {
                break;
            }
            self.finishing.pop();
            source.done(self.service.now, token);
        }
        Ok(())
    }

    fn tally(self) -> Run {
        let counters = self.service.counters();
        let readahead = self.service.readahead();
        Run { read_bytes: counters.read_bytes, readahead, ..self.run.with_counters(&counters) }
    }
}
