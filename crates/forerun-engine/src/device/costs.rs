//! What the device charges, for those who do not ask what kind of device it is.
//!
//! All costs are counted in bytes: as many as the device delivers in that time.

use super::{Device, TURN_MOVES};
use crate::types::BLOCK_BYTES;

/// What a wait is worth at least as long as no fetch has shown how fast bytes come.
const WAIT_BYTES_UNKNOWN: u64 = 64 << 10;
/// A gap is read through if one of so many bytes in flight takes as long, and no more than that.
const PIPE_SHARE: u64 = 64;
const GAP_BYTES_MAX: u64 = 64 << 10;
/// Who reads on where the head is waits for so small a share of a move.
const MOVE_SHARE: u64 = 4;

/// See the module's page. Worked out when the measurements change, because every read asks for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    /// What a wait costs the reader of a stream,
    pub(crate) wait: u64,
    /// who reads all over,
    pub(crate) fill: u64,
    /// who comes back to a place near one that was read lately,
    pub(crate) near: u64,
    /// and who reads right on.
    pub(crate) next: u64,
    /// What one more request costs beside others, and where no other overlaps it.
    pub(crate) gap: u64,
    pub(crate) through: u64,
    /// What it costs to go elsewhere; 0 if fetches overlap.
    pub(crate) step: u64,
    /// What a fetch apart from others costs besides a wait, as far as is known: 0 if they overlap.
    pub(crate) apart: u64,
    /// What one fetch could carry in the time of its latency.
    pub(crate) opening: u64,
    /// What a fetch should have, and a piece of one that goes against the order of addresses.
    pub(crate) fetch: u64,
    pub(crate) back_piece: u64,
    /// What keeps the device busy.
    pub(crate) pipe: u64,
    /// What is worth going there.
    pub(crate) visit: u64,
}

impl Costs {
    pub(super) fn of(device: &Device) -> Costs {
        let least = if device.knows_bandwidth() { BLOCK_BYTES } else { WAIT_BYTES_UNKNOWN };
        let step = device.turn_bytes().map(|turn| turn / TURN_MOVES);
        let through = device.through_bytes();
        let gap = step.unwrap_or((device.pipe_bytes() / PIPE_SHARE).min(GAP_BYTES_MAX));
        let returned = || step.map_or(device.wait_bytes(), |step| step / 2);
        Costs {
            wait: step.map_or(device.wait_bytes().max(least), |step| step / MOVE_SHARE),
            fill: device.fill_bytes().max(least),
            near: device.near_bytes().unwrap_or_else(returned),
            next: device.next_bytes(),
            gap: gap.max(through),
            through,
            step: step.unwrap_or(0),
            apart: step.unwrap_or(if device.may_be_disk() && !device.is_far() {
                2 * device.wait_bytes().max(least)
            } else {
                0
            }),
            opening: device.competitive_bytes(),
            fetch: device.fetch_bytes(),
            back_piece: if device.is_serial() { u64::MAX } else { device.fetch_bytes() / 2 },
            pipe: device.pipe_bytes(),
            visit: device.visit_bytes(),
        }
    }
}

impl Device {
    /// See [`Costs`].
    pub(crate) fn costs(&self) -> &Costs {
        &self.costs
    }
}
