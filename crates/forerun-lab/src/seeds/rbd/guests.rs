//! The reads of the virtual machines.
//!
//! The document's recordings were not published. Ours are of the same kinds of machines doing the
//! same things, years later. The document's counts tell how its machines read, so accesses are made
//! from those counts, too.
//= seed 003

use forerun_trace::generate::Numbers;
use forerun_trace::{Access, Dependency, Extent, FileId, Moment, Op, ReadOptions, Reader};

const BOOT_IDE: &[u8] = include_bytes!("../../../data/recordings/boot-ide.frt.gz");
const BOOT_VIRTIO: &[u8] = include_bytes!("../../../data/recordings/boot-virtio.frt.gz");
const GREP_VIRTIO: &[u8] = include_bytes!("../../../data/recordings/grep-virtio.frt.gz");

/// The largest request of an IDE disk: 256 sectors.
const IDE_BYTES_MAX: u64 = 128 << 10;
const SECTOR_BYTES: u64 = 512;
/// The size of the disk that the counted accesses lie on.
const DISK_BYTES: u64 = 8 << 30;

/// Reads of one workload.
pub(super) struct Guest {
    /// As the document calls it.
    pub(super) name: &'static str,
    pub(super) recorded: Vec<Access>,
    /// Made from the document's counts.
    pub(super) counted: Vec<Access>,
}

pub(super) fn boot_ide() -> Guest {
    Guest { name: "boot-ide", recorded: reads_of(BOOT_IDE, IDE_BYTES_MAX), counted: BOOT_ON_IDE.accesses() }
}

pub(super) fn boot_virtio() -> Guest {
    Guest {
        name: "boot-virtio",
        recorded: reads_of(BOOT_VIRTIO, u64::MAX),
        counted: BOOT_ON_VIRTIO.accesses(),
    }
}

/// Of this one there is no recording: it is the other one's, with requests of at
/// most what the bus takes.
pub(super) fn grep_ide() -> Guest {
    Guest {
        name: "grep-ide",
        recorded: reads_of(GREP_VIRTIO, IDE_BYTES_MAX),
        counted: GREP_ON_IDE.accesses(),
    }
}

pub(super) fn grep_virtio() -> Guest {
    Guest {
        name: "grep-virtio",
        recorded: reads_of(GREP_VIRTIO, u64::MAX),
        counted: GREP_ON_VIRTIO.accesses(),
    }
}

/// A workload as the document counts it: first the sequential reads of a boot loader. Then follow
/// runs of sequential reads among reads that are alone.
///
/// The counts have consequences. librbd reads ahead once ten reads have followed another one, and
/// `eager` does so once for each storage object. So its operations tell how many runs there are of
/// eleven reads or more. `plain` asks for its second window when five more have followed, for the
/// third after another fifteen, for the fourth after another thirty. If a run is as likely to end
/// at each read, the operations of `plain` for each run tell how likely that is. Then the bytes of
/// its windows, of ten, twenty and forty reads, tell how large a run's reads are. All other reads
/// have what bytes are left.
///
/// The assumptions: a run has one reader, which waits for each of its reads. The reads that are
/// alone are made by `together` programs.
struct Counts {
    reads: u64,
    bytes: u64,
    /// The reads of the boot loader, and their size.
    loader_bytes: u64,
    loader_read_bytes: u64,
    runs: u64,
    /// Of 1000 runs, how many go on after each read.
    stay_permille: u64,
    run_sectors: u64,
    /// Reads that are alone and under way at once.
    together: u64,
}

/// On the IDE bus firmware and boot loader read single sectors, on the virtio bus 32 KiB at once,
/// as in our recordings. With 46,390 sectors that makes the 45,665 reads which the document has
/// more on the one bus than on the other. All other reads are equally many.
const LOADER_BYTES: u64 = 46_390 * SECTOR_BYTES;
const LOADER_READ_BYTES: u64 = 32 << 10;

/// `eager` 111 operations, 6 of them for the boot loader. `plain` 281 of 203 MB, 14 of them
/// with 25 MB for the boot loader: 2.5 windows a run. An IDE bus takes one read at a time.
const BOOT_ON_IDE: Counts = Counts {
    reads: 57_516,
    bytes: 407_000_000,
    loader_bytes: LOADER_BYTES,
    loader_read_bytes: SECTOR_BYTES,
    runs: 105,
    stay_permille: 966,
    run_sectors: 51,
    together: 1,
};

