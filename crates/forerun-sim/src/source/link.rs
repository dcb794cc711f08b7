//! A network between clients and whoever serves them.

use std::collections::VecDeque;

use super::{Deed, Directory, Next, Placed, Source, Step, Time};
use crate::map::Map;

/// A network that all clients share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The rate of each direction, in bits per second, not 0.
    pub bits_per_s: u64,
    /// How long each message travels besides its bytes, in nanoseconds.
    pub latency_ns: u64,
    /// Both directions share the rate.
    pub half_duplex: bool,
}

impl Link {
    /// An Ethernet of 100 Mbit/s with a hub.
    pub fn ethernet_100() -> Link {
        Link { bits_per_s: 100_000_000, latency_ns: 100_000, half_duplex: true }
    }

    fn travel_ns(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * 8_000_000_000 / u128::from(self.bits_per_s)) as u64
    }
}

/// A source behind a [`Link`]: what it writes travels before it is written, what
/// it reads after it was read. Messages go in order in each direction.
#[derive(Debug)]
pub struct Linked<S> {
    inner: S,
    link: Link,
    /// When each direction is free again: to the server, and from it.
    free: [Time; 2],
    requests: VecDeque<(Time, Step)>,
    answers: VecDeque<(Time, u64)>,
    /// Answers' bytes, by the tokens of steps that are served now.
    served: Map<u64, u64>,
}

impl<S: Source> Linked<S> {
    /// `inner` behind `link`.
    pub fn new(inner: S, link: Link) -> Linked<S> {
        Linked {
            inner,
            link,
            free: [Time(0); 2],
            requests: VecDeque::new(),
            answers: VecDeque::new(),
            served: Map::default(),
        }
    }

    /// The source behind the link.
    pub fn inner(&self) -> &S {
        &self.inner
    }

    /// When a message that is sent now arrives.
    fn send(&mut self, now: Time, direction: usize, bytes: u64) -> Time {
        let direction = if self.link.half_duplex { 0 } else { direction };
        let free = &mut self.free[direction];
        *free = Time(now.max(*free).0 + self.link.travel_ns(bytes));
        Time(free.0 + self.link.latency_ns)
    }

    fn request(&mut self, now: Time, step: Step) {
        let bytes = if step.deed == Deed::Write { step.extent.len } else { 0 };
        let arrival = self.send(now, 0, bytes);
        self.requests.push_back((arrival, step));
    }

    fn deliver_answers(&mut self, now: Time) {
        while let Some(token) = pop_arrived(&mut self.answers, now) {
            self.inner.done(now, token);
        }
    }
}

impl<S: Source> Source for Linked<S> {
    fn objects(&self) -> &[Placed] {
        self.inner.objects()
    }

    fn directories(&self) -> &[Directory] {
        self.inner.directories()
    }

    fn client_count(&self) -> usize {
        self.inner.client_count()
    }

    fn next(&mut self, now: Time) -> Next {
        self.deliver_answers(now);
        let mut next = self.inner.next(now);
        while let Next::Step(step) = next {
            self.request(now, step);
            next = self.inner.next(now);
        }
        if let Some(step) = pop_arrived(&mut self.requests, now) {
            let is_read = matches!(step.deed, Deed::Read { .. });
            self.served.insert(step.token, if is_read { step.extent.len } else { 0 });
            return Next::Step(step);
        }
        let arrivals = [self.requests.front().map(|at| at.0), self.answers.front().map(|at| at.0)];
        let later = match next {
            Next::Later(time) => Some(time),
            _ => None,
        };
        match arrivals.into_iter().chain([later]).flatten().min() {
            Some(time) => Next::Later(time),
            None if self.served.is_empty() => next,
            None => Next::Blocked,
        }
    }

    fn done(&mut self, now: Time, token: u64) {
        let bytes = self.served.remove(&token).unwrap_or(0);
        let arrival = self.send(now, 1, bytes);
        self.answers.push_back((arrival, token));
    }
}

/// The next message, if it has arrived.
fn pop_arrived<T>(queue: &mut VecDeque<(Time, T)>, now: Time) -> Option<T> {
    let has_arrived = queue.front().is_some_and(|(arrival, _)| *arrival <= now);
    if has_arrived { queue.pop_front().map(|(_, message)| message) } else { None }
}

#[cfg(test)]
mod tests {
    use super::super::{Action, Clients, Extent, ObjectId};
    use super::*;

    /// When each step reaches the server, and when the client ends, if serving
    /// takes no time.
    fn times(half_duplex: bool) -> (Vec<u64>, u64) {
        let extent = Extent::new(0, 1000);
        let link = Link { bits_per_s: 8_000_000_000, latency_ns: 7, half_duplex };
        let client = |action: fn(ObjectId, Extent) -> Action| {
            Box::new([action(ObjectId(0), extent)].into_iter()) as Box<dyn super::super::Client>
        };
        let clients = vec![client(Action::write), client(Action::read), client(Action::read)];
        let mut linked = Linked::new(Clients::new(vec![], clients), link);
        let (mut now, mut arrivals) = (Time(0), Vec::new());
        loop {
            match linked.next(now) {
                Next::Step(step) => {
                    arrivals.push(now.0);
                    linked.done(now, step.token);
                }
                Next::Later(time) => now = time,
                _ => return (arrivals, now.0),
            }
        }
    }

    #[test]
    fn bytes_travel_one_after_the_other() {
        assert_eq!(times(false), (vec![1007, 1007, 1007], 3014));
    }
}
