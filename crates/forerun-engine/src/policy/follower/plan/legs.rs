//! Where readers of a plan are: several at once, each in a leg of its own.
//!
//! ```text
//!  |-- a leg ---------------------------|-- the next --------------|
//!         reached      ordered                reached    ordered     positions, in the plan's order
//!  ----------|------------|-------------|---------|---------|------
//!    read     <-- ahead -->  not wanted yet
//! ```
//! Who reads twice in one place where nothing is wanted yet begins a leg there. Whether somebody
//! else goes on with the one before, or the same reader has jumped, will be seen: a leg that nobody
//! reads while others are read is left. One that was read to its end is one with the next.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::LEFT_BYTES;
use super::passed::Passed;
use crate::policy::follower::route::Route;
use crate::types::Extent;

/// Of one plan at once; and reads past what is wanted of a leg that are remembered.
const LEGS_MAX: usize = 32;
/// Two reads so near one another are of one place.
const PLACE_BYTES: u64 = 512 << 10;

/// `start <= reached <= ordered`, and none is past the next one's start.
#[derive(Debug)]
pub(super) struct Leg {
    start: u64,
    pub(super) reached: u64,
    pub(super) ordered: u64,
    /// Bytes that were read and are not behind.
    pub(super) early: u64,
    /// Bytes that were read since the plan was let go last.
    pub(super) used: u64,
    /// How many of the plan had been when it was read last.
    read_at: u64,
    /// The last reads that lay past what is wanted.
    far: VecDeque<Extent>,
}

impl Leg {
    fn new(start: u64, early: u64, read_at: u64) -> Leg {
        Leg { start, reached: start, ordered: start, early, used: 0, read_at, far: VecDeque::new() }
    }

    /// Whether somebody reads it.
    pub(super) fn is_read(&self) -> bool {
        self.reached > self.start
    }

    /// How much is ahead.
    pub(super) fn lead(&self) -> u64 {
        self.ordered - self.reached
    }

    /// Whether the plan's beginning is a part of it.
    pub(super) fn is_first(&self) -> bool {
        self.start == 0
    }

    /// Nobody has read it while `used` bytes of the plan were.
    fn is_left(&self, used: u64) -> bool {
        used - self.read_at > LEFT_BYTES.max(self.ordered - self.reached)
    }

    /// Somebody reads `positions`, past what is wanted: where the place starts if that was read before.
    pub(super) fn place(&mut self, positions: Extent) -> Option<u64> {
        let way = |before: &Extent| positions.offset.checked_sub(before.end());
        let nearest = self.far.iter().filter(|before| way(before).is_some_and(|way| way <= PLACE_BYTES));
        if let Some(before) = nearest.max_by_key(|before| before.offset) {
            return Some(before.offset.max(self.ordered));
        }
        if self.far.len() == LEGS_MAX {
            self.far.pop_front();
        }
        self.far.push_back(positions);
        None
    }

    /// So many bytes of it are behind now, and what follows that was read.
    pub(super) fn advance(&mut self, bytes: u64, end: u64, route: &Route, passed: &mut Passed) {
        let bytes = bytes.min(end - self.reached);
        let wanted = bytes.min(self.ordered - self.reached);
        let (reached, read) = passed.pass(route, Extent::new(self.reached, bytes), wanted, end);
        self.early = self.early.saturating_sub(read);
        self.reached = reached;
        self.ordered = self.ordered.max(reached);
    }
}

/// See the module's page. There is always one; they are in order, the first at 0.
#[derive(Debug)]
pub(super) struct Legs {
    legs: Vec<Leg>,
    /// The one that was read last.
    recent: usize,
}

impl Legs {
    pub(super) fn new() -> Legs {
        Legs { legs: alloc::vec![Leg::new(0, 0, 0)], recent: 0 }
    }

    /// The one that was read last.
    pub(super) fn recent(&self) -> &Leg {
        &self.legs[self.recent]
    }

    pub(super) fn recent_mut(&mut self) -> &mut Leg {
        &mut self.legs[self.recent]
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Leg> {
        self.legs.iter_mut()
    }

    /// Where the one ends that was read last, of a plan of `len` bytes.
    pub(super) fn recent_end(&self, len: u64) -> u64 {
        self.legs.get(self.recent + 1).map_or(len, |next| next.start)
    }

    /// The positions that are ahead of each reader.
    pub(super) fn ahead(&self) -> impl Iterator<Item = Extent> + '_ {
        self.legs.iter().map(|leg| Extent::between(leg.reached, leg.ordered))
    }

