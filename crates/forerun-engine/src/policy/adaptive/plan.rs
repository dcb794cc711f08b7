//! One plan: what is said will be read of an object, fetched ahead of whoever reads it.
//!
//! ```text
//!            reached        ordered                    positions, in the plan's order
//!  -------------|--------------|----------------------|
//!     read       <--- lead --->   not wanted yet
//! ```
//! Whoever reads need not keep to the order: `reached` follows at once those who go on
//! from it, and others by an eighth of the way, so that what is left out is left behind;
//! whoever reads twice where nothing is wanted yet has jumped, and is followed there. What
//! was read before its turn does not count for the lead, and where several take turns that
//! differ from the plan's, what they come back for is not left out ([`passed`]).
//! The plan is fetched in batches: on a network in its order, on a disk each batch
//! sorted by address and as large as all before it together, since its head turns one way.
//!
//! Reads beside the plan raise doubt, reads of it remove doubt. In too much doubt, or
//! when too much was left out, nothing is wanted until there is no doubt left, which takes
//! twice as many reads each time.

mod passed;
mod report;

use alloc::vec::Vec;

use super::amounts::{Counted, Share};
use super::route::Route;
use crate::policy::{Access, Window};
use crate::types::{BLOCK_BYTES, Extent};
use passed::Passed;

/// What is wanted before anything of the plan was read: as soon as it is known, and
/// once it is read.
const BYTES_AT_OPEN: u64 = 1 << 20;
const BYTES_AT_START: u64 = 4 << 20;
/// And so many bytes for each that was; more on a disk, which fetches more at once in less
/// time, and what turns out wrong before all of it has come is not fetched any more.
const TRUST: u64 = 4;
const TRUST_SWEPT: u64 = 64;
/// The lead grows by one byte for so many that were read, as far as the memory has room:
/// a request that takes a hundred times as long as others then holds back less.
const LEAD_SHARE: u64 = 2;
/// The lead ahead of a reader is ordered in so many batches.
const BATCHES: u64 = 4;
/// Extents ordered at once.
const BATCH_EXTENTS_MAX: usize = 256;
/// A reader who jumps is followed by this share of the way.
const JUMP_SHARE: u64 = 8;
/// Of so many bytes of the plan, one may be read that lies between.
const GAP_SHARE: u64 = 16;
/// Two reads so near one another are of one place.
const PLACE_BYTES: u64 = 4 << 20;
/// Reads beside the plan, less those of it, at which it is not believed any more.
const DOUBT_MAX: u32 = 16;
/// So much of what was wanted may be left behind, and nothing is said of that before as
/// much was read.
const LEFT_BYTES: u64 = 1 << 20;
/// It is believed again this often before that takes no longer each time.
const FAILED_MAX: u32 = 16;

/// Who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A program that knows: nothing else is fetched.
    Advice,
    /// Earlier runs.
    Profile,
}

/// See the module's page. `reached <= ordered`.
#[derive(Debug)]
pub(super) struct Plan {
    route: Route,
    origin: Origin,
    reached: u64,
    ordered: u64,
    /// Bytes that were read of it.
    used: u64,
    /// And had been when it was let go last.
    used_before: u64,
    /// Bytes between its extents that were wanted with them.
    gap_bytes: u64,
    /// Where the last read was that lay past what is wanted.
    far: u64,
    passed: Passed,
    doubt: u32,
    failed_count: u32,
    is_suspended: bool,
    counted: Counted,
}

impl Plan {
    pub(super) fn new(route: Route, origin: Origin) -> Plan {
        Plan {
            passed: Passed::new(&route),
            route,
            origin,
            reached: 0,
            ordered: 0,
            used: 0,
            used_before: 0,
            gap_bytes: 0,
            far: u64::MAX,
            doubt: 0,
            failed_count: 0,
            is_suspended: false,
            counted: Counted::default(),
        }
    }

