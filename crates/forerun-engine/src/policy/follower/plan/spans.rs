//! The readers of a plan: several at once, each in a span of its own.
//!
//! ```text
//!  |-- a span ---------------------------|-- the next --------------|
//!         reached      ordered                reached    ordered     positions, in the plan's order
//!  ----------|------------|--------------|---------|---------|------
//!    read     <-- ahead -->  not planned yet
//! ```
//! A reader that reads twice in one place where nothing is ordered yet begins a span there. It may be a
//! second reader, or the same one may have jumped. A span that is not read while others are read is left. A
//! span that was read to its end joins the next.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::passed::Passed;
use crate::policy::follower::route::Route;
use crate::types::Extent;

/// Bytes ordered and skipped that are allowed. A span is left after this many bytes were read elsewhere,
/// and as many as it has ahead.
pub(super) const LEFT_BYTES: u64 = 1 << 20;
/// The most spans of one plan, and the most early reads of a span that are remembered.
const SPANS_MAX: usize = 32;
/// Two reads so near one another are of one place.
const PLACE_BYTES: u64 = 512 << 10;

/// `start <= reached <= ordered`, and none is past the next one's start.
#[derive(Debug)]
pub(super) struct Span {
    start: u64,
    pub(super) reached: u64,
    pub(super) ordered: u64,
    /// Bytes that were read and are not behind.
    pub(super) early: u64,
    /// Bytes that were read since the plan was last suspended.
    pub(super) used: u64,
    /// How many of the plan had been when it was read last.
    read_at: u64,
    /// The last reads beyond the ordered positions.
    far: VecDeque<Extent>,
}

impl Span {
    fn new(start: u64, early: u64, read_at: u64) -> Span {
        Span { start, reached: start, ordered: start, early, used: 0, read_at, far: VecDeque::new() }
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

    /// A reader reads `positions`, beyond the ordered ones. Returns the start of the place if an earlier
    /// read was near.
    pub(super) fn place(&mut self, positions: Extent) -> Option<u64> {
        let way = |before: &Extent| positions.offset.checked_sub(before.end());
        let nearest = self.far.iter().filter(|before| way(before).is_some_and(|way| way <= PLACE_BYTES));
        if let Some(before) = nearest.max_by_key(|before| before.offset) {
            return Some(before.offset.max(self.ordered));
        }
        if self.far.len() == SPANS_MAX {
            self.far.pop_front();
        }
        self.far.push_back(positions);
        None
    }

    /// Its reader has passed `bytes` of it, and bytes after those that were read before.
    pub(super) fn advance(&mut self, bytes: u64, end: u64, route: &Route, passed: &mut Passed) {
        let bytes = bytes.min(end - self.reached);
        let wanted = bytes.min(self.ordered - self.reached);
        let (reached, read) = passed.skip(route, Extent::new(self.reached, bytes), wanted, end);
        self.early = self.early.saturating_sub(read);
        self.reached = reached;
        self.ordered = self.ordered.max(reached);
    }
}

/// See the module's page. There is always one span. They are in order, and the first begins at 0.
#[derive(Debug)]
pub(super) struct Spans {
    spans: Vec<Span>,
    /// The one that was read last.
    recent: usize,
}

impl Spans {
    pub(super) fn new() -> Spans {
        Spans { spans: alloc::vec![Span::new(0, 0, 0)], recent: 0 }
    }

    /// The one that was read last.
    pub(super) fn recent(&self) -> &Span {
        &self.spans[self.recent]
    }

    pub(super) fn recent_mut(&mut self) -> &mut Span {
        &mut self.spans[self.recent]
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Span> {
        self.spans.iter_mut()
    }

    /// Where the one ends that was read last, of a plan of `len` bytes.
    pub(super) fn recent_end(&self, len: u64) -> u64 {
        self.spans.get(self.recent + 1).map_or(len, |next| next.start)
    }

    /// The positions that are ahead of each reader.
    pub(super) fn ahead(&self) -> impl Iterator<Item = Extent> + '_ {
        self.spans.iter().map(|span| Extent::between(span.reached, span.ordered))
    }

