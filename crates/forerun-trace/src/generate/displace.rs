//! Requests out of order, as from NFS clients.

use std::collections::VecDeque;

use super::numbers::Numbers;
use super::request::Request;
use crate::Op;

/// Reorders the reads of `source`: none is overtaken by more than `window` others. Other operations
/// keep their places.
pub(super) struct Displaced<I> {
    source: I,
    window: usize,
    numbers: Numbers,
    /// Each with the number of reads that overtook it, the oldest first.
    waiting: Vec<(Request, usize)>,
    /// The think times of the waiting reads, in the order of the source: reordering keeps the pace.
    thinks_ns: VecDeque<u64>,
    barrier: Option<Request>,
}

impl<I: Iterator<Item = Request>> Displaced<I> {
    pub(super) fn new(source: I, window: usize, seed: u64) -> Displaced<I> {
        let numbers = Numbers::new(seed ^ 0xd15b);
        Displaced { source, window, numbers, waiting: Vec::new(), thinks_ns: VecDeque::new(), barrier: None }
    }

    fn fill(&mut self) {
        while self.barrier.is_none() && self.waiting.len() <= self.window {
            match self.source.next() {
                Some(request) if request.op == Op::Read => {
                    self.waiting.push((request, 0));
                    self.thinks_ns.push_back(request.think_ns);
                }
                Some(request) => self.barrier = Some(request),
                None => return,
            }
        }
    }
}

impl<I: Iterator<Item = Request>> Iterator for Displaced<I> {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        self.fill();
        let Some((_, passed_over)) = self.waiting.first() else { return self.barrier.take() };
        let at = match *passed_over >= self.window {
            true => 0,
            false => self.numbers.below(self.waiting.len() as u64) as usize,
        };
        let (request, _) = self.waiting.remove(at);
        self.waiting[..at].iter_mut().for_each(|(_, passed_over)| *passed_over += 1);
        let think_ns = self.thinks_ns.pop_front().unwrap_or(request.think_ns);
        Some(Request { think_ns, ..request })
    }
}
