//! What is ordered of a plan: how far ahead of whoever reads it, and in what batches.

use alloc::vec::Vec;

use super::{Origin, Plan};
use crate::policy::Window;
use crate::policy::follower::Grant;
use crate::types::Extent;

/// What is wanted before anything of the plan was read: as soon as it is known, and
/// once it is read.
const BYTES_AT_OPEN: u64 = 1 << 20;
const BYTES_AT_START: u64 = 4 << 20;
/// And of another leg, which may be a single place.
const BYTES_AT_LEG: u64 = 256 << 10;
/// Of a list, somebody who begins a part goes on with the next ones more often than not.
const BYTES_AT_PART: u64 = 1 << 20;
const TRUST_LIST: u64 = 16;
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
/// Of so many bytes of the plan, one may be read that lies between.
const GAP_SHARE: u64 = 16;

impl Plan {
    /// It is about to be read, or is said to be.
    pub(crate) fn begin(&mut self, grant: &Grant, windows: &mut Vec<Window>) {
        let lead = match self.origin {
            Origin::Advice | Origin::List => grant.bytes,
            Origin::Profile => BYTES_AT_OPEN.min(grant.bytes),
        };
        self.order(lead, grant, windows);
    }

    /// It is read soon: so many bytes of it are wanted now.
    pub(crate) fn expect(&mut self, bytes: u64, grant: &Grant, windows: &mut Vec<Window>) {
        self.order(bytes, grant, windows);
    }

    /// It is read: adds what is to be read ahead of that.
    pub(crate) fn go_on(&mut self, grant: &Grant, windows: &mut Vec<Window>) {
        let leg = self.legs.recent();
        let is_known = leg.is_first() || leg.used >= BYTES_AT_OPEN;
        let trust = if grant.by_address && is_known { TRUST_SWEPT } else { TRUST };
        let start_bytes = if leg.is_first() { BYTES_AT_START } else { BYTES_AT_LEG };
        let trusted = match self.origin {
            Origin::Advice => u64::MAX,
            Origin::List if leg.is_first() => u64::MAX,
            Origin::List => BYTES_AT_PART + TRUST_LIST * leg.used,
            // Less, and from the beginning, each time that it was wrong.
            Origin::Profile => (start_bytes + trust * leg.used) >> self.belief.failed_count(),
        };
        let earned = grant.bytes + self.used / LEAD_SHARE;
        let most =
            if grant.by_address { grant.bytes_max } else { earned.min(grant.bytes_max.max(grant.bytes)) };
        let lead = trusted.min(most / self.legs.live_count(self.used)).min(self.lead_bytes_max);
        let room = match self.origin {
            // Legs that nobody reads any more still have theirs.
            Origin::List => {
                let others = self.ahead_bytes() - leg.lead();
                (2 * most.min(self.lead_bytes_max)).saturating_sub(others)
            }
            _ => u64::MAX,
        };
        self.order(lead.min(room), grant, windows);
    }

    fn order(&mut self, lead: u64, grant: &Grant, windows: &mut Vec<Window>) {
        let last = self.legs.recent_end(self.route.len());
        let leg = self.legs.recent_mut();
        let lead_end = leg.reached.saturating_add(lead).saturating_add(leg.early);
        let end = lead_end.min(last);
        // On a disk a batch is begun when the one before it is being read.
        let batch = if grant.by_address { lead / 2 } else { lead / BATCHES };
        if end <= leg.ordered || (end < last && end - leg.ordered < batch) {
            return;
        }
        let positions = Extent::between(leg.ordered, end);
        // What finds no room would be forgotten.
        let count_max = BATCH_EXTENTS_MAX.min(grant.window_room);
        let (mut extents, end) = self.route.extents_at(positions, count_max);
        leg.ordered = end;
        if self.origin == Origin::Profile {
            self.join(&mut extents, grant);
        }
        windows.extend(extents.into_iter().map(|extent| Window::of_none(extent, extent.offset)));
    }

    /// Sorts and joins what lies near one another, and where going elsewhere is cheap
    /// brings it back into the plan's order.
    fn join(&mut self, extents: &mut Vec<Extent>, grant: &Grant) {
        let mut sorted: Vec<(Extent, usize)> = extents.drain(..).zip(0..).collect();
        sorted.sort_by_key(|(extent, _)| extent.offset);
        let mut joined: Vec<(Extent, usize)> = Vec::with_capacity(sorted.len());
        let allowed = self.legs.ordered_bytes() / GAP_SHARE;
        for (extent, place) in sorted {
            let allowed = allowed.saturating_sub(self.gap_bytes).min(grant.gap_bytes);
            match joined.last_mut() {
                Some((last, first)) if extent.offset - last.end() <= allowed => {
                    self.gap_bytes += extent.offset - last.end();
                    last.len = extent.end() - last.offset;
                    *first = place.min(*first);
                }
                _ => joined.push((extent, place)),
            }
        }
        if !grant.by_address {
            joined.sort_by_key(|(_, place)| *place);
        }
        extents.extend(joined.into_iter().map(|(extent, _)| extent));
    }
}
