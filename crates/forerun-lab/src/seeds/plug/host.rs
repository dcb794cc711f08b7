//! Many processes that read, each from a disk of its own, on the processors of one host.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::rc::Rc;

use forerun_sim::device::{Device, DeviceStats, Notice, Request, Time};
use forerun_sim::source::{Deed, Extent, Next, ObjectId, Placed, Source, Step};

/// Addresses that belong to one disk.
const DISK_BYTES: u64 = 1 << 40;
/// The size of a read of iozone.
const RECORD_BYTES: u64 = 16 << 10;
/// The document's trace: a process uses up 512 KiB in 0.469 ms.
const RECORD_NS: u64 = 469_000 / 32;
/// How many of them do so at once.
const PROCESSORS: usize = 3;
/// The rate of one disk.
const DISK_MB_PER_S: f64 = 400.0;

/// No more than the disks deliver, and the processors use up.
pub(super) fn bound_mb_per_s(processes: f64) -> f64 {
    let processors = if processes < PROCESSORS as f64 { processes } else { PROCESSORS as f64 };
    let used = processors * RECORD_BYTES as f64 * 1000.0 / RECORD_NS as f64;
    let delivered = processes * DISK_MB_PER_S;
    if used < delivered { used } else { delivered }
}

/// The processes. Each waits for a record, uses it up on a processor, and reads the next.
pub(super) struct Host {
    files: Vec<Placed>,
    /// How far each process has read.
    positions: Vec<u64>,
    /// When each processor is free again.
    processors: BinaryHeap<Reverse<Time>>,
    ready: BinaryHeap<Reverse<(Time, u32)>>,
    outstanding: usize,
    turn: Rc<Cell<usize>>,
}

impl Host {
    /// `count` processes with files of `file_bytes`.
    pub(super) fn new(count: usize, file_bytes: u64, turn: Rc<Cell<usize>>) -> Host {
        let file = |disk: u64| Placed { address: disk * DISK_BYTES, size: file_bytes };
        Host {
            files: (0..count as u64).map(file).collect(),
            positions: vec![0; count],
            processors: (0..PROCESSORS).map(|_| Reverse(Time(0))).collect(),
            ready: (0..count as u32).map(|process| Reverse((Time(0), process))).collect(),
            outstanding: 0,
            turn,
        }
    }
}

impl Source for Host {
    fn objects(&self) -> &[Placed] {
        &self.files
    }

    fn client_count(&self) -> usize {
        self.files.len()
    }

    fn next(&mut self, now: Time) -> Next {
        while let Some(Reverse((time, client))) = self.ready.peek().copied() {
            if time > now {
                return Next::Later(time);
            }
            self.ready.pop();
            let (position, size) = (self.positions[client as usize], self.files[client as usize].size);
            if position >= size {
                continue;
            }
            let extent = Extent::between(position, (position + RECORD_BYTES).min(size));
            self.positions[client as usize] = extent.end();
            self.outstanding += 1;
            self.turn.set(client as usize);
            let (token, object) = (u64::from(client), ObjectId(u64::from(client)));
            return Next::Step(Step {
                token,
                client,
                deed: Deed::Read { asked: extent.len },
                object,
                extent,
            });
        }
        if self.outstanding > 0 { Next::Blocked } else { Next::End }
    }

    fn done(&mut self, now: Time, token: u64) {
        self.outstanding -= 1;
        let free = self.processors.pop().map_or(now, |Reverse(free)| free.max(now));
        let used = Time(free.0 + RECORD_NS);
        self.processors.push(Reverse(used));
        self.ready.push(Reverse((used, token as u32)));
    }
}

/// The disks. A kernel unplugs the queue of the disk that a reader waits for. It is the disk whose
/// turn it is, since the kernel gets one disk's notices at a time.
pub(super) struct Disks {
    disks: Vec<Box<dyn Device>>,
    now: Time,
    notices: VecDeque<(usize, Notice)>,
    turn: Rc<Cell<usize>>,
    scratch: Vec<Notice>,
}

impl Disks {
    pub(super) fn new(disks: impl Iterator<Item = Box<dyn Device>>, turn: Rc<Cell<usize>>) -> Disks {
        Disks { disks: disks.collect(), now: Time(0), notices: VecDeque::new(), turn, scratch: Vec::new() }
    }
}

impl Device for Disks {
    fn submit(&mut self, now: Time, request: Request) {
        let disk = (request.address / DISK_BYTES) as usize;
        let address = request.address % DISK_BYTES;
        self.disks[disk].submit(now, Request { address, ..request });
    }

    fn next_time(&self) -> Option<Time> {
        if !self.notices.is_empty() {
            return Some(self.now);
        }
        self.disks.iter().filter_map(|disk| disk.next_time()).min()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        self.now = now;
        for (at, disk) in self.disks.iter_mut().enumerate() {
            if disk.next_time().is_some_and(|time| time <= now) {
                disk.advance(now, &mut self.scratch);
                self.notices.extend(self.scratch.drain(..).map(|notice| (at, notice)));
            }
        }
        let Some((first, _)) = self.notices.front().copied() else { return };
        self.turn.set(first);
        while self.notices.front().is_some_and(|(disk, _)| *disk == first) {
            notices.extend(self.notices.pop_front().map(|(_, notice)| notice));
        }
    }

    fn slot_count(&self) -> usize {
        self.disks.iter().map(|disk| disk.slot_count()).sum()
    }

    fn unplug(&mut self, now: Time) {
        self.disks[self.turn.get()].unplug(now);
    }

    fn stats(&self) -> DeviceStats {
        self.disks.iter().map(|disk| disk.stats()).fold(DeviceStats::default(), |sum, one| DeviceStats {
            read_count: sum.read_count + one.read_count,
            read_bytes: sum.read_bytes + one.read_bytes,
            write_count: sum.write_count + one.write_count,
            write_bytes: sum.write_bytes + one.write_bytes,
            busy_ns: sum.busy_ns.max(one.busy_ns),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forerun_sim::device::{Direction, Preset, RequestId};

    #[test]
    fn processors_are_shared() {
        let elapsed = |processes: usize| {
            let turn = Rc::new(Cell::new(0));
            let mut host = Host::new(processes, 4 * RECORD_BYTES, turn);
            let mut now = Time(0);
            loop {
                match host.next(now) {
                    Next::Step(step) => host.done(now, step.token),
                    Next::Later(time) => now = time,
                    _ => return now.0,
                }
            }
        };
        assert_eq!(elapsed(1), 4 * RECORD_NS);
        assert_eq!(elapsed(PROCESSORS), 4 * RECORD_NS);
        assert_eq!(elapsed(2 * PROCESSORS), 8 * RECORD_NS);
    }

    #[test]
    fn notices_come_disk_by_disk() {
        let turn = Rc::new(Cell::new(0));
        let disk = || Preset::from_name("fc-2010").expect("a preset").build(1);
        let mut disks = Disks::new((0..2).map(|_| disk()), Rc::clone(&turn));
        for disk in 0..2 {
            let request = Request {
                id: RequestId(disk),
                address: disk * DISK_BYTES,
                len: 4096,
                direction: Direction::Read,
                issuer: 0,
                urgent: true,
            };
            disks.submit(Time(0), request);
        }
        let (mut notices, mut turns) = (Vec::new(), Vec::new());
        while let Some(time) = disks.next_time() {
            notices.clear();
            disks.advance(time, &mut notices);
            if !notices.is_empty() {
                assert_eq!(notices, [Notice::Done { id: RequestId(turn.get() as u64) }]);
                turns.push(turn.get());
            }
        }
        assert_eq!(turns, [0, 1]);
    }
}