    /// How far the span of `position` was ordered.
    pub(super) fn ordered_before(&self, position: u64) -> u64 {
        self.spans[self.spans.partition_point(|span| span.start <= position) - 1].ordered
    }

    /// Whether each is read to its end, of a plan of `len` bytes.
    pub(super) fn are_done(&self, len: u64) -> bool {
        let ends = self.spans.iter().skip(1).map(|next| next.start).chain([len]);
        self.spans.iter().zip(ends).all(|(span, end)| span.reached >= end)
    }

    /// How many are read, when `used` bytes of the plan were.
    pub(super) fn live_count(&self, used: u64) -> u64 {
        self.spans.iter().filter(|span| !span.is_left(used)).count() as u64
    }

    /// A reader reads the byte at `position`.
    pub(super) fn turn_to(&mut self, position: u64) -> &mut Span {
        self.recent = self.spans.partition_point(|span| span.start <= position) - 1;
        &mut self.spans[self.recent]
    }

    /// `used` bytes of the plan were read, `bytes` of them now and of the recent span. Bytes ahead of spans
    /// that are not read meanwhile are skipped.
    pub(super) fn record_read(&mut self, bytes: u64, used: u64, route: &Route, passed: &mut Passed) {
        let recent = self.recent_mut();
        recent.used += bytes;
        recent.read_at = used;
        for span in self.spans.iter_mut().filter(|span| span.reached < span.ordered && span.is_left(used)) {
            span.advance(span.ordered - span.reached, span.ordered, route, passed);
        }
    }

    /// A reader reads at `start`, beyond the ordered positions of the recent span.
    pub(super) fn split(&mut self, start: u64, used: u64, route: &Route, passed: &mut Passed) {
        if self.spans.len() == SPANS_MAX {
            self.leave_one(route, passed);
        }
        let early = passed.read_of(route, Extent::between(start, self.recent_end(route.len())));
        let recent = self.recent_mut();
        recent.early = recent.early.saturating_sub(early);
        recent.far.retain(|place| place.end() <= start);
        self.recent += 1;
        self.spans.insert(self.recent, Span::new(start, early, used));
    }

    /// The recent span is over if it is read to its end.
    pub(super) fn join(&mut self) {
        if self.spans.get(self.recent + 1).is_some_and(|next| next.start <= self.recent().reached) {
            self.remove(self.recent);
        }
    }

    /// Makes room: of all but the last and the recent one that which was not read for longest.
    fn leave_one(&mut self, route: &Route, passed: &mut Passed) {
        let others = (0..self.spans.len() - 1).filter(|at| *at != self.recent);
        let Some(at) = others.min_by_key(|at| self.spans[*at].read_at) else { return };
        let span = &mut self.spans[at];
        span.advance(span.ordered - span.reached, span.ordered, route, passed);
        self.remove(at);
    }

    /// The next span takes over the positions of a removed one.
    fn remove(&mut self, at: usize) {
        let span = self.spans.remove(at);
        let next = &mut self.spans[at];
        next.start = span.start;
        next.used += span.used;
        next.read_at = next.read_at.max(span.read_at);
        self.recent -= usize::from(at < self.recent);
    }

    /// The plan has changed: `position` maps old positions to new ones.
    pub(super) fn move_to(&mut self, position: impl Fn(u64) -> u64, route: &Route) {
        for span in &mut self.spans {
            for at in [&mut span.start, &mut span.reached, &mut span.ordered] {
                *at = position(*at).min(route.len());
            }
        }
    }

    /// Counts bytes that were read beyond `reached`, as `passed` knows them.
    pub(super) fn count_early(&mut self, route: &Route, passed: &Passed) {
        let mut end = route.len();
        for span in self.spans.iter_mut().rev() {
            span.early = passed.read_of(route, Extent::between(span.reached, end));
            end = span.start;
        }
    }

    /// Bytes that were ordered at `position` must be ordered again.
    pub(super) fn on_lost(&mut self, position: u64) {
        let at = self.spans.partition_point(|span| span.start <= position) - 1;
        let span = &mut self.spans[at];
        span.ordered = span.ordered.min(position).max(span.reached);
    }
}

#[cfg(test)]
mod tests;
