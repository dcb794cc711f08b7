//! The kind of a workload decides which gates have something to say about it.

use std::collections::{BTreeMap, HashMap};

use forerun_engine::Extent;
use forerun_engine::profile::Recorder;
use forerun_trace::{Access, FileId, Op};

use crate::workload::{Failure, Workload};

/// Of its bytes, in percent: what so many of are, a recording is.
const SHARE_PERCENT: u64 = 75;

/// Writes of a start in percent of the bytes that it reads, at most: nobody learns what they change.
const WRITTEN_PERCENT: u64 = 10;

/// A run is long if it spans so many bytes.
const LONG_BYTES: u64 = 1 << 20;

/// Reads that touch are of one run if fewer reads of the file than so many came between.
const HORIZON: usize = 32;

/// The kind of a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Of streams: it mostly reads on where it was.
    Stream,
    /// Of places all over that are read once and little is written, as boots and starts of programs are.
    /// The record of the last time knows nearly all of it.
    Start,
    /// Of neither.
    Other,
}

/// The kind of the reads of `workload`, a recording.
pub fn kind(workload: &Workload) -> Kind {
    let is_most = |bytes: u64| bytes * 100 >= workload.scan().read_bytes * SHARE_PERCENT;
    if is_most(long_bytes(reads(workload))) {
        Kind::Stream
    } else if is_most(profile_bytes(reads(workload))) && writes_little(workload) {
        Kind::Start
    } else {
        Kind::Other
    }
}

fn reads(workload: &Workload) -> impl Iterator<Item = (FileId, Extent)> {
    let is_read = |access: &Access| access.op == Op::Read && access.extent.len > 0;
    let accesses = workload.accesses(&Failure::default()).filter(is_read);
    accesses.map(|access| (access.file, Extent::new(access.extent.offset, access.extent.len)))
}

fn writes_little(workload: &Workload) -> bool {
    let accesses = workload.accesses(&Failure::default()).filter(|access| access.op == Op::Write);
    let written_bytes: u64 = accesses.map(|access| access.extent.len).sum();
    written_bytes * 100 <= workload.scan().read_bytes * WRITTEN_PERCENT
}

/// The bytes of a profile of these reads.
fn profile_bytes(reads: impl Iterator<Item = (FileId, Extent)>) -> u64 {
    let mut recorders: BTreeMap<FileId, Recorder> = BTreeMap::new();
    reads.for_each(|(file, extent)| recorders.entry(file).or_default().record(extent));
    recorders.values().map(Recorder::bytes).sum()
}

/// Bytes of the reads that are of long runs. A run is what touches, in whatever order it was read: one
/// read ends where another of the same file begins.
fn long_bytes(reads: impl Iterator<Item = (FileId, Extent)>) -> u64 {
    let mut runs = Runs::default();
    let mut files: HashMap<FileId, Edges> = HashMap::new();
    for (file, extent) in reads {
        files.entry(file).or_default().add(extent, &mut runs);
    }
    runs.long_bytes()
}

/// The reads of one file by their beginnings and ends, the latest at each place. Each has its
/// number among those of the file, and among all.
#[derive(Default)]
struct Edges {
    begins: HashMap<u64, (usize, usize)>,
    ends: HashMap<u64, (usize, usize)>,
    count: usize,
}

impl Edges {
    fn add(&mut self, extent: Extent, runs: &mut Runs) {
        let read = runs.add(extent);
        let touching = [self.ends.get(&extent.offset), self.begins.get(&extent.end())];
        for (number, other) in touching.into_iter().flatten() {
            if self.count - number <= HORIZON {
                runs.join(read, *other);
            }
        }
        self.begins.insert(extent.offset, (self.count, read));
        self.ends.insert(extent.end(), (self.count, read));
        self.count += 1;
    }
}

/// Reads, joined to runs: each knows another of its run, the first one itself.
#[derive(Default)]
struct Runs {
    parents: Vec<usize>,
    /// Of a first one, the run's: what it spans, and how many bytes its reads have.
    spans: Vec<(Extent, u64)>,
}

impl Runs {
    fn add(&mut self, extent: Extent) -> usize {
        self.parents.push(self.parents.len());
        self.spans.push((extent, extent.len));
        self.parents.len() - 1
    }

