//! Axes: from values to places, with ticks where readers expect them.

use super::number::{self, SIZES, TIMES};

/// An axis.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The quantity that it shows, with its unit.
    pub(super) title: String,
    /// Where marks are, and what stands there.
    pub(super) ticks: Vec<(f64, String)>,
    min: f64,
    max: f64,
    is_log: bool,
}

/// Ticks that a linear axis has at most.
const TICKS_MAX: f64 = 8.0;

impl Axis {
    /// Time from 0 to `max_ns`.
    pub(super) fn time(title: &str, max_ns: f64) -> Axis {
        let max_ns = max_ns.max(1.0);
        // One and a half seconds are better read in milliseconds than in halves.
        let (size, unit) = number::unit(&TIMES, max_ns / 2.0);
        Axis::linear(format!("{title} ({unit})"), max_ns, size, &[1.0, 2.0, 5.0], 10.0)
    }

    /// Bytes from 0 to `max_bytes`.
    pub(super) fn size(title: &str, max_bytes: f64) -> Axis {
        let max_bytes = max_bytes.max(4096.0);
        let (size, unit) = number::unit(&SIZES, max_bytes / 2.0);
        Axis::linear(format!("{title} ({unit})"), max_bytes, size, &[1.0], 2.0)
    }

    /// Parts of a hundred.
    pub(super) fn percent(title: &str) -> Axis {
        let ticks = [0, 25, 50, 75, 100].map(|percent| (f64::from(percent), percent.to_string()));
        Axis { title: format!("{title} (%)"), ticks: ticks.into(), min: 0.0, max: 100.0, is_log: false }
    }

    /// Time from `min_ns` to `max_ns`, each decade as long as every other.
    pub(super) fn log_time(title: &str, min_ns: f64, max_ns: f64) -> Axis {
        Axis::log(title, min_ns, max_ns, 10.0, number::duration)
    }

    /// Bytes from `min_bytes` to `max_bytes`, each doubling as long as every other.
    pub(super) fn log_size(title: &str, min_bytes: f64, max_bytes: f64) -> Axis {
        Axis::log(title, min_bytes, max_bytes, 4.0, number::size)
    }

    /// Where `value` is: 0 at the beginning, 1 at the end, never outside.
    pub(super) fn at(&self, value: f64) -> f64 {
        let place = |value: f64| if self.is_log { value.max(self.min).ln() } else { value };
        let (min, max) = (place(self.min), place(self.max));
        if max > min { ((place(value) - min) / (max - min)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Steps are one of `steps` times a power of `base`, in units of `size`.
    fn linear(title: String, max: f64, size: f64, steps: &[f64], base: f64) -> Axis {
        let least = max / size / TICKS_MAX;
        let power = base.powf((least.ln() / base.ln()).floor());
        let scaled = (0..3).flat_map(|more| steps.iter().map(move |step| step * power * base.powi(more)));
        let step = scaled.into_iter().find(|step| *step >= least * 0.999).unwrap_or(least);
        let count = (max / size / step * 1.000_001).floor() as u64;
        let ticks = (0..=count).map(|at| at as f64 * step).map(|value| (value * size, tick(value, step)));
        Axis { title, ticks: ticks.collect(), min: 0.0, max, is_log: false }
    }

    fn log(title: &str, min: f64, max: f64, base: f64, name: impl Fn(f64) -> String) -> Axis {
        let power = |value: f64| value.max(1.0).ln() / base.ln();
        let first = (power(min) + 1e-9).floor();
        let last = (power(max) - 1e-9).ceil().max(first + 1.0);
        let stride = ((last - first) / TICKS_MAX).ceil().max(1.0) as usize;
        let powers = (first as i32..=last as i32).step_by(stride);
        let ticks = powers.map(|power| base.powi(power)).map(|value| (value, name(value))).collect();
        Axis { title: title.to_owned(), ticks, min: base.powf(first), max: base.powf(last), is_log: true }
    }
}

/// A tick's number, with the digits that its axis needs.
fn tick(value: f64, step: f64) -> String {
    let digits = (0..6).find(|digits| (step * 10_f64.powi(*digits)).fract() < 1e-9).unwrap_or(6);
    format!("{value:.*}", digits as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|(_, name)| name.as_str()).collect()
    }

    #[test]
    fn ticks_are_round() {
        let time = Axis::time("time", 1.7e9);
        assert_eq!((time.title.as_str(), names(&time)), ("time (ms)", vec!["0", "500", "1000", "1500"]));
        let offset = Axis::size("offset", f64::from(64 << 20));
        assert_eq!(names(&offset), ["0", "8", "16", "24", "32", "40", "48", "56", "64"]);
        assert_eq!(
            names(&Axis::log_time("wait", 2e3, 3e8)),
            ["1 µs", "10 µs", "100 µs", "1 ms", "10 ms", "100 ms", "1 s"]
        );
        assert_eq!(names(&Axis::log_size("w", 4096.0, 262_144.0)), ["4 KiB", "16 KiB", "64 KiB", "256 KiB"]);
    }

    #[test]
    fn values_have_places_inside() {
        let axis = Axis::log_time("wait", 1e3, 1e9);
        assert_eq!(
            [0.0, 1e3, 1e6, 1e9, 1e12].map(|ns| (axis.at(ns) * 10.0).round()),
            [0.0, 0.0, 5.0, 10.0, 10.0]
        );
        assert_eq!(Axis::time("time", 0.0).at(0.0), 0.0);
    }
}
