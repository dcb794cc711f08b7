//! A bounded sample of a sequence of unknown length.

/// Keeps everything until there is too much, then about every second item, then
/// every fourth …
///
/// Which ones is a matter of a hash of their position: taking every fourth
/// position would show one of four readers that take turns.
#[derive(Clone, Debug)]
pub(super) struct Reservoir<T> {
    /// Kept items with their positions, in order.
    kept: Vec<(u64, T)>,
    count_max: usize,
    /// Positions are kept whose hash has no bit of it.
    mask: u64,
    seen: u64,
}

impl<T> Reservoir<T> {
    pub(super) fn new(count_max: usize) -> Reservoir<T> {
        Reservoir { kept: Vec::new(), count_max, mask: 0, seen: 0 }
    }

    /// Adds an item and gives its position.
    pub(super) fn push(&mut self, item: T) -> u64 {
        let index = self.seen;
        self.seen += 1;
        if is_kept(index, self.mask) {
            self.kept.push((index, item));
        }
        while self.kept.len() > self.count_max {
            self.mask = self.mask << 1 | 1;
            let mask = self.mask;
            self.kept.retain(|(index, _)| is_kept(*index, mask));
        }
        index
    }

    /// The item at position `index`, if it was kept.
    pub(super) fn get_mut(&mut self, index: u64) -> Option<&mut T> {
        let at = self.kept.binary_search_by_key(&index, |(index, _)| *index).ok()?;
        Some(&mut self.kept[at].1)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.kept.iter().map(|(_, item)| item)
    }

    /// How many items there were.
    pub(super) fn seen_count(&self) -> u64 {
        self.seen
    }
}

fn is_kept(index: u64, mask: u64) -> bool {
    hash(index) & mask == 0
}

/// Spreads positions over all numbers (the finalizer of splitmix64).
fn hash(index: u64) -> u64 {
    let mixed = index.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_holds_and_the_sample_is_spread() {
        let mut sample = Reservoir::new(1000);
        for item in 0..100_000_u64 {
            assert_eq!(sample.push(item), item);
            assert!(sample.kept.len() <= 1000);
        }
        assert_eq!(sample.seen_count(), 100_000);
        assert!(sample.kept.len() > 300);
        for turn in 0..8 {
            let share = sample.iter().filter(|item| **item % 8 == turn).count();
            assert!(share * 16 > sample.kept.len(), "turn {turn} has {share} of {}", sample.kept.len());
        }
    }

    #[test]
    fn kept_items_are_found_by_position() {
        let mut sample = Reservoir::new(10);
        (0..1000_u64).for_each(|item| {
            sample.push(item);
        });
        let kept: Vec<u64> = sample.iter().copied().collect();
        assert!(kept.iter().all(|item| sample.get_mut(*item) == Some(&mut item.clone())));
        assert_eq!((0..1000).filter(|index| sample.get_mut(*index).is_some()).count(), kept.len());
    }
}
