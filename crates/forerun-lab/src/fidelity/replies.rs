//! The time that a mount takes to answer once it has the bytes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use forerun_sim::device::{Device, DeviceStats, Notice, Request, RequestId};
use forerun_sim::source::Time;
use forerun_sim::world::Served;
use forerun_trace::generate::Numbers;

use super::{Costs, PAGE_BYTES, about};

/// An engine whose answers take time: some at once, the others in order behind
/// them. So readers that one fetch was for go on one after the other, and it is this
/// that decides in which order they ask again.
pub(super) struct Replies<'a> {
    served: Served<'a>,
    costs: Costs,
    /// When each of those who answer is free.
    free: Vec<Time>,
    numbers: Numbers,
    /// How long the requests are that have no answer yet, in bytes.
    lens: HashMap<RequestId, u64>,
    /// Answers under way; of two that end at the same time, which was begun first.
    answers: BinaryHeap<Reverse<(Time, u64, RequestId)>>,
    answer_count: u64,
    notices: Vec<Notice>,
}

impl<'a> Replies<'a> {
    /// `served`, with `replier_count` (not 0) answers at once and the luck of `seed`.
    pub(super) fn new(served: Served<'a>, costs: Costs, replier_count: usize, seed: u64) -> Replies<'a> {
        Replies {
            served,
            costs,
            free: vec![Time(0); replier_count.max(1)],
            // Not the numbers that the threads have.
            numbers: Numbers::new(!seed),
            lens: HashMap::new(),
            answers: BinaryHeap::new(),
            answer_count: 0,
            notices: Vec::new(),
        }
    }

    /// Has the bytes of `id`: whoever is free first answers.
    fn answer(&mut self, now: Time, id: RequestId) {
        let Some(len) = self.lens.remove(&id) else { return };
        let mean_ns = self.costs.reply_ns + self.costs.reply_page_ns * len.div_ceil(PAGE_BYTES);
        let busy_ns = about(mean_ns, &mut self.numbers);
        let Some(free) = self.free.iter_mut().min() else { return };
        *free = Time((*free).max(now).0 + busy_ns);
        self.answers.push(Reverse((*free, self.answer_count, id)));
        self.answer_count += 1;
    }
}

impl Device for Replies<'_> {
    fn submit(&mut self, now: Time, request: Request) {
        self.lens.insert(request.id, request.len);
        self.served.submit(now, request);
    }

    fn next_time(&self) -> Option<Time> {
        let answer = self.answers.peek().map(|Reverse((time, ..))| *time);
        self.served.next_time().into_iter().chain(answer).min()
    }

    fn advance(&mut self, now: Time, notices: &mut Vec<Notice>) {
        let mut there = std::mem::take(&mut self.notices);
        self.served.advance(now, &mut there);
        for notice in there.drain(..) {
            // A mount answers with all bytes or none.
            if let Notice::Done { id } = notice {
                self.answer(now, id);
            }
        }
        self.notices = there;
        while let Some(Reverse((time, _, id))) = self.answers.peek().copied() {
            if time > now {
                break;
            }
            self.answers.pop();
            notices.push(Notice::Done { id });
        }
    }

    fn slot_count(&self) -> usize {
        self.served.slot_count()
    }

    /// The work of the store.
    fn stats(&self) -> DeviceStats {
        self.served.stats()
    }
}
