//! The order of the runs of several contenders.

/// The places of `count` contenders that run `repeat` times in turn: a disturbance then costs each of them one run.
///
/// Each round begins with another contender. A virtual machine gets memory from its host at the first touch, and
/// the first contender of a round pays for that.
pub(crate) fn rounds(repeat: u32, count: usize) -> impl Iterator<Item = usize> {
    (0..repeat as usize).flat_map(move |round| (0..count).map(move |index| (round + index) % count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_round_has_all_and_begins_with_another() {
        assert_eq!(rounds(4, 3).collect::<Vec<_>>(), [0, 1, 2, 1, 2, 0, 2, 0, 1, 0, 1, 2]);
        assert_eq!(rounds(2, 0).count(), 0);
    }
}
