//! What is read ahead, and why, for those who ask.

use super::Adaptive;
use crate::explain::{Class, StreamReport, Why};
use crate::policy::View;
use crate::types::{Extent, ObjectId};

/// What `extent` is or was wanted for, if any of `object` was.
pub(super) fn reason(
    adaptive: &Adaptive,
    object: ObjectId,
    extent: Extent,
    view: &View<'_>,
) -> Option<(Class, Why)> {
    if let Some(plan) = adaptive.hints.followed(object).filter(|plan| plan.has(extent)) {
        return Some((Class::Planned, plan.why()));
    }
    let (class, why) = adaptive.objects.get(&object)?.reason(extent);
    Some((class, narrower(why, adaptive, view)))
}

/// Tells of the plan and the streams of `object`.
pub(super) fn streams(
    adaptive: &Adaptive,
    object: ObjectId,
    view: &View<'_>,
    tell: &mut dyn FnMut(StreamReport),
) {
    let active_count = adaptive.activity.reading_count();
    if let Some(plan) = adaptive.hints.followed(object) {
        tell(plan.report(active_count, view.device.service_high_ns()));
    }
    if let Some(streams) = adaptive.objects.get(&object) {
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