    /// What is said to be read after it, of an object that may have become smaller.
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
        let (reached, ordered) = (before(self.reached), before(self.ordered));
        let route = Route::new(&left, size);
        (self.reached, self.ordered) = (reached.min(route.len()), ordered.min(route.len()));
        self.passed.keep(&self.route, &route, self.reached);
        self.route = route;
    }

    pub(super) fn origin(&self) -> Origin {
        self.origin
    }

    pub(super) fn activity_mut(&mut self) -> &mut Counted {
        &mut self.counted
    }

    /// It is about to be read, or is said to be.
    pub(super) fn begin(&mut self, share: &Share, windows: &mut Vec<Window>) {
        let lead = match self.origin {
            Origin::Advice => share.window_bytes_max,
            Origin::Profile => BYTES_AT_OPEN.min(share.window_bytes_max),
        };
        self.order(lead, share, windows);
    }

    /// It is read soon: so many bytes of it are wanted now.
    pub(super) fn expect(&mut self, bytes: u64, share: &Share, windows: &mut Vec<Window>) {
        self.order(bytes, share, windows);
    }

    /// Somebody reads. Whether that is of the plan, and the plan is believed.
    pub(super) fn passes(&mut self, access: &Access) -> bool {
        // What was read before is no evidence.
        let is_fresh = access.missing || access.unread_bytes > 0;
        let found: Vec<Extent> = self.route.positions(access.extent).collect();
        found.iter().for_each(|positions| self.follow(*positions, is_fresh));
        let inside: u64 = found.iter().map(|positions| positions.len).sum();
        let is_planned = 2 * inside >= access.extent.len;
        if is_planned {
            self.doubt = self.doubt.saturating_sub(1);
            self.used += if access.missing { inside } else { inside.min(access.unread_bytes) };
        } else if access.missing {
            self.doubt += 1;
        }
        is_planned
    }

    /// True once when it is not believed any more.
    pub(super) fn lets_go(&mut self) -> bool {
        if self.is_suspended {
            self.is_suspended = self.doubt > 0;
            return false;
        }
        let is_left_out =
            self.used - self.used_before >= LEFT_BYTES && self.passed.is_too_much(self.used, LEFT_BYTES);
        if !is_left_out && self.doubt < DOUBT_MAX {
            return false;
        }
        self.doubt = DOUBT_MAX << self.failed_count;
        self.failed_count = (self.failed_count + 1).min(FAILED_MAX);
        self.passed.forgive();
        self.used_before = self.used;
        self.is_suspended = true;
        true
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.is_suspended
    }

    /// It is read: adds what is to be read ahead of that.
    pub(super) fn go_on(&mut self, share: &Share, windows: &mut Vec<Window>) {
        let trust = if share.turn_bytes.is_some() { TRUST_SWEPT } else { TRUST };
        let trusted = match self.origin {
            Origin::Advice => u64::MAX,
            // Less, and from the beginning, each time that it was wrong.
            Origin::Profile => (BYTES_AT_START + trust * (self.used - self.used_before)) >> self.failed_count,
        };
        let earned = share.window_bytes_max + self.used / LEAD_SHARE;
        let most = if share.turn_bytes.is_some() {
            share.sweep_bytes_max()
        } else {
            earned.min(share.sweep_bytes_max().max(share.window_bytes_max))
        };
        self.order(trusted.min(most), share, windows);
    }

    /// What was ordered there will not come, or has gone unread.
    pub(super) fn on_lost(&mut self, extent: Extent) {
        let lost = self.route.positions(extent).map(|positions| positions.offset).min();
        self.ordered = self.ordered.min(lost.unwrap_or(u64::MAX)).max(self.reached);
    }

    /// Somebody reads the bytes at `positions`.
    fn follow(&mut self, positions: Extent, is_fresh: bool) {
        let jump = positions.end().saturating_sub(self.reached);
        if is_fresh {
            self.passed.note(&self.route, positions, jump == 0);
        }
        let advance = if positions.offset > self.ordered {
            let is_place = positions.offset >= self.far && positions.offset - self.far <= PLACE_BYTES;
            self.far = positions.end();
            if is_place { jump } else { 0 }
        } else {
            jump.min(positions.len).max(jump / JUMP_SHARE)
        };
        let wanted = advance.min(self.ordered - self.reached);
        self.reached = self.passed.pass(&self.route, Extent::new(self.reached, advance), wanted);
        self.ordered = self.ordered.max(self.reached);
    }

    fn order(&mut self, lead: u64, share: &Share, windows: &mut Vec<Window>) {
        let lead_end = self.reached.saturating_add(lead).saturating_add(self.passed.early());
        let end = lead_end.min(self.route.len());
        // On a disk a batch is begun when the one before it is being read.
        let batch = if share.turn_bytes.is_some() { lead / 2 } else { lead / BATCHES };
        if end <= self.ordered || (end < self.route.len() && end - self.ordered < batch) {
            return;
        }
        let positions = Extent::between(self.ordered, end);
        // What finds no room would be forgotten.
        let count_max = BATCH_EXTENTS_MAX.min(share.window_room);
        let (mut extents, end) = self.route.extents_at(positions, count_max);
        self.ordered = end;
        if self.origin == Origin::Profile {
            self.join(&mut extents, share);
        }
        windows.extend(extents.into_iter().map(|extent| Window::of_none(extent, extent.offset)));
    }

    /// Sorts and joins what lies near one another, and where going elsewhere is cheap
    /// brings it back into the plan's order.
    fn join(&mut self, extents: &mut Vec<Extent>, share: &Share) {
        let mut sorted: Vec<(Extent, usize)> = extents.drain(..).zip(0..).collect();
        sorted.sort_by_key(|(extent, _)| extent.offset);
        let mut joined: Vec<(Extent, usize)> = Vec::with_capacity(sorted.len());
        for (extent, place) in sorted {
            let allowed = (self.ordered / GAP_SHARE).saturating_sub(self.gap_bytes).min(share.gap_bytes);
            match joined.last_mut() {
                Some((last, first)) if extent.offset - last.end() <= allowed => {
                    self.gap_bytes += extent.offset - last.end();
                    last.len = extent.end() - last.offset;
                    *first = place.min(*first);
                }
                _ => joined.push((extent, place)),
            }
        }
        if !share.is_serial {
            joined.sort_by_key(|(_, place)| *place);
        }
        extents.extend(joined.into_iter().map(|(extent, _)| extent));
    }
}
