//! Readahead that was decided and not dispatched yet.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::types::{Extent, ObjectId};

/// Windows remembered at most; more than that many streams want something at
/// once only when the storage is far behind, and then the newest can wait for
/// their reader.
const PENDING_MAX: usize = 1024;

/// Windows in the order they were decided. One turn takes one fetch's worth of
/// a window and puts the rest behind the others, so that no stream's large
/// window starves another's small one; where going from one to the other is
/// dear, turns are longer.
#[derive(Debug)]
pub(crate) struct Pending {
    windows: VecDeque<(ObjectId, Extent)>,
    turn: Option<Turn>,
    /// Objects whose windows are one batch: a turn goes on upward from one to the next.
    sweeps: Vec<ObjectId>,
}

/// Whose turn it is, and for how many bytes more.
#[derive(Clone, Copy, Debug)]
struct Turn {
    object: ObjectId,
    /// Where it goes on.
    offset: u64,
    left: u64,
}

impl Turn {
    /// Whether it goes on with `window`.
    fn takes(&self, (owner, window): &(ObjectId, Extent)) -> bool {
        *owner == self.object && window.offset <= self.offset && self.offset < window.end()
    }
}

impl Pending {
    pub(crate) fn new() -> Pending {
        Pending { windows: VecDeque::new(), turn: None, sweeps: Vec::new() }
    }

    /// Whether the windows of `object` are one batch, to be fetched in order of address.
    pub(crate) fn set_sweep(&mut self, object: ObjectId, on: bool) {
        let place = self.sweeps.iter().position(|sweep| *sweep == object);
        match place {
            None if on => self.sweeps.push(object),
            Some(place) if !on => drop(self.sweeps.swap_remove(place)),
            _ => {}
        }
    }

