//! Where streams come from: what belongs to none is evidence, until there is enough.

use super::{Begun, Ends, Streams};
use crate::cache::Cache;
use crate::policy::Access;
use crate::policy::adaptive::amounts::Terms;
use crate::policy::adaptive::evidence::Candidate;
use crate::policy::adaptive::stream::{Shape, Stream};
use crate::types::{Extent, ObjectId};

/// Candidates kept at least, however little comes of them.
const PATIENCE_MIN: u16 = 16;
/// An object's head may be one byte of so many that may be wasted: 256 KiB, which take less time far
/// away than a wait for the first byte.
const HEAD_SHARE: u64 = 32;

impl Streams {
    /// Takes the read as evidence, which may be enough for a new stream, where a wait is
    /// worth `wait_bytes`. Whoever `is_announced` has said that it reads on.
    pub(crate) fn begin(
        &mut self,
        access: &Access,
        is_announced: bool,
        wait_bytes: u64,
        terms: &Terms,
        ends: &mut Ends,
        cache: &Cache,
    ) -> Begun {
        self.regain(access);
        // Whoever reads an object's start most often reads on.
        let at_start = access.extent.offset == 0 || is_announced;
        self.begin_run(access.extent);
        // Who reads at random what is in memory needs nothing ahead, and should
        // not pay for looking; what is on its way, some stream has wanted already.
        // Unless it was a guess that put it there.
        let awaiting = self.awaiting(access.extent);
        if let Some(index) = awaiting {
            self.look_at(index, access);
        }
        let needs_nothing = !access.missing && (self.guessed_count == 0 || awaiting.is_some());
        if needs_nothing && !at_start {
            return Begun::Candidate(None);
        }
        let mut candidate = self.take_near(access);
        // The bytes right before were read in another order.
        if let Some(run) = self.rhythm.joined().filter(|run| run.end() == access.extent.end()) {
            candidate = candidate.after(run);
        }
        let shape = candidate.shape().or(at_start.then_some(Shape::Forward));
        if let Some(shape) = shape {
            self.guesses.was_right(&candidate);
            self.help_those_in_line(access);
            if !at_start {
                self.help_with_head(&shape, candidate.extent().offset, terms);
            }
            return Begun::Stream(self.insert_dense(shape, &candidate, access, ends, cache));
        }
        if let Some(index) = self.begin_strided(access, ends, cache) {
            self.keep(&candidate, access.object, cache);
            return Begun::Stream(index);
        }
        if let Some(index) = self.begin_disordered(&candidate, access, terms, ends, cache) {
            return Begun::Stream(index);
        }
        if awaiting.is_some() {
            self.keep(&candidate, access.object, cache);
            return Begun::Candidate(None);
        }
        if candidate.is_new()
            && let Some(reach) = self.reach_of_first(&candidate, wait_bytes, terms, access.object, cache)
        {
            if reach > candidate.bytes() {
                let shape = if self.ways.go_down() { Shape::Backward } else { Shape::Forward };
                return Begun::Stream(self.insert_dense(shape, &candidate, access, ends, cache));
            }
            self.keep(&candidate, access.object, cache);
            return Begun::Candidate(None);
        }
        let guess = self.guess(&mut candidate, access.size, terms);
        self.keep(&candidate, access.object, cache);
        Begun::Candidate(guess)
    }

    /// What is bet on the first read of `candidate`, of an object of `size` bytes.
    fn guess(&mut self, candidate: &mut Candidate, size: u64, terms: &Terms) -> Option<Extent> {
        if candidate.bytes() > self.ledger.left(terms).min(self.guess_room) {
            return None;
        }
        let guess = self.guesses.for_first_read(candidate, size)?;
        self.ledger.lose(guess.len);
        Some(guess)
    }

    /// The stream that is to come to `extent`.
    fn awaiting(&self, extent: Extent) -> Option<usize> {
        let is_awaited = |stream: &Stream| !stream.is_settled() && stream.unread_bytes_of(extent) > 0;
        self.briefs.concerned(extent).find(|index| is_awaited(&self.streams[*index]))
    }

