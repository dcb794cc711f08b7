//! Several devices as one: RAID-0, and RAID-5 with the parity turning to the left.

use std::collections::BTreeMap;

use super::{Device, DeviceStats, Direction, Notice, Request, RequestId, Time};

/// How chunks are spread over the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// In turn.
    Raid0,
    /// In turn behind the parity, which is one member further to the left in each row
    /// (left-symmetric).
    Raid5,
}

/// An array. A request is complete when its slowest piece is.
///
/// Parity is not read with data. A write to a part of a RAID-5 row reads what it replaces
/// and the parity first; a whole row is written at once.
pub struct Raid {
    level: Level,
    chunk_bytes: u64,
    members: Vec<Box<dyn Device>>,
    parents: BTreeMap<RequestId, Parent>,
    /// Whose each member's request is.
    pieces: BTreeMap<RequestId, RequestId>,
    piece_count: u64,
    members_notices: Vec<Notice>,
}

/// A request that is being carried out.
struct Parent {
    request: Request,
    /// Pieces that are not done.
    left: usize,
    /// Pieces to write when they are.
    then: Vec<Piece>,
}

/// Bytes of one member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    member: usize,
    address: u64,
    len: u64,
}

impl Raid {
    /// An array of at least two `members` (RAID-5: three) with chunks of `chunk_bytes`, not 0.
    pub fn new(level: Level, chunk_bytes: u64, members: Vec<Box<dyn Device>>) -> Raid {
        let least = if level == Level::Raid5 { 3 } else { 2 };
        assert!(members.len() >= least, "{level:?} has at least {least} members, not {}", members.len());
        assert!(chunk_bytes > 0, "a chunk has at least one byte");
        Raid {
            level,
            chunk_bytes,
            members,
            parents: BTreeMap::new(),
            pieces: BTreeMap::new(),
            piece_count: 0,
            members_notices: Vec::new(),
        }
    }

    fn data_count(&self) -> usize {
        self.members.len() - usize::from(self.level == Level::Raid5)
    }

    fn parity_member(&self, row: u64) -> usize {
        self.members.len() - 1 - (row % self.members.len() as u64) as usize
    }

    /// Which member has data chunk `chunk`, and the row it is in.
    fn chunk(&self, chunk: u64) -> (usize, u64) {
        let data_count = self.data_count() as u64;
        let (row, column) = (chunk / data_count, (chunk % data_count) as usize);
        match self.level {
            Level::Raid0 => (column, row),
            Level::Raid5 => ((self.parity_member(row) + 1 + column) % self.members.len(), row),
        }
    }

    /// The members' bytes that hold `start .. end`, neighbours joined.
    fn data_pieces(&self, start: u64, end: u64) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut address = start;
        while address < end {
            let chunk = address / self.chunk_bytes;
            let stop = ((chunk + 1) * self.chunk_bytes).min(end);
            let (member, row) = self.chunk(chunk);
            let piece = Piece {
                member,
                address: row * self.chunk_bytes + address % self.chunk_bytes,
                len: stop - address,
            };
            let last = pieces.iter_mut().rev().find(|last| last.member == member);
            match last.filter(|last| last.address + last.len == piece.address) {
                Some(last) => last.len += piece.len,
                None => pieces.push(piece),
            }
            address = stop;
        }
        pieces
    }

    /// The pieces to read before `start .. end` is written, and the pieces to write: all in RAID-5.
    fn parity_pieces(&self, start: u64, end: u64) -> (Vec<Piece>, Vec<Piece>) {
        let row_bytes = self.chunk_bytes * self.data_count() as u64;
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut address = start;
        while address < end {
            let row = address / row_bytes;
            let stop = ((row + 1) * row_bytes).min(end);
            let data = self.data_pieces(address, stop);
            let parity = Piece {
                member: self.parity_member(row),
                address: row * self.chunk_bytes,
                len: self.chunk_bytes,
            };
            if stop - address < row_bytes {
                reads.extend(data.iter().copied().chain([parity]));
            }
            writes.extend(data.into_iter().chain([parity]));
            address = stop;
        }
        (reads, writes)
    }

    fn submit_pieces(&mut self, now: Time, parent: &Request, direction: Direction, pieces: &[Piece]) {
        for piece in pieces {
            let id = RequestId(self.piece_count);
            self.piece_count += 1;
            self.pieces.insert(id, parent.id);
            let Piece { member, address, len } = *piece;
            self.members[member].submit(now, Request { id, address, len, direction, ..*parent });
        }
    }

    /// A piece of `id` is done.
    fn finish(&mut self, now: Time, id: RequestId, notices: &mut Vec<Notice>) {
        let Some(parent) = self.parents.get_mut(&id) else { return };
        parent.left -= 1;
        if parent.left > 0 {
            return;
        }
        let then = std::mem::take(&mut parent.then);
        if then.is_empty() {
            self.parents.remove(&id);
            notices.push(Notice::Done { id });
        } else {
            parent.left = then.len();
            let request = parent.request;
            self.submit_pieces(now, &request, Direction::Write, &then);
        }
    }
}

impl Device for Raid {
    fn submit(&mut self, now: Time, request: Request) {
        let (start, end) = (request.address, request.end());
        let (direction, first, then) = match (request.direction, self.level) {
            (Direction::Write, Level::Raid5) => {
                let (reads, writes) = self.parity_pieces(start, end);
                if reads.is_empty() {
                    (Direction::Write, writes, Vec::new())
                } else {
                    (Direction::Read, reads, writes)
                }
            }
            (direction, _) => (direction, self.data_pieces(start, end), Vec::new()),
        };
        self.parents.insert(request.id, Parent { request, left: first.len(), then });
        self.submit_pieces(now, &request, direction, &first);
    }

    fn next_time(&self) -> Option<Time> {
        self.members.iter().filter_map(|member| member.next_time()).min()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let mut arrived = std::mem::take(&mut self.members_notices);
        for member in 0..self.members.len() {
            self.members[member].advance(now, &mut arrived);
        }
        for notice in arrived.drain(..) {
            let Notice::Done { id } = notice else { continue };
            if let Some(parent) = self.pieces.remove(&id) {
                self.finish(now, parent, notices);
            }
        }
        self.members_notices = arrived;
    }

    fn slot_count(&self) -> usize {
        self.members.iter().map(|member| member.slot_count()).sum()
    }

    fn unplug(&mut self, now: Time) {
        self.members.iter_mut().for_each(|member| member.unplug(now));
    }

    /// Sums over the members; busy is the busiest member's time.
    fn stats(&self) -> DeviceStats {
        self.members.iter().map(|member| member.stats()).fold(DeviceStats::default(), |sum, one| {
            DeviceStats {
                read_count: sum.read_count + one.read_count,
                read_bytes: sum.read_bytes + one.read_bytes,
                write_count: sum.write_count + one.write_count,
                write_bytes: sum.write_bytes + one.write_bytes,
                busy_ns: sum.busy_ns.max(one.busy_ns),
            }
        })
    }
}