/// `eager` 249 operations, 6 for the boot loader. `plain` 451 of 221 MB, 9 of them with
/// 24 MB for the boot loader: 1.8 windows a run. Without readahead a read takes 0.76 ms,
/// less than one of a single sector does on the other bus: several were under way at once.
/// Two of those that are alone are an assumption, which the 9.05 s agree with.
const BOOT_ON_VIRTIO: Counts = Counts {
    reads: 11_851,
    bytes: 393_000_000,
    loader_bytes: LOADER_BYTES,
    loader_read_bytes: LOADER_READ_BYTES,
    runs: 243,
    stay_permille: 915,
    run_sectors: 52,
    together: 2,
};

/// `plain` 397 operations of 867 MB, `eager` 346: were every run within one object, its
/// reads would be larger than the bus takes. 200 runs of two windows have reads of 119 kB
/// and go on into the next objects.
const GREP_ON_IDE: Counts = Counts {
    reads: 130_104,
    bytes: 3_044_000_000,
    loader_bytes: 0,
    loader_read_bytes: SECTOR_BYTES,
    runs: 200,
    stay_permille: 932,
    run_sectors: 233,
    together: 1,
};

/// `eager` 842 operations; `plain` 1186 of 1485 MB: 1.4 windows a run. One program reads,
/// and waits for each read: 0.93 ms.
const GREP_ON_VIRTIO: Counts = Counts {
    reads: 130_061,
    bytes: 2_820_000_000,
    loader_bytes: 0,
    loader_read_bytes: SECTOR_BYTES,
    runs: 842,
    stay_permille: 828,
    run_sectors: 185,
    together: 1,
};

/// Reads of a run until librbd reads ahead: one, and ten that follow it.
const TRIGGER_READS: u64 = 11;
/// Where the boot loader's files lie; all others lie behind [`OTHERS_AT`].
const LOADER_AT: u64 = 1 << 20;
const OTHERS_AT: u64 = 64 << 20;

impl Counts {
    /// The boot loader's reads, then runs and reads that are alone, well mixed, anywhere
    /// on the disk.
    fn accesses(&self) -> Vec<Access> {
        let mut script = Script::default();
        for at in 0..self.loader_bytes / self.loader_read_bytes {
            script.read(LOADER_AT + at * self.loader_read_bytes, self.loader_read_bytes, false);
        }
        let mut numbers = Numbers::new(3);
        let lengths: Vec<u64> = (0..self.runs).map(|_| self.run_length(&mut numbers)).collect();
        let (in_runs, run_bytes) = (lengths.iter().sum::<u64>(), self.run_sectors * SECTOR_BYTES);
        let alone = self.reads - script.0.len() as u64 - in_runs;
        let alone_bytes = (self.bytes - self.loader_bytes - in_runs * run_bytes) / alone;
        let alone_bytes = alone_bytes / SECTOR_BYTES * SECTOR_BYTES;
        let mut anywhere =
            || OTHERS_AT + numbers.below((DISK_BYTES - OTHERS_AT) / SECTOR_BYTES) * SECTOR_BYTES;
        for (run, length) in (0..self.runs).zip(lengths) {
            let start = anywhere();
            (0..length).for_each(|read| script.read(start + read * run_bytes, run_bytes, false));
            let count = alone * (run + 1) / self.runs - alone * run / self.runs;
            (0..count).for_each(|at| script.read(anywhere(), alone_bytes, at % self.together != 0));
        }
        script.0
    }

    fn run_length(&self, numbers: &mut Numbers) -> u64 {
        let goes_on = |_: &u64| numbers.below(1000) < self.stay_permille;
        TRIGGER_READS + (0..).take_while(goes_on).count() as u64
    }
}

/// Reads, each with those that it waits for.
#[derive(Default)]
struct Script(Vec<Access>);

impl Script {
    /// A read that is made together with the one before it, or waits for it and for
    /// all that were made together with that one.
    fn read(&mut self, offset: u64, len: u64, is_together: bool) {
        let mut access = Access::new(0, Op::Read, FileId(0), offset, len);
        access.id = self.0.len() as u64;
        access.after = match self.0.last() {
            Some(last) if is_together => last.after.clone(),
            Some(last) => self.since(last),
            None => Vec::new(),
        };
        self.0.push(access);
    }

    /// `last` and those that waited for the same reads as it did.
    fn since(&self, last: &Access) -> Vec<Dependency> {
        let same = self.0.iter().rev().take_while(|access| access.after == last.after);
        same.map(|access| Dependency { id: access.id, moment: Moment::Completed, delta_ns: 0 }).collect()
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
        for (Guest { name, counted, .. }, reads, megabytes) in document {
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