    /// The reader of the stream at `index` asks for what lies further ahead than what comes next.
    fn look_at(&mut self, index: usize, access: &Access) {
        let stream = &mut self.streams[index];
        stream.look_ahead(self.read_count, access.late);
        if stream.ends_with(access.extent) {
            self.ways.note_look();
        }
        self.briefs.note(index, stream);
    }

    /// How far a first read most likely goes on, where a wait is worth anything.
    fn reach_of_first(
        &self,
        candidate: &Candidate,
        wait_bytes: u64,
        terms: &Terms,
        object: ObjectId,
        cache: &Cache,
    ) -> Option<u64> {
        let own = candidate.bytes();
        // Most often nobody reads on, and there is no need to look at others.
        let longest = self.runs.reach(own, wait_bytes, 0)?;
        if longest <= own {
            return Some(longest);
        }
        let others = self.candidates.iter().filter(|other| other.is_alone(object, cache)).count() as u64;
        let is_sure = |reach: &u64| terms.is_far() && self.runs.is_sure(own, *reach, others);
        let sure = self.runs.reach(own, wait_bytes, others).filter(is_sure);
        if wait_bytes == 0 || sure.is_some() {
            return sure;
        }
        let wait_bytes = self.ledger.priced(wait_bytes, terms);
        if wait_bytes > 0 { self.runs.reach(own, wait_bytes, others) } else { None }
    }

    /// A read that is a step of a strided stream may also be one of a dense stream:
    /// many that are read in turns first look like steps.
    pub(super) fn begin_beside(&mut self, access: &Access, ends: &mut Ends, cache: &Cache) -> Option<usize> {
        if !self.is_new_run {
            return None;
        }
        let candidate = self.take_near(access);
        if let Some(shape) = candidate.shape() {
            self.help_those_in_line(access);
            return Some(self.insert_dense(shape, &candidate, access, ends, cache));
        }
        self.keep(&candidate, access.object, cache);
        None
    }

    /// The candidate near the read with it added, or a new one.
    fn take_near(&mut self, access: &Access) -> Candidate {
        // In blocks, since the rest of a block is there once it was fetched: reads
        // of a few bytes each would otherwise show up once in a while only.
        let extent = access.extent.to_blocks().intersection(&Extent::new(0, access.size));
        self.chance.note(self.candidates.len(), extent.len, access.size);
        let near = self.candidates.iter().rposition(|candidate| candidate.is_near(extent));
        self.procession.note(near);
        let Some(mut candidate) = near.and_then(|index| self.candidates.remove(index)) else {
            let mut candidate = Candidate::new(extent);
            candidate.note_index(self.read_count);
            return candidate;
        };
        self.guessed_count -= u8::from(candidate.is_guessed());
        candidate.add(extent);
        candidate.note_index(self.read_count);
        candidate
    }

    /// Others that have read once will most likely read on.
    fn help_those_in_line(&mut self, access: &Access) {
        for guess in self.procession.next(&mut self.candidates, access.size) {
            self.guessed_count += 1;
            self.aside.push(guess);
        }
    }

    /// Whose reads go forward from near the object's start, the first of all who do, may have begun with it
    /// in disorder: far away he waits once for all that he has left out.
    fn help_with_head(&mut self, shape: &Shape, start: u64, terms: &Terms) {
        let is_first = self.streams.is_empty() && matches!(shape, Shape::Forward);
        if terms.is_far() && is_first && start > 0 && start <= self.ledger.left(terms) / HEAD_SHARE {
            self.aside.push(Extent::new(0, start));
        }
    }

    fn keep(&mut self, candidate: &Candidate, object: ObjectId, cache: &Cache) {
        while self.candidates.len() >= usize::from(self.patience)
            && let Some(oldest) = self.candidates.front()
        {
            self.guessed_count -= u8::from(oldest.is_guessed());
            if oldest.is_alone(object, cache) {
                self.runs.note(oldest.bytes());
            }
            self.candidates.pop_front();
            self.patience = (self.patience - 1).max(PATIENCE_MIN);
        }
        self.guessed_count += u8::from(candidate.is_guessed());
        self.candidates.push_back(*candidate);
    }

    /// Reads that no dense stream explains may be steps.
    pub(super) fn begin_run(&mut self, extent: Extent) {
        if self.is_new_run {
            self.rhythm.begin(extent);
        }
    }
}
