//! What became of what was read ahead, and what that allows.
//!
//! Every stream ends some day, with bytes ahead of it that nobody comes for. The
//! ledger of an object keeps such waste below a share of what was read, but for a
//! small start and the last window of a long stream. Waste makes windows smaller,
//! down to a share of what a stream has read itself; reads make them large again.
//!
//! Streams that have come a long way are trusted past that, and where an object is filled other
//! rules hold. All of them together keep within one bound, see [`Ledger::room`].

use super::terms::Terms;
use crate::config::Config;

/// What may be wasted and shows only once it was fetched: guesses, the ends of windows, and what
/// streams read through.
const UNSEEN_BYTES: u64 = 4 << 20;
/// What was long ago counts less.
const MEMORY_BYTES: u64 = 512 << 20;
/// A stream that skips more than one of so many bytes that it has read is not trusted.
const SKIPPED_SHARE: u64 = 10;
/// As far as one wait is worth, a stream may be ahead by one of so many bytes that it has read.
const SOON_SHARE: u64 = 2;
/// A wait is worth half as much with each of so many parts of what may be wasted.
const PRICE_STEPS: u64 = 8;
const PRICE_SHIFT_MAX: u64 = 20;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    read: u64,
    earned: u64,
    wasted: u64,
    /// What nobody came for although it was no loss to read it through.
    passed: u64,
    /// What may be wasted for what was read, less what was wasted, however long ago.
    spare: i64,
}

impl Ledger {
    /// Somebody read bytes: so many that had been read ahead, and so many others.
    pub(crate) fn earn(&mut self, useful: u64, missed: u64, terms: &Terms) {
        self.read += useful + missed;
        self.spare += ((useful + missed) / Config::USEFUL_SHARE) as i64;
        self.earned += useful / terms.useful_share + missed / terms.missed_share;
        if self.read > MEMORY_BYTES {
            self.read /= 2;
            self.earned /= 2;
            self.wasted /= 2;
        }
    }

    /// Nobody came for `bytes` that were read ahead.
    pub(crate) fn lose(&mut self, bytes: u64) {
        self.wasted += bytes;
        self.forget(bytes);
    }

    /// Nobody came for `bytes` that it was cheaper to read than to leave out.
    pub(crate) fn pass(&mut self, bytes: u64) {
        self.passed += bytes;
        self.forget(bytes);
    }

    /// See [`Ledger::pass`].
    pub(crate) fn passed_bytes(&self) -> u64 {
        self.passed
    }

    /// Nobody may come for `bytes`, or it is accounted for elsewhere what comes of them.
    pub(crate) fn forget(&mut self, bytes: u64) {
        self.spare -= bytes as i64;
    }

    /// How much may be fetched ahead of an object of `size` bytes, while so much is that nobody
    /// has read yet: if nobody ever does, no more is wasted than may be.
    pub(crate) fn room(&self, unread_bytes: u64, size: u64) -> u64 {
        self.room_at_first(size).saturating_add_signed(self.spare).saturating_sub(unread_bytes)
    }

    /// The same as long as nothing was read of it.
    pub(crate) fn room_at_first(&self, size: u64) -> u64 {
        Config::waste_bytes_of(size).min(Config::WASTE_BYTES_PER_OBJECT - UNSEEN_BYTES)
    }

    /// Whether anything was lost or passed that somebody may come for after all.
    pub(crate) fn has_lost(&self) -> bool {
        self.wasted + self.passed > 0
    }

    /// Somebody came for `bytes` after all.
    pub(crate) fn regain(&mut self, bytes: u64) {
        let lost = bytes.min(self.wasted);
        self.wasted -= lost;
        let passed = (bytes - lost).min(self.passed);
        self.passed -= passed;
        self.spare += (lost + passed) as i64;
    }

    /// What a wait is worth, in bytes, that is worth `wait_bytes` as long as nothing is
    /// wasted: the less, the more of what may be wasted is.
    pub(crate) fn priced(&self, wait_bytes: u64, terms: &Terms) -> u64 {
        if self.wasted == 0 {
            return wait_bytes;
        }
        let used = (PRICE_STEPS * self.wasted / self.allowed(terms)).min(PRICE_SHIFT_MAX);
        wait_bytes >> used
    }

    /// What may be wasted still.
    pub(crate) fn left(&self, terms: &Terms) -> u64 {
        self.allowed(terms).saturating_sub(self.wasted)
    }

    /// What was wasted too much.
    pub(crate) fn debt(&self, terms: &Terms) -> u64 {
        self.wasted.saturating_sub(self.allowed(terms))
    }

    /// Whether the price alone says how far ahead of a stream one may be whose end is
    /// known.
    pub(crate) fn trusts_known_ends(&self, terms: &Terms) -> bool {
        self.debt(terms) <= terms.known_debt_max
    }

