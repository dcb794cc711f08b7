//! One plan: the extents that will be read of an object, fetched ahead of its readers.
//!
//! ```text
//!             reached        ordered                    positions, in the plan's order
//!  -------------|--------------|----------------------|
//!     read       <--- lead --->   not planned yet
//! ```
//! Readers need not keep to the order. `reached` follows a reader that continues from it at once. It
//! follows a reader that jumps by an eighth of the way, so that skipped bytes are passed. A reader that
//! reads twice where nothing is ordered yet gets a span of its own there, beside the other readers
//! ([`spans`]). Bytes that were read early do not count for the lead. Several readers may interleave in
//! another order than the plan's; bytes that they return for are not skipped ([`passed`]).
//!
//! The plan is fetched in batches. On a network a batch keeps the plan's order. On a disk it is sorted by
//! address and as large as all batches before it together, to save seeks.
//!
//! [`order`] decides how far ahead it is fetched and in which batches, [`belief`] whether at all. [`lead`]
//! has what is ahead.

mod belief;
mod lead;
mod order;
mod passed;
mod spans;

use alloc::vec::Vec;

use super::route::Route;
use crate::policy::Access;
use crate::types::{BLOCK_BYTES, Extent};
use belief::Belief;
use passed::Passed;
use spans::{LEFT_BYTES, Spans};

/// After a jump of its reader, `reached` moves by this share of the way.
const JUMP_SHARE: u64 = 8;
/// At most this many times the bytes of its read. Several readers at places of their own skip nothing.
const JUMP_TIMES: u64 = 4;
/// The same as [`LEFT_BYTES`], of a list at first: readers side by side leave to one another the bytes that
/// they return for.
const LEFT_OF_LIST_BYTES: u64 = 4 << 20;

/// The source of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A program that knows: nothing else is fetched.
    Advice,
    /// The same, of parts of many objects.
    List,
    /// Earlier runs.
    Profile,
}

/// See the module's page.
#[derive(Debug)]
pub(crate) struct Plan {
    route: Route,
    origin: Origin,
    spans: Spans,
    /// A span has begun.
    parted: bool,
    /// Bytes that were read of it.
    used: u64,
    passed: Passed,
    belief: Belief,
    /// When it was last counted as being read.
    seen: Option<u32>,
    /// The most that may be ahead of a reader, and how many bytes had been read when that became less.
    lead_bytes_max: u64,
    shortened_at: Option<u64>,
}

impl Plan {
    pub(super) fn new(route: Route, origin: Origin) -> Plan {
        Plan {
            passed: Passed::new(&route),
            route,
            origin,
            spans: Spans::new(),
            parted: false,
            used: 0,
            belief: Belief::default(),
            seen: None,
            lead_bytes_max: u64::MAX,
            shortened_at: None,
        }
    }

    /// Adds extents that will be read after it. The object may have become smaller.
    pub(super) fn append(&mut self, extents: &[Extent], size: u64) {
        self.leave_out(Extent::between(size.next_multiple_of(BLOCK_BYTES), u64::MAX), size);
        self.route = Route::new(self.route.extents().iter().chain(extents), size);
        self.passed.append(&self.route);
    }

    /// Nobody needs `extent` of it.
    pub(super) fn leave_out(&mut self, extent: Extent, size: u64) {
        let left = self.route.extents().iter().flat_map(|whole| {
            [
                Extent::between(whole.offset, whole.end().min(extent.offset)),
                Extent::between(whole.offset.max(extent.end()), whole.end()),
            ]
        });
        let left: Vec<Extent> = left.filter(|part| !part.is_empty()).collect();
        let before = |positions: u64| -> u64 {
            let (extents, _) = self.route.extents_at(Extent::new(0, positions), usize::MAX);
            extents.iter().map(|part| part.len - part.intersection(&extent).len).sum()
        };
        let route = Route::new(&left, size);
        self.spans.move_to(before, &route);
        self.passed.restrict(&self.route, &route);
        self.spans.count_early(&route, &self.passed);
        self.route = route;
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn seen_mut(&mut self) -> &mut Option<u32> {
        &mut self.seen
    }

    /// Somebody reads. Whether that is of the plan.
    pub(super) fn passes(&mut self, access: &Access) -> bool {
        // Reads of bytes that were read before are no evidence.
        let is_fresh = access.missing || access.unread_bytes > 0;
        let found: Vec<Extent> = self.route.positions(access.extent).collect();
        found.iter().for_each(|positions| self.follow(*positions, is_fresh));
        let inside: u64 = found.iter().map(|positions| positions.len).sum();
        let is_planned = 2 * inside >= access.extent.len;
        if is_planned {
            self.belief.confirm();
            let used = if access.missing { inside } else { inside.min(access.unread_bytes) };
            self.used += used;
            self.lead_bytes_max = self.lead_bytes_max.saturating_add(used);
            self.spans.record_read(used, self.used, &self.route, &mut self.passed);
        } else if access.missing {
            self.belief.doubt();
        }
        is_planned
    }

    /// True once when it is not believed any more.
    pub(super) fn lets_go(&mut self) -> bool {
        // Readers of a list begin parts all over it, so that skipped bytes add up soon. Each time less is
        // allowed.
        let least = match self.origin {
            Origin::List => LEFT_OF_LIST_BYTES >> self.belief.failed_count(),
            Origin::Advice | Origin::Profile => LEFT_BYTES,
        };
        let is_left_out = self.passed.is_too_much(self.used, least);
        if !self.belief.lets_go(is_left_out) {
            return false;
        }
        self.passed.forgive();
        self.spans.iter_mut().for_each(|span| span.used = 0);
        true
    }

    /// True once after a reader began a span where nothing was ordered.
    pub(super) fn take_parted(&mut self) -> bool {
        core::mem::take(&mut self.parted)
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.belief.is_suspended()
    }

    /// Ordered bytes will not come, or were evicted unread.
    pub(super) fn on_lost(&mut self, extent: Extent) {
        let lost = self.route.positions(extent).map(|positions| positions.offset);
        lost.for_each(|position| self.spans.on_lost(position));
    }

    /// Somebody reads the bytes at `positions`.
    fn follow(&mut self, positions: Extent, is_fresh: bool) {
        let span = self.spans.turn_to(positions.offset);
        let jump = positions.end().saturating_sub(span.reached);
        if is_fresh {
            let fresh = self.passed.record_read(&self.route, positions, jump == 0);
            span.early += if jump == 0 { 0 } else { fresh };
        }
        // A reader that jumps far in a list gets a span there instead.
        let times = if self.origin == Origin::List { 0 } else { JUMP_TIMES };
        let skip = (jump / JUMP_SHARE).min(times * positions.len);
        let mut advance = jump.min(positions.len).max(skip);
        if positions.offset > span.ordered {
            // A reader that begins a part of a list is about to read it.
            let begins = self.origin == Origin::List && self.route.begins_at(positions.offset);
            let Some(start) = span.place(positions).or(begins.then_some(positions.offset)) else { return };
            // Where nothing is ordered, no reader is left, except those that wait for more of a list.
            if span.ordered > span.reached || (self.origin == Origin::List && span.is_read()) {
                self.spans.split(start, self.used, &self.route, &mut self.passed);
                self.parted = true;
            }
            advance = positions.end() - self.spans.recent().reached;
        }
        let end = self.spans.recent_end(self.route.len());
        self.spans.recent_mut().advance(advance, end, &self.route, &mut self.passed);
        self.spans.join();
    }
}
