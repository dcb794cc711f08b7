//! The duration of fetches by their size: a time for each byte, and a fixed time.
//!
//! It fits a line through recent measurements. Sizes that differ little cannot give a slope: the earlier
//! one then stays.

/// Sizes of which the smallest is little smaller than the largest say nothing: their
/// deviation is a share of their mean.
const SPREAD_SHARE: i128 = 16;
/// The line explains that much of how the times differ.
const EXPLAINED: (i128, i128) = (3, 4);
/// Smaller ones take no time to speak of, and say nothing if there are no others.
const BYTES_MIN: u64 = 64 << 10;
/// Larger and longer ones would overflow the squares: a minute and more.
const BYTES_MAX: u64 = 1 << 24;
const NS_MAX: u64 = 1 << 36;

/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Regression {
    is_begun: bool,
    bytes_mean: i128,
    ns_mean: i128,
    /// Variances and covariance.
    bytes_bytes: i128,
    bytes_ns: i128,
    ns_ns: i128,
    /// The time of 2^20 bytes: by the slope of the line, unless the line comes near the origin, and else by
    /// the mean.
    sloped_ns: Option<u64>,
    mean_ns: Option<u64>,
}

impl Regression {
    /// One of `bytes` bytes took `ns`.
    pub(super) fn add_sample(&mut self, bytes: u64, ns: u64) {
        if bytes >= BYTES_MIN {
            let new = ((u128::from(ns) << 20) / u128::from(bytes)).min(u128::from(u64::MAX)) as u64;
            self.mean_ns = Some(self.mean_ns.map_or(new, |mean| mean - mean / 8 + new / 8));
        }
        if bytes <= BYTES_MAX && ns <= NS_MAX {
            self.record_deviations(i128::from(bytes), i128::from(ns));
            self.fit();
        }
    }

    fn record_deviations(&mut self, bytes: i128, ns: i128) {
        if !self.is_begun {
            (self.is_begun, self.bytes_mean, self.ns_mean) = (true, bytes, ns);
        }
        let (x, y) = (bytes - self.bytes_mean, ns - self.ns_mean);
        self.bytes_mean += x / 8;
        self.ns_mean += y / 8;
        self.bytes_bytes += (x * x - self.bytes_bytes) / 8;
        self.bytes_ns += (x * y - self.bytes_ns) / 8;
        self.ns_ns += (y * y - self.ns_ns) / 8;
    }

    /// The line of least squares, if it is one.
    fn fit(&mut self) {
        let spread = self.bytes_mean / SPREAD_SHARE;
        if self.bytes_bytes <= spread * spread {
            return;
        }
        let explained = self.bytes_ns * self.bytes_ns * EXPLAINED.1;
        let is_line = self.bytes_ns > 0 && explained >= self.bytes_bytes * self.ns_ns * EXPLAINED.0;
        // The fixed cost is at least a quarter of it.
        let is_apart = 4 * self.bytes_ns * self.bytes_mean < 3 * self.ns_mean * self.bytes_bytes;
        let slope = (self.bytes_ns << 20) / self.bytes_bytes;
        self.sloped_ns = if is_line && is_apart { u64::try_from(slope).ok() } else { None };
    }

    /// Whether anything is known of how long a byte takes.
    pub(super) fn is_known(&self) -> bool {
        self.mean_ns.is_some()
    }

    /// The time that `bytes` bytes take, without the fixed time.
    pub(super) fn ns_of(&self, bytes: u64) -> u64 {
        let ns = self.sloped_ns.or(self.mean_ns).unwrap_or(0);
        ((u128::from(ns) * u128::from(bytes)) >> 20).min(u128::from(u64::MAX)) as u64
    }

    /// The fixed time of a fetch besides its bytes, as far as that is known.
    pub(super) fn ns_besides(&self) -> u64 {
        if self.sloped_ns.is_none() {
            return 0;
        }
        let bytes = self.ns_of(u64::try_from(self.bytes_mean).unwrap_or(0));
        u64::try_from(self.ns_mean).unwrap_or(0).saturating_sub(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line of fetches of these KiB that take `besides` us and 5 us for each KiB.
    fn line(kib: &[u64], besides: u64) -> Regression {
        let mut line = Regression::default();
        for kib in kib.iter().cycle().take(32) {
            line.add_sample(kib << 10, 1000 * (besides + 5 * kib));
        }
        line
    }

    #[test]
    fn the_fixed_cost_is_separated_from_that_of_bytes() {
        let line = line(&[128, 160, 200, 256], 8000);
        assert!(line.ns_of(1 << 20).abs_diff(5_120_000) < 10_000, "{line:?}");
        assert!(line.ns_besides().abs_diff(8_000_000) < 10_000, "{line:?}");
    }

    #[test]
    fn a_line_through_the_origin_has_nothing_besides() {
        for kib in [&[128, 160, 200, 256][..], &[128]] {
            let line = line(kib, 0);
            assert_eq!(line.ns_besides(), 0);
            assert!(line.ns_of(1 << 20).abs_diff(5_120_000) < 10_000, "{line:?}");
        }
    }

    #[test]
    fn sizes_that_do_not_differ_leave_what_is_known() {
        let mut line = line(&[128, 256], 8000);
        (0..100).for_each(|_| line.add_sample(2 << 20, 1000 * (8000 + 5 * 2048)));
        assert!(line.ns_besides().abs_diff(8_000_000) < 100_000, "{line:?}");
    }

    #[test]
    fn nothing_overflows() {
        let mut line = Regression::default();
        for bytes in [1, BYTES_MAX, u64::MAX >> 20] {
            for ns in [0, NS_MAX, u64::MAX] {
                line.add_sample(bytes, ns);
            }
        }
        line.ns_of(u64::MAX);
    }
}
