//! What became of what was read ahead, and what that allows.
//!
//! Every stream ends some day, with bytes ahead of it that nobody comes for. The
//! ledger of an object keeps such waste below a share of what was read, but for a
//! small start and the last window of a long stream. Waste makes windows smaller,
//! down to a share of what a stream has read itself; reads make them large again.

/// What was long ago counts less.
const MEMORY_BYTES: u64 = 512 << 20;

/// Of so many bytes that were read one may be wasted in the long run.
const BOUND_SHARE: u64 = 10;
/// A wait is worth half as much with each of so many parts of that.
const PRICE_STEPS: u64 = 8;

/// How much may be wasted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    /// Before anything was read.
    start_bytes: u64,
    /// And one byte for so many that were read.
    read_share: u64,
}

impl Terms {
    /// From a device that answers soon a wasted byte costs about what a useful one
    /// saves: on a disk of 20 MB/s, a megabyte takes as long as five movements of
    /// its head.
    pub(super) const NEAR: Terms = Terms { start_bytes: 512 << 10, read_share: 16 };
    /// From one far away it costs less: at 10 ms and 400 MB/s, one wait is as long as
    /// 4 MB take.
    pub(super) const FAR: Terms = Terms { start_bytes: 4 << 20, read_share: 2 };
}

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    read: u64,
    wasted: u64,
}

impl Ledger {
    /// Somebody read `bytes`.
    pub(super) fn earn(&mut self, bytes: u64) {
        self.read += bytes;
        if self.read > MEMORY_BYTES {
            self.read /= 2;
            self.wasted /= 2;
        }
    }

    /// Nobody came for `bytes` that were read ahead.
    pub(super) fn lose(&mut self, bytes: u64) {
        self.wasted += bytes;
    }

    /// Somebody came for `bytes` after all.
    pub(super) fn regain(&mut self, bytes: u64) {
        self.wasted = self.wasted.saturating_sub(bytes);
    }

    /// What a wait is worth, in bytes, that is worth `wait_bytes` as long as nothing is
    /// wasted: the less, the more of what may be wasted is.
    pub(super) fn priced(&self, wait_bytes: u64, terms: Terms) -> u64 {
        let allowed = terms.start_bytes + self.read / BOUND_SHARE;
        let used = (PRICE_STEPS * self.wasted / allowed).min(PRICE_STEPS);
        wait_bytes >> used
    }

    /// How far ahead of a stream that has read `own` bytes one may be: whatever has
    /// not been wasted yet, and more for a stream that has come a long way.
    pub(super) fn window_bytes_max(&self, own: u64, terms: Terms) -> u64 {
        let allowed = terms.start_bytes + self.read / terms.read_share;
        let left = allowed.saturating_sub(self.wasted);
        let trust = if left >= terms.start_bytes / 2 { 2 * own } else { own / terms.read_share };
        trust.max(left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams of `len` bytes that end with all ahead of them unread: what was read
    /// and what was wasted.
    fn read_and_wasted(len: u64, count: u64, terms: Terms) -> (u64, u64) {
        let (mut ledger, mut wasted) = (Ledger::default(), 0);
        for _ in 0..count {
            ledger.earn(len);
            // The first windows of a stream are no larger than that.
            let window = ledger.window_bytes_max(len, terms).min(16 * len);
            ledger.lose(window);
            wasted += window;
        }
        (len * count, wasted)
    }

    #[test]
    fn waste_is_bounded() {
        for terms in [Terms::NEAR, Terms::FAR] {
            for len in [8 << 10, 64 << 10, 1 << 20] {
                let (read, wasted) = read_and_wasted(len, 1000, terms);
                let allowed = terms.start_bytes + 16 * len + 2 * read / terms.read_share;
                assert!(wasted <= allowed, "{wasted} wasted of {read}");
            }
        }
    }

    #[test]
    fn it_earns_its_way_back() {
        let mut ledger = Ledger::default();
        ledger.lose(100 << 20);
        assert_eq!(ledger.window_bytes_max(64 << 10, Terms::NEAR), 4 << 10);
        ledger.earn(2000 << 20);
        assert!(ledger.window_bytes_max(64 << 10, Terms::NEAR) >= 128 << 10);
    }
}
