//! A first pass over a trace: facts that must be known before its first access is made.

use forerun_trace::{Access, Op};

use super::super::{Placed, place};
use crate::map::Map;

/// Objects are placed on multiples of this many bytes.
const ALIGN_BYTES: u64 = 1 << 20;

/// The files and threads of a trace, and sums over it. Its memory depends on how
/// many there are of them, not on the trace's length.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    objects: Vec<Placed>,
    sizes: Vec<u64>,
    clients: Map<u64, u32>,
    /// Reads.
    pub read_count: u64,
    /// Bytes read, each time they were.
    pub read_bytes: u64,
    /// Writes.
    pub write_count: u64,
    /// Accesses of all kinds.
    pub access_count: u64,
    /// Accesses that depend on others.
    pub dependent_count: u64,
    /// Nanoseconds from time 0 to the last access.
    pub duration_ns: u64,
    last: Option<(u64, u32)>,
}

impl Scan {
    /// Looks at every access.
    pub fn of<'a>(accesses: impl IntoIterator<Item = &'a Access>) -> Scan {
        let mut scan = Scan::default();
        accesses.into_iter().for_each(|access| scan.add(access));
        scan.finish()
    }

    /// Looks at one access; [`Scan::finish`] follows the last.
    pub fn add(&mut self, access: &Access) {
        self.access_count += 1;
        self.duration_ns = self.duration_ns.max(access.time_ns);
        self.dependent_count += u64::from(!access.after.is_empty());
        match access.op {
            Op::Read => {
                self.read_count += 1;
                self.read_bytes += access.extent.len;
            }
            Op::Write => self.write_count += 1,
            _ => {}
        }
        if self.last.is_none_or(|(thread, _)| thread != access.thread) {
            let next = self.clients.len() as u32;
            self.last = Some((access.thread, *self.clients.entry(access.thread).or_insert(next)));
        }
        let file = access.file.0 as usize;
        if self.sizes.len() <= file {
            self.sizes.resize(file + 1, 0);
        }
        if access.op.has_extent() {
            self.sizes[file] = self.sizes[file].max(access.extent.end());
        }
    }

    /// Gives every file its place, one behind the other.
    pub fn finish(mut self) -> Scan {
        self.objects = place(self.sizes.iter().copied(), ALIGN_BYTES);
        self
    }

    /// Where the files lie, by their number in the trace.
    pub fn objects(&self) -> &[Placed] {
        &self.objects
    }

    /// How many threads made accesses.
    pub fn thread_count(&self) -> usize {
        self.clients.len()
    }

    pub(super) fn client_of(&mut self, thread: u64) -> u32 {
        if let Some((last, client)) = self.last
            && last == thread
        {
            return client;
        }
        let client = self.clients.get(&thread).copied().unwrap_or(0);
        self.last = Some((thread, client));
        client
    }
}
