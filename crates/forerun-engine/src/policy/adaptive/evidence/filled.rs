//! The outcome of filling regions that are read all over: of one object, and of all.

/// The bytes that may be bet before anything was gained.
const BET_BYTES: i64 = 512 << 10;
/// Bytes read for each filled byte that may be wasted, where the object does not fit into memory.
const READ_SHARE: u64 = 32;
/// Filling a whole object is bolder by one for this many bytes that a wait is worth.
const BOLD_BYTES: u64 = 96 << 10;
/// The bytes that may be bet to fill whole objects, and one more for this many that readers waited for.
const KEPT_BYTES: i64 = 8 << 20;
const WAITED_SHARE: u64 = 128;

/// Of one object.
#[derive(Debug, Default)]
pub(crate) struct Filled {
    /// The worth of saved waits less the fetched bytes.
    gained: i64,
    /// Bytes read of the object, and filled bytes that were not read.
    read: u64,
    pub(crate) unread: u64,
}

/// Of all objects: those of which a part is filled, and those that are kept as a whole.
#[derive(Debug, Default)]
pub(crate) struct Trust {
    gained: [i64; 2],
    read: u64,
    waited: u64,
}

impl Filled {
    /// Readers read this many bytes of the object.
    pub(crate) fn record_read(&mut self, bytes: u64) {
        self.read += bytes;
    }

    /// Bytes are fetched to fill, which costs a wait besides.
    pub(crate) fn pay(&mut self, bytes: u64, wait: u64, fits: bool, trust: &mut Trust) {
        self.unread += bytes;
        let cost = bytes.saturating_add(wait);
        self.gained = self.gained.saturating_sub_unsigned(cost);
        let all = &mut trust.gained[usize::from(fits)];
        *all = all.saturating_sub_unsigned(cost);
    }

    /// A reader came for some of them, which saved a wait worth `hit` bytes.
    pub(crate) fn earn(&mut self, bytes: u64, hit: u64, fits: bool, trust: &mut Trust) {
        self.unread = self.unread.saturating_sub(bytes);
        self.gained = self.gained.saturating_add_unsigned(hit);
        let all = &mut trust.gained[usize::from(fits)];
        *all = all.saturating_add_unsigned(hit);
    }

    /// Some of them went before anybody came.
    pub(crate) fn lose(&mut self, bytes: u64) {
        self.unread = self.unread.saturating_sub(bytes);
        self.gained = self.gained.saturating_sub_unsigned(bytes);
    }

    /// How much of the object may be filled besides.
    pub(crate) fn room(&self, fits: bool) -> u64 {
        if fits {
            return u64::MAX;
        }
        (self.read / READ_SHARE).saturating_sub(self.unread)
    }

    /// The bytes that may be fetched for each byte that readers waited for. They `waited` for misses worth
    /// that many bytes, and a wait is worth `wait`. `None` if filling has cost too much.
    pub(crate) fn boost(&self, fits: bool, waited: u64, size: u64, wait: u64) -> Option<u64> {
        let bold = (wait / BOLD_BYTES).max(1);
        if fits && waited.saturating_mul(bold) >= size {
            return Some(bold);
        }
        match self.gained {
            gained if gained < -BET_BYTES => None,
            gained if gained > 4 * BET_BYTES => Some(4),
            gained if gained > BET_BYTES => Some(2),
            _ => Some(1),
        }
    }
}

impl Trust {
    /// A reader read `bytes`, and waited as long as `waited` bytes take.
    pub(crate) fn record_read(&mut self, bytes: u64, waited: u64) {
        self.read += bytes;
        self.waited += waited;
    }

    /// Whether to fill more of an object, as far as others tell.
    pub(crate) fn allows(&self, fits: bool, filled: &Filled) -> bool {
        let waited = (self.waited / WAITED_SHARE) as i64;
        if fits {
            return self.gained[1].saturating_sub(filled.gained).saturating_add(KEPT_BYTES + waited) >= 0;
        }
        let bet = waited.min(BET_BYTES + (self.read / READ_SHARE) as i64);
        filled.gained >= -bet && self.gained[0] >= -bet || filled.gained > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn fills_that_paid_grow_and_fills_that_cost_too_much_stop() {
        let (mut filled, mut trust) = (Filled::default(), Trust::default());
        assert_eq!(filled.boost(false, 0, MIB, 4096), Some(1));
        filled.pay(MIB, 4096, false, &mut trust);
        assert_eq!(filled.boost(false, 0, MIB, 4096), None);
        assert_eq!(filled.boost(true, MIB, MIB, 4096), Some(1), "they waited as long as all of it takes");
        (0..4).for_each(|_| filled.earn(4096, MIB, false, &mut trust));
        assert_eq!(filled.boost(false, 0, MIB, 4096), Some(4));
        assert_eq!(filled.boost(true, MIB, 4 * MIB, 4 * BOLD_BYTES), Some(4));
    }

    #[test]
    fn one_object_does_not_pay_for_what_many_cost() {
        let mut trust = Trust::default();
        trust.record_read(0, 1 << 40);
        for _ in 0..100 {
            Filled::default().pay(MIB, 0, false, &mut trust);
        }
        assert!(!trust.allows(false, &Filled::default()));
        assert!(trust.allows(true, &Filled::default()), "whole objects are another matter");
    }
}
