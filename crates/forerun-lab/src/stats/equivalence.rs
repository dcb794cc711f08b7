//! Whether one thing takes longer than another, or is shown not to: two one-sided tests.

use std::fmt;

use super::{Sample, quantile};

/// How sure each of the two tests is.
const TEST_CONFIDENCE: f64 = 0.95;

/// How these times stand to those, measured in pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Their geometric mean.
    pub mean: f64,
    /// The true ratio is not below it, with 95 %.
    pub low: f64,
    /// The true ratio is not above it, with 95 %.
    pub high: f64,
}

/// The verdict of a [`Ratio`]. The names are those of the times above the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Less time, surely.
    Faster,
    /// Neither more nor less by the margin or more, surely.
    Equal,
    /// Not more by the margin or more, surely; whether less is not known.
    NotSlower,
    /// Nothing is sure; more pairs would tell.
    Undecided,
    /// More by the margin or more, surely.
    Slower,
}

impl Ratio {
    /// Of `these` to `those`, as far as they are pairs. All of them are above 0. A single
    /// pair is taken to be exact: it is measured where there is no luck.
    pub fn of(these: &[f64], those: &[f64]) -> Ratio {
        let logarithms: Vec<f64> = these.iter().zip(those).map(|(this, that)| (this / that).ln()).collect();
        let Sample { count, mean, deviation } = Sample::of(&logarithms);
        let margin = match count {
            0 | 1 => 0.0,
            _ => quantile(TEST_CONFIDENCE, count - 1) * deviation / (count as f64).sqrt(),
        };
        Ratio { mean: mean.exp(), low: (mean - margin).exp(), high: (mean + margin).exp() }
    }

    /// Whether these take longer than those, where a difference by the factor `1 + margin`
    /// is one that matters.
    pub fn verdict(self, margin: f64) -> Verdict {
        let most = 1.0 + margin;
        match self {
            Ratio { low, high, .. } if high <= most && low >= 1.0 / most => Verdict::Equal,
            Ratio { high, .. } if high < 1.0 => Verdict::Faster,
            Ratio { high, .. } if high <= most => Verdict::NotSlower,
            Ratio { low, .. } if low > most => Verdict::Slower,
            _ => Verdict::Undecided,
        }
    }
}

impl Verdict {
    /// Whether more time by the margin or more is ruled out.
    pub fn is_harmless(self) -> bool {
        matches!(self, Verdict::Faster | Verdict::Equal | Verdict::NotSlower)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Faster => "faster",
            Verdict::Equal => "equal",
            Verdict::NotSlower => "not slower",
            Verdict::Undecided => "undecided",
            Verdict::Slower => "slower",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 times around 1, `spread` apart at most.
    fn luck(spread: f64) -> Vec<f64> {
        (0..20).map(|at| 1.0 + spread * (f64::from(at * 7 % 20) / 19.0 - 0.5)).collect()
    }

    fn verdict(factor: f64, spread: f64) -> Verdict {
        let these: Vec<f64> = luck(spread).iter().map(|time| time * factor).collect();
        Ratio::of(&these, &[1.0; 20]).verdict(0.01)
    }

    #[test]
    fn a_verdict_needs_both_tests() {
        assert_eq!(verdict(1.0, 0.01), Verdict::Equal);
        assert_eq!(verdict(1.008, 0.001), Verdict::Equal);
        assert_eq!(verdict(1.012, 0.001), Verdict::Slower);
        assert_eq!(verdict(1.05, 0.5), Verdict::Undecided);
        assert_eq!(verdict(1.0, 0.5), Verdict::Undecided);
        assert_eq!(verdict(0.5, 0.5), Verdict::Faster);
        assert_eq!(verdict(0.993, 0.08), Verdict::NotSlower);
    }

    #[test]
    fn limits_are_those_of_students_t() {
        let ratio = Ratio::of(&[1.0, 2.0, 4.0], &[1.0, 1.0, 1.0]);
        assert!((ratio.mean - 2.0).abs() < 1e-12);
        // 2.92 of a deviation of ln 2, by the root of three.
        let margin = (2.920 * 2_f64.ln() / 3_f64.sqrt()).exp();
        assert!((ratio.high / (2.0 * margin) - 1.0).abs() < 1e-3, "{ratio:?}");
        assert!((ratio.low / (2.0 / margin) - 1.0).abs() < 1e-3, "{ratio:?}");
    }

    #[test]
    fn one_pair_is_exact() {
        let ratio = Ratio::of(&[1.02], &[1.0]);
        assert_eq!((ratio.low, ratio.high), (ratio.mean, ratio.mean));
        assert_eq!(ratio.verdict(0.01), Verdict::Slower);
        assert_eq!(ratio.verdict(0.03), Verdict::Equal);
    }
}
