//! The steps of a source, found by a run on a device where nothing takes time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::footprint::{BLOCK_BYTES, BlockRun, Footprint, Layout};
use crate::map::Map;
use crate::source::{Deed, Next, Source, Step, Time};
use crate::world::Stuck;

/// One read or write, of blocks by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Reference {
    first: u32,
    /// How many blocks, doubled; one more for a write.
    count: u32,
}

impl Reference {
    pub(super) fn new(blocks: Range<u32>, is_write: bool) -> Reference {
        Reference { first: blocks.start, count: (blocks.end - blocks.start) * 2 + u32::from(is_write) }
    }

    pub(super) fn blocks(self) -> Range<u32> {
        self.first..self.first + self.count / 2
    }

    pub(super) fn is_write(self) -> bool {
        self.count % 2 == 1
    }
}

/// No position in the order of references.
pub(super) const NEVER: u32 = u32::MAX;

/// The reads and writes of a source, in the order in which it makes them when every answer comes at once.
/// Each takes 16 bytes, and 4 for every block.
#[derive(Clone, Debug)]
pub struct Future {
    pub(super) footprint: Footprint,
    pub(super) references: Vec<Reference>,
    /// When each is made, in nanoseconds.
    pub(super) times_ns: Vec<u64>,
    pub(super) end_ns: u64,
    pub(super) is_serial: bool,
    pub(super) write_bytes: u64,
    pub(super) read_cost_ns: u64,
    /// The positions of the references to a block are `positions[starts[n]..starts[n + 1]]`.
    pub(super) starts: Vec<u32>,
    pub(super) positions: Vec<u32>,
    /// The next reference to exactly the same blocks, or [`NEVER`].
    pub(super) repeats: Vec<u32>,
    /// The first reference to each run of blocks.
    pub(super) heads: Map<Reference, u32>,
}

impl Future {
    /// Plays `source` to its end. Every read costs its client `read_cost_ns` besides waiting.
    ///
    /// # Errors
    /// The source waits for something that does not happen.
    pub fn record(source: &mut dyn Source, read_cost_ns: u64) -> Result<Future, Stuck> {
        let mut recorder = Recorder::new(source, read_cost_ns);
        recorder.play(source)?;
        Ok(recorder.finish())
    }

    /// When the last step is done if no read ever waits, in nanoseconds: think times,
    /// recorded times and the costs of reads.
    pub fn end_ns(&self) -> u64 {
        self.end_ns
    }

    /// Reads and writes.
    pub fn reference_count(&self) -> usize {
        self.references.len()
    }

    /// Bytes of all blocks that are ever read or written.
    pub fn footprint_bytes(&self) -> u64 {
        u64::from(self.footprint.block_count()) * BLOCK_BYTES
    }

    /// Whether every step waits for the one before it, so that their order is the
    /// same whatever the device.
    pub fn is_serial(&self) -> bool {
        self.is_serial
    }

    /// For each block, where it is referred to.
    fn index(&mut self) {
        let mut starts = vec![0_u32; self.footprint.block_count() as usize + 1];
        for reference in &self.references {
            reference.blocks().for_each(|block| starts[block as usize + 1] += 1);
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let mut next = starts.clone();
        self.positions = vec![0; starts.last().map_or(0, |end| *end as usize)];
        for (position, reference) in self.references.iter().enumerate() {
            for block in reference.blocks() {
                self.positions[next[block as usize] as usize] = position as u32;
                next[block as usize] += 1;
            }
        }
        self.starts = starts;
        self.repeats = vec![NEVER; self.references.len()];
        for (position, reference) in self.references.iter().enumerate().rev() {
            let head = self.heads.insert(*reference, position as u32);
            self.repeats[position] = head.unwrap_or(NEVER);
        }
    }
}

struct Recorder {
    layout: Layout,
    read_cost_ns: u64,
    now: Time,
    /// Steps that the source has made and that are answered when it waits.
    pending: Vec<Step>,
    finishing: BinaryHeap<Reverse<(Time, u64)>>,
    runs: Vec<(BlockRun, bool)>,
    times_ns: Vec<u64>,
    write_bytes: u64,
    is_serial: bool,
}

impl Recorder {
    fn new(source: &dyn Source, read_cost_ns: u64) -> Recorder {
        Recorder {
            layout: Layout::new(source.objects()),
            read_cost_ns,
            now: Time(0),
            pending: Vec::new(),
            finishing: BinaryHeap::new(),
            runs: Vec::new(),
            times_ns: Vec::new(),
            write_bytes: 0,
            is_serial: true,
        }
    }

    fn play(&mut self, source: &mut dyn Source) -> Result<(), Stuck> {
        loop {
            let next = source.next(self.now);
            if let Next::Step(step) = next {
                self.start_step(source, step);
                continue;
            }
            // It could have gone on without an answer.
            let waits = self.pending.is_empty() && self.finishing.is_empty() || next == Next::Blocked;
            self.is_serial &= waits;
            if self.answer(source) {
                continue;
            }
            let finishing = self.finishing.peek().map(|Reverse((time, _))| *time);
            self.now = match (next, finishing) {
                (Next::End, None) => return Ok(()),
                (Next::Later(time), Some(done)) => time.min(done),
                (Next::Later(time), None) | (_, Some(time)) => time,
                _ => return Err(Stuck { time: self.now, under_way: 0 }),
            };
            while let Some(Reverse((time, token))) = self.finishing.peek().copied() {
                if time > self.now {
                    break;
                }
                self.finishing.pop();
                source.done(self.now, token);
            }
        }
    }

    fn start_step(&mut self, source: &mut dyn Source, step: Step) {
        if matches!(step.deed, Deed::Close | Deed::List) {
            return source.done(self.now, step.token);
        }
        self.is_serial &= self.pending.is_empty() && self.finishing.is_empty();
        self.pending.push(step);
        let is_write = step.deed == Deed::Write;
        if is_write {
            self.write_bytes += step.extent.len;
        }
        if let Some(run) = self.layout.run(step.object, step.extent) {
            self.runs.push((run, is_write));
            self.times_ns.push(self.now.0);
        }
    }

    /// Answers what is pending; false if nothing is, or nothing is done yet.
    fn answer(&mut self, source: &mut dyn Source) -> bool {
        let mut answered = false;
        for step in std::mem::take(&mut self.pending) {
            if step.deed == Deed::Write || self.read_cost_ns == 0 {
                answered = true;
                source.done(self.now, step.token);
            } else {
                self.finishing.push(Reverse((Time(self.now.0 + self.read_cost_ns), step.token)));
            }
        }
        answered
    }

    fn finish(self) -> Future {
        let runs = self.runs.iter().map(|(run, _)| *run).collect();
        let footprint = Footprint::new(self.layout, runs);
        let reference = |(run, is_write): &(BlockRun, bool)| {
            Reference::new(footprint.numbers(*run).unwrap_or_default(), *is_write)
        };
        let mut future = Future {
            references: self.runs.iter().map(reference).collect(),
            times_ns: self.times_ns,
            end_ns: self.now.0,
            is_serial: self.is_serial,
            write_bytes: self.write_bytes,
            read_cost_ns: self.read_cost_ns,
            footprint,
            starts: Vec::new(),
            positions: Vec::new(),
            repeats: Vec::new(),
            heads: Map::default(),
        };
        future.index();
        future
    }
}