    /// How far the leg of `position` was ordered.
    pub(super) fn ordered_before(&self, position: u64) -> u64 {
        self.legs[self.legs.partition_point(|leg| leg.start <= position) - 1].ordered
    }

    /// Whether each is read to its end, of a plan of `len` bytes.
    pub(super) fn are_done(&self, len: u64) -> bool {
        let ends = self.legs.iter().skip(1).map(|next| next.start).chain([len]);
        self.legs.iter().zip(ends).all(|(leg, end)| leg.reached >= end)
    }

    /// How many are read, when `used` bytes of the plan were.
    pub(super) fn live_count(&self, used: u64) -> u64 {
        self.legs.iter().filter(|leg| !leg.is_left(used)).count() as u64
    }

    /// What is at `position` is read.
    pub(super) fn turn_to(&mut self, position: u64) -> &mut Leg {
        self.recent = self.legs.partition_point(|leg| leg.start <= position) - 1;
        &mut self.legs[self.recent]
    }

    /// `used` bytes of the plan were read, `bytes` of them now and of the recent leg. What others
    /// have ahead that are not read meanwhile is left behind.
    pub(super) fn note(&mut self, bytes: u64, used: u64, route: &Route, passed: &mut Passed) {
        let recent = self.recent_mut();
        recent.used += bytes;
        recent.read_at = used;
        for leg in self.legs.iter_mut().filter(|leg| leg.reached < leg.ordered && leg.is_left(used)) {
            leg.advance(leg.ordered - leg.reached, leg.ordered, route, passed);
        }
    }

    /// Somebody reads at `start`, past what is wanted of the recent leg.
    pub(super) fn split(&mut self, start: u64, used: u64, route: &Route, passed: &mut Passed) {
        if self.legs.len() == LEGS_MAX {
            self.leave_one(route, passed);
        }
        let early = passed.read_of(route, Extent::between(start, self.recent_end(route.len())));
        let recent = self.recent_mut();
        recent.early = recent.early.saturating_sub(early);
        recent.far.retain(|place| place.end() <= start);
        self.recent += 1;
        self.legs.insert(self.recent, Leg::new(start, early, used));
    }

    /// The recent leg is over if it is read to its end.
    pub(super) fn join(&mut self) {
        if self.legs.get(self.recent + 1).is_some_and(|next| next.start <= self.recent().reached) {
            self.remove(self.recent);
        }
    }

    /// Makes room: of all but the last and the recent one that which was not read for longest.
    fn leave_one(&mut self, route: &Route, passed: &mut Passed) {
        let others = (0..self.legs.len() - 1).filter(|at| *at != self.recent);
        let Some(at) = others.min_by_key(|at| self.legs[*at].read_at) else { return };
        let leg = &mut self.legs[at];
        leg.advance(leg.ordered - leg.reached, leg.ordered, route, passed);
        self.remove(at);
    }

    /// What is of one leg is behind in the next.
    fn remove(&mut self, at: usize) {
        let leg = self.legs.remove(at);
        let next = &mut self.legs[at];
        next.start = leg.start;
        next.used += leg.used;
        next.read_at = next.read_at.max(leg.read_at);
        self.recent -= usize::from(at < self.recent);
    }

    /// The plan is another now, in which what was at a position is at another.
    pub(super) fn move_to(&mut self, position: impl Fn(u64) -> u64, route: &Route) {
        for leg in &mut self.legs {
            for at in [&mut leg.start, &mut leg.reached, &mut leg.ordered] {
                *at = position(*at).min(route.len());
            }
        }
    }

    /// What was read that is not behind, as `passed` knows it.
    pub(super) fn count_early(&mut self, route: &Route, passed: &Passed) {
        let mut end = route.len();
        for leg in self.legs.iter_mut().rev() {
            leg.early = passed.read_of(route, Extent::between(leg.reached, end));
            end = leg.start;
        }
    }

    /// What was ordered at `position` has to be ordered again.
    pub(super) fn on_lost(&mut self, position: u64) {
        let at = self.legs.partition_point(|leg| leg.start <= position) - 1;
        let leg = &mut self.legs[at];
        leg.ordered = leg.ordered.min(position).max(leg.reached);
    }
}

#[cfg(test)]
mod tests;
