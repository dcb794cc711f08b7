//! What the virtual machines read.
//!
//! The document's recordings were not published. Ours are of the same kinds of
//! machines doing the same things, years later; and since the document's counts
//! tell how its machines read, accesses are made from those counts, too.
//= seed 003

use forerun_trace::generate::Numbers;
use forerun_trace::{Access, Extent, FileId, Op, ReadOptions, Reader};

const BOOT_IDE: &[u8] = include_bytes!("../../../../../samples/boot-ide.frt.gz");
const BOOT_VIRTIO: &[u8] = include_bytes!("../../../../../samples/boot-virtio.frt.gz");
const GREP_VIRTIO: &[u8] = include_bytes!("../../../../../samples/grep-virtio.frt.gz");

/// The largest request of an IDE disk: 256 sectors.
const IDE_BYTES_MAX: u64 = 128 << 10;
const SECTOR_BYTES: u64 = 512;
/// The size of the disk that the counted accesses lie on.
const DISK_BYTES: u64 = 8 << 30;

/// Reads of one workload.
pub(super) struct Workload {
    /// As the document calls it.
    pub(super) name: &'static str,
    pub(super) recorded: Vec<Access>,
    /// Made from the document's counts.
    pub(super) counted: Vec<Access>,
}

pub(super) fn boot_ide() -> Workload {
    let recorded = reads_of(BOOT_IDE, IDE_BYTES_MAX);
    // The document's machine makes 45,665 reads more on the IDE bus than on the
    // virtio bus, and reads 14 MB more: its firmware reads single sectors.
    let sectors = recorded.iter().filter(|access| access.extent.len == SECTOR_BYTES).take(57_516 - 11_851);
    let counted = sectors.cloned().chain(BOOT.accesses()).collect();
    Workload { name: "boot-ide", counted, recorded }
}

pub(super) fn boot_virtio() -> Workload {
    Workload {
        name: "boot-virtio",
        recorded: reads_of(BOOT_VIRTIO, u64::MAX),
        counted: BOOT.accesses().collect(),
    }
}

/// Of this one there is no recording: it is the other one's, with requests of at
/// most what the bus takes.
pub(super) fn grep_ide() -> Workload {
    Workload {
        name: "grep-ide",
        recorded: reads_of(GREP_VIRTIO, IDE_BYTES_MAX),
        counted: GREP_IDE.accesses().collect(),
    }
}

pub(super) fn grep_virtio() -> Workload {
    Workload {
        name: "grep-virtio",
        recorded: reads_of(GREP_VIRTIO, u64::MAX),
        counted: GREP.accesses().collect(),
    }
}

/// A workload as the document counts it.
///
/// `eager` reads ahead once for each storage object in which ten reads follow one
/// another, so its operations tell how many runs there are. `plain` asks for its
/// first window after ten reads of a run, for the second when five more have
/// followed, for the third after another fifteen, for the fourth after another
/// thirty: so its operations tell how long the runs are, and its bytes how large
/// their reads. All other reads are alone, and have what bytes are left.
struct Counts {
    reads: u64,
    bytes: u64,
    runs: u64,
    /// Reads of a run, in turn.
    run_reads: &'static [u64],
    run_sectors: u64,
}

/// `eager` 249 operations of 2.4 MB: nearly every run within one object. `plain` 451
/// operations of 0.49 MB: of five runs one has one window and four have two, of ten
/// and twenty times 33 kB. That is the mean of all reads, too.
const BOOT: Counts = Counts {
    reads: 11_851,
    bytes: 393_000_000,
    runs: 249,
    run_reads: &[12, 22, 22, 22, 22],
    run_sectors: 65,
};

/// `plain` 397 operations of 2.2 MB, `eager` 346: were every run within one object,
/// its reads would be larger than the bus takes. With 150 runs of two or three windows
/// the reads have 103 kB, and the runs touch 2.1 objects each, as `eager` says.
const GREP_IDE: Counts =
    Counts { reads: 130_104, bytes: 3_044_000_000, runs: 150, run_reads: &[50, 26, 50], run_sectors: 201 };

/// `eager` 842 operations of 2.6 MB; `plain` 1186 of 1.25 MB: of five runs three have
/// one window and two have two, of ten and twenty times 97 kB.
const GREP: Counts = Counts {
    reads: 130_061,
    bytes: 2_820_000_000,
    runs: 842,
    run_reads: &[12, 18, 12, 18, 12],
    run_sectors: 189,
};

impl Counts {
    /// Runs and reads that are alone, well mixed, anywhere on the disk.
    fn accesses(&self) -> impl Iterator<Item = Access> {
        let lengths = (0..self.runs as usize).map(|run| self.run_reads[run % self.run_reads.len()]);
        let in_runs: u64 = lengths.clone().sum();
        let (alone, runs, run_bytes) = (self.reads - in_runs, self.runs, self.run_sectors * SECTOR_BYTES);
        let alone_bytes = (self.bytes - in_runs * run_bytes) / alone / SECTOR_BYTES * SECTOR_BYTES;
        let mut numbers = Numbers::new(3);
        let mut anywhere = move || numbers.below((DISK_BYTES - (16 << 20)) / SECTOR_BYTES) * SECTOR_BYTES;
        lengths.zip(0..).flat_map(move |(reads, run)| {
            let singles = alone * (run + 1) / runs - alone * run / runs;
            let start = anywhere();
            let mut extents: Vec<(u64, u64)> =
                (0..reads).map(|read| (start + read * run_bytes, run_bytes)).collect();
            extents.extend((0..singles).map(|_| (anywhere(), alone_bytes)));
            extents.into_iter().map(|(offset, len)| Access::new(0, Op::Read, FileId(0), offset, len))
        })
    }
}

/// The reads of a recording, cut to what the bus takes.
fn reads_of(recording: &'static [u8], request_bytes_max: u64) -> Vec<Access> {
    let reader = Reader::new(recording, "a sample", ReadOptions::default()).expect("the samples are whole");
    let accesses = reader.map(|access| access.expect("the samples are whole"));
    let reads = accesses.filter(|access| access.op == Op::Read);
    reads.flat_map(|access| pieces(access, request_bytes_max)).collect()
}

fn pieces(access: Access, bytes_max: u64) -> impl Iterator<Item = Access> {
    let end = access.extent.end();
    let mut at = access.extent.offset;
    std::iter::from_fn(move || {
        let len = (end - at).min(bytes_max);
        let extent = Extent { offset: at, len };
        at += len;
        (len > 0).then(|| Access { extent, ..access.clone() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_document() {
        let document = [
            (boot_ide(), 57_516, 407),
            (boot_virtio(), 11_851, 393),
            (grep_ide(), 130_104, 3044),
            (grep_virtio(), 130_061, 2820),
        ];
        for (Workload { name, counted, .. }, reads, megabytes) in document {
            assert_eq!(counted.len(), reads, "{name}");
            let sum = counted.iter().map(|access| access.extent.len).sum::<u64>() / 1_000_000;
            assert!(sum.abs_diff(megabytes) <= megabytes / 20, "{name}: {sum} MB");
        }
    }

    #[test]
    fn requests_fit_the_bus() {
        let grep = grep_ide().recorded;
        assert!(grep.iter().all(|access| access.extent.len <= IDE_BYTES_MAX));
        let bytes = |accesses: &[Access]| accesses.iter().map(|access| access.extent.len).sum::<u64>();
        assert_eq!(bytes(&grep), bytes(&grep_virtio().recorded));
    }
}
