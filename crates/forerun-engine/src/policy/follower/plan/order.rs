//! Orders extents of a plan: how far ahead of its readers, and in which batches.

use alloc::vec::Vec;

use super::{Origin, Plan};
use crate::policy::Window;
use crate::policy::follower::Grant;
use crate::types::Extent;

/// Bytes ordered before any of the plan was read: once it is known, and once it is read.
const BYTES_AT_OPEN: u64 = 1 << 20;
const BYTES_AT_START: u64 = 4 << 20;
/// The same of another span, which may be a single place. After any number of evictions, a reader may have
/// this much ahead: a few small fetches.
pub(super) const SPAN_BYTES: u64 = 256 << 10;
/// Bytes ahead for each byte that was read. A reader that begins a part of a list mostly goes on with the
/// next parts, so a list has more.
const TRUST: u64 = 4;
const TRUST_LIST: u64 = 16;
/// The lead grows by one byte for this many bytes read, as far as the memory has room. A single fetch that
/// takes a hundred times as long as others then delays less.
const LEAD_SHARE: u64 = 2;
/// The lead of a reader is ordered in this many batches.
const BATCHES: u64 = 4;

impl Plan {
    /// It is about to be read, or is said to be.
    pub(crate) fn begin(&mut self, grant: &Grant, windows: &mut Vec<Window>) {
        let lead = match self.origin {
            Origin::Advice | Origin::List => grant.bytes,
            Origin::Profile => BYTES_AT_OPEN.min(grant.bytes),
        };
        self.order(lead, grant, windows);
    }

    /// A reader has read some of it: plans the bytes ahead.
    pub(crate) fn go_on(&mut self, grant: &Grant, windows: &mut Vec<Window>) {
        let span = self.spans.recent();
        let start_bytes = if span.is_first() { BYTES_AT_START } else { SPAN_BYTES };
        let trusted = match self.origin {
            Origin::Advice => u64::MAX,
            Origin::List if span.is_first() => u64::MAX,
            Origin::List => BYTES_AT_OPEN + TRUST_LIST * span.used,
            // Less, and from the beginning, each time that it was wrong.
            Origin::Profile => (start_bytes + TRUST * span.used) >> self.belief.failed_count(),
        };
        let earned = grant.bytes + self.used / LEAD_SHARE;
        let most =
            if grant.by_address { grant.bytes_max } else { earned.min(grant.bytes_max.max(grant.bytes)) };
        let lead = trusted.min(most / self.spans.live_count(self.used)).min(self.lead_bytes_max);
        let room = match self.origin {
            // Spans that nobody reads any more still have theirs.
            Origin::List => {
                let others = self.ahead_bytes() - span.lead();
                (2 * most.min(self.lead_bytes_max)).saturating_sub(others)
            }
            _ => u64::MAX,
        };
        self.order(lead.min(room), grant, windows);
    }

    /// Orders `lead` bytes ahead of the reader that read the plan last.
    pub(crate) fn order(&mut self, lead: u64, grant: &Grant, windows: &mut Vec<Window>) {
        let (last, reason) = (self.spans.recent_end(self.route.len()), self.reason());
        let span = self.spans.recent_mut();
        let lead_end = span.reached.saturating_add(lead).saturating_add(span.early);
        let end = lead_end.min(last);
        // On a disk a batch is begun when the one before it is being read.
        let batch = if grant.by_address { lead / 2 } else { lead / BATCHES };
        if end <= span.ordered || (end < last && end - span.ordered < batch) {
            return;
        }
        let positions = Extent::between(span.ordered, end);
        // Windows without room would be forgotten.
        let (mut extents, end) = self.route.extents_at(positions, grant.window_room);
        span.ordered = end;
        if grant.by_address && self.origin == Origin::Profile {
            extents.sort_by_key(|extent| extent.offset);
        }
        windows.extend(extents.into_iter().map(|extent| Window::new(extent, reason)));
    }
}
