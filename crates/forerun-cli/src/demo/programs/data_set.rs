//! The data sets that programs read, and the link to the store that has each.

use std::time::Duration;

use crate::demo::link::Shape;

/// A data set, in a directory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::demo) enum DataSet {
    /// Files of every kind.
    Mixed,
    /// One table in many Parquet files.
    Frames,
}

impl DataSet {
    /// Its name for `data.py`, and that of its directory.
    pub(super) fn name(self) -> &'static str {
        match self {
            DataSet::Mixed => "data",
            DataSet::Frames => "frames",
        }
    }

    /// The disk that it takes.
    pub(super) fn size(self) -> &'static str {
        match self {
            DataSet::Mixed => "4.8 GB",
            DataSet::Frames => "2.1 GB",
        }
    }

    /// The link to its store.
    pub(super) fn link(self) -> Shape {
        match self {
            DataSet::Mixed => Shape::default(),
            // A store that is far away, or that many nodes share.
            DataSet::Frames => Shape {
                latency: Duration::from_millis(10),
                connection_bytes_per_s: 20_000_000,
                total_bytes_per_s: 100_000_000,
            },
        }
    }
}
