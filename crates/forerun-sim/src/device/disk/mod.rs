//! A disk: platters that turn, a head that moves, a buffer that reads ahead.
//!
//! One command at a time: what is submitted meanwhile waits in order. A read's bytes
//! are reported when all have come, as an operating system does.

mod buffer;
mod drive;
mod geometry;
mod seek;
mod spec;

use std::collections::VecDeque;

use super::tally::Tally;
use super::{Device, DeviceStats, Notice, Request, RequestId, Time};
use drive::Drive;
pub use seek::Seek;
pub use spec::{BufferSpec, DiskSpec, Overhead, SECTOR_BYTES, Zone};

/// A disk.
#[derive(Clone, Debug)]
pub struct Disk {
    drive: Drive,
    waiting: VecDeque<Request>,
    /// The command that is carried out, and when it is complete.
    current: Option<(RequestId, Time)>,
    tally: Tally,
}

impl Disk {
    /// A disk of `spec`, its head outermost.
    pub fn new(spec: DiskSpec) -> Disk {
        Disk { drive: Drive::new(spec), waiting: VecDeque::new(), current: None, tally: Tally::default() }
    }

    fn start(&mut self, now: Time) {
        if self.current.is_some() {
            return;
        }
        let Some(request) = self.waiting.pop_front() else { return };
        let (start, end) = geometry::sectors_of(request.address, request.len);
        let done = self.drive.serve(now.0, start, end, request.direction);
        self.tally.begin(now, request.direction, request.len);
        self.current = Some((request.id, Time(done)));
    }
}

impl Device for Disk {
    fn submit(&mut self, now: Time, request: Request) {
        self.waiting.push_back(request);
        self.start(now);
    }

    fn cancel(&mut self, _now: Time, id: RequestId) -> bool {
        let at = self.waiting.iter().position(|request| request.id == id);
        at.is_some_and(|at| self.waiting.remove(at).is_some())
    }

    fn next_time(&self) -> Option<Time> {
        self.current.map(|(_, done)| done)
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        while let Some((id, done)) = self.current.filter(|(_, done)| *done <= now) {
            self.current = None;
            self.tally.end(done);
            notices.push(Notice::Done { id });
            self.start(done);
        }
    }

    fn slot_count(&self) -> usize {
        1
    }

    fn stats(&self) -> DeviceStats {
        self.tally.stats()
    }
}
