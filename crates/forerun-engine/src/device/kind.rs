//! Properties of the backend, as its fetches show them: whether it is serial, has a head that seeks, or is
//! far away.

use super::Device;
use super::unmeasured::LATENCY_NS_GUESS;

/// A network with a switch or two takes less, any other store more.
const FAR_NS: u64 = 1_500_000;

/// Worked out when the measurements change, because every read asks for it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DeviceKind {
    is_serial: bool,
    is_judged: bool,
    may_be_disk: bool,
    is_far: bool,
    is_far_link: bool,
}

impl DeviceKind {
    pub(super) fn of(device: &Device) -> DeviceKind {
        let throughput = device.throughput.get().unwrap_or(0);
        let bandwidth = device.bandwidth.get();
        let is_serial = bandwidth.is_none_or(|bandwidth| throughput <= bandwidth + bandwidth / 4);
        let is_far = device.latency_least.get().unwrap_or(LATENCY_NS_GUESS) >= FAR_NS;
        DeviceKind {
            is_serial,
            is_judged: device.switching.is_judged(),
            may_be_disk: is_serial && device.switching.is_slow_to_begin(),
            is_far,
            is_far_link: is_far && bandwidth.is_some(),
        }
    }
}

impl Device {
    /// Whether concurrent fetches may bring no more than fetches one after the other, as from a disk with
    /// one head. The order of fetches then matters. It is assumed until a single fetch is seen to be slower
    /// than all together.
    pub(crate) fn is_serial(&self) -> bool {
        self.kind.is_serial
    }

    /// Whether the backend serves one fetch at a time, or that is not known yet.
    pub(crate) fn may_serve_one_at_a_time(&self) -> bool {
        !self.kind.is_judged || self.has_head()
    }

    /// Whether fetches side by side may bring no more, and each waits as long as for a head.
    pub(crate) fn may_be_disk(&self) -> bool {
        self.kind.may_be_disk
    }

    /// Whether a wasted fetch takes time from other fetches. That needs a device that is busy nearly all the
    /// time. A far one counts only if it delivers all bytes at once, as a disk does.
    pub(crate) fn is_full(&self) -> bool {
        self.load.is_full() && (!self.is_far() || self.spread.is_whole())
    }

    /// Whether there is, or may be, a head that seeks for each fetch elsewhere.
    pub(super) fn has_head(&self) -> bool {
        self.may_be_disk() || self.slice_bytes().is_some()
    }

    /// The same where nothing else takes long: far away, a link does.
    pub(super) fn has_own_head(&self) -> bool {
        self.has_head() && !self.is_far_link()
    }

    /// Whether even the shortest recent wait for first bytes was so long that a saved wait is worth many
    /// bytes. On a disk the shortest wait is for bytes in its own buffer.
    pub(crate) fn is_far(&self) -> bool {
        self.kind.is_far
    }

    /// Whether it is far away, and bytes of a fetch come one after the other, as over a connection.
    pub(crate) fn is_far_link(&self) -> bool {
        self.kind.is_far_link
    }
}
