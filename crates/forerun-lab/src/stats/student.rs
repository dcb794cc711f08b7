//! Student's distribution, by the finite sums that it has for whole degrees of freedom.

use std::f64::consts::PI;

/// How likely a value at least as far from 0 as `t` is, with `freedom` degrees of
/// freedom, at least 1.
pub fn two_sided_p(t: f64, freedom: usize) -> f64 {
    (1.0 - within(t.abs(), freedom)).max(0.0)
}

/// The value that a share `p` (from 0.5 to below 1) of the distribution with `freedom` degrees of freedom,
/// at least 1, does not exceed.
pub fn quantile(p: f64, freedom: usize) -> f64 {
    let wanted = 2.0 * p - 1.0;
    let (mut low, mut high) = (0.0, 1.0);
    while within(high, freedom) < wanted {
        high *= 2.0;
    }
    // Each step halves the doubt.
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if within(middle, freedom) < wanted { low = middle } else { high = middle }
    }
    high
}

/// The share between `-t` and `t` (Abramowitz and Stegun, 26.7.3 and 26.7.4).
fn within(t: f64, freedom: usize) -> f64 {
    let root = (freedom as f64).sqrt();
    let hypotenuse = (freedom as f64 + t * t).sqrt();
    let (sine, cosine) = (t / hypotenuse, root / hypotenuse);
    let odd = freedom % 2 == 1;
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = 0.0;
    let mut next = if odd { 3 } else { 2 };
    while next <= freedom {
        sum += term;
        term *= cosine * cosine * (next - 1) as f64 / next as f64;
        next += 2;
    }
    match odd {
        true => 2.0 / PI * ((t / root).atan() + sine * sum),
        false => sine * sum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        let table = [
            (0.9985, 2, 18.2),
            (0.9985, 4, 6.44),
            (0.9985, 7, 4.44),
            (0.9985, 9, 4.02),
            (0.9985, 19, 3.40),
            (0.9985, 29, 3.24),
            (0.9985, 99, 3.04),
            (0.975, 1, 12.706),
            (0.975, 10, 2.228),
            (0.995, 3, 5.841),
        ];
        for (p, freedom, t) in table {
            assert!(
                (quantile(p, freedom) / t - 1.0).abs() < 0.003,
                "{p} {freedom}: {}",
                quantile(p, freedom)
            );
        }
    }

    #[test]
    fn a_quantile_is_as_likely_as_it_says() {
        for freedom in 1..60 {
            assert!((two_sided_p(quantile(0.9985, freedom), freedom) - 0.003).abs() < 1e-9, "{freedom}");
        }
        assert_eq!(two_sided_p(0.0, 4), 1.0);
    }
}
