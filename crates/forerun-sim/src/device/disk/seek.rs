//! How long the head takes from one cylinder to another.

/// A seek curve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seek {
    /// Measured distances in cylinders with their microseconds, straight lines between them.
    Points(Vec<(u64, u64)>),
    /// A data sheet's three numbers in microseconds: one cylinder, the mean of a random
    /// seek, and all cylinders. E. K. Lee's curve through them.
    Lee {
        /// One cylinder.
        min_us: u64,
        /// The mean of random seeks.
        mean_us: u64,
        /// All cylinders.
        max_us: u64,
    },
    /// A root of the fraction of all cylinders, then a straight line.
    RootThenLine {
        /// The constant beside the root, in microseconds.
        min_us: u64,
        /// The factor of the root, in microseconds.
        root_us: u64,
        /// Where the line begins, in a thousandth of all cylinders.
        line_from_permille: u64,
        /// The increase of the line over all cylinders, in microseconds.
        line_us: u64,
    },
}

impl Seek {
    /// Nanoseconds for `distance` of `cylinders` cylinders; 0 for no distance.
    pub fn ns(&self, distance: u64, cylinders: u64) -> u64 {
        if distance == 0 {
            return 0;
        }
        match self {
            Seek::Points(points) => interpolate(points, distance),
            Seek::Lee { min_us, mean_us, max_us } => {
                let (min, mean, max) = (*min_us as f64, *mean_us as f64, *max_us as f64);
                let (span, x) = (cylinders as f64, (distance - 1) as f64);
                let a = (15.0 * mean - 10.0 * min - 5.0 * max) / (3.0 * span.sqrt());
                let b = (7.0 * min - 15.0 * mean + 8.0 * max) / (3.0 * span);
                ((a * x.sqrt() + b * x + min) * 1000.0) as u64
            }
            Seek::RootThenLine { min_us, root_us, line_from_permille, line_us } => {
                let fraction = distance as f64 / cylinders as f64;
                let line_from = *line_from_permille as f64 / 1000.0;
                let root = *min_us as f64 + *root_us as f64 * fraction.min(line_from).sqrt();
                let line = *line_us as f64 * (fraction - line_from).max(0.0);
                ((root + line) * 1000.0) as u64
            }
        }
    }
}

fn interpolate(points: &[(u64, u64)], distance: u64) -> u64 {
    let after = points.partition_point(|(at, _)| *at < distance);
    let Some(&(to, to_us)) = points.get(after) else {
        return points.last().map_or(0, |(_, us)| us * 1000);
    };
    if after == 0 || to == distance {
        return to_us * 1000;
    }
    let (from, from_us) = points[after - 1];
    // Measured curves fall here and there.
    (from_us * 1000 * (to - distance) + to_us * 1000 * (distance - from)) / (to - from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_joined_by_lines() {
        let seek = Seek::Points(vec![(1, 800), (10, 1700), (20, 1500)]);
        let at = |distance| seek.ns(distance, 100);
        assert_eq!(
            [at(0), at(1), at(2), at(10), at(15), at(99)],
            [0, 800_000, 900_000, 1_700_000, 1_600_000, 1_500_000]
        );
    }

    #[test]
    fn lee_meets_its_three_numbers() {
        let seek = Seek::Lee { min_us: 1000, mean_us: 8500, max_us: 16_000 };
        assert_eq!(seek.ns(1, 10_000), 1_000_000);
        assert!(seek.ns(10_000, 10_000).abs_diff(16_000_000) < 10_000);
        // A random seek crosses d cylinders with a probability proportional to n - d.
        let n = 10_000;
        let mean = (1..n).map(|d| u128::from(seek.ns(d, n)) * u128::from(2 * (n - d))).sum::<u128>()
            / u128::from(n * n);
        assert!((mean as u64).abs_diff(8_500_000) < 100_000, "{mean}");
    }

    #[test]
    fn root_then_line() {
        let seek =
            Seek::RootThenLine { min_us: 1900, root_us: 21_100, line_from_permille: 40, line_us: 8450 };
        assert!(seek.ns(400, 10_000).abs_diff(6_120_000) < 1000);
        assert!(seek.ns(10_000, 10_000).abs_diff(14_232_000) < 1000);
    }
}
