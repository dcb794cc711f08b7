//! Orders of reads that are not sequential.

use crate::demo::data::next_random;

/// The numbers below `count`, each displaced by at most `places`: as if several threads or a
/// network took turns.
pub(super) fn displaced(count: u64, places: u64, mut seed: u64) -> Vec<u64> {
    let mut keyed: Vec<_> =
        (0..count).map(|index| (index + next_random(&mut seed) % (places + 1), index)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, index)| index).collect()
}

/// `count` distinct numbers below `below`, in random order.
pub(crate) fn random(count: usize, below: u64, mut seed: u64) -> Vec<u64> {
    let mut seen = std::collections::HashSet::new();
    std::iter::repeat_with(|| next_random(&mut seed) % below)
        .filter(|number| seen.insert(*number))
        .take(count.min(usize::try_from(below).unwrap_or(usize::MAX)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_once_and_never_far_away() {
        let order = displaced(10_000, 6, 1);
        let distance = |(position, index): (usize, &u64)| (*index).abs_diff(position as u64);
        let farthest = order.iter().enumerate().map(distance).max().unwrap();
        let moved = order.iter().enumerate().filter(|pair| distance(*pair) > 0).count();
        assert!((4..=6).contains(&farthest), "{farthest}");
        assert!(moved > 5000, "{moved}");
        let mut sorted = order;
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..10_000));
    }

    #[test]
    fn random_numbers_are_distinct_and_repeatable() {
        let numbers = random(400, 1 << 18, 7);
        assert_eq!(numbers, random(400, 1 << 18, 7));
        assert_eq!(random(10, 3, 7).len(), 3);
        assert!(numbers.iter().all(|number| *number < 1 << 18));
    }
}
