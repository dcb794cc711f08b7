//! How much may be wasted, and what a stream is trusted for: the terms that a device calls for.

use super::worth::wait_bytes_min;
use crate::policy::View;

/// What streams far away may waste before anything was read: of a small memory a share, since it
/// is in the way there until it is gone.
const START_BYTES_MAX: u64 = 8 << 20;
const START_BYTES_MIN: u64 = 4 << 20;
const START_MEMORY_SHARE: u64 = 8;
/// Near by, what may be wasted before anything was read costs no more than so many waits.
const START_WAITS: u64 = 8;
/// Far away, where a wait is worth megabytes, a stream whose object has wasted too much is ahead by no
/// more than one of so many bytes of it.
const SOON_WAITS: u64 = 32;

/// How much may be wasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terms {
    /// Before anything was read.
    pub(super) start_bytes: u64,
    /// And one byte for so many that somebody had to wait for.
    pub(super) missed_share: u64,
    /// A stream is as good as it is long, whatever others wasted, if what was wasted too
    /// much is no longer. It is trusted for so many times its length then,
    pub(super) trust: u64,
    /// or for so many times as long as less than half of the start was wasted.
    pub(super) trust_at_first: u64,
    /// Of so many bytes that were of use after they had been read ahead, one may be wasted.
    pub(super) useful_share: u64,
    /// Where streams end is believed up to so much that was wasted too much.
    pub(super) known_debt_max: u64,
    /// How far ahead a stream may be whose object has wasted too much: a byte for so many
    /// that it has read, or for fewer as far as what one wait is worth,
    pub(super) overdrawn_share: u64,
    pub(super) wait_bytes: u64,
    /// and if it is trusted, no more than that.
    pub(super) trust_bytes_max: u64,
}

impl Terms {
    /// From a device that answers soon a wasted byte costs about what a useful one
    /// saves: on a disk of 20 MB/s, a megabyte takes as long as five movements of
    /// its head. Reads for which nothing can be done must not take longer for it.
    pub(super) const NEAR: Terms = Terms {
        start_bytes: 512 << 10,
        missed_share: 256,
        trust: 1,
        trust_at_first: 2,
        useful_share: 20,
        known_debt_max: 0,
        overdrawn_share: 16,
        wait_bytes: 0,
        trust_bytes_max: u64::MAX,
    };
    /// From one far away it costs less: at 10 ms and 400 MB/s, one wait is as long as
    /// 4 MB take. It is wasted best at first, as long as nothing is known of who reads, see
    /// [`Terms::far`], and as long as nothing was each latency may bring four times as much as all
    /// before it. Where too much was wasted, whoever has come a long way has no more ahead than that start.
    pub(super) const FAR: Terms = Terms {
        start_bytes: START_BYTES_MAX,
        missed_share: 10,
        trust: 2,
        trust_at_first: 4,
        useful_share: 10,
        known_debt_max: u64::MAX,
        overdrawn_share: 16,
        wait_bytes: 0,
        trust_bytes_max: START_BYTES_MAX,
    };

    /// Those of the device.
    pub(crate) fn of(view: &View<'_>) -> Terms {
        let device = view.device;
        let wait_bytes = device.wait_bytes().max(wait_bytes_min(view));
        if device.is_far() {
            return Terms::far(view.config.memory_bytes_max, wait_bytes);
        }
        if device.may_take_turns() {
            Terms::NEAR
        } else {
            Terms::near_at_once(device.fetch_bytes(), wait_bytes)
        }
    }

    /// [`Terms::FAR`] with so much memory, where a wait costs as much as `wait_bytes`.
    fn far(memory_bytes: u64, wait_bytes: u64) -> Terms {
        let start_bytes = (memory_bytes / START_MEMORY_SHARE).clamp(START_BYTES_MIN, START_BYTES_MAX);
        Terms { start_bytes, wait_bytes: wait_bytes / SOON_WAITS, ..Terms::FAR }
    }

    /// From one that answers soon and serves several fetches of `fetch_bytes` at once: there
    /// what is wasted makes few wait, so that streams go on sooner, at once where a wait costs
    /// as much as `wait_bytes`; and two fetches keep it busy, so that none needs more ahead
    /// than that.
    pub(super) fn near_at_once(fetch_bytes: u64, wait_bytes: u64) -> Terms {
        Terms {
            start_bytes: (START_WAITS * wait_bytes).min(Terms::NEAR.start_bytes),
            trust_at_first: 1,
            useful_share: 40,
            known_debt_max: 2 << 20,
            overdrawn_share: 10,
            wait_bytes,
            trust_bytes_max: 2 * fetch_bytes,
            ..Terms::NEAR
        }
    }

    /// Whether they are those of a device far away.
    pub(crate) fn is_far(&self) -> bool {
        self.start_bytes >= START_BYTES_MIN
    }

    /// For a stream whose reader comes back from elsewhere each time, where a wait is worth `wait_bytes`.
    pub(crate) fn returned_to(&self, wait_bytes: u64) -> Terms {
        Terms { wait_bytes, ..*self }
    }

    /// For a stream whose every element is a fetch of its own: it takes more of those.
    pub(crate) fn in_elements(self) -> Terms {
        Terms { trust_bytes_max: u64::MAX, ..self }
    }
}
