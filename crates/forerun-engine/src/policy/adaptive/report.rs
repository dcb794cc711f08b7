//! What is read ahead, and why, for those who ask.

use super::Adaptive;
use crate::explain::{StreamReport, Why};
use crate::policy::{Reason, View, Window};
use crate::types::{Extent, ObjectId};

/// What `extent` is or was wanted for, if any of `object` was.
pub(super) fn reason(
    adaptive: &Adaptive,
    object: ObjectId,
    extent: Extent,
    view: &View<'_>,
) -> Option<Reason> {
    let followed = adaptive.follower.reason(object, extent);
    if followed.is_some() {
        return followed;
    }
    let reason = adaptive.objects.get(object)?.reason(extent);
    Some(Reason { why: narrower(reason.why, adaptive, view), ..reason })
}

/// What `window` of `object`, which was just wanted, is for.
pub(super) fn reason_of(
    adaptive: &Adaptive,
    object: ObjectId,
    window: &Window,
    view: &View<'_>,
) -> Option<Reason> {
    let Some(stream) = window.stream else {
        let other = || Some(adaptive.objects.get(object)?.reason_of_no_stream(window.extent));
        return adaptive.follower.reason(object, window.extent).or_else(other);
    };
    let reason = adaptive.objects.get(object)?.reason_of_stream(stream)?;
    Some(Reason { why: narrower(reason.why, adaptive, view), ..reason })
}

/// Tells of the plan and the streams of `object`.
pub(super) fn streams(
    adaptive: &Adaptive,
    object: ObjectId,
    view: &View<'_>,
    tell: &mut dyn FnMut(StreamReport),
) {
    let active_count = adaptive.activity.reading_count();
    let followed = adaptive.follower.report(object);
    if let Some(report) = followed {
        tell(StreamReport { active_count, service_ns: view.device.service_high_ns(), ..report });
    }
    if let Some(streams) = adaptive.objects.get(object) {
        streams.report(active_count, &mut |report| {
            tell(StreamReport { why: narrower(report.why, adaptive, view), ..report });
        });
    }
}

/// A stream's share is that of the device, or of the memory where that is smaller.
fn narrower(why: Why, adaptive: &Adaptive, view: &View<'_>) -> Why {
    let busy = 2 * view.device.pipe_bytes() / adaptive.activity.reading_count();
    let memory = view.config.memory_bytes_max / 4 * 3 / adaptive.activity.holding_count();
    if why == Why::LimitedByShare && memory < busy { Why::LimitedByMemory } else { why }
}
