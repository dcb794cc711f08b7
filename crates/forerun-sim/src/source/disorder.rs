//! Clients of a file server: they ask ahead, and their requests overtake each other.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use forerun_trace::generate::Numbers;

use super::{Deed, Directory, Extent, Next, ObjectId, Placed, Source, Step, Time};
use crate::map::Map;

/// How a client of a file server asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disorder {
    /// Bytes of a request (`rsize`), not 0.
    pub request_bytes: u64,
    /// Requests that the server works on at once for one client, not 0.
    pub worker_count: usize,
    /// Requests that a client which reads on asks for ahead.
    pub ahead_count: u64,
    /// No request is overtaken by more than so many others.
    pub displacement: u64,
    /// For the order.
    pub seed: u64,
}

/// A source whose clients' reads become requests of one size, several at once and
/// not quite in order.
///
/// A client keeps what it asked for ahead until it has read past it. Writes are
/// not changed. A close waits for what was asked for.
#[derive(Debug)]
pub struct Disordered<S> {
    inner: S,
    disorder: Disorder,
    numbers: Numbers,
    files: BTreeMap<(u32, ObjectId), ClientFile>,
    /// Requests that wait for a worker, by client, each with how often it was overtaken.
    queues: Vec<VecDeque<(ClientRequest, u64)>>,
    working: Vec<usize>,
    /// The outer token of each step under way.
    tokens: Map<u64, Outer>,
    token_count: u64,
    /// Inner steps that are done.
    done: Vec<u64>,
    passing: VecDeque<Step>,
}

/// An object as one client knows it.
#[derive(Debug, Default)]
struct ClientFile {
    /// Where the last read ended.
    read_end: u64,
    /// Requests asked for, those that have arrived among them.
    asked: BTreeSet<u64>,
    arrived: BTreeSet<u64>,
    /// Inner reads that wait for the requests of an extent.
    reads: Vec<Step>,
    close: Option<Step>,
}

/// A piece of a file, by its number.
#[derive(Clone, Copy, Debug)]
struct ClientRequest {
    client: u32,
    object: ObjectId,
    number: u64,
}

#[derive(Clone, Copy, Debug)]
enum Outer {
    Request(ClientRequest),
    /// Of a step that goes through as it is.
    Same(u64),
}

impl<S: Source> Disordered<S> {
    /// `inner` with the disorder of a file server's clients.
    pub fn new(inner: S, disorder: Disorder) -> Disordered<S> {
        let count = inner.client_count();
        Disordered {
            inner,
            disorder,
            numbers: Numbers::new(disorder.seed),
            files: BTreeMap::new(),
            queues: vec![VecDeque::new(); count],
            working: vec![0; count],
            tokens: Map::default(),
            token_count: 0,
            done: Vec::new(),
            passing: VecDeque::new(),
        }
    }

    fn start_step(&mut self, step: Step) {
        match step.deed {
            Deed::Read { .. } if !step.extent.is_empty() => self.plan(step),
            Deed::Close => {
                self.files.entry((step.client, step.object)).or_default().close = Some(step);
                self.answer_reads(step.client, step.object);
            }
            _ => self.passing.push_back(step),
        }
    }

    /// Asks for what a read needs, and for more if it goes on where the last one ended.
    fn plan(&mut self, step: Step) {
        let size = self.disorder.request_bytes;
        let file = self.files.entry((step.client, step.object)).or_default();
        let needed = self.disorder.numbers_of(step.extent);
        let is_sequential = step.extent.offset == file.read_end;
        let ahead = if is_sequential { self.disorder.ahead_count } else { 0 };
        let object_end = self.inner.objects()[step.object.0 as usize].size.div_ceil(size);
        let end = (needed.end + ahead).min(object_end).max(needed.end);
        file.read_end = step.extent.end();
        file.reads.push(step);
        for number in needed.start..end {
            if file.asked.insert(number) {
                let request = ClientRequest { client: step.client, object: step.object, number };
                self.queues[step.client as usize].push_back((request, 0));
            }
        }
        self.answer_reads(step.client, step.object);
    }

