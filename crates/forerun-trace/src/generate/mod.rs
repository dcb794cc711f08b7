//! Seeded generators: the same [`Plan`] gives the same accesses everywhere.
//!
//! A reader waits for each answer, thinks, and asks again: each access depends on the
//! completion of the one before it in its thread. Times are those on a device that answers
//! at once.

mod displace;
mod numbers;
mod pattern;
mod whole_files;

pub use numbers::Numbers;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Access, Dependency, Files, Moment, Op};
use displace::Displaced;
use pattern::Thread;

/// In which order a reader reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// From the beginning to the end.
    Sequential,
    /// `streams` places of one file, each sequentially, taking turns.
    Interleaved {
        /// How many.
        streams: u64,
    },
    /// One request, then nothing until `stride` bytes after its beginning.
    Strided {
        /// Bytes from one request's beginning to the next one's.
        stride: u64,
    },
    /// From the end to the beginning.
    Backward,
    /// Forward, leaving out requests: `percent` of them are read.
    Sparse {
        /// How many of a hundred are read.
        percent: u64,
    },
    /// Anywhere, at multiples of the request.
    Random,
    /// Sequential, in bursts of `requests` without thinking, with `pause_ns` between them.
    Bursts {
        /// Requests in a burst.
        requests: u64,
        /// Nanoseconds from one burst to the next.
        pause_ns: u64,
    },
    /// `files` small files, opened, read and closed one after the other, in random order.
    Tree {
        /// How many.
        files: u64,
    },
    /// The client of a file server: writes a file from beginning to end, reads it back, and goes
    /// on with the next of `files` files.
    FileServer {
        /// How many.
        files: u64,
    },
    /// A reader that asks for the rest of its file each time, gets a small part of it, some tens
    /// of KiB whatever the size of a request, and asks again for what follows.
    Partial,
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The patterns, each a thread with a file of its own, all at the same time.
    pub patterns: Vec<Pattern>,
    /// The size of a file in bytes; of a tree, the largest size.
    pub file_bytes: u64,
    /// Bytes of a request.
    pub request_bytes: u64,
    /// The most accesses of each pattern. Random needs it; it is as many as the file has
    /// requests otherwise.
    pub count: Option<u64>,
    /// How long a reader thinks between an answer and its next request, in nanoseconds, on average.
    pub think_ns: u64,
    /// By how many places a request may come early or late.
    pub displaced: usize,
    /// The seed.
    pub seed: u64,
}

impl Default for Plan {
    /// 64 MiB sequentially in requests of 128 KiB without thinking.
    fn default() -> Plan {
        Plan {
            patterns: vec![Pattern::Sequential],
            file_bytes: 64 << 20,
            request_bytes: 128 << 10,
            count: None,
            think_ns: 0,
            displaced: 0,
            seed: 1,
        }
    }
}

impl Plan {
    /// The accesses.
    ///
    /// # Errors
    /// What about the plan makes no sense.
    pub fn generate(&self) -> Result<Generated, String> {
        if self.patterns.is_empty() || self.request_bytes == 0 || self.file_bytes < self.request_bytes {
            return Err("give at least one pattern, and files that are not smaller than a request".to_owned());
        }
        let mut files = Files::default();
        let mut threads = Vec::new();
        for (at, pattern) in self.patterns.iter().enumerate() {
            let thread = Thread::new(self, *pattern, at as u64, &mut files)?;
            threads.push(Displaced::new(thread, self.displaced, self.seed.wrapping_add(at as u64)));
        }
        let mut generated = Generated { files, threads, due: BinaryHeap::new(), last: Vec::new(), count: 0 };
        generated.last.resize(generated.threads.len(), None);
        (0..generated.threads.len()).for_each(|at| generated.schedule(at));
        Ok(generated)
    }
}

/// One request of a thread.
#[derive(Clone, Copy, Debug)]
struct Request {
    op: Op,
    file: crate::FileId,
    offset: u64,
    len: u64,
    /// What it asks for, where it gets less.
    asked: Option<u64>,
    /// How long its reader thinks before it.
    think_ns: u64,
}

/// The accesses of a plan, in the order of time.
pub struct Generated {
    files: Files,
    threads: Vec<Displaced<Thread>>,
    /// The next request of each thread, by time.
    due: BinaryHeap<Reverse<Due>>,
    /// The last access of each thread and its time.
    last: Vec<Option<(u64, u64)>>,
    count: u64,
}

struct Due {
    time_ns: u64,
    thread: usize,
    request: Request,
}

impl Generated {
    /// The names of the files.
    pub fn files(&self) -> &Files {
        &self.files
    }

    fn schedule(&mut self, thread: usize) {
        let Some(request) = self.threads[thread].next() else { return };
        let before = self.last[thread].map_or(0, |(_, time_ns)| time_ns);
        let time_ns = before.saturating_add(request.think_ns);
        self.due.push(Reverse(Due { time_ns, thread, request }));
    }
}

impl Iterator for Generated {
    type Item = Access;

    fn next(&mut self) -> Option<Access> {
        let Reverse(Due { time_ns, thread, request }) = self.due.pop()?;
        let Request { op, file, offset, len, asked, think_ns } = request;
        let after =
            self.last[thread].map(|(id, _)| Dependency { id, moment: Moment::Completed, delta_ns: think_ns });
        let id = self.count;
        self.count += 1;
        self.last[thread] = Some((id, time_ns));
        self.schedule(thread);
        let access = Access::new(time_ns, op, file, offset, len);
        Some(Access {
            id,
            thread: thread as u64,
            asked,
            blocking: true,
            after: after.into_iter().collect(),
            ..access
        })
    }
}

impl Due {
    fn key(&self) -> (u64, usize) {
        (self.time_ns, self.thread)
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Due) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Due) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Due) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}
