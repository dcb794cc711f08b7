//! Statistics of a trace.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{Access, Extent, FileId, Op};

/// Counters over accesses.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Summary {
    /// All accesses.
    pub accesses: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Nanoseconds from time 0 to the last access.
    pub duration_ns: u64,
    /// Reads and writes that begin where the one before them in the same file ended.
    pub sequential: u64,
    /// Reads and writes that got less than they asked for.
    pub partial: u64,
    /// Accesses with a measured service time, and the sum of those in nanoseconds.
    pub serviced: (u64, u64),
    /// Reads and writes by the lowest power of two that is not less than their bytes.
    pub sizes: BTreeMap<u64, u64>,
    threads: BTreeSet<u64>,
    ends: HashMap<FileId, u64>,
    touched: HashMap<FileId, Touched>,
}

impl Summary {
    /// Counts `access`.
    pub fn add(&mut self, access: &Access) {
        self.accesses += 1;
        self.threads.insert(access.thread);
        self.duration_ns = self.duration_ns.max(access.time_ns);
        if let Some(service_ns) = access.service_ns {
            self.serviced = (self.serviced.0 + 1, self.serviced.1.saturating_add(service_ns));
        }
        let Extent { offset, len } = access.extent;
        match access.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes = self.read_bytes.saturating_add(len);
            }
            Op::Write => {
                self.writes += 1;
                self.written_bytes = self.written_bytes.saturating_add(len);
            }
            _ => return,
        }
        self.partial += u64::from(access.is_partial());
        let size = if len == 0 { 0 } else { len.checked_next_power_of_two().unwrap_or(u64::MAX) };
        *self.sizes.entry(size).or_default() += 1;
        let before = self.ends.insert(access.file, access.extent.end());
        self.sequential += u64::from(before == Some(offset));
        self.touched.entry(access.file).or_default().add(access.extent);
    }

    /// The number of threads with accesses.
    pub fn threads(&self) -> usize {
        self.threads.len()
    }

    /// The number of files that were read or written.
    pub fn files(&self) -> usize {
        self.touched.len()
    }

    /// The number of distinct bytes that were read or written.
    pub fn distinct_bytes(&self) -> u64 {
        self.touched.values().map(|touched| touched.bytes).fold(0, u64::saturating_add)
    }
}

/// Disjoint ranges: first byte to the byte after the last.
#[derive(Clone, Debug, Default)]
struct Touched {
    ranges: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Touched {
    fn add(&mut self, extent: Extent) {
        let (mut begin, mut end) = (extent.offset, extent.end());
        if begin == end {
            return;
        }
        while let Some((first, last)) = self.ranges.range(..=end).next_back().map(|(a, b)| (*a, *b)) {
            if last < begin {
                break;
            }
            self.ranges.remove(&first);
            self.bytes -= last - first;
            (begin, end) = (begin.min(first), end.max(last));
        }
        self.ranges.insert(begin, end);
        self.bytes = self.bytes.saturating_add(end - begin);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_bytes_count_once() {
        let mut summary = Summary::default();
        for (offset, len) in [(0, 10), (20, 10), (5, 5), (8, 15), (100, 0), (29, 2), (20, 1)] {
            summary.add(&Access::new(7, Op::Read, FileId(0), offset, len));
        }
        summary.add(&Access::new(9, Op::Write, FileId(1), 0, 4));
        assert_eq!(summary.distinct_bytes(), 31 + 4);
        assert_eq!((summary.reads, summary.writes, summary.files(), summary.threads()), (7, 1, 2, 1));
        assert_eq!((summary.duration_ns, summary.read_bytes), (9, 43));
        assert_eq!(summary.sizes[&16], 3);
    }

    #[test]
    fn sequential_begins_where_the_last_one_ended() {
        let mut summary = Summary::default();
        for (file, offset) in [(0, 0), (0, 4), (1, 8), (0, 8), (0, 4), (1, 12)] {
            summary.add(&Access::new(0, Op::Read, FileId(file), offset, 4));
        }
        assert_eq!(summary.sequential, 3);
    }
}
