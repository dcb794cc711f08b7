//! The least memory that keeps a device as little busy as it can be.

/// As busy is a device that is at most so much busier than with all the memory.
pub(crate) const AS_BUSY: f64 = 1.1;

/// The fewest of `most` steps of memory that `suffice`, if all of them do.
pub(crate) fn least_steps(most: u64, suffice: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut too_few, mut enough) = (0, most);
    if !suffice(enough) {
        return None;
    }
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        if suffice(middle) { enough = middle } else { too_few = middle }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_steps_are_found() {
        for least in [1, 2, 17, 48] {
            assert_eq!(least_steps(48, |steps| steps >= least), Some(least));
        }
        assert_eq!(least_steps(48, |_| false), None);
    }
}
