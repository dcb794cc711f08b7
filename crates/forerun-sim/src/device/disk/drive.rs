//! The drive: where its head is at any time, and how long a command takes from there.

use std::collections::VecDeque;

use super::buffer::Buffer;
use super::geometry::Geometry;
use super::spec::{DiskSpec, SECTOR_BYTES};
use crate::device::Direction;
use crate::device::tally::transfer_ns;

/// The drive reads on from a place until a limit, whether or not anybody asks for it.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// When the disk was turned to `angle`.
    time: u64,
    angle: u64,
    /// The first sector that is not in the buffer yet.
    from: u64,
    /// Where it stops.
    limit: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Drive {
    spec: DiskSpec,
    geometry: Geometry,
    buffer: Buffer,
    stream: Option<Stream>,
    /// The head is on this sector's track when nothing streams.
    head_at: u64,
    /// Sectors `start .. end` that are written when nothing else is to be done, and when
    /// they came.
    dirty: VecDeque<(u64, u64, u64)>,
    dirty_bytes: u64,
    /// Writing keeps the head busy until then.
    busy_until: u64,
    /// The last command was a write: an index to overheads.
    after: usize,
    /// Where the last command ended.
    last_end: u64,
}

impl Drive {
    pub(super) fn new(spec: DiskSpec) -> Drive {
        Drive {
            geometry: Geometry::new(&spec),
            buffer: Buffer::new(&spec.buffer),
            stream: None,
            head_at: 0,
            dirty: VecDeque::new(),
            dirty_bytes: 0,
            busy_until: 0,
            after: 0,
            last_end: 0,
            spec,
        }
    }

    /// Carries out a command for sectors `start .. end`: when it is complete.
    pub(super) fn serve(&mut self, now: u64, start: u64, end: u64, direction: Direction) -> u64 {
        // A request past the end, which nobody should make, costs what the last sectors do.
        let end = end.min(self.geometry.sectors);
        let start = start.min(end - 1);
        let after = std::mem::replace(&mut self.after, usize::from(direction == Direction::Write));
        let done = match direction {
            Direction::Read => self.read(now, start, end, after),
            Direction::Write => self.write(now, start, end, after),
        };
        self.last_end = end;
        done
    }

    fn bus_ns(&self, start: u64, end: u64) -> u64 {
        transfer_ns((end - start) * SECTOR_BYTES, self.spec.bus_bytes_per_s)
    }

    fn read(&mut self, now: u64, start: u64, end: u64, after: usize) -> u64 {
        let reached = self.catch_up(now);
        let found = self.buffer.find(start);
        let resident = found.unwrap_or(start).min(end);
        if resident == end {
            if found == Some(reached) {
                self.extend(now, end);
            }
            let overhead = &self.spec.overhead;
            let next = start == self.last_end && after == 0;
            let overhead_ns = if next { overhead.read_next_ns } else { overhead.read_hit_ns };
            return now + overhead_ns + self.bus_ns(start, end);
        }
        let ready = now + self.spec.overhead.read_miss_ns[after];
        let gap = self.spec.buffer.gap_bytes / SECTOR_BYTES;
        let near = self
            .stream
            .as_ref()
            .is_some_and(|stream| reached < stream.limit && resident >= reached && resident <= reached + gap);
        if near {
            self.extend(now, end);
        } else {
            let arrival = ready.max(self.busy_until) + self.move_ns(resident);
            self.stream = Some(self.stream_from(arrival, resident, end));
        }
        // Buffered sectors go over the bus while the rest is read.
        let first = if resident > start { ready } else { self.passed(resident + 1).max(ready) };
        (first + self.bus_ns(start, end)).max(self.passed(end) + self.bus_ns(end - 1, end))
    }

    fn write(&mut self, now: u64, start: u64, end: u64, after: usize) -> u64 {
        self.catch_up(now);
        self.buffer.forget(start, end);
        if self.spec.buffer.keeps_written {
            self.buffer.add(start, end);
        }
        let sent = now + self.spec.overhead.write_ns[after] + self.bus_ns(start, end);
        self.dirty.push_back((start, end, sent));
        self.dirty_bytes += (end - start) * SECTOR_BYTES;
        let mut accepted = sent;
        while self.dirty_bytes > self.spec.write_cache_bytes {
            self.destage(now);
            accepted = self.busy_until;
        }
        accepted
    }

