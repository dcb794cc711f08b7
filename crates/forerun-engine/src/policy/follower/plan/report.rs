//! What a plan says of itself.

use super::{Origin, Plan};
use crate::explain::{Class, StreamReport, Why};
use crate::types::{Extent, Time};

impl Plan {
    /// Whether some of `extent` is of it.
    pub(crate) fn has(&self, extent: Extent) -> bool {
        self.route.positions(extent).next().is_some()
    }

    pub(crate) fn why(&self) -> Why {
        match self.origin {
            Origin::Advice | Origin::List => Why::Advised,
            Origin::Profile => Why::Planned,
        }
    }

    /// As it is; the policy knows how many are active, and how long a fetch takes.
    pub(crate) fn report(&self) -> StreamReport {
        let leg = self.legs.recent();
        let ahead = leg.ordered - leg.reached;
        StreamReport {
            class: Class::Planned,
            offset: leg.reached,
            window_bytes: ahead,
            ahead_bytes: ahead,
            why: self.why(),
            rate_bytes_per_s: 0,
            service_ns: 0,
            active_count: 0,
            last_read: Time(0),
        }
    }
}
