//! Means, their margins, and which differences are more than luck.

mod equivalence;
mod student;

pub use equivalence::{Ratio, Verdict};
pub use student::{quantile, two_sided_p};

/// How sure a margin is, and how sure a table is that all the differences it marks
/// are there.
pub const CONFIDENCE: f64 = 0.997;

/// The mean and spread of some measurements of the same thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How many there are.
    pub count: usize,
    /// Their mean; 0 of none.
    pub mean: f64,
    /// Their standard deviation; 0 of fewer than two.
    pub deviation: f64,
}

impl Sample {
    /// Of `values`.
    pub fn of(values: &[f64]) -> Sample {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count.max(1) as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let deviation = if count < 2 { 0.0 } else { (squares / (count - 1) as f64).sqrt() };
        // Equal numbers have a mean that may differ from them in its last bit.
        let deviation = if deviation > mean.abs() * 1e-12 { deviation } else { 0.0 };
        Sample { count, mean, deviation }
    }

    /// How far the true mean may be from this one, with [`CONFIDENCE`]. `None` of fewer
    /// than two values.
    pub fn margin(&self) -> Option<f64> {
        let freedom = self.count.checked_sub(1).filter(|freedom| *freedom > 0)?;
        let quantile = quantile(1.0 - (1.0 - CONFIDENCE) / 2.0, freedom);
        Some(quantile * self.deviation / (self.count as f64).sqrt())
    }

    /// How likely a mean as far from 0 as this is if the true one is 0. `None` of fewer
    /// than two values.
    pub fn p_of_zero(&self) -> Option<f64> {
        let freedom = self.count.checked_sub(1).filter(|freedom| *freedom > 0)?;
        Some(match self.deviation == 0.0 {
            true if self.mean == 0.0 => 1.0,
            true => 0.0,
            false => two_sided_p(self.mean / self.deviation * (self.count as f64).sqrt(), freedom),
        })
    }
}

/// Jain's index of `shares`: 1 if all are equal, and one over their number if one is everything. It is 1 if
/// there is nothing to share.
pub fn jain_index(shares: &[f64]) -> f64 {
    let (sum, squares) = shares.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares > 0.0 { sum * sum / (shares.len() as f64 * squares) } else { 1.0 }
}

/// How likely it is that `these` and `those`, measured in pairs, differ as they do by
/// luck: a t-test on the differences of their logarithms. `None` of fewer than two pairs.
///
/// All values are above 0.
pub fn paired_p(these: &[f64], those: &[f64]) -> Option<f64> {
    let differences: Vec<f64> = these.iter().zip(those).map(|(this, that)| (this / that).ln()).collect();
    Sample::of(&differences).p_of_zero()
}

/// Which of several tests tell a difference, if all of them together may be wrong with
/// `1 - CONFIDENCE`: Holm's step-down correction.
pub fn holm(p: &[f64]) -> Vec<bool> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut told = vec![false; p.len()];
    for (rank, at) in order.into_iter().enumerate() {
        if p[at] > (1.0 - CONFIDENCE) / (p.len() - rank) as f64 {
            break;
        }
        told[at] = true;
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_margin_is_that_of_students_t() {
        let sample = Sample::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!((sample.count, sample.mean), (5, 3.0));
        assert!((sample.deviation - 2.5_f64.sqrt()).abs() < 1e-12);
        // Half of it is 2.88 standard deviations of five runs.
        assert!((sample.margin().unwrap() / sample.deviation - 2.88).abs() < 0.01);
        assert_eq!(Sample::of(&[7.0]).margin(), None);
        assert_eq!(Sample::of(&[0.1; 3]).margin(), Some(0.0));
    }

    #[test]
    fn pairs_see_what_their_luck_hides() {
        let luck = [1.0, 1.4, 0.7, 1.2, 0.9, 1.1, 0.8, 1.3];
        let slower: Vec<f64> =
            luck.iter().enumerate().map(|(at, time)| time * (1.02 + 0.001 * at as f64)).collect();
        assert!(paired_p(&luck, &slower).unwrap() < 1e-4);
        assert_eq!(paired_p(&luck, &luck), Some(1.0));
        assert_eq!(paired_p(&[1.0], &[2.0]), None);
        assert_eq!(paired_p(&[1.0, 1.0], &[2.0, 2.0]), Some(0.0));
    }

    #[test]
    fn holm_stops_at_the_first_doubt() {
        assert_eq!(holm(&[0.0009, 0.5, 0.0014, 0.0029]), [false, false, false, false]);
        assert_eq!(holm(&[0.0007, 0.5, 0.0009, 0.0014]), [true, false, true, true]);
        assert_eq!(holm(&[]), []);
    }
}
