//! The costs of fetches, for a policy that does not ask what kind of device it has.
//!
//! Each cost is a time, counted in the bytes that the device delivers in that time.

use super::unmeasured::WAIT_BYTES_UNKNOWN;
use super::{Device, SLICE_SEEKS};
use crate::types::BLOCK_BYTES;

/// The longest gap that is read through on a device whose fetches overlap: this share of the bytes in
/// flight, up to this many bytes.
const PIPE_SHARE: u64 = 64;
const GAP_BYTES_MAX: u64 = 64 << 10;
/// A reader that continues at the head's position waits for this share of a seek.
const SEEK_SHARE: u64 = 4;

/// The costs. The device computes them when its measurements change, because every read needs them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Costs {
    /// The cost of a wait to the reader of a stream.
    pub(crate) wait: u64,
    /// The cost of a wait to a reader without order.
    pub(crate) fill: u64,
    /// The cost of a wait near a recently read place, to a reader that returns there.
    pub(crate) near: u64,
    /// The cost of a wait to a reader that continues at once.
    pub(crate) next: u64,
    /// The cost of one more request beside others.
    pub(crate) gap: u64,
    /// The cost of one more request that no other overlaps; 0 if requests overlap.
    pub(crate) through: u64,
    /// The cost of a seek; 0 if fetches overlap.
    pub(crate) step: u64,
    /// The cost of a separate fetch besides its wait, as far as is known; 0 if fetches overlap.
    pub(crate) apart: u64,
    /// The bytes that one fetch carries in the time of its latency.
    pub(crate) opening: u64,
    /// The size of a fetch.
    pub(crate) fetch: u64,
    /// The size of a piece of a backward window; `u64::MAX` if a window is one piece.
    pub(crate) back_piece: u64,
    /// The bytes in flight that keep the device busy.
    pub(crate) pipe: u64,
    /// The least bytes ahead of a stream that are worth a seek; 0 if fetches overlap.
    pub(crate) share: u64,
}

impl Costs {
    pub(super) fn of(device: &Device) -> Costs {
        let least = if device.knows_bandwidth() { BLOCK_BYTES } else { WAIT_BYTES_UNKNOWN };
        let step = device.slice_bytes().map(|turn| turn / SLICE_SEEKS);
        let is_unknown = step.is_none() && !device.switching.is_judged() && device.switching.is_alone();
        let through = if is_unknown {
            device.wait_bytes().max(least).min(GAP_BYTES_MAX)
        } else {
            device.through_bytes()
        };
        let gap = step.unwrap_or((device.pipe_bytes() / PIPE_SHARE).min(GAP_BYTES_MAX));
        let returned = || step.map_or(device.wait_bytes(), |step| step / 2);
        Costs {
            wait: step.map_or(device.wait_bytes().max(least), |step| step / SEEK_SHARE),
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
            share: device.sizes.share_bytes_min,
        }
    }
}

impl Device {
    /// See [`Costs`].
    pub(crate) fn costs(&self) -> &Costs {
        &self.costs
    }
}
