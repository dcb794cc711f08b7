//! The order in which one thread reads.

use super::{Numbers, Pattern, Plan, Request};
use crate::{FileId, Files, Op};

/// The requests of one thread.
pub(super) struct Thread {
    pattern: Pattern,
    files: Vec<File>,
    request_bytes: u64,
    think_ns: u64,
    count: u64,
    at: u64,
    numbers: Numbers,
    /// Where a pattern with a memory stands: the next request of a sparse file, the file of a tree.
    place: u64,
    phase: Phase,
}

#[derive(Clone, Copy)]
struct File {
    id: FileId,
    bytes: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Closed,
    Reading(u64),
}

impl Thread {
    pub(super) fn new(
        plan: &Plan,
        pattern: Pattern,
        number: u64,
        files: &mut Files,
    ) -> Result<Thread, String> {
        let mut numbers = Numbers::new(plan.seed.wrapping_mul(31).wrapping_add(number));
        let requests = plan.file_bytes.div_ceil(plan.request_bytes);
        let count = match pattern {
            Pattern::Interleaved { streams } if streams == 0 || streams > requests => {
                return Err(format!(
                    "interleaved has 1 to {requests} streams in a file of {requests} requests"
                ));
            }
            Pattern::Strided { stride } if stride < plan.request_bytes => {
                return Err("a stride is not smaller than a request".to_owned());
            }
            Pattern::Sparse { percent } if !(1..=100).contains(&percent) => {
                return Err("sparse reads 1 to 100 percent".to_owned());
            }
            Pattern::Bursts { requests: 0, .. } => return Err("a burst has at least one request".to_owned()),
            Pattern::Strided { stride } => plan.file_bytes.div_ceil(stride),
            Pattern::Interleaved { streams } => (requests / streams).saturating_mul(streams),
            // Closing the last of them ends a tree; there are a few accesses to each file.
            Pattern::Tree { .. } => u64::MAX,
            _ => requests,
        };
        let count = match pattern {
            Pattern::Random => plan.count.unwrap_or(count),
            _ => plan.count.unwrap_or(count).min(count),
        };
        let files = own_files(plan, pattern, number, &mut numbers, files);
        let Plan { request_bytes, think_ns, .. } = *plan;
        Ok(Thread {
            pattern,
            files,
            request_bytes,
            think_ns,
            count,
            at: 0,
            numbers,
            place: 0,
            phase: Phase::Closed,
        })
    }

    /// The offset of request `at` of the file, `None` after the last.
    fn offset(&mut self) -> Option<u64> {
        let requests = self.files[0].bytes.div_ceil(self.request_bytes);
        let index = match self.pattern {
            Pattern::Sequential | Pattern::Bursts { .. } | Pattern::Tree { .. } => self.at,
            Pattern::Interleaved { streams } => self.at % streams * (requests / streams) + self.at / streams,
            Pattern::Strided { stride } => return Some(self.at * stride),
            Pattern::Backward => requests - 1 - self.at,
            Pattern::Random => self.numbers.below(requests),
            Pattern::Sparse { percent } => {
                while self.numbers.below(100) >= percent {
                    self.place += 1;
                }
                self.place += 1;
                self.place - 1
            }
        };
        (index < requests).then(|| index * self.request_bytes)
    }

    /// From half to one and a half times the average.
    fn think(&mut self) -> u64 {
        match self.pattern {
            _ if self.at == 0 => 0,
            Pattern::Bursts { requests, pause_ns } if self.at.is_multiple_of(requests) => pause_ns,
            Pattern::Bursts { .. } => 0,
            _ => self.think_ns / 2 + self.numbers.below(self.think_ns.saturating_add(1)),
        }
    }

    /// Opens, reads to the end and closes one file after the other.
    fn next_of_tree(&mut self) -> Option<Request> {
        let File { id, bytes } = *self.files.get(self.place as usize)?;
        let (op, offset, len) = match self.phase {
            Phase::Closed => (Op::Open { read_only: true }, 0, 0),
            Phase::Reading(offset) if offset < bytes => {
                (Op::Read, offset, self.request_bytes.min(bytes - offset))
            }
            Phase::Reading(_) => (Op::Close, 0, 0),
        };
        let think_ns = if op == Op::Close { 0 } else { self.think() };
        self.phase = match op {
            Op::Close => {
                self.place += 1;
                Phase::Closed
            }
            _ => Phase::Reading(offset + len),
        };
        Some(Request { op, file: id, offset, len, think_ns })
    }
}

impl Iterator for Thread {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if self.at == self.count {
            return None;
        }
        let request = match self.pattern {
            Pattern::Tree { .. } => self.next_of_tree()?,
            _ => {
                let File { id, bytes } = self.files[0];
                let (offset, think_ns) = (self.offset()?, self.think());
                let len = self.request_bytes.min(bytes - offset);
                Request { op: Op::Read, file: id, offset, len, think_ns }
            }
        };
        self.at += 1;
        Some(request)
    }
}

fn own_files(
    plan: &Plan,
    pattern: Pattern,
    number: u64,
    numbers: &mut Numbers,
    files: &mut Files,
) -> Vec<File> {
    let Pattern::Tree { files: count } = pattern else {
        return vec![File { id: files.intern(&format!("file{number}")), bytes: plan.file_bytes }];
    };
    let mut tree: Vec<File> = (0..count)
        .map(|at| {
            let id = files.intern(&format!("tree{number}/{:03}/{at:06}", at / 1000));
            // Small files are many: the logarithm of the size is even.
            let bits = u64::from(plan.file_bytes.ilog2());
            let most = 1_u64 << (numbers.below(bits + 1));
            File { id, bytes: (most + numbers.below(most)).min(plan.file_bytes) }
        })
        .collect();
    for at in (1..tree.len()).rev() {
        tree.swap(at, numbers.below(at as u64 + 1) as usize);
    }
    tree
}
