//! Seven disks of the past, each with a thread that keeps its time.

use std::io;
use std::sync::mpsc::{self, Sender};

use forerun_sim::device::{Direction, Preset};

use crate::lab::{Clock, Message, Model, Stats, start_device};

/// The disks of the array on which a server of 1240 clients was recorded.
//= seed 000
const DISK_COUNT: u64 = 7;
/// The disk of the simulated array for that recording.
const DISK: &str = "ide-2006";
/// The elevator of each disk, which serves one request at a time.
const ELEVATOR: &str = "deadline";
/// Files begin at a block.
const BLOCK_BYTES: u64 = 4096;

/// Files dealt out over disks, each in one piece. Those of a disk are spread over all of it, as on a disk that is full.
#[derive(Clone, Debug)]
pub(super) struct DiskArray {
    clock: Clock,
    disks: Vec<Sender<Message>>,
    /// Bytes of a disk from the begin of one file to the next.
    stride_bytes: u64,
}

/// Sums over all disks since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DiskTotals {
    /// Reads that the disks carried out, after merging.
    pub(super) read_count: u64,
    pub(super) read_bytes: u64,
    pub(super) busy_ns: u64,
    /// The average delay of answers in real time, of the disk with the largest.
    pub(super) late_ns: u64,
}

impl DiskTotals {
    /// The part after `earlier`.
    pub(super) fn since(&self, earlier: &DiskTotals) -> DiskTotals {
        DiskTotals {
            read_count: self.read_count - earlier.read_count,
            read_bytes: self.read_bytes - earlier.read_bytes,
            busy_ns: self.busy_ns - earlier.busy_ns,
            late_ns: self.late_ns,
        }
    }
}

impl DiskArray {
    /// Disks for `file_count` files of `file_bytes` each.
    ///
    /// # Errors
    /// If the files do not fit, or a thread does not start.
    pub(super) fn start(file_count: u64, file_bytes: u64) -> Result<DiskArray, String> {
        let preset = Preset::from_name(DISK)?;
        let stride_bytes = stride(preset.capacity_bytes(), file_count, file_bytes)?;
        let clock = Clock::start(1);
        let model = Model { preset, seed: 1, elevator: Some(ELEVATOR) };
        let disks: io::Result<Vec<_>> = (0..DISK_COUNT).map(|_| start_device(model.clone(), clock)).collect();
        let disks = disks.map_err(|error| format!("starting a disk: {error}"))?;
        Ok(DiskArray { clock, disks, stride_bytes })
    }

    /// Calls `answer` once the disk of `file` has read `len` bytes at `offset`.
    pub(super) fn read(&self, file: u64, offset: u64, len: u64, answer: impl FnOnce() + Send + 'static) {
        let request = Message::Request {
            address: file / DISK_COUNT * self.stride_bytes + offset,
            len,
            direction: Direction::Read,
            issuer: 0,
            arrived: self.clock.now(),
            answer: Box::new(answer),
        };
        // A disk lives as long as its sender. An answer that is dropped for another reason reports an error.
        let _ = self.disks[(file % DISK_COUNT) as usize].send(request);
    }

    /// The work of all disks until now.
    pub(super) fn totals(&self) -> DiskTotals {
        let mut totals = DiskTotals::default();
        for disk in &self.disks {
            let (tell, told) = mpsc::channel::<Stats>();
            let _ = disk.send(Message::Stats(Box::new(move |stats| _ = tell.send(*stats))));
            let Ok(stats) = told.recv() else { continue };
            totals.read_count += stats.device.read_count;
            totals.read_bytes += stats.device.read_bytes;
            totals.busy_ns += stats.device.busy_ns;
            totals.late_ns = totals.late_ns.max(stats.late_ns_mean());
        }
        totals
    }

    pub(super) fn disk_count(&self) -> usize {
        self.disks.len()
    }
}

fn stride(capacity_bytes: u64, file_count: u64, file_bytes: u64) -> Result<u64, String> {
    let files_of_disk = file_count.div_ceil(DISK_COUNT).max(1);
    let stride = capacity_bytes / files_of_disk / BLOCK_BYTES * BLOCK_BYTES;
    if stride < file_bytes {
        let count_max = capacity_bytes / file_bytes * DISK_COUNT;
        return Err(format!("the disks hold the files of {count_max} clients: give fewer --clients"));
    }
    Ok(stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_lie_all_over_the_disks_and_too_many_do_not_fit() {
        assert_eq!(stride(1 << 30, 14, 64 << 20), Ok(512 << 20));
        assert_eq!(stride(1 << 30, 1, 64 << 20), Ok(1 << 30));
        let error = stride(1 << 30, 1000, 64 << 20).unwrap_err();
        assert!(error.contains("112 clients"), "{error}");
    }

    #[test]
    fn disks_work_at_the_same_time_and_take_theirs() {
        let array = DiskArray::start(14, 1 << 20).unwrap();
        let (answer, answered) = mpsc::channel();
        let begun = std::time::Instant::now();
        for file in 0..DISK_COUNT {
            let answer = answer.clone();
            array.read(file, 512 << 10, 64 << 10, move || _ = answer.send(file));
        }
        (0..DISK_COUNT).for_each(|_| _ = answered.recv().unwrap());
        let elapsed_ns = begun.elapsed().as_nanos() as u64;
        let totals = array.totals();
        assert_eq!((totals.read_count, totals.read_bytes), (DISK_COUNT, DISK_COUNT * (64 << 10)));
        // A transfer of 64 KiB takes a millisecond.
        assert!(totals.busy_ns > DISK_COUNT * 1_000_000, "{totals:?}");
        assert!(elapsed_ns >= totals.busy_ns / DISK_COUNT, "{elapsed_ns}: {totals:?}");
    }
}
