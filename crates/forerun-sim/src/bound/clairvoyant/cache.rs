//! Which blocks are in memory, and which of them are given up for others.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::super::future::{NEVER, Reference};
use super::foresight::Foresight;
use crate::map::Map;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Absent,
    /// Asked for, or about to be.
    Coming,
    /// The same, but overwritten in the meantime.
    Stale,
    Resident,
}

/// A block to be fetched and the position at which it is needed.
pub(super) type Wish = (u32, u32);

#[derive(Debug)]
pub(super) struct Cache<'a> {
    pub(super) foresight: Foresight<'a>,
    capacity: u64,
    held: u64,
    states: Vec<State>,
    /// Resident blocks by next read, the last one first; of those that are not known
    /// to be read, the one used longest ago. Entries that are no longer true are put
    /// right when they come up.
    victims: BinaryHeap<(u32, Reverse<u32>, u32)>,
    uses: u32,
    /// Blocks that a client waits for and nobody has asked the device for.
    wanted: VecDeque<u32>,
    /// All known blocks that are needed before this position are here or in flight. Exceptions are those in
    /// `wanted` and `early`, and those that are being written.
    frontier: usize,
    /// Blocks of the frontier's run that have been looked at.
    offset: u32,
    /// Absent blocks that are needed before the frontier.
    early: BinaryHeap<Reverse<(u32, u32)>>,
    /// Blocks that are being written, and how often.
    writing: Map<u32, u32>,
}

impl<'a> Cache<'a> {
    pub(super) fn new(foresight: Foresight<'a>, capacity: u64) -> Cache<'a> {
        let blocks = foresight.future.footprint.block_count() as usize;
        Cache {
            foresight,
            capacity: capacity.max(1),
            held: 0,
            states: vec![State::Absent; blocks],
            victims: BinaryHeap::new(),
            uses: 0,
            wanted: VecDeque::new(),
            frontier: 0,
            offset: 0,
            early: BinaryHeap::new(),
            writing: Map::default(),
        }
    }

    /// A client uses a block. False if it has to wait for it.
    pub(super) fn used(&mut self, block: u32) -> bool {
        match self.states[block as usize] {
            State::Resident => self.rank(block),
            State::Absent => self.wanted.push_back(block),
            State::Coming | State::Stale => {}
        }
        self.states[block as usize] == State::Resident
    }

    /// Files a resident block under its next read.
    fn rank(&mut self, block: u32) {
        if self.capacity < self.states.len() as u64 {
            self.uses = self.uses.wrapping_add(1);
            self.victims.push((self.foresight.next_read(block), Reverse(self.uses), block));
        }
    }

    /// A block has come, for `is_wanted` clients. False if it is of no use to them.
    pub(super) fn arrived(&mut self, block: u32, is_wanted: bool) -> bool {
        if self.states[block as usize] == State::Stale {
            self.drop_block(block);
            if is_wanted {
                self.wanted.push_back(block);
            }
            return false;
        }
        self.states[block as usize] = State::Resident;
        self.rank(block);
        true
    }

    fn drop_block(&mut self, block: u32) {
        self.states[block as usize] = State::Absent;
        self.held -= 1;
        self.reconsider(block);
    }

    /// An absent block may be needed where nobody will look any more.
    fn reconsider(&mut self, block: u32) {
        let next = self.foresight.next_read(block);
        if next != NEVER && next as usize <= self.frontier {
            self.early.push(Reverse((next, block)));
        }
    }

    pub(super) fn write_begins(&mut self, reference: Reference) {
        reference.blocks().for_each(|block| *self.writing.entry(block).or_default() += 1);
    }

    /// A write ended: earlier contents of these blocks are worth nothing any more.
    pub(super) fn write_ends(&mut self, reference: Reference) {
        for block in reference.blocks() {
            if let Some(count) = self.writing.get_mut(&block) {
                *count -= 1;
                if *count == 0 {
                    self.writing.remove(&block);
                }
            }
            match self.states[block as usize] {
                State::Resident => self.drop_block(block),
                State::Coming => self.states[block as usize] = State::Stale,
                State::Stale => {}
                // It was passed over while it was written.
                State::Absent => self.reconsider(block),
            }
        }
    }

    /// Takes memory for blocks that clients wait for.
    pub(super) fn take_wanted(&mut self, max: usize, batch: &mut Vec<Wish>) {
        while let Some(block) = self.wanted.front().copied() {
            // Another client may have wanted it too.
            if self.states[block as usize] == State::Absent {
                if batch.len() == max || !self.take(block, None) {
                    return;
                }
                batch.push((block, 0));
            }
            self.wanted.pop_front();
        }
    }

    /// Takes memory for up to `max` blocks, those that are needed first.
    pub(super) fn take_batch(&mut self, max: usize) -> Vec<Wish> {
        let mut batch = Vec::new();
        self.take_wanted(max, &mut batch);
        while batch.len() < max
            && self.wanted.is_empty()
            && let Some(Reverse((position, block))) = self.early.pop()
        {
            if self.may_fetch(block) && self.foresight.next_read(block) == position {
                if !self.take(block, Some(position)) {
                    self.early.push(Reverse((position, block)));
                    return batch;
                }
                batch.push((block, position));
            }
        }
        self.scan(max, &mut batch);
        batch
    }

    /// The rest of a batch, from the frontier onwards.
    fn scan(&mut self, max: usize, batch: &mut Vec<Wish>) {
        let horizon = self.foresight.horizon();
        while self.wanted.is_empty() && self.frontier < horizon {
            let reference = self.foresight.at(self.frontier).filter(|reference| !reference.is_write());
            let blocks = reference.map_or(0..0, Reference::blocks);
            for block in blocks.skip(self.offset as usize) {
                let position = self.frontier as u32;
                if self.may_fetch(block) && self.foresight.next_read(block) <= position {
                    if batch.len() == max || !self.take(block, Some(position)) {
                        return;
                    }
                    batch.push((block, position));
                }
                self.offset += 1;
            }
            self.frontier += 1;
            self.offset = 0;
        }
    }

    fn may_fetch(&self, block: u32) -> bool {
        self.states[block as usize] == State::Absent && !self.writing.contains_key(&block)
    }

    /// Takes memory for a block that is needed at `position`, or now. False if that
    /// would do harm, or everything is in flight.
    fn take(&mut self, block: u32, position: Option<u32>) -> bool {
        if self.held == self.capacity && !self.evict(position) {
            return false;
        }
        self.states[block as usize] = State::Coming;
        self.held += 1;
        true
    }

    /// Gives up the block that is read last, if that is after `position`.
    fn evict(&mut self, position: Option<u32>) -> bool {
        while let Some((filed, used, block)) = self.victims.peek().copied() {
            if self.states[block as usize] != State::Resident {
                self.victims.pop();
                continue;
            }
            let next = self.foresight.next_read(block);
            if next != filed {
                self.victims.pop();
                self.victims.push((next, used, block));
                continue;
            }
            if position.is_some_and(|position| next <= position) {
                return false;
            }
            self.victims.pop();
            self.drop_block(block);
            return true;
        }
        false
    }
}
