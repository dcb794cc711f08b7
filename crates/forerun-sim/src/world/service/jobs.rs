//! Jobs: reads, which the engine takes in pieces, and writes.

use forerun_engine::{Config, Extent, ObjectId, Outcome, ReaderId, Reply};

use super::Service;
use crate::device::{Direction, RequestId, Time};

/// Names of writes lie above those of fetches.
pub(super) const WRITES: u64 = 1 << 63;

/// Which of the two a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobKind {
    Read,
    Write,
}

/// A read or write of somebody.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job {
    /// The caller's name for it.
    pub(crate) token: u64,
    pub(crate) reader: ReaderId,
    pub(crate) object: ObjectId,
    pub(crate) extent: Extent,
    pub(crate) asked: Time,
}

/// A read under way: the engine takes so much at once, piece after piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct PiecewiseRead {
    pub(super) job: Job,
    piece: Extent,
    rest: Extent,
}

impl Service<'_> {
    pub(crate) fn read(&mut self, job: Job) {
        self.ask(PiecewiseRead { job, piece: Extent::default(), rest: job.extent });
    }

    /// The product stores the bytes first and then drops what it has of them.
    pub(crate) fn write(&mut self, job: Job) {
        self.write_count += 1;
        let id = RequestId(WRITES + self.write_count);
        self.submit(id, job.object, job.extent, Direction::Write, true);
        self.device.unplug(self.now);
        self.writes.insert(id, job);
    }

    /// Asks for piece after piece until one is not there yet.
    fn ask(&mut self, mut active: PiecewiseRead) {
        while !active.rest.is_empty() {
            let len = active.rest.len.min(Config::READ_BYTES_MAX);
            active.piece = Extent::new(active.rest.offset, len);
            active.rest = Extent::between(active.piece.end(), active.rest.end());
            let Job { object, reader, .. } = active.job;
            let outcome = self.engine.read(self.now, object, reader, active.piece, &mut self.ranges);
            match outcome {
                Outcome::Ready(read) => {
                    self.memory.check(object, active.piece, &self.ranges);
                    self.engine.release(read);
                    self.dispatch();
                }
                Outcome::Parked(read) => {
                    self.parked.insert(read, active);
                    self.dispatch();
                    return;
                }
            }
        }
        self.done.push_back((active.job, JobKind::Read));
    }

    pub(super) fn answer(&mut self, reply: Reply) {
        let Some(active) = self.parked.remove(&reply.read) else { return };
        if let Ok(ranges) = reply.result {
            self.memory.check(active.job.object, active.piece, &ranges);
            self.engine.release(reply.read);
        }
        self.ask(active);
    }

    pub(super) fn written(&mut self, id: RequestId) {
        let Some(job) = self.writes.remove(&id) else { return };
        self.engine.invalidate(self.now, job.object, job.extent);
        self.done.push_back((job, JobKind::Write));
    }
}
