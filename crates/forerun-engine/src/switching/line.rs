//! How long fetches take by their size: so much for each byte, and so much besides.
//!
//! A line through what was measured lately. Sizes that differ little tell nothing of it:
//! then what they told before holds.

/// Sizes of which the smallest is little smaller than the largest say nothing: their
/// deviation is a share of their mean.
const SPREAD_SHARE: i128 = 16;
/// A deviation of the times that the line does not explain is at most half of it.
const EXPLAINED_SHARE: i128 = 2;
/// Smaller ones take no time to speak of, and say nothing if there are no others.
const BYTES_MIN: u64 = 64 << 10;
/// See the module's page.
#[derive(Debug, Default)]
pub(super) struct Line {
    count: u64,
    bytes_mean: i128,
    ns_mean: i128,
    /// Variances and covariance.
    bytes_bytes: i128,
    bytes_ns: i128,
    ns_ns: i128,
    /// For 2^20 bytes: by the line, and if there is none by the mean.
    sloped_ns: Option<u64>,
    mean_ns: Option<u64>,
}

impl Line {
    /// One of `bytes` bytes took `ns`.
    pub(super) fn note(&mut self, bytes: u64, ns: u64) {
        self.count += 1;
        let (x, y) = (i128::from(bytes), i128::from(ns));
        if self.count == 1 {
            (self.bytes_mean, self.ns_mean) = (x, y);
        }
        let (dx, dy) = (x - self.bytes_mean, y - self.ns_mean);
        self.bytes_mean += dx / 8;
        self.ns_mean += dy / 8;
        for (mean, new) in [
            (&mut self.bytes_bytes, dx * dx),
            (&mut self.bytes_ns, dx * dy),
            (&mut self.ns_ns, dy * dy),
        ] {
            *mean += (new - *mean) / 8;
        }
        if bytes >= BYTES_MIN {
            let new = ((u128::from(ns) << 20) / u128::from(bytes)) as u64;
            self.mean_ns = Some(self.mean_ns.map_or(new, |mean| mean - mean / 8 + new / 8));
        }
        let spread = self.bytes_mean / SPREAD_SHARE;
        let explained = self.bytes_ns * self.bytes_ns * EXPLAINED_SHARE;
        let is_line = self.bytes_bytes > spread * spread && self.bytes_ns > 0;
        if is_line && explained >= self.bytes_bytes * self.ns_ns {
            self.sloped_ns = u64::try_from((self.bytes_ns << 20) / self.bytes_bytes).ok();
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.mean_ns.is_some()
    }

    /// How long `bytes` bytes take, without what there is besides.
    pub(super) fn ns_of(&self, bytes: u64) -> u64 {
        let ns = self.sloped_ns.or(self.mean_ns).unwrap_or(0);
        ((u128::from(ns) * u128::from(bytes)) >> 20).min(u128::from(u64::MAX)) as u64
    }

    /// What each takes besides its bytes, as far as that is known.
    pub(super) fn ns_besides(&self) -> u64 {
        let Some(_) = self.sloped_ns else { return 0 };
        let bytes = self.ns_of(u64::try_from(self.bytes_mean).unwrap_or(0));
        u64::try_from(self.ns_mean).unwrap_or(0).saturating_sub(bytes)
    }
}