    /// How many windows may be added that join no other.
    pub(crate) fn room(&self) -> usize {
        PENDING_MAX.saturating_sub(self.windows.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.windows.is_empty()
    }

    /// Bytes of `object` that wait to be dispatched.
    pub(crate) fn bytes_of(&self, object: ObjectId) -> u64 {
        let of_object = self.windows.iter().filter(|(owner, _)| *owner == object);
        of_object.map(|(_, window)| window.len).sum()
    }

    /// How many windows wait.
    pub(crate) fn count(&self) -> usize {
        self.windows.len()
    }

    /// Whether who can wait should, before more is wanted.
    pub(crate) fn is_half_full(&self) -> bool {
        self.windows.len() >= PENDING_MAX / 2
    }

    /// Adds a window, to one that ends where it starts if there is such a one.
    /// False if there is no room for it.
    pub(crate) fn push(&mut self, object: ObjectId, extent: Extent) -> bool {
        let joined =
            self.windows.iter_mut().find(|(owner, window)| *owner == object && window.end() == extent.offset);
        if let Some((_, window)) = joined {
            window.len += extent.len;
            return true;
        }
        if self.room() == 0 {
            return false;
        }
        self.windows.push_back((object, extent));
        true
    }

    /// The window whose turn it is, and else the one that waits longest, of those that are not put
    /// off. Batches never are.
    pub(crate) fn pop(
        &mut self,
        is_put_off: impl Fn(ObjectId, Extent) -> bool,
    ) -> Option<(ObjectId, Extent)> {
        let is_next = |(object, window): &(ObjectId, Extent)| {
            self.sweeps.contains(object) || !is_put_off(*object, *window)
        };
        let place = self.turn.and_then(|turn| self.next_of(&turn)).filter(|at| is_next(&self.windows[*at]));
        let next = place.or_else(|| self.windows.iter().position(is_next));
        if place.is_none() {
            self.turn = None;
        }
        self.windows.remove(next?)
    }

    /// `run` was dispatched, and its stream's turn takes `turn_bytes` from the
    /// beginning.
    pub(crate) fn dispatched(&mut self, object: ObjectId, run: Extent, turn_bytes: u64) {
        let turn = self.turn.filter(|turn| turn.object == object && turn.offset <= run.offset);
        let turn_bytes = if self.sweeps.contains(&object) { u64::MAX } else { turn_bytes };
        let left = turn.map_or(turn_bytes, |turn| turn.left).saturating_sub(run.len);
        self.turn = (left > 0).then_some(Turn { object, offset: run.end(), left });
    }

    /// The same of `run` that a reader waited for: a turn of its own, unless it is where one goes on.
    pub(crate) fn dispatched_for_reader(&mut self, object: ObjectId, run: Extent, turn_bytes: u64) {
        self.turn = self.turn.filter(|turn| turn.object == object && turn.offset == run.offset);
        self.dispatched(object, run, turn_bytes);
    }

    /// Whether somebody's turn goes on.
    pub(crate) fn is_in_turn(&self) -> bool {
        self.turn.is_some_and(|turn| self.next_of(&turn).is_some())
    }

    /// The window that `turn` goes on with.
    fn next_of(&self, turn: &Turn) -> Option<usize> {
        let exact = self.windows.iter().position(|window| turn.takes(window));
        if exact.is_some() || !self.sweeps.contains(&turn.object) {
            return exact;
        }
        let above = self
            .windows
            .iter()
            .enumerate()
            .filter(|(_, (owner, window))| *owner == turn.object && window.offset >= turn.offset);
        above.min_by_key(|(_, (_, window))| window.offset).map(|(place, _)| place)
    }

    /// Nobody's turn goes on.
    pub(crate) fn end_turn(&mut self) {
        self.turn = None;
    }

    /// Whether a read of the blocks `extent` is of a stream: readahead that was decided has some of
    /// them, or goes on beside them.
    pub(crate) fn touches(&self, object: ObjectId, extent: Extent) -> bool {
        self.windows.iter().any(|planned| touch(planned, object, extent))
    }

    /// Whether a read of the blocks `extent` waits while somebody's turn goes on: it
    /// belongs to another stream, or that turn gets there.
    pub(crate) fn is_out_of_turn(&self, object: ObjectId, extent: Extent) -> bool {
        let Some(turn) = self.turn else { return false };
        self.windows.iter().any(|planned| {
            let is_next =
                extent.offset <= turn.offset || extent.offset > turn.offset.saturating_add(turn.left);
            touch(planned, object, extent) && !(turn.takes(planned) && is_next)
        })
    }

    pub(crate) fn put_back(&mut self, object: ObjectId, extent: Extent) {
        if !extent.is_empty() {
            self.windows.push_back((object, extent));
        }
    }

    pub(crate) fn put_front(&mut self, object: ObjectId, extent: Extent) {
        self.windows.push_front((object, extent));
    }

    /// `extent` is fetched for somebody who has to wait, perhaps with more that goes
    /// along, or is behind them: a window that begins or ends within it is shorter now.
    /// Were it evicted once it was read, it would be fetched again.
    pub(crate) fn pass(&mut self, object: ObjectId, extent: Extent) {
        for (owner, window) in &mut self.windows {
            if *owner != object || !window.overlaps(&extent) {
                continue;
            }
            if extent.offset <= window.offset {
                *window = Extent::between(extent.end().min(window.end()), window.end());
            } else if extent.end() >= window.end() {
                *window = Extent::between(window.offset, extent.offset);
            }
        }
        self.windows.retain(|(_, window)| !window.is_empty());
    }

    /// How far readahead that was decided goes on from `offset`.
    pub(crate) fn end_from(&self, object: ObjectId, offset: u64) -> Option<u64> {
        self.windows
            .iter()
            .filter(|(owner, window)| *owner == object && window.offset <= offset && offset < window.end())
            .map(|(_, window)| window.end())
            .max()
    }

    /// Drops what was decided for `object` from the first byte of `extent` on,
    /// where a window has some of it; the parts that were dropped.
    pub(crate) fn cut(&mut self, object: ObjectId, extent: Extent) -> Vec<Extent> {
        let mut dropped = Vec::new();
        for (owner, window) in &mut self.windows {
            if *owner == object && window.overlaps(&extent) {
                let kept = Extent::between(window.offset, extent.offset);
                dropped.push(Extent::between(kept.end(), window.end()));
                *window = kept;
            }
        }
        self.windows.retain(|(_, window)| !window.is_empty());
        dropped
    }
}

/// Whether a window of readahead has some of `extent`, or begins or ends beside it.
fn touch((owner, window): &(ObjectId, Extent), object: ObjectId, extent: Extent) -> bool {
    *owner == object && window.offset <= extent.end() && extent.offset <= window.end()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;
    const OBJECT: ObjectId = ObjectId(0);

    #[test]
    fn what_is_put_off_is_nobodys_turn_unless_it_is_a_batch() {
        let window = |object, offset| (ObjectId(object), Extent::new(offset, MIB));
        let mut pending = Pending::new();
        for (object, extent) in [window(0, 0), window(1, 0)] {
            pending.push(object, extent);
        }
        pending.dispatched(ObjectId(0), Extent::new(0, 4096), MIB);
        assert!(pending.is_in_turn());
        assert_eq!(pending.pop(|object, _| object == ObjectId(0)), Some(window(1, 0)));
        assert!(!pending.is_in_turn());
        assert_eq!(pending.pop(|_, _| true), None);
        pending.set_sweep(ObjectId(0), true);
        assert_eq!(pending.pop(|_, _| true), Some(window(0, 0)));
    }

    #[test]
    fn a_reader_of_another_place_has_a_turn_of_its_own() {
        let mut pending = Pending::new();
        pending.push(OBJECT, Extent::new(0, 8 * MIB));
        pending.push(OBJECT, Extent::new(64 * MIB, 8 * MIB));
        assert_eq!(pending.pop(|_, _| false), Some((OBJECT, Extent::new(0, 8 * MIB))));
        pending.dispatched(OBJECT, Extent::new(0, 3 * MIB), 4 * MIB);
        // What else was wanted there is dropped, and somebody waits elsewhere.
        pending.pass(OBJECT, Extent::new(64 * MIB, MIB));
        pending.dispatched_for_reader(OBJECT, Extent::new(64 * MIB, MIB), 4 * MIB);
        for place in 65..68 {
            assert_eq!(
                pending.pop(|_, _| false),
                Some((OBJECT, Extent::new(place * MIB, (72 - place) * MIB)))
            );
            pending.dispatched(OBJECT, Extent::new(place * MIB, MIB), 4 * MIB);
            pending.put_back(OBJECT, Extent::new((place + 1) * MIB, (71 - place) * MIB));
        }
        assert!(!pending.is_in_turn());
        // Where a turn goes on, it is no other.
        pending.dispatched(OBJECT, Extent::new(0, 3 * MIB), 4 * MIB);
        pending.dispatched_for_reader(OBJECT, Extent::new(3 * MIB, MIB), 4 * MIB);
        assert!(!pending.is_in_turn());
    }
}