    fn first(&mut self, mut read: usize) -> usize {
        while self.parents[read] != read {
            self.parents[read] = self.parents[self.parents[read]];
            read = self.parents[read];
        }
        read
    }

    fn join(&mut self, one: usize, other: usize) {
        let (first, later) = (self.first(one), self.first(other));
        let (first, later) = (first.min(later), first.max(later));
        if first == later {
            return;
        }
        let ((a, bytes), (b, more)) = (self.spans[first], self.spans[later]);
        let span = Extent::between(a.offset.min(b.offset), a.end().max(b.end()));
        self.spans[first] = (span, bytes + more);
        self.parents[later] = first;
    }

    fn long_bytes(&self) -> u64 {
        let firsts = (0..self.parents.len()).filter(|read| self.parents[*read] == *read);
        let long = firsts.map(|first| self.spans[first]).filter(|(span, _)| span.len >= LONG_BYTES);
        long.map(|(_, bytes)| bytes).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    /// Of so many reads of 16 KiB at these places, in these units, the share in long runs, in percent.
    fn percent(places: impl Iterator<Item = u64>) -> u64 {
        let reads: Vec<_> =
            places.map(|place| (FileId(0), Extent::new(place * 16 * KIB, 16 * KIB))).collect();
        let bytes: u64 = reads.iter().map(|(_, extent)| extent.len).sum();
        100 * long_bytes(reads.into_iter()) / bytes
    }

    #[test]
    fn long_runs_are_streams_in_any_order() {
        assert_eq!(percent(0..64), 100);
        assert_eq!(percent((0..64).rev()), 100);
        assert_eq!(percent(0..63), 0);
        let displaced = (0..256).map(|at| at ^ 7);
        assert_eq!(percent(displaced), 100);
        let in_turns = (0..32 * 64).map(|at| at % 32 * 1000 + at / 32);
        assert_eq!(percent(in_turns), 100);
    }

    #[test]
    fn chance_and_repeated_reads_make_no_start() {
        // Each place of 64 MiB once, far from the last one.
        let all_over = (0..4096).map(|at| at * 1597 % 4096);
        assert!(percent(all_over) < 75);
        assert_eq!(percent((0..1000).map(|at| at % 60)), 0);
        assert_eq!(percent((0..1000).map(|at| 2 * at)), 0);
        let short_runs = (0..1000).map(|at| at / 60 * 100 + at % 60);
        assert_eq!(percent(short_runs), 0);
    }

    #[test]
    fn a_start_reads_once_and_writes_little() {
        let access = |op, at: u64| format!("0,{op},a,{},4096\n", at * 4096);
        let kind_of = |rows: String| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("trace.csv");
            std::fs::write(&path, format!("ts_us,op,file_or_dev,offset,length\n{rows}")).unwrap();
            kind(&Workload::open(&path, forerun_trace::ReadOptions::default()).unwrap())
        };
        let reads =
            |places: &dyn Fn(u64) -> u64| (0..300).map(|at| access("R", places(at))).collect::<String>();
        let writes = |count| (0..count).map(|at| access("W", at)).collect::<String>();
        assert_eq!(kind_of(reads(&|at| at)), Kind::Stream);
        assert_eq!(kind_of(reads(&|at| 7 * at)), Kind::Start);
        assert_eq!(kind_of(reads(&|at| 7 * at % 200)), Kind::Other);
        assert_eq!(kind_of(reads(&|at| 7 * at) + &writes(30)), Kind::Start);
        assert_eq!(kind_of(reads(&|at| 7 * at) + &writes(31)), Kind::Other);
    }

    #[test]
    fn a_profile_has_what_is_touched_first() {
        let reads = |places: &[u64]| {
            let reads: Vec<_> =
                places.iter().map(|at| (FileId(0), Extent::new(at * 4 * KIB, 4 * KIB))).collect();
            profile_bytes(reads.into_iter())
        };
        assert_eq!(reads(&[3, 1, 2]), 12 * KIB);
        assert_eq!(reads(&[3, 1, 3]), 8 * KIB);
    }
}
