//! The known part of the future, and how much of it has happened.

use super::super::future::{Future, NEVER, Reference};
use crate::map::Map;

#[derive(Debug)]
pub(super) struct Foresight<'a> {
    pub(super) future: &'a Future,
    look_ahead: usize,
    /// By position: the source has made it.
    made: Vec<bool>,
    /// Everything before this position has been made.
    front: usize,
    /// By block: the first of its positions that may not have been made.
    next: Vec<u32>,
    /// The first reference to each run of blocks that has not been made.
    heads: Map<Reference, u32>,
}

impl<'a> Foresight<'a> {
    pub(super) fn new(future: &'a Future, look_ahead: Option<usize>) -> Foresight<'a> {
        Foresight {
            future,
            look_ahead: look_ahead.unwrap_or(usize::MAX),
            made: vec![false; future.references.len()],
            front: 0,
            next: future.starts.clone(),
            heads: future.heads.clone(),
        }
    }

    /// The source makes `reference` now. False if it was not foreseen.
    pub(super) fn make(&mut self, reference: Reference) -> bool {
        let Some(head) = self.heads.get_mut(&reference).filter(|head| **head != NEVER) else { return false };
        self.made[*head as usize] = true;
        *head = self.future.repeats[*head as usize];
        while self.made.get(self.front).is_some_and(|made| *made) {
            self.front += 1;
        }
        true
    }

    /// The reference at `position`, unless it is over or not known yet.
    pub(super) fn at(&self, position: usize) -> Option<Reference> {
        let unmade = position < self.horizon() && !self.made[position];
        unmade.then(|| self.future.references[position])
    }

    /// The first position of which nothing is known.
    pub(super) fn horizon(&self) -> usize {
        self.front.saturating_add(self.look_ahead).min(self.made.len())
    }

    /// When what is in a block is read next: a position, or [`NEVER`] if it is
    /// overwritten before, or not known to be read.
    pub(super) fn next_read(&mut self, block: u32) -> u32 {
        let end = self.future.starts[block as usize + 1];
        let next = &mut self.next[block as usize];
        while *next < end {
            let position = self.future.positions[*next as usize] as usize;
            if !self.made[position] {
                let known = position < self.front.saturating_add(self.look_ahead);
                let is_read = !self.future.references[position].is_write();
                return if known && is_read { position as u32 } else { NEVER };
            }
            *next += 1;
        }
        NEVER
    }
}
