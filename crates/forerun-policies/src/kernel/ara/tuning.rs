//! The tunables that its user could set.

use forerun_engine::BLOCK_BYTES;

/// Settings of adaptive readahead. The defaults are those of its version 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AraTuning {
    /// Percent of the estimated thrashing threshold to use; 50 to 100 makes sense, 1000 is the most. 0
    /// reads only the requested pages. (`readahead_ratio`)
    pub ratio_percent: u64,
    /// One page that was read allows this many pages of readahead; 0 leaves missing pages without a past
    /// alone. Above 1 sparse reads count as streams; 1000 is the most. (`readahead_hit_rate`)
    pub hit_rate: u64,
    /// Ceiling of a chunk, in bytes, of which 65,535 pages count.
    pub window_bytes_max: u64,
    /// The readahead at the start of a file, in bytes.
    pub initial_bytes: u64,
    /// The reader is an NFS server: its requests come out of order.
    pub is_nfsd: bool,
    /// Somebody above looks ahead already: chunks carry no mark.
    pub is_loop: bool,
}

impl Default for AraTuning {
    fn default() -> AraTuning {
        AraTuning {
            ratio_percent: 50,
            hit_rate: 0,
            window_bytes_max: 1 << 20,
            initial_bytes: 64 << 10,
            is_nfsd: false,
            is_loop: false,
        }
    }
}

impl AraTuning {
    /// With nothing so large that reckoning with it overflows.
    pub(super) fn limited(self) -> AraTuning {
        AraTuning { ratio_percent: self.ratio_percent.min(1000), hit_rate: self.hit_rate.min(1000), ..self }
    }

    pub(super) fn pages_max(&self) -> u64 {
        (self.window_bytes_max / BLOCK_BYTES).clamp(1, 65_535)
    }

    pub(super) fn pages_initial(&self) -> u64 {
        self.initial_bytes / BLOCK_BYTES
    }
}