    /// Ends what has all it needs, and forgets what was read.
    fn answer_reads(&mut self, client: u32, object: ObjectId) {
        let Some(file) = self.files.get_mut(&(client, object)) else { return };
        let (disorder, arrived) = (self.disorder, &file.arrived);
        let is_there = |step: &Step| disorder.numbers_of(step.extent).all(|number| arrived.contains(&number));
        self.done.extend(file.reads.extract_if(.., |step| is_there(step)).map(|step| step.token));
        if !file.reads.is_empty() {
            return;
        }
        let read_end = file.read_end / disorder.request_bytes;
        file.asked.retain(|number| *number >= read_end || !file.arrived.contains(number));
        file.arrived.retain(|number| *number >= read_end);
        if file.asked.len() == file.arrived.len()
            && let Some(close) = file.close
        {
            self.passing.push_back(close);
            self.files.remove(&(client, object));
        }
    }

    /// The next request of a client with an idle worker.
    fn choose(&mut self) -> Option<ClientRequest> {
        let worker_count = self.disorder.worker_count.max(1);
        let is_able =
            |client: &usize| self.working[*client] < worker_count && !self.queues[*client].is_empty();
        let client = (0..self.queues.len()).find(is_able)?;
        let queue = &mut self.queues[client];
        let is_late = queue[0].1 >= self.disorder.displacement;
        let reach = if is_late { 1 } else { (self.disorder.displacement + 1).min(queue.len() as u64) };
        let at = self.numbers.below(reach) as usize;
        queue.iter_mut().take(at).for_each(|(_, overtaken)| *overtaken += 1);
        queue.remove(at).map(|(request, _)| request)
    }

    fn name(&mut self, outer: Outer) -> u64 {
        self.token_count += 1;
        self.tokens.insert(self.token_count, outer);
        self.token_count
    }

    /// The next step to the outside.
    fn emit(&mut self) -> Option<Step> {
        if let Some(step) = self.passing.pop_front() {
            let token = self.name(Outer::Same(step.token));
            return Some(Step { token, ..step });
        }
        let request = self.choose()?;
        let ClientRequest { client, object, number } = request;
        self.working[client as usize] += 1;
        let bytes = self.disorder.request_bytes;
        let size = self.inner.objects()[object.0 as usize].size;
        let extent = Extent::between(number * bytes, ((number + 1) * bytes).min(size));
        let token = self.name(Outer::Request(request));
        Some(Step { token, client, deed: Deed::Read { asked: extent.len }, object, extent })
    }
}

impl Disorder {
    fn numbers_of(&self, extent: Extent) -> std::ops::Range<u64> {
        extent.offset / self.request_bytes..extent.end().div_ceil(self.request_bytes)
    }
}

impl<S: Source> Source for Disordered<S> {
    fn objects(&self) -> &[Placed] {
        self.inner.objects()
    }

    fn directories(&self) -> &[Directory] {
        self.inner.directories()
    }

    fn client_count(&self) -> usize {
        self.inner.client_count()
    }

    fn next(&mut self, now: Time) -> Next {
        loop {
            for token in std::mem::take(&mut self.done) {
                self.inner.done(now, token);
            }
            let next = self.inner.next(now);
            if let Next::Step(step) = next {
                self.start_step(step);
                continue;
            }
            if !self.done.is_empty() {
                continue;
            }
            return match self.emit() {
                Some(step) => Next::Step(step),
                None if self.tokens.is_empty() => next,
                None if next == Next::End => Next::Blocked,
                None => next,
            };
        }
    }

    fn done(&mut self, _now: Time, token: u64) {
        match self.tokens.remove(&token) {
            Some(Outer::Same(inner)) => self.done.push(inner),
            Some(Outer::Request(request)) => {
                self.working[request.client as usize] -= 1;
                if let Some(file) = self.files.get_mut(&(request.client, request.object)) {
                    file.arrived.insert(request.number);
                }
                self.answer_reads(request.client, request.object);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests;
