//! How many streams there would be if all were read at random.
//!
//! Among many reads at random some lie beside an earlier one. How many is known: it depends on
//! how many are remembered, how large they are and how large the object is. As long as no more
//! streams began than that, the next one may be such an accident.

/// One stream.
const ONE: u64 = 1 << 16;
/// Accidents come in clusters: there may be so many times as many as are to be expected.
const CLUSTER: u64 = 2;

/// See the module's page.
#[derive(Debug, Default)]
pub(crate) struct Chance {
    /// How many more streams may begin by accident, in parts of [`ONE`]; less than 0 if there
    /// were too many for that. It has room for tens of thousands, either way.
    left: i32,
}

impl Chance {
    /// A read of `len` bytes of an object of `size` that goes on with no stream, while `count`
    /// others are remembered: it may lie before or after each of them.
    pub(crate) fn note(&mut self, count: usize, len: u64, size: u64) {
        let share = (2 * count as u64 * ONE).saturating_mul(len) / size.max(1);
        self.left = self.left.saturating_add((CLUSTER * share.min(ONE)) as i32);
    }

    /// A stream begins. Whether it may well be an accident.
    pub(crate) fn explains_another(&mut self) -> bool {
        self.left = self.left.saturating_sub(ONE as i32);
        self.left >= 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;
    const MIB: u64 = 1 << 20;

    #[test]
    fn neighbours_among_many_reads_of_a_small_object_are_no_surprise() {
        let mut chance = Chance::default();
        (0..128).for_each(|count| chance.note(count, 128 * KIB, 1024 * MIB));
        // 128 reads of 8192 places, each beside one of 64 others on average.
        assert!((0..3).all(|_| chance.explains_another()));
        assert!(!(0..2).all(|_| chance.explains_another()));
    }

    #[test]
    fn in_a_large_one_they_are() {
        let mut chance = Chance::default();
        (0..10_000).for_each(|_| chance.note(128, 4 * KIB, 1 << 40));
        assert!(!chance.explains_another());
    }
}
