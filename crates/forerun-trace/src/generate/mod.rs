//! Seeded generators: the same [`Plan`] gives the same accesses everywhere.
//!
//! A reader waits for each answer, thinks, and asks again: each access depends on the completion of
//! its thread's access before. Times are those on a device that answers at once.

mod displace;
mod numbers;
mod pattern;
mod plan;
mod request;
mod whole_files;

pub use numbers::Numbers;
pub use plan::{Pattern, Plan};

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::{Access, Dependency, Files, Moment};
use displace::Displaced;
use pattern::Thread;
use request::Request;

impl Plan {
    /// Generates the accesses.
    ///
    /// # Errors
    /// The reason why the plan is invalid.
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
