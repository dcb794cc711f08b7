//! Writing version 1 of rbd-replay's format. Adds the actions that a replay needs and the accesses may
//! lack. These are start and end of threads, opening of images, and dependencies that keep the recorded
//! times.

use std::collections::{BTreeSet, HashSet};

use crate::formats::rbd_replay::BANNER;
use crate::recent::Recent;
use crate::writer::{Encode, Fate};
use crate::{Access, FileId, Files, Moment, Op};

const START: u8 = 0;
const STOP: u8 = 1;
const OPEN: u8 = 6;

/// Writes records.
#[derive(Default)]
pub(crate) struct Encoder {
    begun: bool,
    next_id: u32,
    ids: Recent<u32>,
    running: BTreeSet<u64>,
    open: HashSet<FileId>,
    /// The previous action, and its time.
    last: Option<(u32, u64)>,
    /// The time that each thread has reached in a replay on a device which answers at once.
    reached: std::collections::HashMap<u64, u64>,
}

impl Encoder {
    fn begin(&mut self, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.begun, true) {
            out.extend_from_slice(BANNER);
        }
    }

    fn id(&mut self) -> Result<u32, String> {
        let id = self.next_id;
        self.next_id = id.checked_add(2).ok_or("rbd-replay has no ids for more than 2^31 actions")?;
        Ok(id)
    }

    /// The dependencies of `access` in rbd-replay's ids.
    fn after(&self, access: &Access) -> Vec<(u32, u64)> {
        let known = access.after.iter().filter_map(|dependency| {
            let completed = u32::from(dependency.moment == Moment::Completed);
            Some((self.ids.get(dependency.id)? + completed, dependency.delta_ns))
        });
        let after: Vec<_> = known.collect();
        let reached = self.reached.get(&access.thread).copied().unwrap_or(0);
        match self.last {
            Some((id, time_ns)) if after.is_empty() && access.time_ns > reached => {
                vec![(id, access.time_ns.saturating_sub(time_ns))]
            }
            _ => after,
        }
    }

    /// Starts the thread and opens the image of `access`, if that was not done.
    fn prepare(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<(), String> {
        self.begin(out);
        if access.op != Op::Start && self.running.insert(access.thread) {
            Record { kind: START, id: self.id()?, thread: access.thread, after: &[] }.append(&[], out);
        }
        let needs_open = access.op.has_extent() || access.op == Op::Close;
        if needs_open && self.open.insert(access.file) {
            let tail = open_tail(access.file, files.name(access.file), false);
            Record { kind: OPEN, id: self.id()?, thread: access.thread, after: &[] }.append(&tail, out);
        }
        Ok(())
    }
}

impl Encode for Encoder {
    fn encode(&mut self, access: &Access, files: &Files, out: &mut Vec<u8>) -> Result<Fate, String> {
        let Some(kind) = kind(access) else { return Ok(Fate::LeftOut) };
        self.prepare(access, files, out)?;
        let mut tail = Vec::new();
        match access.op {
            Op::Start => drop(self.running.insert(access.thread)),
            Op::Stop => drop(self.running.remove(&access.thread)),
            Op::Open { read_only } => {
                self.open.insert(access.file);
                tail = open_tail(access.file, files.name(access.file), read_only);
            }
            _ => tail.extend_from_slice(&image(access.file).to_le_bytes()),
        }
        if access.op == Op::Close {
            self.open.remove(&access.file);
        }
        if access.op.has_extent() {
            tail.extend_from_slice(&access.extent.offset.to_le_bytes());
            tail.extend_from_slice(&access.extent.len.to_le_bytes());
        }
        let (id, after) = (self.id()?, self.after(access));
        Record { kind, id, thread: access.thread, after: &after }.append(&tail, out);
        self.ids.insert(access.id, id);
        self.last = Some((id, access.time_ns));
        self.reached.insert(access.thread, access.time_ns);
        Ok(Fate::Written)
    }

    fn finish(&mut self, _: &Files, out: &mut Vec<u8>) {
        self.begin(out);
        for thread in std::mem::take(&mut self.running) {
            // Without a free id there is no trace that could be replayed anyway.
            let Ok(id) = self.id() else { return };
            Record { kind: STOP, id, thread, after: &[] }.append(&[], out);
        }
    }
}

fn kind(access: &Access) -> Option<u8> {
    let pair = match access.op {
        Op::Start => [START, START],
        Op::Stop => [STOP, STOP],
        Op::Read => [2, 4],
        Op::Write => [3, 5],
        Op::Open { .. } => [OPEN, 8],
        Op::Close => [7, 9],
        Op::Discard => [10, 11],
        Op::Flush => return None,
    };
    Some(pair[usize::from(!access.blocking)])
}

struct Record<'a> {
    kind: u8,
    id: u32,
    thread: u64,
    after: &'a [(u32, u64)],
}

impl Record<'_> {
    fn append(&self, tail: &[u8], out: &mut Vec<u8>) {
        let mut payload = vec![self.kind];
        payload.extend_from_slice(&self.id.to_le_bytes());
        payload.extend_from_slice(&self.thread.to_le_bytes());
        payload.extend_from_slice(&(self.after.len() as u32).to_le_bytes());
        for (id, delta_ns) in self.after {
            payload.extend_from_slice(&id.to_le_bytes());
            payload.extend_from_slice(&delta_ns.to_le_bytes());
        }
        payload.extend_from_slice(tail);
        out.extend_from_slice(&[1, 1]);
        out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        out.extend_from_slice(&payload);
    }
}

/// The number of an image; recordings have an address, and 0 means none.
fn image(file: FileId) -> u64 {
    u64::from(file.0) + 1
}

fn open_tail(file: FileId, name: &str, read_only: bool) -> Vec<u8> {
    let (name, snapshot) = name.rsplit_once('@').unwrap_or((name, ""));
    let mut tail = image(file).to_le_bytes().to_vec();
    for text in [name, snapshot] {
        tail.extend_from_slice(&(text.len() as u32).to_le_bytes());
        tail.extend_from_slice(text.as_bytes());
    }
    tail.push(u8::from(read_only));
    tail
}
