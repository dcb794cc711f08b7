//! The outcome of files that were read ahead, and the bytes that it allows. A tenth of the bytes that walks
//! read may be wasted, and a little more by each walk.

/// Before anything is known.
const START_BYTES: u64 = 1 << 20;
/// One byte may be wasted for this many that were used.
const USEFUL_SHARE: u64 = 10;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    useful: u64,
    wasted: u64,
}

impl Ledger {
    /// A walker opened a file that was to be expected, of which it wants `bytes`.
    pub(super) fn earn(&mut self, bytes: u64) {
        self.useful += bytes;
    }

    /// Counts `bytes` of readahead that were wasted.
    pub(super) fn lose(&mut self, bytes: u64) {
        self.wasted += bytes;
    }

    /// How many bytes of files that are not open yet one walk may have.
    pub(super) fn ahead_bytes_max(&self) -> u64 {
        (START_BYTES + self.useful / USEFUL_SHARE).saturating_sub(self.wasted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waste_is_a_tenth_and_a_little() {
        let (mut ledger, mut wasted) = (Ledger::default(), 0);
        for _ in 0..10_000 {
            ledger.earn(100_000);
            let ahead = ledger.ahead_bytes_max();
            ledger.lose(ahead);
            wasted += ahead;
        }
        assert!(wasted <= 2 * START_BYTES + 10_000 * 100_000 / USEFUL_SHARE, "{wasted} wasted");
        assert!(wasted >= 10_000 * 100_000 / USEFUL_SHARE / 2, "{wasted} wasted");
    }
}
