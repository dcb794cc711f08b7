//! Recorded accesses as a source: at their recorded times, one after the other,
//! or as fast as what they depend on allows.
//!
//! Memory does not grow with the trace: at most [`BUFFERED_MAX`] accesses are
//! looked at before they are made, and as many may be under way.

mod history;
mod scan;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use forerun_trace::{Access, Op};

use super::{Deed, Extent, Next, ObjectId, Placed, Source, Step, Time};
use history::{History, Readiness};
pub use scan::Scan;

/// Accesses held at most: of a thread that is far behind the others, and under way.
pub const BUFFERED_MAX: usize = 65_536;

/// When a recorded access is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// At its recorded time, whatever came of the others: an open loop.
    Recorded,
    /// When the one before it in its thread is done: a closed loop.
    Closed,
    /// When what it depends on is done, and then `think_percent` of the time that
    /// its thread took to make it. Accesses without dependencies follow the one
    /// before them in their thread at once.
    Dependencies {
        /// 100 as recorded, 0 at once.
        think_percent: u64,
    },
}

/// A trace as a source.
#[derive(Debug)]
pub struct Replay<I> {
    accesses: I,
    scan: Scan,
    pace: Pace,
    threads: Vec<Thread>,
    history: History,
    /// Threads whose next access has a time.
    due: BinaryHeap<Reverse<(Time, u64, u32)>>,
    turn: u64,
    buffered: usize,
    in_flight: usize,
    ended: bool,
    /// Threads without a buffered access.
    starving: usize,
}

#[derive(Debug, Default)]
struct Thread {
    next: VecDeque<Access>,
    in_flight: usize,
    /// Its next access is in `due`, or waits for another.
    scheduled: bool,
}

impl<I: Iterator<Item = Access>> Replay<I> {
    /// Replays `accesses`, of which `scan` was made.
    pub fn new(accesses: I, scan: Scan, pace: Pace) -> Replay<I> {
        let threads: Vec<Thread> = (0..scan.thread_count()).map(|_| Thread::default()).collect();
        Replay {
            accesses,
            pace,
            starving: threads.len(),
            threads,
            history: History::default(),
            due: BinaryHeap::new(),
            turn: 0,
            buffered: 0,
            in_flight: 0,
            ended: false,
            scan,
        }
    }

    /// Looks ahead in the trace until every thread has something to do.
    fn fill(&mut self, now: Time) {
        while !self.ended && self.starving > 0 && self.buffered < BUFFERED_MAX {
            let Some(access) = self.accesses.next() else {
                self.ended = true;
                return;
            };
            let client = self.scan.client_of(access.thread);
            let thread = &mut self.threads[client as usize];
            if thread.next.is_empty() {
                self.starving -= 1;
            }
            self.buffered += 1;
            if matches!(self.pace, Pace::Dependencies { .. }) {
                self.history.expect(access.id);
            }
            thread.next.push_back(access);
            self.schedule(now, client);
        }
    }

    /// Finds out when the thread's next access is made, unless that is known.
    fn schedule(&mut self, now: Time, client: u32) {
        let thread = &mut self.threads[client as usize];
        let Some(access) = thread.next.front() else { return };
        if thread.scheduled {
            return;
        }
        let time = match self.pace {
            Pace::Recorded => Time(access.time_ns),
            Pace::Closed if thread.in_flight > 0 => return,
            Pace::Closed => now,
            Pace::Dependencies { think_percent } => {
                match self.history.readiness(&access.after, think_percent) {
                    Readiness::At(time) => time.max(now),
                    Readiness::After(id) => {
                        thread.scheduled = true;
                        self.history.wait(id, client);
                        return;
                    }
                }
            }
        };
        thread.scheduled = true;
        self.due.push(Reverse((time, self.turn, client)));
        self.turn += 1;
    }

    /// Makes the next access of a thread. `None` if it is nothing that a device
    /// would notice.
    fn make(&mut self, now: Time, client: u32) -> Option<Step> {
        let thread = &mut self.threads[client as usize];
        thread.scheduled = false;
        let access = thread.next.pop_front()?;
        if thread.next.is_empty() {
            self.starving += 1;
        }
        self.buffered -= 1;
        let asked = access.asked.unwrap_or(access.extent.len).max(access.extent.len);
        let deed = match access.op {
            Op::Read if access.extent.len > 0 => Some(Deed::Read { asked }),
            Op::Write if access.extent.len > 0 => Some(Deed::Write),
            Op::Close => Some(Deed::Close),
            _ => None,
        };
        let token =
            self.history.submitted(now, access.id, client, matches!(self.pace, Pace::Dependencies { .. }));
        let step = deed.map(|deed| Step {
            token,
            client,
            deed,
            object: ObjectId(u64::from(access.file.0)),
            extent: Extent::new(access.extent.offset, access.extent.len),
        });
        self.in_flight += 1;
        self.threads[client as usize].in_flight += 1;
        if step.is_none() {
            self.done(now, token);
        } else {
            self.wake(now);
            // The next one may not have to wait for this one.
            self.schedule(now, client);
        }
        step
    }

    /// Threads whose next access waited for what has just happened.
    fn wake(&mut self, now: Time) {
        while let Some(client) = self.history.woken() {
            self.threads[client as usize].scheduled = false;
            self.schedule(now, client);
        }
    }
}

impl<I: Iterator<Item = Access>> Source for Replay<I> {
    fn objects(&self) -> &[Placed] {
        self.scan.objects()
    }

    fn client_count(&self) -> usize {
        self.threads.len()
    }

    fn next(&mut self, now: Time) -> Next {
        loop {
            self.fill(now);
            if self.in_flight >= BUFFERED_MAX {
                return Next::Blocked;
            }
            match self.due.peek().copied() {
                Some(Reverse((time, _, _))) if time > now => return Next::Later(time),
                Some(Reverse((_, _, client))) => {
                    self.due.pop();
                    if let Some(step) = self.make(now, client) {
                        return Next::Step(step);
                    }
                }
                None if self.in_flight > 0 => return Next::Blocked,
                None => {
                    // The remaining accesses wait for accesses that the trace does not have.
                    if !self.history.give_up() {
                        return Next::End;
                    }
                    self.wake(now);
                }
            }
        }
    }

    fn done(&mut self, now: Time, token: u64) {
        let client = self.history.completed(now, token);
        self.in_flight -= 1;
        self.threads[client as usize].in_flight -= 1;
        self.wake(now);
        self.schedule(now, client);
    }
}

#[cfg(test)]
mod tests;