    /// Writes what has waited longest, not before `time`.
    fn destage(&mut self, time: u64) {
        let Some((start, end, sent)) = self.dirty.pop_front() else { return };
        self.dirty_bytes -= (end - start) * SECTOR_BYTES;
        let begin = time.max(sent).max(self.busy_until);
        let moved = self.move_ns(start);
        // A write that follows the last write directly need not wait for another turn.
        let follows = begin == self.busy_until && self.head_at + 1 == start;
        let arrival = if follows { begin } else { begin + moved + self.spec.write_settle_ns };
        let (angle, done) = (self.geometry.angle(start), self.geometry.angle_end(end));
        self.busy_until = arrival + self.geometry.wait(arrival, angle) + (done - angle);
        self.stream = None;
        self.head_at = end - 1;
    }

    /// Brings everything up to `now`: the sector that the head has come to.
    fn catch_up(&mut self, now: u64) -> u64 {
        let reached = self.fill(now);
        while let Some((_, _, sent)) = self.dirty.front().copied() {
            let idle = match &self.stream {
                Some(stream) => stream.time + (self.geometry.angle_end(stream.limit) - stream.angle),
                None => self.busy_until,
            };
            if idle.max(sent) >= now {
                break;
            }
            self.destage(idle);
        }
        if self.stream.is_some() { reached } else { self.head_at }
    }

    /// Brings the buffer up to `now`: the sector that the stream has come to.
    fn fill(&mut self, now: u64) -> u64 {
        let Some(stream) = &mut self.stream else { return self.head_at };
        let angle = stream.angle + now.saturating_sub(stream.time);
        let reached = self.geometry.reached(angle).clamp(stream.from, stream.limit);
        self.buffer.add(stream.from, reached);
        stream.from = reached;
        self.head_at = reached.min(self.geometry.sectors - 1);
        reached
    }

    /// The stream goes on to what lies ahead of `end`. If it had stopped, its sector
    /// must come round again first.
    fn extend(&mut self, now: u64, end: u64) {
        let limit = self.limit(end);
        let Some(stream) = &mut self.stream else { return };
        if limit <= stream.limit {
            return;
        }
        let stopped = stream.time + (self.geometry.angle_end(stream.limit) - stream.angle);
        if stopped <= now {
            let angle = self.geometry.angle(stream.limit);
            let time = now + self.geometry.wait(now, angle);
            *stream = Stream { time, angle, from: stream.limit, limit };
        }
        stream.limit = limit;
    }

    fn limit(&self, end: u64) -> u64 {
        (end + self.spec.buffer.ahead_bytes / SECTOR_BYTES).min(self.geometry.sectors)
    }

    /// How long the head takes to the track of `sector`.
    fn move_ns(&self, sector: u64) -> u64 {
        let (from, to) = (self.geometry.track(self.head_at), self.geometry.track(sector));
        if from.cylinder != to.cylinder {
            self.spec.seek.ns(from.cylinder.abs_diff(to.cylinder), self.geometry.cylinders)
        } else if from.head != to.head {
            self.spec.head_switch_ns
        } else {
            0
        }
    }

    /// The stream that begins when the head is on the track of `start` at `arrival`.
    fn stream_from(&self, arrival: u64, start: u64, end: u64) -> Stream {
        let angle = self.geometry.angle(start);
        let wait = self.geometry.wait(arrival, angle);
        let track = self.geometry.track(start);
        let passing = angle.saturating_sub(wait);
        let from = if self.spec.buffer.on_arrival && passing >= track.angle {
            // The first sector that has not begun to pass.
            (self.geometry.reached(passing) + 1).min(start)
        } else if self.spec.buffer.on_arrival {
            track.first
        } else {
            start
        };
        Stream { time: arrival + wait, angle, from, limit: self.limit(end) }
    }

    /// When the stream has read the sector before `end`.
    fn passed(&self, end: u64) -> u64 {
        let Some(stream) = &self.stream else { return 0 };
        (stream.time + self.geometry.angle_end(end)).saturating_sub(stream.angle)
    }
}