    /// How far ahead of a stream that has read `own` bytes and skipped `skipped` of those
    /// read ahead for it one may be, while others have bet `at_risk`: whatever has not been
    /// wasted yet, and more for a stream that has come a long way.
    pub(crate) fn window_bytes_max(&self, own: u64, skipped: u64, at_risk: u64, terms: &Terms) -> u64 {
        let (left, debt) = (self.left(terms).saturating_sub(at_risk), self.debt(terms));
        let trust = if left >= terms.start_bytes / 2 {
            terms.trust_at_first * own
        } else if debt <= own && skipped <= own / SKIPPED_SHARE {
            (terms.trust * own).min(terms.trust_bytes_max)
        } else {
            let soon = (own / SOON_SHARE).min(terms.wait_bytes);
            soon.max(own / terms.overdrawn_share).saturating_sub(skipped)
        };
        trust.max(left)
    }

    fn allowed(&self, terms: &Terms) -> u64 {
        terms.start_bytes + self.earned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Streams of `len` bytes that end with all ahead of them unread: what was read
    /// and what was wasted.
    fn read_and_wasted(len: u64, count: u64, terms: &Terms) -> (u64, u64) {
        let (mut ledger, mut wasted) = (Ledger::default(), 0);
        for _ in 0..count {
            ledger.earn(0, len, terms);
            // The first windows of a stream are no larger than that.
            let window = ledger.window_bytes_max(len, 0, 0, terms).min(16 * len);
            ledger.lose(window);
            wasted += window;
        }
        (len * count, wasted)
    }

    #[test]
    fn waste_is_bounded() {
        for terms in &[Terms::NEAR, Terms::near_at_once(128 << 10, 64 << 10), Terms::FAR] {
            for len in [8 << 10, 64 << 10, 1 << 20] {
                let (read, wasted) = read_and_wasted(len, 1000, terms);
                // Each debt is at most that of one stream more than a stream is good for.
                let last = 17 * len;
                let soon = 1000 * (len / SOON_SHARE).min(terms.wait_bytes);
                let share = read / terms.missed_share + soon.max(read / terms.overdrawn_share);
                let allowed = terms.start_bytes + last + share;
                assert!(wasted <= allowed, "{wasted} wasted of {read}");
            }
        }
    }

    #[test]
    fn there_is_room_for_no_more_than_may_be_wasted() {
        let (mut ledger, mut wasted) = (Ledger::default(), 0);
        for _ in 0..1000 {
            ledger.earn(1 << 20, 1 << 20, &Terms::FAR);
            let room = ledger.room(0, u64::MAX);
            assert_eq!(ledger.room(room, u64::MAX), 0);
            ledger.lose(room / 2);
            ledger.forget(room - room / 2);
            wasted += room;
        }
        assert!(wasted <= Config::waste_bytes_max(2000 << 20, [u64::MAX]));
        ledger.lose(1 << 20);
        assert_eq!(ledger.room(0, u64::MAX), 0);
    }

    #[test]
    fn where_a_wait_costs_few_bytes_little_is_wasted_at_first() {
        let start = |wait| Ledger::default().left(&Terms::near_at_once(256 << 10, wait)) >> 10;
        assert_eq!([11 << 10, 64 << 10, 1 << 20].map(start), [88, 512, 512]);
    }

    #[test]
    fn it_earns_its_way_back() {
        let mut ledger = Ledger::default();
        ledger.lose(50 << 20);
        assert_eq!(ledger.window_bytes_max(64 << 10, 0, 0, &Terms::NEAR), 4 << 10);
        (0..100).for_each(|_| ledger.earn(20 << 20, 0, &Terms::NEAR));
        assert!(ledger.window_bytes_max(64 << 10, 0, 0, &Terms::NEAR) >= 128 << 10);
    }

    #[test]
    fn a_long_stream_is_trusted_whatever_others_wasted() {
        let mut ledger = Ledger::default();
        ledger.lose(1 << 20);
        assert_eq!(ledger.window_bytes_max(256 << 10, 0, 0, &Terms::NEAR), 16 << 10);
        assert_eq!(ledger.window_bytes_max(1 << 20, 0, 0, &Terms::NEAR), 1 << 20);
        assert_eq!(ledger.window_bytes_max(1 << 20, 128 << 10, 0, &Terms::NEAR), 0);
    }

    #[test]
    fn who_comes_back_has_half_as_far_as_a_wait_is_worth() {
        let mut ledger = Ledger::default();
        ledger.lose(50 << 20);
        let ahead = |terms| [16, 128, 256].map(|own| ledger.window_bytes_max(own << 10, 0, 0, &terms) >> 10);
        assert_eq!(ahead(Terms::NEAR), [1, 8, 16]);
        assert_eq!(ahead(Terms::NEAR.returned_to(64 << 10)), [8, 64, 64]);
    }

    #[test]
    fn as_far_as_a_wait_is_worth_half_of_a_stream_is_enough() {
        let mut ledger = Ledger::default();
        ledger.lose(50 << 20);
        let terms = &Terms::near_at_once(128 << 10, 64 << 10);
        let ahead = [16, 128, 256, 1024].map(|own| ledger.window_bytes_max(own << 10, 0, 0, terms) >> 10);
        assert_eq!(ahead, [8, 64, 64, 102]);
        assert_eq!(ledger.window_bytes_max(16 << 10, 8 << 10, 0, terms), 0);
    }
}
