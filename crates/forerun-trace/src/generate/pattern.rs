//! The order in which one thread reads.

use super::numbers::Numbers;
use super::plan::{Pattern, Plan};
use super::request::Request;
use super::whole_files::{File, WholeFiles, equal, small};
use crate::{Files, Op};

/// Lengths of partial answers: 10, 20 and 26 segments of 1,440 bytes, the last one most often. A
/// web server's `sendfile` to slow clients sent as much at once.
const PARTIAL_BYTES: [u64; 6] = [37_440, 28_800, 37_440, 14_400, 37_440, 37_440];

/// The requests of one thread.
pub(super) struct Thread {
    pattern: Pattern,
    source: ThreadFiles,
    request_bytes: u64,
    think_ns: u64,
    count: u64,
    at: u64,
    numbers: Numbers,
    /// The state of a pattern: the next request of a sparse file, or the next byte after partial
    /// answers.
    place: u64,
}

enum ThreadFiles {
    One(File),
    Many(WholeFiles),
}

impl Thread {
    pub(super) fn new(
        plan: &Plan,
        pattern: Pattern,
        number: u64,
        files: &mut Files,
    ) -> Result<Thread, String> {
        let mut numbers = Numbers::new(plan.seed.wrapping_mul(31).wrapping_add(number));
        let count = count(plan, pattern)?;
        let source = match pattern {
            Pattern::Tree { files: count } => ThreadFiles::Many(WholeFiles::read(small(
                count,
                plan.file_bytes,
                number,
                &mut numbers,
                files,
            ))),
            Pattern::FileServer { files: count } => {
                ThreadFiles::Many(WholeFiles::written(equal(count, plan.file_bytes, number, files)))
            }
            _ => {
                ThreadFiles::One(File { id: files.intern(&format!("file{number}")), bytes: plan.file_bytes })
            }
        };
        let Plan { request_bytes, think_ns, .. } = *plan;
        Ok(Thread { pattern, source, request_bytes, think_ns, count, at: 0, numbers, place: 0 })
    }

    /// The offset of the next request of a file of `bytes`; none after the last.
    fn offset(&mut self, bytes: u64) -> Option<u64> {
        let requests = bytes.div_ceil(self.request_bytes);
        let index = match self.pattern {
            Pattern::Interleaved { streams } => self.at % streams * (requests / streams) + self.at / streams,
            Pattern::Strided { stride } => return Some(self.at * stride),
            Pattern::Partial => return (self.place < bytes).then_some(self.place),
            Pattern::Backward => requests - 1 - self.at,
            Pattern::Random => self.numbers.below(requests),
            Pattern::Sparse { percent } => {
                while self.numbers.below(100) >= percent {
                    self.place += 1;
                }
                self.place += 1;
                self.place - 1
            }
            _ => self.at,
        };
        (index < requests).then(|| index * self.request_bytes)
    }

    fn next_of_one(&mut self, file: File) -> Option<Request> {
        let offset = self.offset(file.bytes)?;
        let rest = file.bytes - offset;
        let (len, asked) = match self.pattern {
            Pattern::Partial => {
                let most = PARTIAL_BYTES[self.numbers.below(PARTIAL_BYTES.len() as u64) as usize];
                self.place += most.min(rest);
                (most.min(rest), Some(rest).filter(|rest| *rest > most))
            }
            _ => (self.request_bytes.min(rest), None),
        };
        Some(Request { op: Op::Read, file: file.id, offset, len, asked, think_ns: 0 })
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
}

impl Iterator for Thread {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        if self.at == self.count {
            return None;
        }
        let request = match &mut self.source {
            ThreadFiles::Many(files) => files.next(self.request_bytes)?,
            ThreadFiles::One(file) => {
                let file = *file;
                self.next_of_one(file)?
            }
        };
        let think_ns = if request.op == Op::Close { 0 } else { self.think() };
        self.at += 1;
        Some(Request { think_ns, ..request })
    }
}

/// The most accesses of `pattern`, or the reason why it is invalid.
fn count(plan: &Plan, pattern: Pattern) -> Result<u64, String> {
    let requests = plan.file_bytes.div_ceil(plan.request_bytes);
    let count = match pattern {
        Pattern::Interleaved { streams } if streams == 0 || streams > requests => {
            return Err(format!(
                "interleaved needs 1 to {requests} streams in a file of {requests} requests"
            ));
        }
        Pattern::Strided { stride } if stride < plan.request_bytes => {
            return Err("a stride must not be smaller than a request".to_owned());
        }
        Pattern::Sparse { percent } if !(1..=100).contains(&percent) => {
            return Err("sparse reads 1 to 100 percent".to_owned());
        }
        Pattern::Bursts { requests: 0, .. } => return Err("a burst needs at least one request".to_owned()),
        Pattern::Partial if plan.displaced > 0 => {
            return Err(
                "partial cannot be displaced: each read begins where the last answer ended".to_owned()
            );
        }
        Pattern::Random => return Ok(plan.count.unwrap_or(requests)),
        Pattern::Strided { stride } => plan.file_bytes.div_ceil(stride),
        Pattern::Interleaved { streams } => (requests / streams).saturating_mul(streams),
        // The last file ends these patterns.
        Pattern::Tree { .. } | Pattern::FileServer { .. } | Pattern::Partial => u64::MAX,
        _ => requests,
    };
    Ok(plan.count.unwrap_or(count).min(count))
}
